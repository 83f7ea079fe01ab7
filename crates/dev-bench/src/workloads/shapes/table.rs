//! The 26 shapes, in the order of the comparison they come from. No two runs of a shape ask for the same.

use base_value::Value;
use base_wire::google::firestore::v1::structured_query::field_filter::Operator::{
    ArrayContains, ArrayContainsAny, Equal, GreaterThanOrEqual, In, LessThan, NotEqual,
};

use super::ask::{Ask, name};
use super::query::Query;
use crate::dataset::{self, ARTICLES, ENTRIES, LIST_DOCUMENTS, ORDERS, Sizes, id, number};

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// What run `number` asks.
    pub(crate) ask: fn(Sizes, u64) -> Ask,
}

const fn shape(name: &'static str, ask: fn(Sizes, u64) -> Ask) -> Shape {
    Shape { name, ask }
}

/// All shapes.
pub(crate) const SHAPES: [Shape; 26] = [
    shape("document id in 10 ids", ids),
    shape("collection, limit 1", |_, _| Ask::Rows(Query::of(ARTICLES).limit(1))),
    shape("small collection: == on a string", small_collection),
    shape("count() of a collection", |_, _| Ask::Count(Query::of(ARTICLES))),
    shape("array-contains", contains),
    shape("orderBy an integer field, limit 20", |_, _| {
        Ask::Rows(Query::of(ARTICLES).ascending("views").limit(20))
    }),
    shape("range on an integer field, limit 20", range),
    shape("== on a boolean, limit 20", |_, run| {
        Ask::Rows(Query::of(ARTICLES).filter("active", Equal, &is_even(run)).limit(20))
    }),
    shape("== plus orderBy on another field", |_, run| {
        let status = string(["published", "draft", "review", "archived"], run);
        Ask::Rows(Query::of(ARTICLES).filter("status", Equal, &status).ascending("views").limit(20))
    }),
    shape("five cursor pages of 20", |_, _| {
        // The SDKs say the order by name when a cursor is a document.
        let query = Query::of(ARTICLES).ascending("createdAt").ascending("__name__").limit(20);
        Ask::Pages { query, field: "createdAt", pages: 5 }
    }),
    shape("== on a string field", |sizes, run| {
        let category = Value::String(format!("category-{}", run % sizes.categories()));
        Ask::Rows(Query::of(ARTICLES).filter("category", Equal, &category))
    }),
    shape("array-contains-any of 5 values", contains_any),
    shape("second collection: array-contains plus orderBy a timestamp", |_, run| {
        let product = Value::String(format!("product-{}", run % 60));
        let query = Query::of(ORDERS).filter("products", ArrayContains, &product);
        Ask::Rows(query.descending("placedAt").limit(20))
    }),
    shape("orderBy a timestamp, descending, limit 20", |_, _| {
        Ask::Rows(Query::of(ARTICLES).descending("createdAt").limit(20))
    }),
    shape("collection group, limit 20", |_, _| Ask::Rows(Query::group(ENTRIES).limit(20))),
    shape("count() with == on a boolean", |_, run| {
        Ask::Count(Query::of(ARTICLES).filter("active", Equal, &is_even(run)))
    }),
    shape("offset 1000, limit 20", |_, _| Ask::Rows(Query::of(ARTICLES).offset(1_000).limit(20))),
    shape("collection, limit 100", |_, _| Ask::Rows(Query::of(ARTICLES).limit(100))),
    shape("second collection: == on a boolean, limit 50", |_, run| {
        Ask::Rows(Query::of(ORDERS).filter("paid", Equal, &is_even(run)).limit(50))
    }),
    shape("second collection: == plus !=", |sizes, run| {
        let region = Value::String(format!("region-{}", run % sizes.regions()));
        let query = Query::of(ORDERS).filter("region", Equal, &region);
        Ask::Rows(query.filter("channel", NotEqual, &Value::String("web".to_owned())))
    }),
    shape("listener: first snapshot of 20 documents", |_, run| {
        let status = string(["published", "draft", "review", "archived"], run);
        let query = Query::of(ARTICLES).filter("status", Equal, &status);
        Ask::Listen(query.descending("createdAt").limit(20))
    }),
    shape("batch get of 50 documents", |sizes, run| {
        Ask::BatchGet((0..50).map(|at| article(sizes, run * 50 + at)).collect())
    }),
    shape("get one document by id", |sizes, run| Ask::Get(article(sizes, run))),
    shape("write one document, then delete it", |_, run| {
        Ask::WriteAndDelete(dataset::new_order(run))
    }),
    shape("transaction: read, modify, write", |sizes, run| {
        let index = number("transaction", run) % sizes.orders;
        Ask::Transaction { path: format!("{ORDERS}/{}", id(ORDERS, index)), revision: run + 1 }
    }),
    shape("ids only, limit 500", |_, _| Ask::Rows(Query::of(ARTICLES).names_only().limit(500))),
];

