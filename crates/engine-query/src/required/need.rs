//! What one query needs, and whether the declared indexes give it.

use base_value::FieldPath;

use super::declared::Declared;
use crate::error::QueryError;
use crate::index::{IndexMode, IndexScope};
use crate::model::{Direction, FieldOp, Filter, From, Query, UnaryOp};
use crate::normalize::{Disjuncts, full_order};

/// An index that production asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequiredIndex {
    /// An index of several fields, the name the last one.
    Composite {
        /// The id of the collections.
        collection_id: String,
        /// Which queries it is to serve.
        scope: IndexScope,
        /// Its fields.
        fields: Vec<RequiredField>,
    },
    /// An index of one field that is not there by itself.
    Single {
        /// The id of the collections.
        collection_id: String,
        /// Which queries it is to serve.
        scope: IndexScope,
        /// The field.
        field: FieldPath,
        /// How it is to be indexed.
        mode: IndexMode,
    },
}

/// One field of a composite index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequiredField {
    /// By its value.
    Ordered(FieldPath, Direction),
    /// By every element of an array.
    Contains(FieldPath),
    /// By a vector of this dimension, for the search of nearest ones.
    Vector(FieldPath, usize),
}

/// What has to be fixed or walked to answer one conjunction.
struct Need<'q> {
    equal: Vec<&'q FieldPath>,
    contains: Option<&'q FieldPath>,
    /// Without the name.
    order: &'q [(FieldPath, Direction)],
    name: Direction,
}

/// The indexes that production wants for a query and that nobody has declared, each once. `sums` are the
/// fields that are summed up.
///
/// # Errors
/// The query has too many disjunctions.
pub fn required_indexes(
    query: &Query,
    sums: &[FieldPath],
    declared: &Declared,
) -> Result<Vec<RequiredIndex>, QueryError> {
    let (collection_id, scope) = match &query.from {
        From::Collection(id) => (id, IndexScope::Collection),
        From::Group(id) => (id, IndexScope::Group),
        From::Children | From::Descendants => return Ok(Vec::new()),
    };
    let place = Place { collection_id, scope, declared };
    let mut required = Vec::new();
    for leaves in Disjuncts::of(query.filter.as_ref(), query.limits)?.iter() {
        let leaves: Vec<&Filter> = leaves.collect();
        let is_stated = |field: &&FieldPath| query.order.iter().any(|order| order.field == **field);
        let mut equal = fields(&leaves, is_equality);
        // A field that is ordered by counts as such, though its value is fixed.
        equal.retain(|field| !is_stated(field));
        let contains = fields(&leaves, is_membership).first().copied();
        let missing = match &query.nearest {
            Some(nearest) => {
                let vector = RequiredField::Vector(nearest.field.clone(), nearest.dimension());
                place.vector(&equal, contains, vector)
            }
            None => {
                let (order, name) = order(query, sums, &equal);
                place.missing(&Need { equal, contains, order: &order, name })
            }
        };
        required.extend(missing.filter(|missing| !required.contains(missing)));
    }
    Ok(required)
}

/// The fields of the filters that are of some kind, each once.
fn fields<'q>(leaves: &[&'q Filter], kind: fn(&Filter) -> bool) -> Vec<&'q FieldPath> {
    let mut fields: Vec<&FieldPath> = Vec::new();
    for leaf in leaves.iter().filter(|leaf| kind(leaf)) {
        if let Filter::Field { field, .. } | Filter::Unary { field, .. } = leaf
            && !field.is_name()
            && !fields.contains(&field)
        {
            fields.push(field);
        }
    }
    fields
}

fn is_equality(leaf: &Filter) -> bool {
    matches!(
        leaf,
        Filter::Field { op: FieldOp::Equal, .. }
            | Filter::Unary { op: UnaryOp::IsNull | UnaryOp::IsNan, .. }
    )
}

fn is_membership(leaf: &Filter) -> bool {
    matches!(leaf, Filter::Field { op: FieldOp::ArrayContains, .. })
}

/// The order that an index has to give, without the name, and which way the name runs. A field whose value
/// is fixed orders nothing.
fn order(
    query: &Query,
    sums: &[FieldPath],
    equal: &[&FieldPath],
) -> (Vec<(FieldPath, Direction)>, Direction) {
    let mut order = Vec::new();
    let mut name = Direction::Ascending;
    for one in full_order(query, sums) {
        if one.field.is_name() {
            name = one.direction;
            // Nothing can order documents of one name any further.
            break;
        } else if !equal.contains(&&one.field) {
            order.push((one.field, one.direction));
        }
    }
    (order, name)
}

fn mode(direction: Direction) -> IndexMode {
    match direction {
        Direction::Ascending => IndexMode::Ascending,
        Direction::Descending => IndexMode::Descending,
    }
}

/// Where the index has to be.
struct Place<'q> {
    collection_id: &'q str,
    scope: IndexScope,
    declared: &'q Declared,
}

