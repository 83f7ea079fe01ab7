//! What a report of coverage is laid out by: the expressions of functions and conditions as trees, and the allow
//! statements and functions they belong to.

use crate::check::Numbered;
use crate::error::EvalError;
use crate::position::{Position, Span};
use crate::request::Method;
use crate::ruleset::Ruleset;
use crate::tree::Function;

/// An expression with those inside of it. Literals of one value are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The number of the expression that its counts are those of.
    pub expression: u32,
    /// Its first character, an opening parenthesis included.
    pub start: Position,
    /// The last character of its last part: nothing that only closes.
    pub last: Position,
    /// Those inside of it, in the source's order.
    pub children: Vec<Node>,
}

/// An allow statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The whole path of its match block.
    pub pattern: String,
    /// Where its match block starts.
    pub block: Position,
    /// Where it starts.
    pub position: Position,
    /// What it is about.
    pub methods: Vec<Method>,
    /// The expressions of its condition; none where it has none, or a literal: then it always does the same.
    pub condition: Option<Node>,
}

/// A function of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFunction {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub position: Position,
    /// The number of the expression that it returns, which is evaluated whenever it is called.
    pub body: u32,
    /// Its expressions, variables included; none where it returns a literal.
    pub root: Option<Node>,
}

impl Ruleset {
    /// The allow statements by number, in the source's order.
    pub fn statements(&self) -> Vec<Statement> {
        let parts = self.parts();
        let statement = |rule: &crate::check::Rule| {
            let (pattern, span) = self.checked.patterns.get(rule.pattern)?;
            let methods = Method::ALL.into_iter();
            Some(Statement {
                pattern: pattern.text(),
                block: self.position(*span),
                position: self.position(rule.span),
                methods: methods.filter(|method| rule.methods & method.bit() != 0).collect(),
                condition: rule.condition.as_ref().and_then(|root| self.node(root.id, &parts)),
            })
        };
        self.checked.rules.iter().filter_map(statement).collect()
    }

    /// The functions in the source's order.
    pub fn functions(&self) -> Vec<UserFunction> {
        let parts = self.parts();
        let function = |function: &Function| UserFunction {
            name: function.name.to_string(),
            position: self.position(function.name_span),
            body: function.body.id,
            root: self.body(function, &parts),
        };
        let mut functions: Vec<_> = self.checked.functions.iter().map(function).collect();
        functions.sort_by_key(|function| function.position);
        functions
    }

    /// Where an evaluation failed: the first character of the innermost expression, and the last one.
    pub fn place_of(&self, error: &EvalError) -> Option<(Position, Position)> {
        let span = error.span?;
        Some((self.position(span), self.last(span)))
    }

    /// The expressions right inside of each, by number.
    fn parts(&self) -> Vec<Vec<u32>> {
        let mut parts = vec![Vec::new(); self.checked.expressions.len()];
        for Numbered { meta, .. } in &self.checked.expressions {
            let around = meta.parent.and_then(|parent| parts.get_mut(parent as usize));
            if let Some(around) = around {
                around.push(meta.id);
            }
        }
        parts
    }

    /// As deep as expressions nest, which is bounded.
    fn node(&self, id: u32, parts: &[Vec<u32>]) -> Option<Node> {
        let Numbered { meta, shown, .. } = self.checked.expressions.get(id as usize)?;
        if meta.is_literal {
            return None;
        }
        let children = parts.get(id as usize).into_iter().flatten();
        Some(Node {
            expression: id,
            start: self.position(*shown),
            last: self.last(*shown),
            children: children.filter_map(|part| self.node(*part, parts)).collect(),
        })
    }

    /// As in the product, a variable is an expression from `let` to the end of what is returned: its value, and
    /// what follows.
    fn body(&self, function: &Function, parts: &[Vec<u32>]) -> Option<Node> {
        let mut root = self.node(function.body.id, parts);
        let shown = self.checked.expressions.get(function.body.id as usize)?.shown;
        for binding in function.lets.iter().rev() {
            let value = self.node(binding.value.id, parts);
            root = Some(Node {
                expression: function.body.id,
                start: self.position(binding.keyword),
                last: self.last(shown),
                children: value.into_iter().chain(root).collect(),
            });
        }
        root
    }

    fn last(&self, span: Span) -> Position {
        let Position { line, column, offset } =
            self.position(Span { start: span.end, end: span.end });
        // No expression ends with the end of a line.
        Position { line, column: column.saturating_sub(1), offset: offset.saturating_sub(1) }
    }
}
