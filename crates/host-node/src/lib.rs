//! The addon: hands JavaScript's calls to host-suite and its answers back, and owns the threads that
//! serve them. No logic lives here.
//!
//! Every suite has a tokio runtime of its own, held by the JavaScript object that stands for it:
//! `stop` joins its threads, and so does the end of the JavaScript environment, whose finalizers drop
//! the object. Answers travel as JSON text, see [`answer`]. Nothing here keeps Node's event loop
//! alive but a promise that is not settled yet; holding the process for a running suite is a timer of
//! `npm/api/suite.js`, which alone knows about `unref`.
//!
//! INVARIANT: a runtime is shut down on its JavaScript thread only, never from one of its own
//! workers, which could not wait for themselves.

mod answer;
mod cli;
mod home;
mod snapshot;
mod suite;
