//! The tree of a source. The parser makes it with names; the checker binds them in place.

use std::sync::Arc;

use crate::position::Span;
use crate::re2::Pattern;
use crate::request::Service;
use crate::value::TypeName;

/// A whole source.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) version: Version,
    pub(crate) functions: Vec<Function>,
    pub(crate) services: Vec<ServiceBlock>,
}

/// The language's version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Version {
    #[default]
    Absent,
    One,
    Two,
}

#[derive(Debug)]
pub(crate) struct ServiceBlock {
    pub(crate) name: String,
    pub(crate) span: Span,
    /// `None` for a service nobody knows: it never matches.
    pub(crate) service: Option<Service>,
    pub(crate) functions: Vec<Function>,
    pub(crate) matches: Vec<MatchBlock>,
}

#[derive(Debug)]
pub(crate) struct MatchBlock {
    pub(crate) span: Span,
    /// Each with where it stands and where its name does.
    pub(crate) segments: Vec<(MatchSegment, Span, Span)>,
    pub(crate) functions: Vec<Function>,
    pub(crate) allows: Vec<Allow>,
    pub(crate) matches: Vec<MatchBlock>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MatchSegment {
    Literal(Arc<str>),
    /// `{x}`
    Single(Arc<str>),
    /// `{x=**}`
    Glob(Arc<str>),
}

#[derive(Debug)]
pub(crate) struct Allow {
    pub(crate) span: Span,
    pub(crate) methods: Vec<(Arc<str>, Span)>,
    pub(crate) condition: Option<Expr>,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    pub(crate) name_span: Span,
    pub(crate) parameters: Vec<(Arc<str>, Span)>,
    pub(crate) lets: Vec<Let>,
    pub(crate) body: Expr,
}

impl Function {
    /// What stands in a table while the function itself is checked.
    pub(crate) fn placeholder() -> Self {
        Function {
            name: Arc::from(""),
            name_span: Span::default(),
            parameters: Vec::new(),
            lets: Vec::new(),
            body: Expr::null(Span::default()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Let {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    /// Where `let` stands.
    pub(crate) keyword: Span,
    pub(crate) value: Expr,
}

/// One expression.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    /// Its number, for coverage: in the order the checker meets expressions.
    pub(crate) id: u32,
    /// Height of the tree below, one for a leaf.
    pub(crate) height: u32,
    pub(crate) kind: ExprKind,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Path(Vec<PathPart>),
    /// Parentheses. The checker takes them out.
    Group(Box<Expr>),
    Name {
        name: Arc<str>,
        binding: Binding,
    },
    Member {
        of: Box<Expr>,
        name: Arc<str>,
    },
    Index {
        of: Box<Expr>,
        index: Box<Expr>,
    },
    Slice {
        of: Box<Expr>,
        from: Box<Expr>,
        to: Box<Expr>,
    },
    Call(Box<Call>),
    Method(Box<MethodCall>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary {
        op: BinaryOp,
        op_span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Is {
        of: Box<Expr>,
        of_type: TypeName,
    },
    Ternary {
        mark: Span,
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
}

/// `name(args)`
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: Arc<str>,
    pub(crate) args: Vec<Expr>,
    pub(crate) target: Target,
}

/// `of.name(args)`
#[derive(Debug)]
pub(crate) struct MethodCall {
    pub(crate) of: Expr,
    pub(crate) name: Arc<str>,
    pub(crate) name_span: Span,
    pub(crate) args: Vec<Expr>,
    /// Whether `of` is a package such as `math`, so that this is a function and not a method.
    pub(crate) package: bool,
    /// The compiled first argument, where it is a literal and the method takes a regular expression.
    pub(crate) pattern: Option<Pattern>,
}

/// What a function's name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// One of the language's own functions, or nothing at all.
    Builtin,
    /// The function of that number.
    User(u32),
}

/// What a variable's name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// No variable: an error where it is evaluated.
    Unknown,
    Request,
    Resource,
    /// The wildcard of that number, counted from the outermost match block.
    Wildcard(u32),
    /// The parameter or `let` of that number in the function.
    Local(u32),
}

#[derive(Debug)]
pub(crate) enum PathPart {
    Text(Arc<str>),
    Value(Expr),
    Capture(Arc<str>),
    GlobCapture(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Or,
    And,
    In,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl BinaryOp {
    /// As it is written.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Or => "||",
            BinaryOp::And => "&&",
            BinaryOp::In => "in",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessOrEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterOrEqual => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
        }
    }
}

impl Expr {
    /// An expression of no height yet; the parser sets it from its parts.
    pub(crate) fn new(span: Span, kind: ExprKind) -> Self {
        let height = 1 + kind.height_below();
        Expr { span, id: 0, height, kind }
    }

    /// A stand-in for what could not be read.
    pub(crate) fn null(span: Span) -> Self {
        Expr::new(span, ExprKind::Null)
    }

    /// Calls back with each direct part.
    pub(crate) fn for_each_part<'a>(&'a self, mut each: impl FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Bytes(_)
            | ExprKind::Name { .. } => {}
            ExprKind::List(items) => items.iter().for_each(each),
            ExprKind::Map(entries) => entries.iter().for_each(|(key, value)| {
                each(key);
                each(value);
            }),
            ExprKind::Path(parts) => parts.iter().for_each(|part| {
                if let PathPart::Value(value) = part {
                    each(value);
                }
            }),
            ExprKind::Group(of)
            | ExprKind::Member { of, .. }
            | ExprKind::Not(of)
            | ExprKind::Negate(of)
            | ExprKind::Is { of, .. } => each(of),
            ExprKind::Index { of, index } => {
                each(of);
                each(index);
            }
            ExprKind::Slice { of, from, to } => {
                each(of);
                each(from);
                each(to);
            }
            ExprKind::Call(call) => call.args.iter().for_each(each),
            ExprKind::Method(call) => {
                each(&call.of);
                call.args.iter().for_each(each);
            }
            ExprKind::Binary { left, right, .. } => {
                each(left);
                each(right);
            }
            ExprKind::Ternary { condition, then, otherwise, .. } => {
                each(condition);
                each(then);
                each(otherwise);
            }
        }
    }
}

impl ExprKind {
    fn height_below(&self) -> u32 {
        let of = |expr: &Expr| expr.height;
        let all = |items: &[Expr]| items.iter().map(of).max().unwrap_or(0);
        match self {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Bytes(_)
            | ExprKind::Name { .. } => 0,
            ExprKind::List(items) => all(items),
            ExprKind::Map(entries) => {
                entries.iter().map(|(key, value)| of(key).max(of(value))).max().unwrap_or(0)
            }
            ExprKind::Path(parts) => parts
                .iter()
                .map(|part| if let PathPart::Value(value) = part { of(value) } else { 0 })
                .max()
                .unwrap_or(0),
            ExprKind::Group(inner)
            | ExprKind::Member { of: inner, .. }
            | ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::Is { of: inner, .. } => of(inner),
            ExprKind::Index { of: inner, index } => of(inner).max(of(index)),
            ExprKind::Slice { of: inner, from, to } => of(inner).max(of(from)).max(of(to)),
            ExprKind::Call(call) => all(&call.args),
            ExprKind::Method(call) => of(&call.of).max(all(&call.args)),
            ExprKind::Binary { left, right, .. } => of(left).max(of(right)),
            ExprKind::Ternary { condition, then, otherwise, .. } => {
                of(condition).max(of(then)).max(of(otherwise))
            }
        }
    }
}
