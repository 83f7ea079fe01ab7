//! Clients of listen streams against a model, from seeds.
//!
//! A client adds and removes targets, reads a little or much, takes up again with tokens or times, on the
//! same stream or another, while documents are written, cleared, and sometimes so many of them that a slow
//! client is left behind. At every boundary each of its targets has to hold exactly what its query selects
//! in the state of that time; and when there is nothing more to read, in the newest one. Sometimes a client knows a
//! document that never was, and is put right by a filter.
//!
//! A run prints its seed. `FIRELET_SIMULATION_RUNS=10000 cargo test -p svc-firestore simulation` runs more of them than
//! the usual few hundred, `FIRELET_SIMULATION_SEED=77` that one alone.

mod client;
mod model;
mod random;

use std::ops::Range;

use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;

use crate::server::{DATABASE, Server};
use crate::wire::{commit, micros, name};
use client::Client;
use model::{Model, Query};
use random::Random;

/// Runs of one test, each from its own seed.
const RUNS: u64 = 300;

/// The seeds to run: `usual` of them from `first` on, unless the environment says otherwise.
fn seeds(first: u64, usual: u64) -> Range<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
    };
    match number("FIRELET_SIMULATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            first
                ..first
                    + number("FIRELET_SIMULATION_RUNS")
                        .map_or(usual, |runs: u64| runs * usual / RUNS)
        }
    }
}

/// What happens in one run.
const STEPS: usize = 60;

/// One run.
struct Simulation {
    random: Random,
    server: Server,
    model: Model,
    clients: Vec<Client>,
}

impl Simulation {
    async fn run(seed: u64, heavy: bool) {
        let random = Random::new(seed);
        let server = Server::new(seed);
        let clients = vec![Client::new(&server).await, Client::new(&server).await];
        let mut simulation = Simulation { random, server, model: Model::default(), clients };
        if simulation.random.one_in(4) {
            // First states that do not fit into what a stream holds back for its reader.
            simulation.fill(300, "").await;
        }
        for _ in 0..STEPS {
            simulation.step(heavy).await;
        }
        for client in &mut simulation.clients {
            client.read(&simulation.model, usize::MAX).await;
            client.check_newest(&simulation.model);
        }
    }

    async fn step(&mut self, heavy: bool) {
        if heavy && self.random.one_in(12) {
            return self.be_heavy().await;
        }
        let client = self.random.below(2);
        match self.random.below(100) {
            0..40 => self.commit().await,
            40..52 => {
                let query = Query::random(&mut self.random);
                self.with(client, |client, _| client.add(query));
            }
            52..58 => self.with(client, Client::resume),
            58..64 => self.with(client, Client::remove),
            64..84 => {
                let len = self.random.below(6);
                self.read(client, len).await;
            }
            84..93 => self.read(client, usize::MAX).await,
            93..97 => {
                if let Some(client) = self.clients.get_mut(client) {
                    client.reconnect(&self.server, &mut self.random).await;
                }
            }
            97..98 => self.clear("").await,
            98..99 => self.clear("/c").await,
            _ => {
                let seconds = self.random.below(100) as u64;
                self.server.env.advance(std::time::Duration::from_secs(seconds));
            }
        }
    }

    /// More than the commit log holds, in one way or another.
    async fn be_heavy(&mut self) {
        match self.random.below(3) {
            // A clear that lists nothing.
            0 => {
                self.fill(4_200, "").await;
                self.clear("").await;
            }
            // Large documents.
            1 => {
                let padding = "x".repeat(900_000);
                for _ in 0..25 {
                    self.fill(1, &padding).await;
                }
            }
            // Many commits that a window has to follow, then large ones while it does.
            _ => {
                for _ in 0..200 {
                    self.commit().await;
                }
                let client = self.random.below(2);
                self.read(client, 3).await;
                let padding = "x".repeat(900_000);
                for _ in 0..25 {
                    self.fill(1, &padding).await;
                }
            }
        }
    }

    fn with(&mut self, client: usize, act: impl FnOnce(&mut Client, &mut Random)) {
        if let Some(client) = self.clients.get_mut(client) {
            act(client, &mut self.random);
        }
    }

    async fn read(&mut self, client: usize, len: usize) {
        if let Some(client) = self.clients.get_mut(client) {
            client.read(&self.model, len).await;
        }
    }

    async fn commit(&mut self) {
        let writes = self.model.random_writes(&mut self.random);
        self.send(writes).await;
    }

    /// Writes `len` documents that only some queries select.
    async fn fill(&mut self, len: usize, padding: &str) {
        let writes = self.model.filling(len, padding, &mut self.random);
        self.send(writes).await;
    }

    async fn send(&mut self, writes: Vec<wire::Write>) {
        let request = commit(writes, Bytes::new());
        let committed = self.server.call::<_, wire::CommitResponse>("Commit", &request).await;
        let committed = committed.expect("writes that cannot fail");
        self.model.commit(&request.writes, micros(committed.commit_time));
    }

    async fn clear(&mut self, path: &str) {
        self.server.clear(path).await;
        // The route does not tell its time, but with a clock that stands still a read does.
        let read = wire::BatchGetDocumentsRequest {
            database: DATABASE.to_owned(),
            documents: vec![name("c/a")],
            ..wire::BatchGetDocumentsRequest::default()
        };
        let read: wire::BatchGetDocumentsResponse =
            self.server.call("BatchGetDocuments", &read).await.expect("an answer");
        self.model.clear(path, micros(read.read_time));
    }
}

#[tokio::test(start_paused = true)]
async fn targets_hold_what_their_queries_select() {
    for seed in seeds(0, RUNS) {
        println!("seed {seed}");
        Simulation::run(seed, false).await;
    }
}

#[tokio::test(start_paused = true)]
async fn targets_hold_what_their_queries_select_when_clients_are_left_behind() {
    for seed in seeds(1_000_000, RUNS / 10) {
        println!("seed {seed}");
        Simulation::run(seed, true).await;
    }
}
