//! Listen: the exact sequences of messages, as production sends them.

mod changes;
mod idle;
mod refusals;
mod resuming;
mod slow;
mod targets;
mod windows;
