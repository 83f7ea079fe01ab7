//! Running cases against a server, or against recorded answers.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::case::{Case, Setup, Step, Topic};
use crate::client::{Client, DEADLINE};
use crate::expect::Expectation;
use crate::recorded::{Recording, Recordings};
use crate::request;
use crate::scope::Scope;

/// Cases under way at once: some wait seconds for the official emulator's locks.
const CASES_AT_ONCE: usize = 8;
/// How long rules may take: the official emulator is slow with the first it ever reads, on a busy machine more so.
const RULES_DEADLINE: Duration = Duration::from_secs(90);
/// How long a request that is expected to hang is waited for.
const HANG: Duration = Duration::from_secs(2);

/// Whose expectations hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `expect`.
    Firelet,
    /// `oracle` where a step has it, else `expect`.
    Oracle,
}

/// What came of one case.
#[derive(Debug)]
pub struct Outcome {
    /// `topic/case`.
    pub name: String,
    /// The answers, as far as the case got.
    pub recording: Recording,
    /// What was not as expected, one line each; empty when the case passed.
    pub failures: Vec<String>,
    /// Differing steps whose answer from the official emulator satisfies `expect` after all.
    pub needless: Vec<usize>,
}

/// Runs all cases of all topics against a server.
pub async fn against_server(topics: &[Topic], client: &Client, side: Side) -> Result<Vec<Outcome>> {
    let cases = topics.iter().flat_map(|topic| topic.cases.iter().map(move |case| (topic, case)));
    let runs = cases.map(|(topic, case)| async move {
        let name = format!("{}/{}", topic.name, case.name);
        run_case(topic, case, client, side).await.with_context(|| name)
    });
    // Boxed: the compiler cannot prove `Send` for a stream over borrowed closures.
    let runs: Vec<_> = runs.map(Box::pin).collect();
    stream::iter(runs).buffered(CASES_AT_ONCE).try_collect().await
}

/// Checks the recorded answers of one topic.
pub fn against_recordings(topic: &Topic, recordings: &Recordings) -> Result<Vec<Outcome>> {
    let check = |case: &Case| {
        let name = format!("{}/{}", topic.name, case.name);
        let recording =
            recordings.get(&case.name).with_context(|| format!("{name} is not recorded"))?;
        ensure!(recording.answers.len() == case.steps.len(), "{name}: recorded with other steps");
        let mut judge = Judge::new(name, recording.project.clone(), Side::Oracle);
        for (step, answer) in case.steps.iter().zip(&recording.answers) {
            judge.take(step, answer.clone());
        }
        Ok(judge.finish())
    };
    topic.cases.iter().map(check).collect()
}

async fn run_case(topic: &Topic, case: &Case, client: &Client, side: Side) -> Result<Outcome> {
    let name = format!("{}/{}", topic.name, case.name);
    let mut judge = Judge::new(name, Scope::fresh_project(), side);
    if let Some(documents) = documents(topic, case) {
        let answer = client.send(request::setup(documents, &judge.scope)?, DEADLINE).await?;
        ensure!(answer.status == 200, "setup was answered {} {}", answer.status, answer.body);
    }
    if let Some(rules) = topic.rules_of(case) {
        let answer = client.send(request::rules(&rules, &judge.scope)?, RULES_DEADLINE).await?;
        ensure!(answer.status == 200, "rules were answered {} {}", answer.status, answer.body);
    }
    for (index, step) in case.steps.iter().enumerate() {
        let request = request::build(step, &case.auth, &judge.scope)
            .with_context(|| format!("step {index}"))?;
        let hangs =
            step.expectation(side == Side::Oracle).is_some_and(|expectation| expectation.hang);
        let answer = client.send(request, if hangs { HANG } else { DEADLINE }).await;
        judge.take(step, answer.with_context(|| format!("step {index}"))?);
    }
    Ok(judge.finish())
}

fn documents<'a>(topic: &'a Topic, case: &'a Case) -> Option<&'a Map<String, Value>> {
    match case.setup.as_ref()? {
        Setup::Named(name) => topic.data.get(name),
        Setup::Documents(documents) => Some(documents),
    }
}

/// Checks the answers of one case as they come.
struct Judge {
    name: String,
    side: Side,
    scope: Scope,
    answers: Vec<Answer>,
    failures: Vec<String>,
    needless: Vec<usize>,
}

impl Judge {
    fn new(name: String, project: String, side: Side) -> Self {
        let scope = Scope::new(project);
        Self { name, side, scope, answers: vec![], failures: vec![], needless: vec![] }
    }

    fn take(&mut self, step: &Step, answer: Answer) {
        let index = self.answers.len();
        let oracle = self.side == Side::Oracle;
        let is_refused = oracle && step.oracle.as_ref().is_some_and(Expectation::is_refusal);
        // What an answer that is refused lacks, later steps of the official emulator do without.
        for (name, pointer) in step.capture.iter().filter(|_| !is_refused) {
            match answer.body.pointer(pointer).and_then(Value::as_str) {
                Some(text) => self.scope.capture(name, text.to_owned()),
                None => self
                    .failures
                    .push(format!("step {index}: nothing at {pointer} in {}", answer.body)),
            }
        }
        let found = match step.expectation(oracle) {
            Some(expectation) => expectation.check(&answer, &self.scope),
            None if answer.status == 200 => vec![],
            None => vec![format!("status: expected 200, is {} {}", answer.status, answer.body)],
        };
        self.failures.extend(found.iter().map(|line| format!("step {index} {line}")));
        if oracle && step.oracle.is_some() {
            let agrees = step.expect.as_ref().map_or(answer.status == 200, |expectation| {
                expectation.check(&answer, &self.scope).is_empty()
            });
            if agrees {
                self.needless.push(index);
            }
        }
        self.answers.push(answer);
    }

    fn finish(self) -> Outcome {
        let recording =
            Recording { project: self.scope.project().to_owned(), answers: self.answers };
        Outcome { name: self.name, recording, failures: self.failures, needless: self.needless }
    }
}