impl Place<'_> {
    fn missing(&self, need: &Need<'_>) -> Option<RequiredIndex> {
        let is_served = if need.fixes_nothing() && self.serves_order(need) {
            true
        } else {
            // Several indexes that run in the same order are merged: each may fix a part.
            let fixing = self.fixing(need);
            let is_fixed = |wanted: RequiredField, mode: IndexMode| {
                fixing.iter().any(|prefix| prefix.iter().any(|known| known.is_alike(&wanted)))
                    || need.order.is_empty() && self.has_single(wanted.path(), mode)
            };
            let way = need.name;
            let fixes_equal = need
                .equal
                .iter()
                .all(|field| is_fixed(RequiredField::Ordered((*field).clone(), way), mode(way)));
            let fixes_element = need.contains.is_none_or(|field| {
                is_fixed(RequiredField::Contains(field.clone()), IndexMode::Contains)
            });
            // Where there is nothing to fix, it still takes one that runs in the order.
            fixes_equal && fixes_element && !(need.fixes_nothing() && fixing.is_empty())
        };
        (!is_served).then(|| self.wanted(need))
    }

    fn has_single(&self, field: &FieldPath, mode: IndexMode) -> bool {
        self.declared.has_single(self.collection_id, self.scope, field, mode)
    }

    /// Whether the order is one that the name or a single field gives.
    fn serves_order(&self, need: &Need<'_>) -> bool {
        match need.order {
            [] => need.name == Direction::Ascending,
            [(field, way)] => *way == need.name && self.has_single(field, mode(*way)),
            _ => false,
        }
    }

    /// What the declared indexes fix that run in the needed order and index no document too few.
    fn fixing(&self, need: &Need<'_>) -> Vec<&[RequiredField]> {
        let prefixes = self.declared.of(self.collection_id, self.scope).filter_map(|index| {
            let (fields, name) = index.split();
            let prefix = strip_order(fields, need.order)?;
            let fits = name == need.name && prefix.iter().all(|field| need.fixes(field));
            fits.then_some(prefix)
        });
        prefixes.collect()
    }

    /// The index that serves the need by itself.
    fn wanted(&self, need: &Need<'_>) -> RequiredIndex {
        let collection_id = self.collection_id.to_owned();
        let scope = self.scope;
        let single = match (need.equal.as_slice(), need.contains, need.order) {
            ([field], None, []) => Some(((*field).clone(), mode(need.name))),
            ([], Some(field), []) => Some((field.clone(), IndexMode::Contains)),
            ([], None, [(field, direction)]) if *direction == need.name => {
                Some((field.clone(), mode(*direction)))
            }
            _ => None,
        };
        if let Some((field, mode)) = single {
            return RequiredIndex::Single { collection_id, scope, field, mode };
        }
        let equal = need.equal.iter();
        let equal =
            equal.map(|field| RequiredField::Ordered((*field).clone(), Direction::Ascending));
        let contains = need.contains.map(|field| RequiredField::Contains(field.clone()));
        let order = need.order.iter();
        let order = order.map(|(field, way)| RequiredField::Ordered(field.clone(), *way));
        let name = RequiredField::Ordered(FieldPath::name(), need.name);
        let fields = equal.chain(contains).chain(order).chain([name]).collect();
        RequiredIndex::Composite { collection_id, scope, fields }
    }

    /// A search of nearest vectors always takes an index.
    fn vector(
        &self,
        equal: &[&FieldPath],
        contains: Option<&FieldPath>,
        vector: RequiredField,
    ) -> Option<RequiredIndex> {
        let equal = equal.iter();
        let equal =
            equal.map(|field| RequiredField::Ordered((*field).clone(), Direction::Ascending));
        let contains = contains.map(|field| RequiredField::Contains(field.clone()));
        let fixed: Vec<RequiredField> = equal.chain(contains).collect();
        let serves = |fields: &[RequiredField]| match fields {
            [prefix @ .., last] => {
                *last == vector
                    && prefix.len() == fixed.len()
                    && fixed.iter().all(|field| prefix.iter().any(|known| known.is_alike(field)))
            }
            [] => false,
        };
        let mut declared = self.declared.of(self.collection_id, self.scope);
        if declared.any(|index| serves(index.split().0)) {
            return None;
        }
        let fields = fixed.into_iter().chain([vector]).collect();
        let collection_id = self.collection_id.to_owned();
        Some(RequiredIndex::Composite { collection_id, scope: self.scope, fields })
    }
}

impl Need<'_> {
    fn fixes_nothing(&self) -> bool {
        self.equal.is_empty() && self.contains.is_none()
    }

    /// Whether a field before the order may be there: its value is fixed.
    fn fixes(&self, field: &RequiredField) -> bool {
        match field {
            RequiredField::Ordered(path, _) => self.equal.contains(&path),
            RequiredField::Contains(path) => self.contains == Some(path),
            RequiredField::Vector(..) => false,
        }
    }
}

impl RequiredField {
    fn path(&self) -> &FieldPath {
        match self {
            RequiredField::Ordered(path, _)
            | RequiredField::Contains(path)
            | RequiredField::Vector(path, _) => path,
        }
    }

    /// Whether both fix the same field in the same way. Which way it runs makes no difference then.
    fn is_alike(&self, other: &RequiredField) -> bool {
        match (self, other) {
            (RequiredField::Ordered(one, _), RequiredField::Ordered(two, _))
            | (RequiredField::Contains(one), RequiredField::Contains(two)) => one == two,
            (
                RequiredField::Ordered(..) | RequiredField::Contains(_) | RequiredField::Vector(..),
                _,
            ) => false,
        }
    }
}

/// What comes before the order, if the fields end in it.
fn strip_order<'f>(
    fields: &'f [RequiredField],
    order: &[(FieldPath, Direction)],
) -> Option<&'f [RequiredField]> {
    let (prefix, suffix) = fields.split_at_checked(fields.len().checked_sub(order.len())?)?;
    let runs = suffix.iter().zip(order).all(|(field, (path, direction))| {
        matches!(field, RequiredField::Ordered(known, way) if known == path && way == direction)
    });
    runs.then_some(prefix)
}

#[cfg(test)]
mod tests;
