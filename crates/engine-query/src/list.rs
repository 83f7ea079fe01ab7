//! Listing what is there: collection ids, and documents page by page.

use std::collections::{BTreeMap, BTreeSet};

use base_value::codec::{decode_value, encode_value};
use base_value::{
    CollectionPath, DatabaseName, DocumentPath, FieldPath, ParentPath, ResourcePath, Value, codec,
    key,
};
use bytes::Bytes;
use engine_store::{KeyRange, Record, Snapshot};

use crate::error::QueryError;
use crate::execute::Prepared;
use crate::index::Indexer;
use crate::model::{Cursor, Direction, From, Order, Query};
use crate::normalize::full_order;
use crate::scope::{below_collection, group_ids};

/// What to list.
#[derive(Clone, Debug)]
pub struct ListDocuments {
    /// Where to list: the root or a document.
    pub parent: ParentPath,
    /// The collection; empty for every collection directly below the parent.
    pub collection_id: String,
    /// The orders, see [`parse_order_by`].
    pub order: Vec<Order>,
    /// Whether documents that are only a part of other documents' names are listed too.
    pub show_missing: bool,
    /// How many documents a page has at most.
    pub page_size: usize,
    /// Where the page starts: [`Page::next_page_token`] of the page before.
    pub page_token: Option<Bytes>,
}

/// One page of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The documents, in order.
    pub documents: Vec<Listed>,
    /// Where the next page starts; `None` on the last one.
    pub next_page_token: Option<Bytes>,
}

/// One listed document.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its path.
    pub path: DocumentPath,
    /// What is stored; `None` for a missing document.
    pub record: Option<Record>,
}

/// The ids of the collections directly below a parent that have a document in or below them, sorted by
/// their UTF-8 bytes.
pub fn list_collection_ids(snapshot: &Snapshot, parent: &ParentPath) -> Vec<String> {
    let mut ids = BTreeSet::new();
    for group in group_ids(snapshot) {
        let (start, end) = key::group(&group, parent);
        let mut range = KeyRange::new(start, end);
        while let Some(entry) = first(snapshot, &range) {
            let Some(id) = key::child_collection(&entry, parent) else { break };
            let Ok(child) = parent.collection(&id) else { break };
            range.start = key::after_child(&group, &child);
            ids.insert(id);
        }
    }
    ids.into_iter().collect()
}

/// The keys of the documents at and below a path, in whatever collection. Costs what there is to find, and a
/// look into every collection group.
pub fn keys_below<'s>(
    snapshot: &'s Snapshot,
    path: &'s ResourcePath,
) -> impl Iterator<Item = Bytes> + 's {
    group_ids(snapshot).flat_map(move |group| {
        let (start, end) = key::below(&group, path);
        snapshot.heads(&KeyRange::new(start, end)).map(|(key, _)| key)
    })
}

/// One page of a collection's documents.
///
/// # Errors
/// Those of the query the list stands for, and tokens that are none of its own.
pub fn list_documents(
    database: &DatabaseName,
    request: &ListDocuments,
    snapshot: &Snapshot,
) -> Result<Page, QueryError> {
    list(database, request, None, snapshot).map(|(page, _)| page)
}

/// Same as [`list_documents`], served by indexes as [`Prepared::with_indexer`] says. Also answers how many documents
/// were looked at that a fold would let an index find.
///
/// # Errors
/// Those of [`list_documents`].
pub fn list_documents_indexed(
    database: &DatabaseName,
    request: &ListDocuments,
    indexer: &Indexer,
    snapshot: &Snapshot,
) -> Result<(Page, usize), QueryError> {
    list(database, request, Some(indexer), snapshot)
}

fn list(
    database: &DatabaseName,
    request: &ListDocuments,
    indexer: Option<&Indexer>,
    snapshot: &Snapshot,
) -> Result<(Page, usize), QueryError> {
    let mut query =
        Query::new(request.parent.clone(), From::selector(&request.collection_id, false));
    query.order.clone_from(&request.order);
    // Refusals of the list itself come before those of its token.
    Prepared::new(database, query.clone())?;
    // Stating the full order lets a cursor stand at one document.
    query.order = full_order(&query, &[]);
    let position = match &request.page_token {
        Some(token) => Some(read_token(token, query.order.len())?),
        None => None,
    };
    if request.show_missing {
        if !request.order.is_empty() {
            return Err(QueryError::OrderWithMissing);
        }
        let page = list_with_missing(database, request, position.as_deref(), snapshot)?;
        return Ok((page, 0));
    }
    if let Some(values) = position {
        query.start = Some(Cursor { values, before: false });
    }
    query.limit = Some(u32::try_from(request.page_size.saturating_add(1)).unwrap_or(u32::MAX));
    let orders = query.order.clone();
    let prepared = Prepared::new(database, query).map_err(|_| QueryError::PageToken)?;
    let prepared = match indexer {
        Some(indexer) => prepared.with_indexer(indexer),
        None => prepared,
    };
    let mut rows = prepared.run(snapshot);
    let mut documents: Vec<Listed> =
        rows.by_ref().map(|row| Listed { path: row.path, record: Some(row.record) }).collect();
    let unfolded = rows.unfolded();
    let has_more = documents.len() > request.page_size;
    documents.truncate(request.page_size);
    let last = documents.last().filter(|_| has_more);
    let next_page_token = last.map(|last| write_token(database, &orders, last));
    Ok((Page { documents, next_page_token }, unfolded))
}

