//! Random and broken sources: whatever they say, nothing panics, and the work is bounded.

use engine_rules::{Method, Ruleset, Session};

use crate::data::{Table, fields, request, text};

/// A small generator of numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn pick<'t>(&mut self, table: &[&'t str]) -> &'t str {
        table.get(self.below(table.len())).copied().unwrap_or_default()
    }
}

const PIECES: &[&str] = &[
    "service",
    "cloud.firestore",
    "match",
    "allow",
    "read",
    "write",
    "if",
    "function",
    "return",
    "let",
    "f",
    "g",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "/",
    "/a",
    "/{",
    "{x=**}",
    "/$(",
    ":",
    ";",
    ",",
    ".",
    "?",
    "&&",
    "||",
    "==",
    "!=",
    "<",
    ">=",
    "+",
    "-",
    "*",
    "%",
    "!",
    "in",
    "is",
    "int",
    "'a'",
    "\"b\"",
    "b'c'",
    "1",
    "2.5",
    "null",
    "true",
    "request",
    "resource",
    "data",
    "'",
    "\\",
    "//",
    "/*",
    "*/",
    "\n",
    " ",
    "rules_version",
    "=",
    "'2'",
    "--",
    "#",
    "\u{e9}",
    "\u{1f600}",
];

const LEAVES: &[&str] = &[
    "1",
    "0",
    "-1",
    "9223372036854775807",
    "2.5",
    "'a'",
    "'\\u00e9b'",
    "''",
    "null",
    "true",
    "false",
    "b'x'",
    "[]",
    "[1, 'a', null]",
    "{}",
    "{'a': 1, 'b': [2]}",
    "request",
    "resource",
    "resource.data",
    "request.time",
    "request.path",
    "id",
    "database",
    "/a/b",
    "/a/{x}",
    "nope",
    "[1, 1.0].toSet()",
    "{'a': 1}.diff({'b': 2})",
    "duration.value(1, 'h')",
    "timestamp.date(2020, 1, 2)",
    "latlng.value(1, 2)",
    "float('NaN')",
    "math.pow(10, 400)",
    "f(1)",
    "g()",
];

const BINARY: &[&str] =
    &["&&", "||", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/ ", "%", "in"];

const METHODS: &[&str] = &[
    "size",
    "lower",
    "matches",
    "replace",
    "split",
    "join",
    "concat",
    "hasAll",
    "hasAny",
    "hasOnly",
    "removeAll",
    "toSet",
    "keys",
    "values",
    "get",
    "diff",
    "addedKeys",
    "affectedKeys",
    "union",
    "intersection",
    "difference",
    "bind",
    "year",
    "date",
    "time",
    "seconds",
    "nanos",
    "toMillis",
    "dayOfYear",
    "latitude",
    "distance",
    "toBase64",
    "toHexString",
    "toUtf8",
    "trim",
    "upper",
    "foo",
];

const FUNCTIONS: &[&str] = &[
    "string",
    "int",
    "float",
    "path",
    "debug",
    "get",
    "exists",
    "getAfter",
    "existsAfter",
    "math.abs",
    "math.round",
    "math.pow",
    "math.sqrt",
    "hashing.md5",
    "hashing.sha256",
    "hashing.crc32",
    "duration.value",
    "duration.time",
    "duration.abs",
    "timestamp.value",
    "timestamp.date",
    "latlng.value",
    "f",
    "g",
    "nope",
];

const TYPES: &[&str] =
    &["int", "float", "string", "list", "map", "set", "path", "timestamp", "number", "bool"];

/// A random expression that can be read.
fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random.pick(LEAVES).to_owned();
    }
    let part = |random: &mut Random| expression(random, depth - 1);
    match random.below(12) {
        0 | 1 => format!("({} {} {})", part(random), random.pick(BINARY), part(random)),
        2 => format!("({})[{}]", part(random), part(random)),
        3 => format!("({})[{}:{}]", part(random), part(random), part(random)),
        4 => format!("({}).{}", part(random), random.pick(&["a", "b", "data", "id", "x"])),
        5 => format!("({}).{}()", part(random), random.pick(METHODS)),
        6 => format!("({}).{}({})", part(random), random.pick(METHODS), part(random)),
        7 => format!(
            "({}).{}({}, {})",
            part(random),
            random.pick(METHODS),
            part(random),
            part(random)
        ),
        8 => format!("{}({})", random.pick(FUNCTIONS), part(random)),
        9 => format!("{}({}, {})", random.pick(FUNCTIONS), part(random), part(random)),
        10 => format!("(({}) ? {} : {})", part(random), part(random), part(random)),
        _ => match random.below(4) {
            0 => format!("!({})", part(random)),
            1 => format!("-({})", part(random)),
            2 => format!("[{}, {}]", part(random), part(random)),
            _ => format!("(({}) is {})", part(random), random.pick(TYPES)),
        },
    }
}

