//! What the parser's reader of the product checks while it reads: paths of match blocks and names that are
//! packages. Found before anything else is checked.

use crate::function::PACKAGES;
use crate::parse::Complaint;
use crate::position::Span;
use crate::tree::{Expr, ExprKind, File, Function, MatchBlock, MatchSegment, Version};

/// Complaints about paths and about variables named as packages.
pub(crate) fn check_paths(file: &File, version: Version) -> Vec<Complaint> {
    let mut reader = Reader { version, complaints: Vec::new() };
    file.functions.iter().for_each(|function| reader.function(function));
    for service in &file.services {
        service.functions.iter().for_each(|function| reader.function(function));
        service.matches.iter().for_each(|block| reader.block(block, false));
    }
    reader.complaints
}

struct Reader {
    version: Version,
    complaints: Vec<Complaint>,
}

impl Reader {
    fn complain(&mut self, at: Span, text: impl Into<String>) {
        if self.complaints.len() < crate::limits::DIAGNOSTICS_MAX {
            self.complaints.push(Complaint { at, text: text.into() });
        }
    }

    fn variable(&mut self, name: &str, at: Span) {
        if PACKAGES.contains(&name) {
            self.complain(at, format!("{name} is a package and cannot be used as variable name."));
        }
    }

    fn block(&mut self, block: &MatchBlock, inside_glob: bool) {
        let mut globs = 0;
        for (number, (segment, span, name_span)) in block.segments.iter().enumerate() {
            let name = match segment {
                MatchSegment::Literal(_) => continue,
                MatchSegment::Single(name) | MatchSegment::Glob(name) => name,
            };
            self.variable(name, *name_span);
            let before = block.segments.iter().take(number);
            let is_known = before.into_iter().any(|(other, ..)| match other {
                MatchSegment::Literal(_) => false,
                MatchSegment::Single(other) | MatchSegment::Glob(other) => other == name,
            });
            if is_known {
                let text = format!("Variable {name} already exists in the PathTemplate.");
                self.complain(*name_span, text);
            }
            if !matches!(segment, MatchSegment::Glob(_)) {
                continue;
            }
            globs += 1;
            let is_last = number + 1 == block.segments.len();
            if self.version != Version::Two && !is_last {
                self.complain(
                    *span,
                    "Invalid glob match expression. Glob matches are permitted as \
                     the last segment in a match declaration path.",
                );
            } else if globs > 1 && self.version == Version::Two {
                self.complain(*span, ONE_GLOB);
            }
        }
        if inside_glob && globs > 0 {
            self.complain(block.span, ONE_GLOB);
        }
        block.functions.iter().for_each(|function| self.function(function));
        for condition in block.allows.iter().filter_map(|allow| allow.condition.as_ref()) {
            self.expression(condition);
        }
        block.matches.iter().for_each(|inner| self.block(inner, inside_glob || globs > 0));
    }

    fn function(&mut self, function: &Function) {
        function.parameters.iter().for_each(|(name, span)| self.variable(name, *span));
        for binding in &function.lets {
            self.variable(&binding.name, binding.span);
            self.expression(&binding.value);
        }
        self.expression(&function.body);
    }

    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name { name, .. } => self.variable(name, expr.span),
            // `math.abs(x)` names a function.
            ExprKind::Method(call) if call.package => {
                call.args.iter().for_each(|arg| self.expression(arg));
            }
            _ => expr.for_each_part(|part| self.expression(part)),
        }
    }
}

const ONE_GLOB: &str = "Invalid glob match expression. Only one glob match is permitted in a match \
                        declaration path.";
