//! The hub over HTTP: routes, CORS, and JSON as the official hub writes it.

mod cors;
mod export;
mod json;
mod routes;

pub(crate) use routes::router;
