//! Random requests of every method, and the small dialogues that transactions are.
//!
//! What only a server can know, such as a transaction's id, stands as a text in braces until it is sent.

use serde_json::{Map, Value, json};

use super::ask::{Ask, Method, Transport};
use super::draw::Draw;
use super::{documents, query, values};

/// Stands for the transaction that was begun last.
pub(super) const TRANSACTION: &str = "{transaction}";
/// Stands for the update time of a document that was read last.
pub(super) const UPDATE_TIME: &str = "{updateTime}";

/// One or more requests that belong together.
pub(super) fn some(draw: &Draw, database: &str) -> Vec<Ask> {
    let docs = format!("{database}/documents");
    let mut asks = if draw.once_in(12) {
        transaction(draw, database, &docs)
    } else {
        vec![one(draw, database, &docs)]
    };
    for ask in &mut asks {
        if draw.once_in(2) {
            ask.transport = Transport::Grpc;
        }
    }
    asks
}

fn one(draw: &Draw, database: &str, docs: &str) -> Ask {
    match draw.below(100) {
        0..=5 => get(draw, docs),
        6..=11 => list(draw, docs),
        12..=15 => create(draw, docs),
        16..=25 => update(draw, docs),
        26..=28 => {
            let mut message = json!({"name": documents::name(draw, docs)});
            precondition(draw, &mut message);
            Ask::new(Method::DeleteDocument, message)
        }
        29..=33 => batch_get(draw, database, docs),
        34..=47 => {
            Ask::new(Method::Commit, json!({"database": database, "writes": writes(draw, docs)}))
        }
        48..=51 => batch_write(draw, database, docs),
        52..=84 => run_query(draw, docs),
        85..=92 => aggregate(draw, docs),
        93..=94 => partition(draw, docs),
        _ => collection_ids(draw, docs),
    }
}

fn get(draw: &Draw, docs: &str) -> Ask {
    let mut message = json!({"name": documents::name(draw, docs)});
    mask(draw, &mut message, "mask");
    Ask::new(Method::GetDocument, message)
}

fn list(draw: &Draw, docs: &str) -> Ask {
    let mut message = json!({
        "parent": documents::parent(draw, docs),
        "collectionId": documents::collection(draw),
    });
    if draw.once_in(2) {
        let size = if draw.once_in(20) { -1 } else { draw.below(5) as i64 };
        set(&mut message, "pageSize", json!(size));
    }
    match draw.below(12) {
        0 => set(&mut message, "showMissing", json!(true)),
        1..=3 => {
            let order = draw.pick(&[
                "n",
                "n desc",
                "n,a desc",
                "__name__",
                "n sideways",
                "a..b",
                "n desc, __name__",
            ]);
            set(&mut message, "orderBy", json!(order));
        }
        4 if draw.once_in(3) => set(&mut message, "pageToken", json!("garbage")),
        _ => {}
    }
    mask(draw, &mut message, "mask");
    Ask::new(Method::ListDocuments, message)
}

fn create(draw: &Draw, docs: &str) -> Ask {
    let id = if draw.once_in(12) {
        draw.pick(&["__x__", "a/b", "..", "__id5__"]).to_owned()
    } else {
        format!("{}", draw.below(6))
    };
    let mut message = json!({
        "parent": documents::parent(draw, docs),
        "collectionId": documents::collection(draw),
        "documentId": id,
        "document": {"fields": documents::fields(draw, docs)},
    });
    mask(draw, &mut message, "mask");
    Ask::new(Method::CreateDocument, message)
}

fn update(draw: &Draw, docs: &str) -> Ask {
    let mut message = json!({
        "document": {"name": documents::name(draw, docs), "fields": documents::fields(draw, docs)},
    });
    precondition(draw, &mut message);
    mask(draw, &mut message, "updateMask");
    if draw.once_in(4) {
        mask(draw, &mut message, "mask");
    }
    Ask::new(Method::UpdateDocument, message)
}

