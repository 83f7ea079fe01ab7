//! Listen streams as scripts: what a client does, and what it is told then.
//!
//! A step is a pair of texts. The first says what happens before the stream is read on (`; ` between two
//! things); the second is everything that comes then, in order (`; ` between two messages; documents next to
//! each other in the order of their paths).
//!
//! Doings: a commit (`set c/a n=1 & delete c/b`), `listen 1 c where n > 1` (and `docs c/a c/b`, see
//! `wire::target`; `from x` or `at x` in front takes up at what was kept), `unlisten 1`, `keep x`,
//! `imagine x 1 c/z` (the client has one more document of target 1),
//! `clear` or `clear /c/a`, `fill c 10`, `reopen`, `elsewhere` (another service), `read 3` messages, `close`,
//! `stop`, `wait 30` seconds.
//!
//! Messages: `add 1`, `reset 1`, `current 1`, `remove 1`, `remove 1 3 text`, `--` (a boundary),
//! `c/a n=1 +1 -2` (a document that is in target 1 now and has left target 2), `gone c/a -1`, `filter 1 2 named -1`
//! (an existence filter of two documents, with their names, for which the client forgets one), `end 0`.

use std::collections::BTreeMap;
use std::time::Duration;

use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;

use crate::fields;
use crate::server::{Call, DATABASE, Next, START, Server};
use crate::watcher::{Boundary, Seen, Told, View, Watcher};
use crate::wire::{add, commit, remove, set, target, with_read_time, with_token, writes};

/// A listen stream with its client.
pub(crate) type Listening = Call<wire::ListenRequest, wire::ListenResponse>;

/// What was kept of a stream, for taking up there.
struct Kept {
    boundary: Boundary,
    views: BTreeMap<i32, View>,
}

/// A script being run.
struct Script {
    server: Server,
    stream: Listening,
    watcher: Watcher,
    kept: BTreeMap<String, Kept>,
    messages: Vec<String>,
    database: &'static str,
    metadata: &'static [(&'static str, &'static str)],
}

/// Where a client names the database.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Naming {
    /// In each message, as SDKs do.
    Messages,
    /// In the metadata of the call alone, as some do.
    Metadata,
    /// Nowhere but in the targets.
    Nowhere,
}

/// Runs a script whose client names the database in its messages.
pub(crate) async fn check(name: &str, steps: &[(&str, &str)]) {
    check_named(name, Naming::Messages, steps).await;
}

/// Runs a script.
pub(crate) async fn check_named(name: &str, naming: Naming, steps: &[(&str, &str)]) {
    let (database, metadata): (_, &[_]) = match naming {
        Naming::Messages => (DATABASE, &[]),
        Naming::Metadata => ("", &[("google-cloud-resource-prefix", DATABASE)]),
        Naming::Nowhere => ("", &[]),
    };
    let server = Server::new(1);
    let stream = server.open("Listen", metadata).await;
    let watcher = Watcher::default();
    let (kept, messages) = (BTreeMap::new(), Vec::new());
    let mut script = Script { server, stream, watcher, kept, messages, database, metadata };
    for (number, (doings, expected)) in steps.iter().enumerate() {
        for doing in doings.split("; ") {
            script.run(doing).await;
        }
        script.read(usize::MAX).await;
        let told = ordered(std::mem::take(&mut script.messages));
        let expected = expected.split("; ").filter(|text| !text.is_empty());
        let expected = ordered(expected.map(str::to_owned).collect());
        assert_eq!(told, expected, "{name}, {naming:?}, step {number}: {doings}");
    }
}

