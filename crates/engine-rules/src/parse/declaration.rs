//! Versions, services, match blocks, allow statements and functions.

use super::{Lost, Parsed, Parser};
use crate::lexer::{Kind, string_value};
use crate::limits::MATCH_SEGMENTS_MAX;
use crate::position::Span;
use crate::request::Service;
use crate::tree::{Allow, Expr, File, Function, Let, MatchBlock, ServiceBlock, Version};

const TOP: &str = "{'function', 'import', 'service', 'rules_version'}";
const AFTER_SERVICE: &str = "{<EOF>, 'function', 'service'}";
const AFTER_RETURN: &str = "{'&&', '.', '==', '>', '>=', '[', '<', '<=', '-', '%', '!=', '||', '+', '}', ';', \
                            '/', '*', '?', 'in', 'is'}";
pub(super) const AFTER_PATH: &str = "{'{', '/', PATH_SEGMENT}";

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        if self.at_end() {
            self.complain_here(format!("mismatched input '<EOF>' expecting {TOP}"));
            return file;
        }
        if self.is_word("rules_version") && self.version(&mut file).is_err() {
            self.skip_statement();
        }
        let mut first = true;
        while !self.at_end() {
            let is_function = self.is_word("function");
            if self.declaration(&mut file, first).is_err() && !is_function {
                self.skip_declaration();
            }
            first = false;
        }
        if file.services.is_empty() && self.complaints.is_empty() {
            self.complain_here("Unexpected '<EOF>'.");
        }
        file
    }

    fn declaration(&mut self, file: &mut File, first: bool) -> Parsed<()> {
        if self.is_word("function") {
            let function = self.function()?;
            file.functions.push(function);
            return Ok(());
        }
        if self.is_word("service") {
            return self.service(file);
        }
        if self.is_word("import") {
            self.advance();
            return Err(self.unexpected());
        }
        if first && file.services.is_empty() && file.version == Version::Absent {
            return Err(self.top_mismatch());
        }
        Err(self.unexpected())
    }

    fn top_mismatch(&mut self) -> Lost {
        let expecting = if self.at == 0 { TOP } else { AFTER_SERVICE };
        self.mismatched(expecting)
    }

    /// Skips to what may open a declaration at the top of a file.
    fn skip_declaration(&mut self) {
        let start = self.at;
        while !self.at_end() {
            let opens = self.is_word("service") || self.is_word("function");
            if opens && self.at > start {
                return;
            }
            self.advance();
        }
    }

    fn version(&mut self, file: &mut File) -> Parsed<()> {
        let keyword = self.advance();
        if !self.take_mark("=") {
            let named = self.named(self.token());
            return Err(self.complain_here(format!("missing '=' at '{named}'")));
        }
        if self.token().kind != Kind::String {
            return Err(self.mismatched("STRING"));
        }
        let literal = self.advance();
        let version = string_value(self.text_of(literal));
        match version.as_str() {
            "1" => file.version = Version::One,
            "2" => file.version = Version::Two,
            other => {
                self.complain(keyword.span, format!("Unsupported rules version {other}."));
                file.version = Version::Two;
            }
        }
        self.take_mark(";");
        Ok(())
    }

    fn service(&mut self, file: &mut File) -> Parsed<()> {
        self.advance();
        let Some((first, start)) = self.identifier() else { return Err(self.unexpected()) };
        let mut name = first.to_string();
        let mut span = start;
        while self.take_mark(".") {
            let Some((part, part_span)) = self.identifier() else { return Err(self.unexpected()) };
            name.push('.');
            name.push_str(&part);
            span = span.to(part_span);
        }
        let service = Service::named(&name);
        if !self.take_mark("{") {
            return Err(self.unexpected());
        }
        let mut block =
            ServiceBlock { name, span, service, functions: Vec::new(), matches: Vec::new() };
        self.service_body(&mut block);
        file.services.push(block);
        Ok(())
    }

    fn service_body(&mut self, block: &mut ServiceBlock) {
        let mut count = 0;
        loop {
            if self.is_mark("}") {
                if count == 0 {
                    self.complain_here("The 'service' body must contain at least one declaration.");
                }
                self.advance();
                return;
            }
            if self.at_end() {
                self.end_of_body();
                return;
            }
            count += 1;
            let is_function = self.is_word("function");
            let read = if self.is_word("function") {
                self.function().map(|function| block.functions.push(function))
            } else if self.is_word("match") {
                self.match_block(0).map(|inner| block.matches.push(inner))
            } else {
                Err(self.unexpected())
            };
            if read.is_err() && !is_function {
                self.skip_one_statement();
            }
        }
    }

    /// Skips a statement, and at least one token where it starts with a keyword of its own.
    fn skip_one_statement(&mut self) {
        if !self.is_mark("}") {
            self.advance();
        }
        self.skip_statement();
    }

    /// The blocks around report the same end once more, in the product's other words, and then no more.
    fn end_of_body(&mut self) {
        let at = self.token().span;
        let reported = self.complaints.iter().filter(|complaint| complaint.at == at).count();
        match reported {
            0 => self.complain(at, "Unexpected '<EOF>'."),
            1 => self.complain(at, "mismatched input '<EOF>' expecting '}'"),
            _ => {}
        }
    }

    /// A match block, below paths of so many segments.
    fn match_block(&mut self, depth: usize) -> Parsed<MatchBlock> {
        let keyword = self.advance();
        let segments = self.match_path()?;
        if !self.is_mark("{") {
            return Err(if self.at_end() {
                self.mismatched(AFTER_PATH)
            } else {
                self.unexpected()
            });
        }
        self.advance();
        let end = segments.last().map_or(keyword.span, |(_, span, _)| *span);
        let mut block = MatchBlock {
            span: keyword.span.to(end),
            segments,
            functions: Vec::new(),
            allows: Vec::new(),
            matches: Vec::new(),
        };
        let depth = depth + block.segments.len();
        if depth > MATCH_SEGMENTS_MAX {
            self.complain(keyword.span, "Expression is too complex to evaluate safely.");
            self.given_up = true;
        }
        self.match_body(&mut block, depth);
        Ok(block)
    }

    fn match_body(&mut self, block: &mut MatchBlock, depth: usize) {
        let mut count = 0;
        loop {
            if self.is_mark("}") {
                if count == 0 {
                    self.complain_here("The 'match' body must contain at least one declaration.");
                }
                self.advance();
                return;
            }
            if self.at_end() {
                self.end_of_body();
                return;
            }
            count += 1;
            let is_function = self.is_word("function");
            let read = if self.is_word("allow") {
                self.allow().map(|allow| block.allows.push(allow))
            } else if self.is_word("match") {
                self.match_block(depth).map(|inner| block.matches.push(inner))
            } else if self.is_word("function") {
                self.function().map(|function| block.functions.push(function))
            } else {
                Err(self.unexpected())
            };
            if read.is_err() && !is_function {
                self.skip_one_statement();
            }
        }
    }

    fn allow(&mut self) -> Parsed<Allow> {
        let keyword = self.advance();
        let mut methods = Vec::new();
        if let Some(method) = self.identifier() {
            methods.push(method);
        } else {
            self.complain_here("Expected at least one 'operation' after 'allow'.");
            return Err(self.unexpected());
        }
        while self.is_mark(",") {
            let comma = self.token();
            self.advance();
            let Some(method) = self.identifier() else {
                self.complain(comma.span, "Unexpected ','.");
                return Err(Lost);
            };
            methods.push(method);
        }
        let mut condition = None;
        if self.take_mark(":") {
            condition = Some(self.condition()?);
        }
        let end = self.token().span;
        if !self.take_mark(";") && !self.ends_statement() {
            return Err(self.unexpected());
        }
        Ok(Allow { span: Span { start: keyword.span.start, end: end.start }, methods, condition })
    }

    /// Whether a statement may end here without its semicolon, as the product lets it.
    fn ends_statement(&self) -> bool {
        self.is_mark("}") || ["allow", "match", "function"].iter().any(|word| self.is_word(word))
    }

    fn condition(&mut self) -> Parsed<Expr> {
        if !self.is_word("if") {
            return Err(self.complain_here("Missing 'if' before conditional expression."));
        }
        self.advance();
        if !self.starts_expression() {
            if matches!(self.token().kind, Kind::Unpaired) {
                return Err(self.unexpected());
            }
            let is_separator = self.is_mark(";") || self.is_mark("}");
            self.complain_here("Missing conditional expression after 'if'.");
            return Err(if is_separator { Lost } else { self.unexpected() });
        }
        self.expression()
    }

    /// A function. Where it cannot be read, its whole body is skipped.
    fn function(&mut self) -> Parsed<Function> {
        self.advance();
        let mut is_open = false;
        let read = self.signature_and_body(&mut is_open);
        if read.is_err() {
            self.skip_block(is_open);
        }
        read
    }

    /// Skips to behind the brace that closes the block opened, or to be opened next.
    fn skip_block(&mut self, is_open: bool) {
        let mut open = usize::from(is_open);
        while !self.at_end() {
            if self.is_mark("{") {
                open += 1;
            } else if self.is_mark("}") {
                if open == 0 {
                    return;
                }
                open -= 1;
                if open == 0 {
                    self.advance();
                    return;
                }
            }
            self.advance();
        }
    }

    fn signature_and_body(&mut self, is_open: &mut bool) -> Parsed<Function> {
        let Some((name, name_span)) = self.identifier() else {
            return Err(self.complain_here("Missing 'function' id"));
        };
        if !self.take_mark("(") {
            return Err(self.complain_here("Missing 'function' signature"));
        }
        let mut parameters = Vec::new();
        while let Some(parameter) = self.identifier() {
            parameters.push(parameter);
            if !self.take_mark(",") {
                break;
            }
        }
        if !self.take_mark(")") || !self.take_mark("{") {
            return Err(self.unexpected());
        }
        *is_open = true;
        if self.is_mark("}") {
            self.complain_here("Missing 'function' body");
            self.advance();
            let body = Expr::null(name_span);
            return Ok(Function { name, name_span, parameters, lets: Vec::new(), body });
        }
        let mut lets = Vec::new();
        while self.is_word("let") {
            lets.push(self.binding()?);
        }
        if !self.is_word("return") {
            return Err(self.unexpected());
        }
        self.advance();
        if !self.starts_expression() {
            return Err(self.mismatched(super::EXPRESSION_START));
        }
        let body = self.expression()?;
        let is_ended = self.take_mark(";");
        if !self.take_mark("}") {
            return Err(if is_ended { self.unexpected() } else { self.mismatched(AFTER_RETURN) });
        }
        Ok(Function { name, name_span, parameters, lets, body })
    }

    fn binding(&mut self) -> Parsed<Let> {
        let keyword = self.advance().span;
        let Some((name, span)) = self.identifier() else { return Err(self.unexpected()) };
        if !self.take_mark("=") {
            let named = self.named(self.token());
            return Err(self.complain_here(format!("missing '=' at '{named}'")));
        }
        if !self.starts_expression() {
            return Err(self.mismatched(super::EXPRESSION_START));
        }
        let value = self.expression()?;
        if !self.take_mark(";") {
            let named = self.named(self.token());
            return Err(self.complain_here(format!("missing ';' at '{named}'")));
        }
        Ok(Let { name, span, keyword, value })
    }
}
