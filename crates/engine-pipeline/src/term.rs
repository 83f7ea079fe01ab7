//! A pipeline as a client states it, before anything is checked: what the protocol's values are here.

use std::collections::BTreeMap;

use base_value::Value;

/// A value of a request, which may be computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A value that is what it is.
    Constant(Value),
    /// The value of a field, by its written path.
    Field(String),
    /// The value of a variable.
    Variable(String),
    /// What a function answers.
    Function {
        /// Its name, in snake case.
        name: String,
        /// What it is given.
        args: Vec<Term>,
        /// What it is given by name.
        options: BTreeMap<String, Term>,
    },
    /// A pipeline.
    Pipeline(Vec<RawStage>),
    /// An array, one of whose elements is computed.
    Array(Vec<Term>),
    /// A map, one of whose values is computed.
    Map(BTreeMap<String, Term>),
}

/// A stage of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawStage {
    /// Its name, in snake case.
    pub name: String,
    /// What it is given.
    pub args: Vec<Term>,
    /// What it is given by name.
    pub options: BTreeMap<String, Term>,
}