/// Parses `order_by`: fields with an optional `asc` or `desc`, separated by commas. Empty text is no order.
///
/// # Errors
/// The whole text is quoted where it does not parse.
pub fn parse_order_by(text: &str) -> Result<Vec<Order>, QueryError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let refuse = || QueryError::OrderByClause(text.to_owned());
    let mut orders = Vec::new();
    for clause in split_outside_quotes(text, |character| character == ',') {
        let mut words = split_outside_quotes(clause, char::is_whitespace)
            .into_iter()
            .filter(|word| !word.is_empty());
        let field = match FieldPath::parse(words.next().ok_or_else(refuse)?) {
            Ok(field) => field,
            Err(base_value::PathError::Syntax(_) | base_value::PathError::Empty) => {
                return Err(refuse());
            }
            Err(error) => return Err(QueryError::Path(error)),
        };
        let direction = match words.next() {
            None => Direction::Ascending,
            Some(word) if word.eq_ignore_ascii_case("asc") => Direction::Ascending,
            Some(word) if word.eq_ignore_ascii_case("desc") => Direction::Descending,
            Some(_) => return Err(refuse()),
        };
        if words.next().is_some() {
            return Err(refuse());
        }
        orders.push(Order { field, direction });
    }
    Ok(orders)
}

/// Splits a text at separators that are not inside of backticks.
fn split_outside_quotes(text: &str, is_separator: impl Fn(char) -> bool) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(|character: char| {
        let was_escaped = std::mem::take(&mut escaped);
        match character {
            '`' if !was_escaped => quoted = !quoted,
            '\\' if quoted && !was_escaped => escaped = true,
            _ => {}
        }
        !quoted && is_separator(character)
    })
    .collect()
}

/// The position of a document as an opaque token: its values for the orders, the name last.
fn write_token(database: &DatabaseName, orders: &[Order], listed: &Listed) -> Bytes {
    let values = orders.iter().filter_map(|order| {
        if order.field.is_name() {
            return Some(Value::Reference(database.document(listed.path.clone()).to_string()));
        }
        codec::find(&listed.record.as_ref()?.value, &order.field)
    });
    encode_value(&Value::Array(values.collect()))
}

fn read_token(token: &[u8], orders: usize) -> Result<Vec<Value>, QueryError> {
    match decode_value(token) {
        Ok(Value::Array(values)) if values.len() == orders => Ok(values),
        Ok(_) | Err(_) => Err(QueryError::PageToken),
    }
}

/// Lists documents and missing documents, both in order of names.
fn list_with_missing(
    database: &DatabaseName,
    request: &ListDocuments,
    position: Option<&[Value]>,
    snapshot: &Snapshot,
) -> Result<Page, QueryError> {
    let after = match position {
        Some([Value::Reference(name)]) => {
            let name = base_value::DocumentName::parse(name).map_err(|_| QueryError::PageToken)?;
            Some(name.path)
        }
        Some(_) => return Err(QueryError::PageToken),
        None => None,
    };
    let collections = if request.collection_id.is_empty() {
        list_collection_ids(snapshot, &request.parent)
    } else {
        vec![request.collection_id.clone()]
    };
    let mut documents = Vec::new();
    for id in collections {
        let collection = request.parent.collection(&id)?;
        // Collections before the page's start have been listed; those behind it start anew.
        let after = match &after {
            Some(after) if after.parent() > collection => continue,
            Some(after) if after.parent() == collection => Some(after),
            Some(_) | None => None,
        };
        for path in Names::new(snapshot, &collection, after) {
            if documents.len() > request.page_size {
                break;
            }
            let record = snapshot.get(&key::document(&path));
            documents.push(Listed { path, record });
        }
    }
    let has_more = documents.len() > request.page_size;
    documents.truncate(request.page_size);
    let by_name = Order { field: FieldPath::name(), direction: Direction::Ascending };
    let last = documents.last().filter(|_| has_more);
    let next_page_token = last.map(|last| write_token(database, &[by_name], last));
    Ok(Page { documents, next_page_token })
}

/// The documents of a collection, existing and missing: every group is skipped through from one document
/// to the next, and the least name over all groups comes first.
struct Names<'s> {
    snapshot: &'s Snapshot,
    depth: usize,
    /// The next document of each group that has one, and the group's range behind it.
    next: BTreeMap<DocumentPath, Vec<(String, KeyRange)>>,
}

impl<'s> Names<'s> {
    fn new(
        snapshot: &'s Snapshot,
        collection: &CollectionPath,
        after: Option<&DocumentPath>,
    ) -> Self {
        let depth = collection.segments().count() + 1;
        let mut names = Names { snapshot, depth, next: BTreeMap::new() };
        for group in group_ids(snapshot) {
            let mut range = below_collection(&group, collection);
            if let Some(after) = after {
                range.start = behind(&group, after);
            }
            names.advance(group, range);
        }
        names
    }

    fn advance(&mut self, group: String, mut range: KeyRange) {
        let Some(path) = first(self.snapshot, &range).and_then(|key| key::parse(&key)) else {
            return;
        };
        let segments: Vec<&str> = path.segments().take(self.depth).collect();
        let Ok(path) = DocumentPath::parse(&segments.join("/")) else { return };
        range.start = behind(&group, &path);
        self.next.entry(path).or_default().push((group, range));
    }
}

impl Iterator for Names<'_> {
    type Item = DocumentPath;

    fn next(&mut self) -> Option<DocumentPath> {
        let (path, groups) = self.next.pop_first()?;
        for (group, range) in groups {
            self.advance(group, range);
        }
        Some(path)
    }
}

/// The first key of a group behind a document and everything below it.
fn behind(group: &str, document: &DocumentPath) -> Bytes {
    key::group(group, &ParentPath::from(document.clone())).1
}

/// The first key in a range.
fn first(snapshot: &Snapshot, range: &KeyRange) -> Option<Bytes> {
    snapshot.seek_key(&range.start).filter(|key| range.contains(key))
}