fn source(random: &mut Random) -> String {
    let (first, second) = (expression(random, 2), expression(random, 3));
    let (third, fourth) = (expression(random, 4), expression(random, 3));
    format!(
        "rules_version = '2';\nservice cloud.firestore {{ match /databases/{{database}}/documents {{\n\
         function g() {{ let y = {first}; return [y, {second}]; }}\nfunction f(x) {{ return x == g(); }}\n\
         match /notes/{{id}} {{ allow get: if {third}; allow read: if {fourth}; allow list; }} }} }}"
    )
}

fn mutated(random: &mut Random, source: &str) -> String {
    let mut text: Vec<char> = source.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len());
        match random.below(4) {
            0 => {
                text.remove(at);
            }
            1 => {
                let piece: Vec<char> = random.pick(PIECES).chars().collect();
                text.splice(at..at, piece);
            }
            2 => {
                let end = (at + random.below(20)).min(text.len());
                text.drain(at..end);
            }
            _ => {
                let end = (at + random.below(30)).min(text.len());
                let copy: Vec<char> = text.get(at..end).unwrap_or_default().to_vec();
                text.splice(at..at, copy);
            }
        }
        if text.is_empty() {
            break;
        }
    }
    text.into_iter().collect()
}

/// Reads a source and, where it can be read, decides with it. Whether it could be read.
fn run(source: &str, table: &Table) -> bool {
    let Ok(ruleset) = Ruleset::parse(source) else { return false };
    let path = ["databases", "(default)", "documents", "notes", "a"];
    let coverage = ruleset.coverage();
    for method in [Method::Get, Method::List, Method::Create] {
        let request = request(method, &path);
        let plain = ruleset.decide(&request, table);
        let watched = ruleset.decide_in(&request, &Session::single(table), Some(&coverage));
        assert_eq!(plain, watched, "{source}");
    }
    for expression in ruleset.expressions() {
        let counts = coverage.counts(expression.id);
        assert!(counts.total() <= 3_000, "{source}");
    }
    true
}

#[test]
fn random_sources_are_survived() {
    let table = Table::with(&[("a/b", fields([("n", text("x"))]))]);
    let mut random = Random(0x5eed_2026);
    let mut read = 0;
    for round in 0..3_000 {
        let whole = source(&mut random);
        let text = match round % 3 {
            0 => whole,
            1 => mutated(&mut random, &whole),
            _ => {
                let count = random.below(60);
                (0..count).map(|_| random.pick(PIECES)).collect::<Vec<_>>().join(" ")
            }
        };
        read += usize::from(run(&text, &table));
    }
    assert!(read > 400, "{read} were read");
}

/// What is left of a good source cut off anywhere.
#[test]
fn every_prefix_is_survived() {
    let table = Table::default();
    let whole = source(&mut Random(7));
    for (at, _) in whole.char_indices() {
        run(whole.get(..at).unwrap_or_default(), &table);
    }
}

