//! Who is asking, and what is wrong with a header that does not say it.

use std::sync::Arc;

use crate::Claims;

/// Who sent a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Identity {
    /// No `Authorization` header: rules apply, `request.auth` is null.
    #[default]
    Anonymous,
    /// `Bearer owner` or a Google access token, as server SDKs send: rules do not apply.
    Owner,
    /// The bearer of a token: rules apply, the claims are `request.auth.token`.
    User(Arc<Claims>),
}

/// Why an `Authorization` header was refused. The texts are meant for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// A bearer token that cannot be decoded; INVALID_ARGUMENT with the text the official emulator sends.
    #[error("invalid jwt")]
    InvalidJwt,
    /// Not `Bearer` and a token; UNAUTHENTICATED.
    #[error(
        "the authorization header must be `Bearer owner` or `Bearer` and an ID token; other schemes are not supported"
    )]
    UnsupportedScheme,
}

/// Reads the value of an `Authorization` header.
///
/// # Errors
///
/// Another scheme than `Bearer`, nothing behind it, or a token that cannot be decoded.
pub fn parse_authorization(header: Option<&str>) -> Result<Identity, TokenError> {
    let Some(header) = header else {
        return Ok(Identity::Anonymous);
    };
    let (scheme, token) =
        header.trim().split_once([' ', '\t']).ok_or(TokenError::UnsupportedScheme)?;
    match scheme.eq_ignore_ascii_case("bearer") {
        true => parse_token(token),
        false => Err(TokenError::UnsupportedScheme),
    }
}

/// Reads a token that came without its scheme.
///
/// # Errors
///
/// A token that cannot be decoded.
pub fn parse_token(token: &str) -> Result<Identity, TokenError> {
    let token = token.trim();
    if token.eq_ignore_ascii_case("owner") || token.starts_with("ya29.") {
        return Ok(Identity::Owner);
    }
    match Claims::decode(token) {
        Some(claims) => Ok(Identity::User(Arc::new(claims))),
        None => Err(TokenError::InvalidJwt),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    use super::*;

    fn check(header: Option<&str>, expected: Result<Identity, TokenError>) {
        assert_eq!(parse_authorization(header), expected, "{header:?}");
    }

    fn check_sub(token: &str, sub: Option<&str>) {
        match parse_authorization(Some(&format!("Bearer {token}"))) {
            Ok(Identity::User(claims)) => assert_eq!(claims.sub.as_deref(), sub, "{token}"),
            other => panic!("{token}: {other:?}"),
        }
    }

    fn unsigned(payload: &str) -> String {
        format!("{}.{}.", URL_SAFE_NO_PAD.encode("{}"), URL_SAFE_NO_PAD.encode(payload))
    }

    #[test]
    fn owner_and_nobody() {
        check(None, Ok(Identity::Anonymous));
        for header in [
            "Bearer owner",
            "bearer OWNER",
            "BEARER Owner",
            "Bearer  owner ",
            "Bearer ya29.a0Af-x",
            "Bearer ya29.a.b.c",
        ] {
            check(Some(header), Ok(Identity::Owner));
        }
    }

    #[test]
    fn other_schemes_are_unauthenticated() {
        for header in
            ["Basic x", "owner", "", " ", "Bearer", "Bearer ", "Digest a=b", "Bearerowner x"]
        {
            check(Some(header), Err(TokenError::UnsupportedScheme));
        }
    }

    #[test]
    fn undecodable_tokens_are_invalid() {
        let object = URL_SAFE_NO_PAD.encode("{}");
        let table = [
            "junk".to_owned(),
            "ya29".to_owned(),
            format!("{object}.{object}"),
            format!("{object}.{object}.a.b"),
            "a.!!.c".to_owned(),
            "..".to_owned(),
            "a.e.c".to_owned(),
            unsigned("[]"),
            unsigned("1"),
            unsigned("{"),
            unsigned(r#"{} {}"#),
            format!("a.{}.c", URL_SAFE_NO_PAD.encode([b'{', 0xff, b'}'])),
        ];
        for token in table {
            check(Some(&format!("Bearer {token}")), Err(TokenError::InvalidJwt));
        }
    }

    #[test]
    fn the_uid_is_sub_alone() {
        check_sub(&unsigned("{}"), None);
        check_sub(&unsigned(r#"{"sub":"alice"}"#), Some("alice"));
        check_sub(&unsigned(r#"{"sub":"alice","user_id":"bob","exp":1}"#), Some("alice"));
        check_sub(&unsigned(r#"{"user_id":"bob","uid":"carol"}"#), None);
        check_sub(&unsigned(r#"{"sub":7}"#), None);
        // Any header, any signature, the standard alphabet and padding.
        let payload = r#"{"sub":"a","x":"??>>~~"}"#;
        check_sub(&format!("!.{}.anything", STANDARD.encode(payload)), Some("a"));
        check_sub(&format!(".{}.", URL_SAFE_NO_PAD.encode(payload)), Some("a"));
    }

    #[test]
    fn claims_keep_everything() {
        let token =
            unsigned(r#"{"sub":"a","admin":true,"firebase":{"sign_in_provider":"custom"}}"#);
        let Ok(Identity::User(claims)) = parse_token(&token) else { panic!("a user") };
        assert_eq!(claims.all.len(), 3);
        assert_eq!(claims.all["firebase"]["sign_in_provider"], "custom");
    }

    #[test]
    fn deep_payloads_are_refused_and_not_followed() {
        let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        check(Some(&format!("Bearer {}", unsigned(&deep))), Err(TokenError::InvalidJwt));
    }
}
