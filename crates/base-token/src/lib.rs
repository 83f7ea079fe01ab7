//! base-token owns the question who is asking: the `Authorization` header, read as the official emulators read it.
//!
//! Tokens are decoded and not verified: no signature, issuer, audience or expiry is looked at, because tests make
//! their own.

#![forbid(unsafe_code)]

mod claims;
mod identity;

pub use claims::Claims;
pub use identity::{Identity, TokenError, parse_authorization, parse_token};
