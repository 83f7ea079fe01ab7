//! Following a database: its commits in order, without a gap that goes unnoticed.
#![forbid(unsafe_code)]

mod follower;
mod limits;

pub use follower::{Event, Follower};