/// The names of the shapes, in the same order.
pub const SHAPE_NAMES: [&str; 26] = {
    let mut names = [""; 26];
    let mut rest: &[Shape] = &SHAPES;
    let mut left: &mut [&str] = &mut names;
    while let ([first, shapes @ ..], [name, places @ ..]) = (rest, left) {
        *name = first.name;
        rest = shapes;
        left = places;
    }
    names
};

/// The four queries on the grown collection.
pub(crate) const GROWN_SHAPES: [Shape; 4] = [
    shape("orderBy a timestamp, descending, limit 20", |_, _| {
        Ask::Rows(Query::of(dataset::GROWN).descending("at").limit(20))
    }),
    shape("range on an integer, limit 20", |_, run| {
        let from = number("grown range", run) % 9_000_000;
        Ask::Rows(between(Query::of(dataset::GROWN), "value", from, from + 1_000_000).limit(20))
    }),
    shape("== plus orderBy descending, limit 20", |_, run| {
        let kind = Value::String(dataset::Grown::kind(run));
        let query = Query::of(dataset::GROWN).filter("kind", Equal, &kind);
        Ask::Rows(query.descending("at").limit(20))
    }),
    shape("== on a string, limit 20", |sizes, run| {
        let accounts = (sizes.all / dataset::Grown::PER_ACCOUNT).max(1);
        let account = Value::String(format!("account-{}", number("grown ==", run) % accounts));
        Ask::Rows(Query::of(dataset::GROWN).filter("account", Equal, &account).limit(20))
    }),
];

fn article(sizes: Sizes, of: u64) -> String {
    format!("{ARTICLES}/{}", id(ARTICLES, number("article", of) % sizes.articles))
}

fn ids(sizes: Sizes, run: u64) -> Ask {
    let names = (0..10).map(|at| Value::Reference(name(&article(sizes, run * 10 + at))));
    Ask::Rows(Query::of(ARTICLES).filter("__name__", In, &Value::Array(names.collect())))
}

fn small_collection(sizes: Sizes, run: u64) -> Ask {
    let code = Value::String(format!("code-{}", run % (LIST_DOCUMENTS / 5)));
    let list = dataset::list(run % sizes.lists);
    Ask::Rows(Query::of(&list).filter("code", Equal, &code))
}

fn contains(sizes: Sizes, run: u64) -> Ask {
    let tag = Value::String(format!("tag-{}", run % sizes.tags()));
    Ask::Rows(Query::of(ARTICLES).filter("tags", ArrayContains, &tag))
}

fn contains_any(sizes: Sizes, run: u64) -> Ask {
    let label = |at: u64| Value::String(format!("label-{}", (run * 5 + at) % sizes.labels()));
    let labels = Value::Array((0..5).map(label).collect());
    Ask::Rows(Query::of(ARTICLES).filter("labels", ArrayContainsAny, &labels))
}

fn range(_: Sizes, run: u64) -> Ask {
    let from = number("range", run) % 800_000;
    Ask::Rows(between(Query::of(ARTICLES), "views", from, from + 200_000).limit(20))
}

fn between(query: Query, field: &str, from: u64, to: u64) -> Query {
    let integer = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let query = query.filter(field, GreaterThanOrEqual, &integer(from));
    query.filter(field, LessThan, &integer(to))
}

fn is_even(run: u64) -> Value {
    Value::Boolean(run.is_multiple_of(2))
}

fn string<const N: usize>(values: [&str; N], run: u64) -> Value {
    let at = usize::try_from(run).unwrap_or_default() % N;
    Value::String(values.get(at).copied().unwrap_or_default().to_owned())
}
