//! A client with its stream, as SDKs use one.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::model::{Model, Query};
use super::random::Random;
use crate::script::Listening;
use crate::server::{DATABASE, Next, START, Server};
use crate::watcher::{Boundary, NEVER, Seen, Told, View, Watcher};
use crate::wire::{add, remove, target, with_read_time, with_token};

/// A target of before, to be taken up again.
#[derive(Clone)]
struct Remembered {
    query: Query,
    view: View,
    boundary: Boundary,
}

pub(crate) struct Client {
    stream: Listening,
    watcher: Watcher,
    queries: BTreeMap<i32, Query>,
    /// Those of them that are not given up.
    wanted: Vec<i32>,
    remembered: Vec<Remembered>,
    last_id: i32,
}

impl Client {
    pub(crate) async fn new(server: &Server) -> Client {
        Client {
            stream: server.open("Listen", &[]).await,
            watcher: Watcher::default(),
            queries: BTreeMap::new(),
            wanted: Vec::new(),
            remembered: Vec::new(),
            last_id: 0,
        }
    }

    pub(crate) fn add(&mut self, query: Query) {
        self.last_id += 1;
        self.listen(self.last_id, query, None, None);
    }

    /// Takes up some target of before.
    pub(crate) fn resume(&mut self, random: &mut Random) {
        if self.remembered.is_empty() {
            return;
        }
        let remembered = random.pick(&self.remembered).clone();
        self.last_id += 1;
        let by_token = random.one_in(2);
        let Remembered { query, view, boundary } = remembered;
        self.listen(self.last_id, query, Some((view, boundary, by_token)), Some(random));
    }

    pub(crate) fn remove(&mut self, random: &mut Random) {
        if self.wanted.is_empty() {
            return;
        }
        let id = *random.pick(&self.wanted);
        self.wanted.retain(|wanted| *wanted != id);
        if let Some(remembered) = self.remember(id) {
            self.remembered.push(remembered);
        }
        self.watcher.give_up(id);
        self.stream.send(&remove(id, DATABASE));
    }

    /// Goes away in the middle of everything, and takes up all targets on another stream.
    pub(crate) async fn reconnect(&mut self, server: &Server, random: &mut Random) {
        let wanted = std::mem::take(&mut self.wanted);
        let known: Vec<_> = wanted.iter().map(|id| (*id, self.remember(*id))).collect();
        let queries = std::mem::take(&mut self.queries);
        self.stream = server.open("Listen", &[]).await;
        self.watcher = Watcher::default();
        for (id, known) in known {
            match (known, queries.get(&id)) {
                (Some(Remembered { query, view, boundary }), _) => {
                    let known = Some((view, boundary, !random.one_in(4)));
                    self.listen(id, query, known, Some(random));
                }
                (None, Some(query)) => self.listen(id, query.clone(), None, None),
                (None, None) => panic!("{id} has no query"),
            }
        }
    }

    /// Reads up to `len` messages, as long as some come.
    pub(crate) async fn read(&mut self, model: &Model, len: usize) {
        for _ in 0..len {
            match self.stream.soon().await {
                None => return,
                Some(Next::End(end)) => panic!("the stream ended: {end:?}"),
                Some(Next::Message(message)) => match self.watcher.take(message) {
                    Told::Boundary(time) => self.check(&model.at(time)),
                    Told::Removed(id, None) => {
                        self.queries.remove(&id);
                    }
                    Told::Removed(id, Some(cause)) => panic!("{id} was refused: {cause}"),
                    _ => {}
                },
            }
        }
    }

    /// Checks that nothing was left out, once there is nothing more to read.
    pub(crate) fn check_newest(&self, model: &Model) {
        assert!(self.watcher.is_settled(), "something was not answered");
        assert_eq!(self.watcher.targets.len(), self.wanted.len(), "as many targets as wanted");
        self.check(&model.newest());
    }

    fn check(&self, state: &super::model::State) {
        for (id, target) in &self.watcher.targets {
            let query = self.queries.get(id).unwrap_or_else(|| panic!("{id} has no query"));
            let expected = query.select(state);
            if target.view != expected {
                let short = |view: &View| {
                    view.iter()
                        .map(|(path, seen)| (path.clone(), seen.updated.0))
                        .collect::<Vec<_>>()
                };
                assert_eq!(short(&target.view), short(&expected), "target {id}, {query:?}");
                panic!("target {id}, {query:?}: other fields");
            }
        }
    }

    /// With `random`, the client may say how many documents it knows, and may know one that never was.
    fn listen(
        &mut self,
        id: i32,
        query: Query,
        known: Option<(View, Boundary, bool)>,
        random: Option<&mut Random>,
    ) {
        let mut target = target(id, &query.text());
        let view = match known {
            None => View::new(),
            Some((mut view, boundary, by_token)) => {
                if let Some(random) = random
                    && random.one_in(2)
                {
                    if !view.is_empty() && random.one_in(3) {
                        let seen = Seen { fields: Bytes::new(), updated: START };
                        view.insert(NEVER.to_owned(), seen);
                    }
                    let known = i32::try_from(view.len()).expect("few documents");
                    target.expected_count = Some(known);
                }
                target = match by_token {
                    true => with_token(target, boundary.token),
                    false => with_read_time(target, boundary.time),
                };
                view
            }
        };
        self.watcher.ask(&target, view);
        self.stream.send(&add(target, DATABASE));
        self.queries.insert(id, query);
        self.wanted.push(id);
    }

    /// What is known of a target since the last boundary.
    fn remember(&self, id: i32) -> Option<Remembered> {
        let view = self.watcher.targets.get(&id)?.settled.clone()?;
        let query = self.queries.get(&id)?.clone();
        Some(Remembered { query, view, boundary: self.watcher.boundary.clone()? })
    }
}
