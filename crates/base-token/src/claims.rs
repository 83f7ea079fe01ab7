//! The claims of a token, decoded without verification.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};

// Test helpers of many languages write tokens, and not all of them write base64url without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// What a token says about its bearer.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// The `sub` claim, which is the uid. Absent when the token has none or it is not a string; `user_id` and `uid`
    /// do not stand in for it.
    pub sub: Option<String>,
    /// All claims as they came, `sub` included, in the token's order.
    pub all: Map<String, Value>,
}

impl Claims {
    /// Decodes the second of the three segments of a token; the header and the signature may be anything.
    /// `None` when there are not three segments or the second is not a JSON object.
    pub(crate) fn decode(token: &str) -> Option<Self> {
        let mut segments = token.split('.');
        let (_header, payload, _signature) = (segments.next()?, segments.next()?, segments.next()?);
        if segments.next().is_some() {
            return None;
        }
        let payload = payload.replace('+', "-").replace('/', "_");
        let json = LENIENT.decode(payload).ok()?;
        let all: Map<String, Value> = serde_json::from_slice(&json).ok()?;
        let sub = all.get("sub").and_then(Value::as_str).map(str::to_owned);
        Some(Self { sub, all })
    }
}
