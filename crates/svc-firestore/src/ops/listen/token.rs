//! Resume tokens: the time up to which a client has been told everything, and by which suite.

use base_env::UnixMicros;
use bytes::{BufMut, Bytes, BytesMut};

/// The form of a token, so that a later form can be told apart.
const FORM: u8 = 1;
/// Form, suite and time.
const LEN: usize = 17;

/// Where a client wants to take a target up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    /// From nothing.
    Start,
    /// With a token from an earlier boundary.
    Token(Bytes),
    /// With everything up to this time known.
    ReadTime(UnixMicros),
}

/// The token of a moment. `suite` tells suites apart: what one has told, another cannot continue.
pub(super) fn encode(suite: u64, time: UnixMicros) -> Bytes {
    let mut token = BytesMut::with_capacity(LEN);
    token.put_u8(FORM);
    token.put_u64(suite);
    token.put_i64(time.0);
    token.freeze()
}

/// What a token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// A moment of this suite.
    Time(UnixMicros),
    /// A moment of another suite, or of the same project's former one.
    Foreign,
    /// Not a token of ours.
    Garbage,
}

/// Reads a token back.
pub(super) fn decode(suite: u64, token: &[u8]) -> Decoded {
    let Some((form, rest)) = token.split_first() else { return Decoded::Garbage };
    let Some((of_suite, time)) = rest.split_first_chunk::<8>() else { return Decoded::Garbage };
    let Ok(time) = <[u8; 8]>::try_from(time) else { return Decoded::Garbage };
    match (*form == FORM, u64::from_be_bytes(*of_suite) == suite) {
        (false, _) => Decoded::Garbage,
        (true, false) => Decoded::Foreign,
        (true, true) => Decoded::Time(UnixMicros(i64::from_be_bytes(time))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_means_its_moment_to_its_own_suite_only() {
        let token = encode(7, UnixMicros(1_700_000_000_000_001));
        assert_eq!(decode(7, &token), Decoded::Time(UnixMicros(1_700_000_000_000_001)));
        assert_eq!(decode(8, &token), Decoded::Foreign);
        for garbage in [&b""[..], b"\x01", b"bad resume token", b"\x02aaaaaaaabbbbbbbb"] {
            assert_eq!(decode(7, garbage), Decoded::Garbage, "{garbage:?}");
        }
    }
}
