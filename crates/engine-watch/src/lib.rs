//! Live queries over one database: what each commit changes for whom.
//!
//! Whoever listens joins the [`Hub`] of a database and gets a [`Feed`]; on it he watches any number of targets, each
//! stated as something that [`Select`]s documents. Equal targets share one view. Views are registered by where they
//! look, so that a commit costs what it can affect, however much is listened to. What a commit changes for a view is
//! worked out once, from the change's before and after, and shared by all feeds; so is whatever a service makes of a
//! document ([`Document::made`]).
//!
//! No protocol is known here, nor what a query is.
#![forbid(unsafe_code)]

mod document;
mod feed;
mod hub;
mod inbox;
mod limits;
mod queue;
mod registry;
mod runner;
mod select;
mod view;
mod window;

pub use document::{Document, Seen};
pub use feed::Feed;
pub use hub::Hub;
pub use queue::{CommitNews, News, Ping};
pub use runner::Runner;
pub use select::{Bounds, Row, Scope, Select};
pub use view::{Update, ViewId};