impl Script {
    async fn run(&mut self, doing: &str) {
        let (verb, rest) = doing.split_once(' ').unwrap_or((doing, ""));
        match verb {
            "" => {}
            "listen" => self.listen(rest),
            "unlisten" => {
                let id = rest.parse().expect("an id");
                if self.watcher.knows(id) {
                    self.watcher.give_up(id);
                }
                self.stream.send(&remove(id, self.database));
            }
            "keep" => {
                let boundary = self.watcher.boundary.clone().expect("a boundary");
                let views = self.watcher.targets.iter();
                let views = views.filter_map(|(id, target)| Some((*id, target.settled.clone()?)));
                let views = views.collect();
                self.kept.insert(rest.to_owned(), Kept { boundary, views });
            }
            "imagine" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let [kept, id, path] = words[..] else { panic!("no document: {rest}") };
                let kept = self.kept.get_mut(kept).expect("it was kept");
                let view = kept.views.get_mut(&id.parse().expect("an id")).expect("a view");
                let seen = Seen { fields: fields::parse(["n=1"]), updated: START };
                view.insert(path.to_owned(), seen);
            }
            "clear" => self.server.clear(rest).await,
            "fill" => {
                let (collection, len) = rest.split_once(' ').expect("a collection and a number");
                self.fill(collection, len.parse().expect("a number")).await;
            }
            "reopen" => self.reopen().await,
            "elsewhere" => {
                self.server = Server::new(2);
                self.reopen().await;
            }
            "read" => self.read(rest.parse().expect("a number")).await,
            "close" => self.stream.half_close(),
            "stop" => self.server.stop(),
            "empty" => self.stream.send(&wire::ListenRequest::default()),
            "wait" => tokio::time::sleep(Duration::from_secs(rest.parse().expect("seconds"))).await,
            _ => {
                let request = commit(writes(doing), Bytes::new());
                let committed =
                    self.server.call::<_, wire::CommitResponse>("Commit", &request).await;
                committed.unwrap_or_else(|failure| panic!("{doing}: {failure}"));
            }
        }
    }

    /// `1 c`, `from x 1 c`, `at x 1 c`, `from x as 2 1 c` (what target 1 is known by is that of target 2 then).
    fn listen(&mut self, text: &str) {
        let mut rest = text;
        let mut word = || {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            rest = after;
            word
        };
        let mut first = word();
        let resume = ["from", "at", "garbage"].contains(&first).then(|| {
            let (how, kept) = (first, word());
            first = word();
            (how, kept)
        });
        let id: i32 = first.parse().unwrap_or_else(|_| panic!("no id: {text}"));
        let mut target = match rest {
            "nothing" => wire::Target { target_id: id, ..wire::Target::default() },
            query => target(id, query),
        };
        let mut view = View::new();
        match resume {
            None => {}
            Some(("garbage", token)) => target = with_token(target, token.to_owned().into()),
            Some((how, kept)) => {
                let kept = self.kept.get(kept).unwrap_or_else(|| panic!("{kept} was not kept"));
                view = kept.views.get(&id).cloned().unwrap_or_default();
                target = match how {
                    "at" => with_read_time(target, kept.boundary.time),
                    _ => with_token(target, kept.boundary.token.clone()),
                };
            }
        }
        self.watcher.ask(&target, view);
        self.stream.send(&add(target, self.database));
    }

    async fn fill(&self, collection: &str, len: usize) {
        let document = |number| set(&format!("{collection}/{number:05}"), fields::parse(["n=1"]));
        let request = commit((0..len).map(document).collect(), Bytes::new());
        let _: wire::CommitResponse = self.server.call("Commit", &request).await.expect("a commit");
    }

    async fn reopen(&mut self) {
        self.stream = self.server.open("Listen", self.metadata).await;
        self.watcher = Watcher::default();
    }

    async fn read(&mut self, len: usize) {
        for _ in 0..len {
            match self.stream.soon().await {
                None => return,
                Some(Next::Message(message)) => {
                    let told = self.watcher.take(message);
                    self.messages.push(render(told));
                }
                Some(Next::End(end)) => {
                    let text = end.map_or_else(|failure| failure.to_string(), |()| "0".to_owned());
                    self.messages.push(format!("end {text}"));
                    self.stream = self.server.open("Listen", self.metadata).await;
                    self.watcher = Watcher::default();
                    return;
                }
            }
        }
    }
}

fn render(told: Told) -> String {
    let ids = |sign: char, ids: &[i32]| -> String {
        ids.iter().map(|id| format!(" {sign}{id}")).collect()
    };
    match told {
        Told::Added(id) => format!("add {id}"),
        Told::Removed(id, None) => format!("remove {id}"),
        Told::Removed(id, Some(cause)) => format!("remove {id} {cause}"),
        Told::Reset(id) => format!("reset {id}"),
        Told::Current(id) => format!("current {id}"),
        Told::Boundary(_) => "--".to_owned(),
        Told::Changed { path, seen, inside, left } => {
            let fields = fields::render(&seen.fields);
            format!("{path} {fields}{}{}", ids('+', &inside), ids('-', &left))
        }
        Told::Deleted { path, left } => format!("gone {path}{}", ids('-', &left)),
        Told::Filtered { id, count, has_names, forgotten } => {
            let names = if has_names { " named" } else { "" };
            format!("filter {id} {count}{names} -{forgotten}")
        }
    }
}

/// Documents that stand next to each other come in any order.
fn ordered(mut messages: Vec<String>) -> Vec<String> {
    let path = |message: &String| {
        let path = message.trim_start_matches("gone ").split(' ').next().unwrap_or_default();
        path.contains('/').then(|| path.to_owned())
    };
    for run in messages.chunk_by_mut(|one, two| path(one).is_some() && path(two).is_some()) {
        run.sort_by_key(path);
    }
    messages
}