fn batch_get(draw: &Draw, database: &str, docs: &str) -> Ask {
    let names = draw.some(4, |draw| documents::name(draw, docs));
    let mut message = json!({"database": database, "documents": names});
    mask(draw, &mut message, "mask");
    Ask::new(Method::BatchGetDocuments, message)
}

fn batch_write(draw: &Draw, database: &str, docs: &str) -> Ask {
    Ask::new(Method::BatchWrite, json!({"database": database, "writes": writes(draw, docs)}))
}

fn run_query(draw: &Draw, docs: &str) -> Ask {
    let query = match draw.once_in(10) {
        true => query::nearest(draw, docs),
        false => query::structured(draw, docs),
    };
    let parent = documents::parent(draw, docs);
    let mut message = json!({"parent": parent, "structuredQuery": query});
    if draw.once_in(200)
        && let Some(message) = message.as_object_mut()
    {
        message.remove("structuredQuery");
    }
    Ask::new(Method::RunQuery, message)
}

fn aggregate(draw: &Draw, docs: &str) -> Ask {
    let query = json!({
        "structuredQuery": query::structured(draw, docs),
        "aggregations": query::aggregations(draw),
    });
    let parent = documents::parent(draw, docs);
    let message = json!({"parent": parent, "structuredAggregationQuery": query});
    Ask::new(Method::RunAggregationQuery, message)
}

fn partition(draw: &Draw, docs: &str) -> Ask {
    let mut query = json!({
        "from": [{"collectionId": documents::collection(draw), "allDescendants": true}],
        "orderBy": [{"field": {"fieldPath": "__name__"}, "direction": "ASCENDING"}],
    });
    if draw.once_in(4) {
        query = query::structured(draw, docs);
    }
    let count = draw.below(6) as i64 - 1;
    let message =
        json!({"parent": docs, "structuredQuery": query, "partitionCount": count.to_string()});
    Ask::new(Method::PartitionQuery, message)
}

fn collection_ids(draw: &Draw, docs: &str) -> Ask {
    let mut message = json!({"parent": documents::parent(draw, docs)});
    if draw.once_in(3) {
        set(&mut message, "pageSize", json!(draw.below(4) as i64 - 1));
    }
    Ask::new(Method::ListCollectionIds, message)
}

/// A transaction with its reads, its end, and sometimes something after that.
fn transaction(draw: &Draw, database: &str, docs: &str) -> Vec<Ask> {
    let is_read_only = draw.once_in(4);
    let mode = if is_read_only { json!({"readOnly": {}}) } else { json!({"readWrite": {}}) };
    let mut asks =
        vec![Ask::new(Method::BeginTransaction, json!({"database": database, "options": mode}))];
    for _ in 0..draw.below(3) {
        let mut ask = match draw.below(3) {
            0 => batch_get(draw, database, docs),
            1 => get(draw, docs),
            _ => run_query(draw, docs),
        };
        // The official emulator never answers a GET with a transaction.
        if ask.method == Method::GetDocument {
            ask.transport = Transport::Grpc;
        }
        set(&mut ask.message, "transaction", json!(TRANSACTION));
        asks.push(ask);
    }
    let end = |draw: &Draw| match draw.below(4) {
        0 => {
            let message = json!({"database": database, "transaction": TRANSACTION});
            Ask::new(Method::Rollback, message)
        }
        _ => {
            let writes = if draw.once_in(5) { json!([]) } else { writes(draw, docs) };
            let message =
                json!({"database": database, "transaction": TRANSACTION, "writes": writes});
            Ask::new(Method::Commit, message)
        }
    };
    asks.push(end(draw));
    // Nothing may stay open: its locks would hold the next writes up for seconds.
    let rollback = json!({"database": database, "transaction": TRANSACTION});
    asks.push(Ask::new(Method::Rollback, rollback));
    for ask in &mut asks {
        // One connection sees its own requests in order, two do not.
        if ask.transport == Transport::Rest && ask.method == Method::GetDocument {
            ask.transport = Transport::Grpc;
        }
    }
    asks
}

