//! The hub's methods, one file each.

mod describe;
mod list_emulators;

pub(crate) use describe::describe;
pub(crate) use list_emulators::list_emulators;