/// Values that double in every call, and calls and operators nested as deep as they may: on a small stack.
#[test]
fn hostile_rulesets_are_bounded() {
    let doubling = |first: &str, step: &str| {
        let mut functions = String::new();
        for number in 0..20 {
            let lets: String = (0..10)
                .map(|place| {
                    let before =
                        if place == 0 { "x".to_owned() } else { format!("v{}", place - 1) };
                    format!("let v{place} = {}; ", step.replace('?', &before))
                })
                .collect();
            let next = if number == 19 { "v9".to_owned() } else { format!("f{}(v9)", number + 1) };
            functions.push_str(&format!("function f{number}(x) {{ {lets}return {next}; }}\n"));
        }
        format!("{functions}match /notes/{{id}} {{ allow get: if f0({first}) == 1; }}")
    };
    let deep = {
        let mut functions = String::new();
        for number in 0..20 {
            let next = if number == 19 { "true".to_owned() } else { format!("f{}()", number + 1) };
            functions.push_str(&format!(
                "function f{number}() {{ return {}{next}; }}\n",
                "!".repeat(97)
            ));
        }
        format!("{functions}match /notes/{{id}} {{ allow get: if f0(); }}")
    };
    let chain = format!("match /notes/{{id}} {{ allow get: if request{}; }}", ".a".repeat(590));
    let pattern =
        "match /notes/{id} { allow get: if ('a' + 'b').matches('((a{1,50}){1,50}){1,50}' + 'c'); }";
    let bodies = [
        doubling("'abcdefgh'", "? + ?"),
        doubling("[1, 2]", "?.concat(?)"),
        doubling("[1, 2]", "[?, ?]"),
        doubling("'ab'", "?.replace('a|b', 'abab')"),
        deep,
        chain,
        pattern.to_owned(),
    ];
    let run = move || {
        for body in bodies {
            let source = format!(
                "rules_version = '2';\nservice cloud.firestore {{ match /databases/{{database}}/documents {{\n{body}\n}} }}"
            );
            assert!(run(&source, &Table::default()), "{:?}", Ruleset::parse(&source).err());
        }
    };
    let small = std::thread::Builder::new().stack_size(2 * 1_024 * 1_024).spawn(run).unwrap();
    small.join().unwrap();
}

/// Sources of nothing but one thing: read in time that grows with their length alone.
#[test]
fn monotonous_sources_are_read_in_time() {
    let service = "service cloud.firestore { ";
    let many = |head: &str, part: &str, tail: &str| {
        let room = engine_rules::limits::SOURCE_MAX_BYTES - head.len() - tail.len();
        head.to_owned() + &part.repeat(room / part.len()) + tail
    };
    let rest = " match /x { allow read; } }";
    let (function, block) = (format!("{service}function f"), format!("{service}match /a {{ "));
    let deep = format!("{service}match {} {{ ", "/{b}".repeat(100));
    let sources = [
        many(service, "/* ", ""),
        many(service, "'\\q", ""),
        many(&format!("{function}("), "a,", &format!("a) {{ return 1; }}{rest}")),
        many(&format!("{function}() {{ "), "let a=1;", &format!("return 1; }}{rest}")),
        many(&block, "allow read:if a;", "} }"),
        many(&format!("{block}allow read: if ["), "a,b.c(1),", "1]; } }"),
        many(&format!("{service}match "), "/{a}", " { allow read; } }"),
        many(service, "function f(){return f();}", rest),
        many(service, "match/{a}{", ""),
        many(&deep, "match/a{allow read;}", "} }"),
        many(&format!("rules_version='2';{block}"), "allow read:if a.b;", "} }"),
    ];
    for source in sources {
        run(&source, &Table::default());
    }
}

#[test]
fn rulesets_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Ruleset>();
    shared::<engine_rules::Coverage>();
}
