//! The documents of each collection.

use base_value::{Fields, Timestamp, Value, codec};
use bytes::Bytes;

use super::random::{id, number, text};
use super::{ACCOUNTS, ARTICLES, ENTRIES, GROWN, ORDERS, Sizes, list};

/// A document, not yet of any database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its path from the root.
    pub path: String,
    /// Its fields as they travel.
    pub fields: Bytes,
}

impl Document {
    fn new(path: String, fields: &Fields) -> Self {
        Self { path, fields: codec::encode_fields(fields) }
    }
}

/// The beginning of 2025 in seconds since 1970, and how many seconds the times are spread over.
const TIMES: (i64, u64) = (1_735_689_600, 30_000_000);

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Fields {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn string(text: impl Into<String>) -> Value {
    Value::String(text.into())
}

fn integer(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn time(place: &str, index: u64) -> Value {
    let bits = number(place, index);
    let seconds = TIMES.0 + i64::try_from(bits % TIMES.1).unwrap_or_default();
    let millis = i32::try_from(bits >> 40 & 0x3FF).unwrap_or_default().min(999);
    Value::Timestamp(Timestamp { seconds, nanos: millis * 1_000_000 })
}

fn flag(place: &str, index: u64) -> Value {
    Value::Boolean(number(place, index) & 1 == 0)
}

fn picked(place: &str, index: u64, values: [&str; 4]) -> Value {
    let at = usize::try_from(number(place, index) % 4).unwrap_or_default();
    string(values.get(at).copied().unwrap_or_default())
}

/// `count` values of a vocabulary, none twice.
fn several(word: &str, place: &str, index: u64, count: u64, vocabulary: u64) -> Value {
    let first = number(place, index) % vocabulary;
    // Steps below a third of the vocabulary's size, three of them at most, do not come round.
    let step = 1 + number(place, index ^ 0x5555) % (vocabulary / 4).max(1);
    let value = |at: u64| string(format!("{word}-{}", (first + at * step) % vocabulary));
    Value::Array((0..count).map(value).collect())
}

/// About 30 KiB: a score of fields to search by, a map of sixty settings, and an array of two dozen sections.
pub(super) fn article(sizes: Sizes, index: u64) -> Document {
    let category = number("category", index) % sizes.categories();
    let mut all = fields([
        ("title", string(text("title", index, 9))),
        ("slug", string(format!("{}-{index}", id("slug", index)))),
        ("category", string(format!("category-{category}"))),
        ("status", picked("status", index, ["draft", "review", "published", "archived"])),
        ("language", picked("language", index, ["en", "de", "fr", "ja"])),
        ("active", flag("active", index)),
        ("pinned", Value::Boolean(number("pinned", index).is_multiple_of(20))),
        ("views", integer(number("views", index) % 1_000_000)),
        ("priority", integer(number("priority", index) % 1_000)),
        (
            "rating",
            Value::Double(
                f64::from(u32::try_from(number("rating", index) % 500).unwrap_or_default()) / 100.0,
            ),
        ),
        ("createdAt", time("createdAt", index)),
        ("updatedAt", time("updatedAt", index)),
        ("tags", several("tag", "tags", index, 4, sizes.tags())),
        ("labels", several("label", "labels", index, 3, sizes.labels())),
        ("summary", string(text("summary", index, 60))),
        ("parent", Value::Null),
    ]);
    let author = fields([
        ("uid", string(id("uid", index % 200))),
        ("name", string(text("author", index % 200, 2))),
        ("verified", flag("verified", index % 200)),
    ]);
    all.insert("author".to_owned(), Value::Map(author));
    let settings =
        (0..60).map(|at| (format!("setting{at:02}"), string(text("setting", index * 64 + at, 14))));
    all.insert("settings".to_owned(), Value::Map(settings.collect()));
    let sections = (0..24).map(|at| section(index * 32 + at, at));
    all.insert("sections".to_owned(), Value::Array(sections.collect()));
    Document::new(format!("{ARTICLES}/{}", id(ARTICLES, index)), &all)
}

fn section(index: u64, position: u64) -> Value {
    Value::Map(fields([
        ("heading", string(text("heading", index, 6))),
        ("kind", picked("kind", index, ["text", "image", "quote", "table"])),
        ("position", integer(position)),
        ("visible", flag("visible", index)),
        ("body", string(text("body", index, 165))),
    ]))
}

/// About 6 KiB.
pub(super) fn order(sizes: Sizes, index: u64) -> Document {
    let region = number("region", index) % sizes.regions();
    let mut all = fields([
        ("number", integer(index)),
        ("region", string(format!("region-{region}"))),
        ("channel", picked("channel", index, ["web", "app", "shop", "phone"])),
        ("state", picked("state", index, ["open", "paid", "sent", "returned"])),
        ("paid", flag("paid", index)),
        ("gift", Value::Boolean(number("gift", index).is_multiple_of(10))),
        ("total", integer(number("total", index) % 100_000)),
        ("placedAt", time("placedAt", index)),
        ("shippedAt", time("shippedAt", index)),
        ("products", several("product", "products", index, 4, 60)),
        ("customer", string(id("customer", number("of", index) % 900))),
        ("revision", integer(0)),
    ]);
    let lines = (0..12).map(|at| {
        Value::Map(fields([
            ("sku", string(id("sku", index * 16 + at))),
            ("amount", integer(1 + number("amount", index * 16 + at) % 9)),
            ("text", string(text("line", index * 16 + at, 75))),
        ]))
    });
    all.insert("lines".to_owned(), Value::Array(lines.collect()));
    Document::new(format!("{ORDERS}/{}", id(ORDERS, index)), &all)
}

/// An order that is not in the data set.
pub(crate) fn new_order(index: u64) -> Document {
    order(Sizes::FULL, (1 << 40) + index)
}

/// Some 200 bytes, in one of the small collections.
pub(super) fn list_entry(of: u64, index: u64) -> Document {
    let place = list(of);
    let all = fields([
        ("code", string(format!("code-{}", index / 5))),
        ("label", string(text(&place, index, 8))),
        ("position", integer(index)),
        ("enabled", flag(&place, index)),
        ("changedAt", time(&place, index)),
    ]);
    Document::new(format!("{place}/{}", id(&place, index)), &all)
}

/// Some 300 bytes.
pub(super) fn account(index: u64) -> Document {
    let all = fields([
        ("name", string(text("name", index, 3))),
        ("email", string(format!("{}@example.com", id("email", index).to_lowercase()))),
        ("plan", picked("plan", index, ["free", "plus", "team", "none"])),
        ("seats", integer(number("seats", index) % 50)),
        ("createdAt", time("since", index)),
        ("note", string(text("note", index, 20))),
    ]);
    Document::new(account_path(index), &all)
}

fn account_path(index: u64) -> String {
    format!("{ACCOUNTS}/{}", id(ACCOUNTS, index))
}

/// Some 200 bytes, below an account.
pub(super) fn entry(of: u64, index: u64) -> Document {
    let index = of * 64 + index;
    let all = fields([
        ("kind", picked("entry", index, ["created", "changed", "read", "removed"])),
        ("at", time("at", index)),
        ("weight", integer(number("weight", index) % 10_000)),
        ("done", flag("done", index)),
        ("text", string(text("text", index, 14))),
    ]);
    let path = account_path(of);
    Document::new(format!("{path}/{ENTRIES}/{}", id(ENTRIES, index)), &all)
}

/// The documents of the grown collection.
#[derive(Clone, Copy, Debug)]
pub struct Grown;

impl Grown {
    /// How many accounts its documents tell of; each has so many documents as there are per account.
    pub const PER_ACCOUNT: u64 = 50;

    /// One of them, some 200 bytes.
    #[must_use]
    pub fn document(index: u64) -> Document {
        let all = fields([
            ("at", time("grown-at", index)),
            ("value", integer(number("value", index) % 10_000_000)),
            ("kind", string(Self::kind(number("grown-kind", index)))),
            ("account", string(format!("account-{}", index / Self::PER_ACCOUNT))),
            ("text", string(text("grown", index, 16))),
        ]);
        Document::new(format!("{GROWN}/{}", id(GROWN, index)), &all)
    }

    /// One of eight kinds.
    pub(crate) fn kind(number: u64) -> String {
        format!("kind-{}", number % 8)
    }
}
