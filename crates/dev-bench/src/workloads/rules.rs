//! What security rules cost a request: the same requests of the same user to a suite without rules and to one with
//! two hundred lines of them, which read two other documents for each.

use anyhow::{Result, ensure};
use base_env::Env;
use base_value::{Fields, Timestamp, Value};
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use http::Method;
use serde_json::json;
use wire::write::Operation;

use super::data::{DATABASE, PROJECT};
use crate::client::{Answer, Connection, Request, Transport};
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::sides::{Side, SideKind};
use crate::stats::Samples;

/// The suite where everything is open to everybody.
pub const OPEN: &str = "without rules";
/// The suite with rules.
pub const RULES: &str = "under rules";

const SOURCE: &str = include_str!("rules.rules");

/// A token whose claims are `{"sub":"user-1"}`.
const CALLER: &str = "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1c2VyLTEifQ.";

/// Messages that are read and written.
const MESSAGES: u64 = 500;

/// Unmeasured requests of each workload.
const WARM_UP: u64 = 1_000;

/// A row: its name and its request of a number.
type Workload = (&'static str, fn(u64) -> Request);

const WORKLOADS: [Workload; 2] =
    [("get, gRPC (GetDocument), two get()", get), ("write, gRPC (Commit), two get()", write)];

/// Measures the same requests without rules and under them.
///
/// # Errors
/// A suite fails, or the rules do not decide as they should.
pub async fn measure_rules(counts: Counts, note: fn(&str)) -> Result<Vec<Row>> {
    let sides = [
        (OPEN, Side::open_ready(SideKind::Firelet, None).await?),
        (RULES, Side::open_ready(SideKind::Firelet, None).await?),
    ];
    let mut lines = Vec::new();
    for (name, side) in &sides {
        let mut owner = Connection::open(side.authority(), Transport::Grpc).await?;
        owner.send(seed()).await?;
        if *name == RULES {
            let mut rest = Connection::open(side.authority(), Transport::Rest).await?;
            rest.send(put_rules()).await?;
            // A stranger tells whether they are in force.
            let stranger = "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJub2JvZHkifQ.";
            let connection = Connection::open(side.authority(), Transport::Grpc).await?;
            let refused = connection.calling_as(stranger).send(get(0)).await;
            ensure!(refused.is_err(), "the rules refuse nobody");
        }
        let connection = Connection::open(side.authority(), Transport::Grpc).await?;
        lines.push((*name, connection.calling_as(CALLER)));
    }
    let clock = Env::real();
    let mut next = 0;
    let mut rows = Vec::new();
    for (workload, request) in WORKLOADS {
        note(workload);
        let mut samples = [Samples::default(), Samples::default()];
        for (_, connection) in &mut lines {
            for _ in 0..WARM_UP {
                next += 1;
                connection.send(request(next)).await?;
            }
        }
        for round in 0..counts.rounds {
            for index in rounds::order(lines.len(), round) {
                let (Some((_, connection)), Some(samples)) =
                    (lines.get_mut(index), samples.get_mut(index))
                else {
                    continue;
                };
                let mut each = Vec::new();
                let began = clock.monotonic();
                for _ in 0..counts.requests {
                    next += 1;
                    let request = request(next);
                    let started = clock.monotonic();
                    let answer = connection.send(request).await?;
                    each.push(clock.monotonic().saturating_sub(started));
                    is_answered(workload, &answer)?;
                }
                samples.turn(each, clock.monotonic().saturating_sub(began));
            }
        }
        let names = lines.iter().map(|(name, _)| *name);
        rows.push(Row::new(workload, names.zip(samples.map(Samples::summary))));
    }
    drop(lines);
    for (_, side) in sides {
        side.close().await?;
    }
    Ok(rows)
}

fn is_answered(workload: &str, answer: &Answer) -> Result<()> {
    let found = match workload.starts_with("get") {
        true => answer.messages::<WireDocument>()?.len(),
        false => {
            let commits = answer.messages::<wire::CommitResponse>()?;
            commits.iter().map(|commit| commit.write_results.len()).sum()
        }
    };
    ensure!(found == 1, "{workload} was answered with {found}");
    Ok(())
}

fn name(path: &str) -> String {
    format!("{DATABASE}/documents/{path}")
}

fn message(number: u64) -> String {
    name(&format!("rooms/lounge/messages/m{:03}", number % MESSAGES))
}

fn get(number: u64) -> Request {
    let request =
        wire::GetDocumentRequest { name: message(number), ..wire::GetDocumentRequest::default() };
    Request::grpc("/google.firestore.v1.Firestore/GetDocument", &request)
}

/// Every number gives new content, of the members that its author may change.
fn write(number: u64) -> Request {
    commit([(message(number), content(number))])
}

fn content(number: u64) -> Fields {
    let sent = Timestamp { seconds: 1_699_963_200, nanos: 0 };
    Fields::from([
        ("author".to_owned(), Value::String("user-1".to_owned())),
        ("sent".to_owned(), Value::Timestamp(sent)),
        ("text".to_owned(), Value::String(format!("what somebody says the {number}th time"))),
    ])
}

fn commit(documents: impl IntoIterator<Item = (String, Fields)>) -> Request {
    let write = |(name, fields)| wire::Write {
        operation: Some(Operation::Update(WireDocument {
            name,
            fields: base_value::codec::encode_fields(&fields),
            create_time: None,
            update_time: None,
        })),
        ..wire::Write::default()
    };
    let request = wire::CommitRequest {
        database: DATABASE.to_owned(),
        writes: documents.into_iter().map(write).collect(),
        ..wire::CommitRequest::default()
    };
    Request::grpc("/google.firestore.v1.Firestore/Commit", &request)
}

fn seed() -> Request {
    let text = |text: &str| Value::String(text.to_owned());
    let user = Fields::from([
        ("name".to_owned(), text("Somebody")),
        ("role".to_owned(), text("member")),
        ("suspended".to_owned(), Value::Boolean(false)),
    ]);
    let members = (1..=20).map(|number| text(&format!("user-{number}"))).collect();
    let opened = Timestamp { seconds: 1_600_000_000, nanos: 0 };
    let room = Fields::from([
        ("archived".to_owned(), Value::Boolean(false)),
        ("members".to_owned(), Value::Array(members)),
        ("opened".to_owned(), Value::Timestamp(opened)),
        ("title".to_owned(), text("Lounge")),
    ]);
    let around = [(name("users/user-1"), user), (name("rooms/lounge"), room)];
    commit(around.into_iter().chain((0..MESSAGES).map(|number| (message(number), content(number)))))
}

fn put_rules() -> Request {
    let body = json!({"rules": {"files": [{"name": "firestore.rules", "content": SOURCE}]}});
    let target = format!("/emulator/v1/projects/{PROJECT}:securityRules");
    Request::rest(Method::PUT, target, body.to_string())
}
