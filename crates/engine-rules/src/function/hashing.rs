//! `hashing`: digests of strings and bytes.

use md5::{Digest, Md5};
use sha2::Sha256;

use super::{Args, Builtin, Given, builtin};
use crate::value::{Type, Value};

const TAKES: &[&[Type]] = &[&[Type::Bytes], &[Type::String]];

pub(super) const FUNCTIONS: &[Builtin] = &[
    builtin("crc32", TAKES, Type::Bytes, crc32),
    builtin("crc32c", TAKES, Type::Bytes, crc32c_of),
    builtin("md5", TAKES, Type::Bytes, md5_of),
    builtin("sha256", TAKES, Type::Bytes, sha256),
];

fn input<'a>(args: &Args<'a, '_>) -> &'a [u8] {
    match args.arg(0) {
        Value::Bytes(bytes) => bytes,
        Value::String(text) => text.as_bytes(),
        _ => &[],
    }
}

/// Checksums are little-endian, in production as in the emulator.
fn crc32<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::bytes(crc32fast::hash(input(args)).to_le_bytes()))
}

fn crc32c_of<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::bytes(crc32c::crc32c(input(args)).to_le_bytes()))
}

fn md5_of<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::bytes(Md5::digest(input(args))))
}

fn sha256<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::bytes(Sha256::digest(input(args))))
}
