//! Writes scalars into an encoding, where JSON's numbers and texts are in their range.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use prost::encoding;
use prost_reflect::{EnumDescriptor, Kind};

/// Takes padding or none, and does not ask for the bits that no byte needs.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A number without a fraction.
pub(super) fn write_integer(
    kind: &Kind,
    number: u32,
    value: i128,
    out: &mut Vec<u8>,
) -> Option<()> {
    match kind {
        Kind::Int32 => encoding::int32::encode(number, &value.try_into().ok()?, out),
        Kind::Sint32 => encoding::sint32::encode(number, &value.try_into().ok()?, out),
        Kind::Sfixed32 => encoding::sfixed32::encode(number, &value.try_into().ok()?, out),
        Kind::Uint32 => encoding::uint32::encode(number, &value.try_into().ok()?, out),
        Kind::Fixed32 => encoding::fixed32::encode(number, &value.try_into().ok()?, out),
        Kind::Int64 => encoding::int64::encode(number, &value.try_into().ok()?, out),
        Kind::Sint64 => encoding::sint64::encode(number, &value.try_into().ok()?, out),
        Kind::Sfixed64 => encoding::sfixed64::encode(number, &value.try_into().ok()?, out),
        Kind::Uint64 => encoding::uint64::encode(number, &value.try_into().ok()?, out),
        Kind::Fixed64 => encoding::fixed64::encode(number, &value.try_into().ok()?, out),
        Kind::Enum(_) => encoding::int32::encode(number, &value.try_into().ok()?, out),
        Kind::Double | Kind::Float => return write_float(kind, number, value as f64, out),
        Kind::Bool | Kind::String | Kind::Bytes | Kind::Message(_) => return None,
    }
    Some(())
}

/// A number with a fraction or an exponent. Integers take it where it is whole and exact.
pub(super) fn write_float(kind: &Kind, number: u32, value: f64, out: &mut Vec<u8>) -> Option<()> {
    /// Beyond it, a double no longer tells whole numbers of 64 bits apart from those out of range.
    const EXACT_MAX: f64 = 9.0e18;
    match kind {
        Kind::Double => encoding::double::encode(number, &value, out),
        Kind::Float => {
            let narrow = value as f32;
            if narrow.is_infinite() && value.is_finite() {
                return None;
            }
            encoding::float::encode(number, &narrow, out);
        }
        Kind::Enum(_) | Kind::Bool | Kind::String | Kind::Bytes | Kind::Message(_) => return None,
        _ if value.fract() == 0.0 && value.abs() < EXACT_MAX => {
            return write_integer(kind, number, value as i128, out);
        }
        _ => return None,
    }
    Some(())
}

/// A text, which can stand for any scalar.
pub(super) fn write_text(kind: &Kind, number: u32, text: &str, out: &mut Vec<u8>) -> Option<()> {
    match kind {
        Kind::String => encoding::string::encode(number, &text.to_owned(), out),
        Kind::Bytes => encoding::bytes::encode(number, &bytes(text)?, out),
        Kind::Bool => encoding::bool::encode(number, &text.parse().ok()?, out),
        Kind::Enum(of) => encoding::int32::encode(number, &named(of, text)?, out),
        Kind::Double | Kind::Float => return write_float(kind, number, float(text)?, out),
        Kind::Message(_) => return None,
        _ => {
            // The standard library also takes a plus sign.
            let digits = text.strip_prefix('-').unwrap_or(text);
            if !digits.starts_with(|digit: char| digit.is_ascii_digit()) {
                return None;
            }
            return write_integer(kind, number, text.parse().ok()?, out);
        }
    }
    Some(())
}

/// A truth value as query strings spell it.
pub(super) fn loose_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

fn float(text: &str) -> Option<f64> {
    match text {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(f64::INFINITY),
        "-Infinity" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    // The standard library knows more words for what is no number.
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|value: &f64| is_number && value.is_finite())
}

/// An enum's value by its name in any case, or by its number.
fn named(of: &EnumDescriptor, text: &str) -> Option<i32> {
    if let Some(value) = of.get_value_by_name(text) {
        return Some(value.number());
    }
    if let Ok(number) = text.parse() {
        return of.get_value(number).map(|value| value.number());
    }
    let name = text.to_ascii_uppercase().replace('-', "_");
    of.get_value_by_name(&name).map(|value| value.number())
}

/// Base64 in either alphabet.
fn bytes(text: &str) -> Option<Vec<u8>> {
    if text.contains(['-', '_']) {
        let text = text.replace('-', "+").replace('_', "/");
        return LENIENT.decode(text).ok();
    }
    LENIENT.decode(text).ok()
}
