//! Methods of bytes.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;

use super::{Args, Builtin, Given, NOTHING, builtin};
use crate::value::{Type, Value};

pub(super) const METHODS: &[Builtin] = &[
    builtin("size", NOTHING, Type::Int, size),
    builtin("toBase64", NOTHING, Type::String, to_base64),
    builtin("toHexString", NOTHING, Type::String, to_hex_string),
];

fn bytes<'a>(args: &'a Args<'_, '_>) -> &'a [u8] {
    if let Value::Bytes(bytes) = args.of { bytes } else { &[] }
}

fn size<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::Int(i64::try_from(bytes(args).len()).unwrap_or(i64::MAX)))
}

fn to_base64<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::text(URL_SAFE.encode(bytes(args))))
}

fn to_hex_string<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::text(bytes(args).iter().map(|byte| format!("{byte:02X}")).collect::<String>()))
}
