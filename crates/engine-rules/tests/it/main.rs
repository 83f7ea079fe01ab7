//! The language's public surface, as data: expressions, sources with errors, match blocks, decisions.

mod coverage;
mod data;
mod deciding;
mod expressions;
mod fuzz;
mod matching;
mod queries;
mod realtime;
mod sources;
