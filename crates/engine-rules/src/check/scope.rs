//! Where functions and wildcards are visible, and what checking leaves for the evaluator.

use std::collections::HashMap;
use std::sync::Arc;

use super::Checker;
use crate::coverage::Expression;
use crate::explain::Shape;
use crate::pattern::PathPattern;
use crate::position::{Position, Span};
use crate::request::Service;
use crate::tree::{Expr, Function};

/// A checked source: all names are bound.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// By number.
    pub(crate) functions: Vec<Function>,
    /// The scope each function stands in.
    pub(super) scopes: Vec<usize>,
    /// Whole paths of match blocks by number, and where each block opens.
    pub(crate) patterns: Vec<(PathPattern, Span)>,
    /// Allow statements in the source's order.
    pub(crate) rules: Vec<Rule>,
    /// Every expression by number.
    pub(crate) expressions: Vec<Numbered>,
    /// What each of them is to an explanation.
    pub(crate) shapes: Vec<Shape>,
}

/// An expression that has a number.
#[derive(Debug)]
pub(crate) struct Numbered {
    pub(crate) meta: Expression,
    pub(crate) span: Span,
    /// What of it the product's reports of coverage show: with the parentheses that open in front of it, and
    /// without what closes behind its last part.
    pub(crate) shown: Span,
}

/// One allow statement.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) service: Service,
    pub(crate) pattern: usize,
    /// Bits of [`crate::Method`].
    pub(crate) methods: u8,
    pub(crate) span: Span,
    pub(crate) condition: Option<Expr>,
}

/// Where an allow statement stands.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) service: Option<Service>,
    pub(super) scope: usize,
    pub(super) pattern: Option<usize>,
}

/// What a block makes visible inside of it.
pub(super) struct Scope {
    pub(super) around: Option<usize>,
    pub(super) functions: HashMap<Arc<str>, u32>,
    /// The match block it is, for its wildcards.
    pub(super) pattern: Option<usize>,
}

impl Checked {
    pub(crate) fn pattern(&self, id: usize) -> Option<&PathPattern> {
        self.patterns.get(id).map(|(pattern, _)| pattern)
    }

    /// A number for an expression.
    pub(super) fn number(&mut self, span: Span, parent: Option<u32>) -> u32 {
        let id = u32::try_from(self.expressions.len()).unwrap_or(u32::MAX);
        let (start, end) = (Position::default(), Position::default());
        let meta = Expression { id, parent, start, end, is_constant: false, is_literal: false };
        self.expressions.push(Numbered { meta, span, shown: span });
        self.shapes.push(Shape::Other);
        id
    }
}

impl Checker {
    pub(super) fn scope(&mut self, around: Option<usize>, pattern: Option<usize>) -> usize {
        self.scopes.push(Scope { around, functions: HashMap::new(), pattern });
        self.scopes.len() - 1
    }

    /// The function a name means in a scope: the innermost one.
    pub(super) fn find_function(&self, scope: usize, name: &str) -> Option<u32> {
        let mut next = Some(scope);
        while let Some(scope) = next.and_then(|id| self.scopes.get(id)) {
            if let Some(found) = scope.functions.get(name) {
                return Some(*found);
            }
            next = scope.around;
        }
        None
    }

    /// How many parameters a function takes. The one that is checked right now is not in its place.
    pub(super) fn parameters_of(&self, target: u32, checked_now: Option<u32>) -> Option<usize> {
        let function = self.checked.functions.get(target as usize)?;
        (checked_now != Some(target)).then_some(function.parameters.len())
    }

    /// The wildcard a name means in a scope, and whether it is a glob.
    pub(super) fn find_wildcard(&self, scope: usize, name: &str) -> Option<(u32, bool)> {
        let pattern = self.checked.pattern(self.scopes.get(scope)?.pattern?)?;
        let (number, _) = pattern.names().rev().find(|(_, known)| ***known == *name)?;
        let glob = pattern.segments.iter().any(
            |segment| matches!(segment, crate::tree::MatchSegment::Glob(glob) if **glob == *name),
        );
        Some((u32::try_from(number).ok()?, glob))
    }
}
