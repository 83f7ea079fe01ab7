//! `math`, and points on the globe.

use super::{Args, Builtin, Given, NOTHING, builtin, mismatch};
use crate::error::failure;
use crate::value::{Type, Value, java_double};

const A_FLOAT: &[&[Type]] = &[&[Type::Float]];

pub(super) const FUNCTIONS: &[Builtin] = &[
    builtin("abs", &[&[Type::Int], &[Type::Float]], Type::Any, abs),
    builtin("ceil", A_FLOAT, Type::Float, |args| float(args, f64::ceil)),
    builtin("floor", A_FLOAT, Type::Float, |args| float(args, f64::floor)),
    builtin("sqrt", A_FLOAT, Type::Float, |args| float(args, f64::sqrt)),
    builtin("round", A_FLOAT, Type::Int, round),
    builtin("isNaN", A_FLOAT, Type::Bool, is_nan),
    builtin("pow", &[&[Type::Float, Type::Float]], Type::Float, pow),
];

pub(super) const LATLNG_METHODS: &[Builtin] = &[
    builtin("latitude", NOTHING, Type::Float, latitude),
    builtin("longitude", NOTHING, Type::Float, longitude),
    builtin("distance", &[&[Type::LatLng]], Type::Float, distance),
];

pub(super) const LATLNG_FUNCTIONS: &[Builtin] =
    &[builtin("value", &[&[Type::Float, Type::Float]], Type::LatLng, latlng)];

/// An argument as a double.
fn number(args: &Args<'_, '_>, place: usize) -> f64 {
    match args.arg(place) {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        _ => f64::NAN,
    }
}

fn float<'e>(args: &Args<'_, 'e>, apply: impl Fn(f64) -> f64) -> Given<'e> {
    Ok(Value::Float(apply(number(args, 0))))
}

fn abs<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    match args.arg(0) {
        // The smallest integer stays as it is.
        Value::Int(number) => Ok(Value::Int(number.wrapping_abs())),
        _ => float(args, f64::abs),
    }
}

/// Half up, as Java rounds; what is no integer saturates.
fn round<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let exact = match args.arg(0) {
        Value::Int(number) => return Ok(Value::Int(*number)),
        _ => number(args, 0),
    };
    let floor = exact.floor();
    let rounded = if exact - floor >= 0.5 { floor + 1.0 } else { floor };
    Ok(Value::Int(rounded as i64))
}

fn is_nan<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::Bool(number(args, 0).is_nan()))
}

fn pow<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::Float(number(args, 0).powf(number(args, 1))))
}

fn latlng<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let (latitude, longitude) = (number(args, 0), number(args, 1));
    if !(-90.0..=90.0).contains(&latitude) || !(-180.0..=180.0).contains(&longitude) {
        return Err(failure(format!(
            "Latitude should be in [-90,90] range and longitude should be in [-180,180] range. \
             latitude: {}, longitude: {}.",
            java_double(latitude),
            java_double(longitude)
        )));
    }
    Ok(Value::LatLng(latitude, longitude))
}

fn latitude<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::LatLng(latitude, _) = args.of else { return mismatch() };
    Ok(Value::Float(*latitude))
}

fn longitude<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::LatLng(_, longitude) = args.of else { return mismatch() };
    Ok(Value::Float(*longitude))
}

/// Mean radius of the Earth that the product computes with, in metres.
const EARTH_RADIUS_METRES: f64 = 6_371_009.0;

/// Along the great circle, by the haversine formula.
fn distance<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let (Value::LatLng(from_lat, from_lng), Value::LatLng(to_lat, to_lng)) = (args.of, args.arg(0))
    else {
        return mismatch();
    };
    let half = |from: f64, to: f64| (0.5 * (to.to_radians() - from.to_radians())).sin();
    let latitude = half(*from_lat, *to_lat);
    let longitude = half(*from_lng, *to_lng);
    let chord = latitude * latitude
        + longitude * longitude * from_lat.to_radians().cos() * to_lat.to_radians().cos();
    let angle = 2.0 * chord.sqrt().atan2((1.0 - chord).max(0.0).sqrt());
    Ok(Value::Float(angle * EARTH_RADIUS_METRES))
}