/// The writes of a commit.
fn writes(draw: &Draw, docs: &str) -> Value {
    let count = if draw.once_in(15) { 0 } else { 1 + draw.below(3) };
    (0..count).map(|_| write(draw, docs)).collect()
}

fn write(draw: &Draw, docs: &str) -> Value {
    let name = documents::name(draw, docs);
    let mut write = match draw.below(20) {
        0..=3 => json!({"delete": name}),
        4 => json!({"verify": name}),
        5..=6 => {
            json!({"transform": {"document": name, "fieldTransforms": transforms(draw, docs)}})
        }
        7 if draw.once_in(10) => json!({}),
        _ => {
            let mut write =
                json!({"update": {"name": name, "fields": documents::fields(draw, docs)}});
            mask(draw, &mut write, "updateMask");
            if draw.once_in(4) {
                set(&mut write, "updateTransforms", transforms(draw, docs));
            }
            write
        }
    };
    if draw.once_in(60) {
        mask(draw, &mut write, "updateMask");
    }
    if draw.once_in(80) {
        set(&mut write, "updateTransforms", transforms(draw, docs));
    }
    precondition(draw, &mut write);
    write
}

fn transforms(draw: &Draw, docs: &str) -> Value {
    let count = if draw.once_in(20) { 0 } else { 1 + draw.below(3) };
    let one = |draw: &Draw| {
        let number = |draw: &Draw| match draw.below(12) {
            0 => values::value(draw, docs),
            1..=3 => {
                json!({"doubleValue": draw.pick(&[&json!(0.5), &json!(-1.0), &json!("NaN"), &json!("Infinity")])})
            }
            4 => {
                json!({"integerValue": draw.pick(&["9223372036854775807", "-9223372036854775808"])})
            }
            _ => json!({"integerValue": (draw.below(7) as i64 - 3).to_string()}),
        };
        let (member, operand) = match draw.below(40) {
            0 => ("setToServerValue", json!("SERVER_VALUE_UNSPECIFIED")),
            1..=12 => ("increment", number(draw)),
            13..=18 => ("maximum", number(draw)),
            19..=24 => ("minimum", number(draw)),
            25..=32 => {
                let values = draw.some(3, |draw| values::value(draw, docs));
                ("appendMissingElements", json!({"values": values}))
            }
            _ => {
                let values = draw.some(3, |draw| values::value(draw, docs));
                ("removeAllFromArray", json!({"values": values}))
            }
        };
        let mut transform = Map::new();
        transform.insert("fieldPath".into(), json!(values::path(draw)));
        if !draw.once_in(80) {
            transform.insert(member.into(), operand);
        }
        Value::Object(transform)
    };
    (0..count).map(|_| one(draw)).collect()
}

/// Puts a precondition in, now and then.
fn precondition(draw: &Draw, message: &mut Value) {
    let condition = match draw.below(12) {
        0..=1 => json!({"exists": true}),
        2..=3 => json!({"exists": false}),
        4 => json!({"updateTime": UPDATE_TIME}),
        5 => json!({"updateTime": "2020-01-01T00:00:00Z"}),
        6 if draw.once_in(4) => json!({}),
        6 if draw.once_in(4) => json!({"updateTime": "2020-01-01T00:00:00.000000001Z"}),
        _ => return,
    };
    set(message, "currentDocument", condition);
}

/// Puts a mask in, now and then.
fn mask(draw: &Draw, message: &mut Value, member: &str) {
    if draw.once_in(3) {
        let paths: Vec<String> = (0..1 + draw.below(3)).map(|_| values::path(draw)).collect();
        set(message, member, json!({"fieldPaths": paths}));
    }
}

fn set(message: &mut Value, member: &str, value: Value) {
    if let Some(members) = message.as_object_mut() {
        members.insert(member.to_owned(), value);
    }
}
