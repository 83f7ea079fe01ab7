//! One document as the format's entity message, both ways. `docs/internals/export.md` has the message.

mod decode;
mod encode;

pub(crate) use decode::{Databases, decode};
pub(crate) use encode::Encoder;

/// Field numbers.
mod number {
    /// Of an entity.
    pub(super) mod entity {
        pub(in crate::entity) const KEY: u32 = 13;
        /// Properties that are indexed; here the empty arrays.
        pub(in crate::entity) const PROPERTY: u32 = 14;
        pub(in crate::entity) const RAW_PROPERTY: u32 = 15;
        pub(in crate::entity) const GROUP: u32 = 16;
    }

    /// Of a name, in a key and in a reference value.
    pub(super) mod name {
        pub(in crate::entity) const APP: u32 = 13;
        /// The path of a key; in a reference value its elements, one field each.
        pub(in crate::entity) const PATH: u32 = 14;
        pub(in crate::entity) const NAMESPACE: u32 = 20;
        pub(in crate::entity) const DATABASE: u32 = 23;
    }

    /// Of a property.
    pub(super) mod property {
        pub(in crate::entity) const MEANING: u32 = 1;
        pub(in crate::entity) const NAME: u32 = 3;
        pub(in crate::entity) const MULTIPLE: u32 = 4;
        pub(in crate::entity) const VALUE: u32 = 5;
    }

    /// Of a property's value.
    pub(super) mod value {
        pub(in crate::entity) const INTEGER: u32 = 1;
        pub(in crate::entity) const BOOLEAN: u32 = 2;
        pub(in crate::entity) const STRING: u32 = 3;
        pub(in crate::entity) const DOUBLE: u32 = 4;
        pub(in crate::entity) const POINT: u32 = 5;
        pub(in crate::entity) const REFERENCE: u32 = 12;
    }

    /// Of a point: its latitude and its longitude.
    pub(super) mod point {
        pub(in crate::entity) const X: u32 = 6;
        pub(in crate::entity) const Y: u32 = 7;
    }
}

/// The group of a path, a collection and a document each.
const PATH_ELEMENT: u32 = 1;

/// What a property's value stands for, where its own type does not say it.
mod meaning {
    /// An integer that is microseconds since 1970.
    pub(super) const TIMESTAMP: u64 = 7;
    /// A point on the globe.
    pub(super) const GEO_POINT: u64 = 9;
    /// Bytes.
    pub(super) const BYTES: u64 = 14;
    /// A long text of Datastore.
    pub(super) const TEXT: u64 = 15;
    /// Short bytes of Datastore.
    pub(super) const BYTE_STRING: u64 = 16;
    /// An entity of its own: a map.
    pub(super) const ENTITY: u64 = 19;
    /// An array without elements.
    pub(super) const EMPTY_ARRAY: u64 = 24;
    /// A component of a vector.
    pub(super) const VECTOR: u64 = 31;
}

/// Numbers of the fields of a path's element, which a key and a reference value spell differently.
#[derive(Clone, Copy, Debug)]
struct ElementNumbers {
    collection: u32,
    id: u32,
    name: u32,
}

/// In a key.
const KEY_ELEMENT: ElementNumbers = ElementNumbers { collection: 2, id: 3, name: 4 };

/// In a reference value.
const REFERENCE_ELEMENT: ElementNumbers = ElementNumbers { collection: 15, id: 16, name: 17 };

/// The id of the database that is not named.
const DEFAULT_DATABASE: &str = "(default)";

/// The reserved key under which some writers keep a vector's components.
const VECTOR_MARK: &str = "__vector__";

#[cfg(test)]
mod tests;
