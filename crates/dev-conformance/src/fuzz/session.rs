//! One session: a project of its own, some documents, then requests about them.

use anyhow::{Context, Result};
use serde_json::Value;

use super::Plan;
use super::ask::{Ask, Method};
use super::compare;
use super::draw::Draw;
use super::report::{Kind, Report};
use super::requests::{self, TRANSACTION, UPDATE_TIME};
use super::send::{Reply, Server};
use super::{documents, known};

/// Requests of one session, about.
pub(super) const REQUESTS: usize = 100;

/// What one worker asks.
pub(super) struct Servers {
    firelet: Side,
    oracle: Option<Side>,
}

/// One server, and what it said that later requests need.
struct Side {
    server: Server,
    transaction: String,
    update_time: String,
}

impl Servers {
    pub(super) async fn connect(plan: &Plan) -> Result<Self> {
        let side = |authority: &String| Side {
            server: Server::new(authority),
            transaction: String::new(),
            update_time: String::new(),
        };
        Ok(Servers { firelet: side(&plan.firelet), oracle: plan.oracle.as_ref().map(side) })
    }
}

impl Side {
    fn begin(&mut self) {
        // Both decode as bytes and as a time; neither is one that a server has given.
        self.transaction = "AAAA".to_owned();
        self.update_time = "2020-01-01T00:00:00Z".to_owned();
    }

    async fn send(&mut self, ask: &Ask) -> Result<Reply> {
        let mut ask = ask.clone();
        self.fill(&mut ask.message);
        let reply = self.server.send(&ask).await;
        let reply = reply.with_context(|| format!("{}: {}", ask.method.name(), ask.message))?;
        if let Reply::Fine(messages) = &reply {
            let first = messages.first();
            let text = |member: &str| {
                first.and_then(|message| message.get(member)?.as_str().map(str::to_owned))
            };
            if ask.method == Method::BeginTransaction {
                self.transaction = text("transaction").unwrap_or_default();
            }
            if let (Method::GetDocument, Some(time)) = (ask.method, text("updateTime")) {
                self.update_time = time;
            }
        }
        Ok(reply)
    }

    /// Puts in what this server has said before.
    fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) if text == TRANSACTION => text.clone_from(&self.transaction),
            Value::String(text) if text == UPDATE_TIME => text.clone_from(&self.update_time),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.fill(member)),
            _ => {}
        }
    }
}

/// Runs one session.
pub(super) async fn run(
    plan: &Plan,
    number: usize,
    servers: &mut Servers,
    report: &mut Report,
) -> Result<()> {
    let draw = Draw::new(plan.seed, number);
    let project = format!("fuzz-{}-{number}", plan.seed);
    let database = format!("projects/{project}/databases/(default)");
    let docs = format!("{database}/documents");
    let mut seed = documents::seed(&draw, &docs);
    if let Some(members) = seed.as_object_mut() {
        members.insert("database".to_owned(), database.clone().into());
    }
    let mut asks = vec![Ask::new(Method::Commit, seed)];
    while asks.len() < REQUESTS {
        asks.extend(requests::some(&draw, &database));
    }
    servers.firelet.begin();
    servers.oracle.iter_mut().for_each(Side::begin);
    for ask in &asks {
        let ours = servers.firelet.send(ask).await?;
        report.count(&ours);
        if matches!(ours.code(), "INTERNAL" | "UNKNOWN" | "SILENT")
            || ours.code().starts_with("HTTP 5")
        {
            report.fault(ask, &ours);
        }
        let Some(oracle) = &mut servers.oracle else { continue };
        let theirs = oracle.send(ask).await?;
        let Some(difference) = compare::difference(ask, &ours, &theirs) else { continue };
        let why = known::why(ask, &ours, &theirs, difference);
        report.difference(Kind::of(ask, &ours, &theirs, difference, why), ask, &ours, &theirs);
        // From here on the two hold other documents.
        let is_fine = ours.code() == "OK" || theirs.code() == "OK";
        if ask.method.writes() && is_fine {
            report.cut();
            return Ok(());
        }
    }
    Ok(())
}
