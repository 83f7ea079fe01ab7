//! Scalars as JSON says them: where one does not fit, Google's words for it.

use std::fmt;

use prost_reflect::Kind;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};

use super::place::{Place, kind_type, quoted, shown};
use super::{Is, refuse, scalar};

/// A scalar with its key.
pub(super) struct Leaf<'a> {
    pub(super) place: &'a Place,
    pub(super) number: u32,
    pub(super) kind: &'a Kind,
    pub(super) out: &'a mut Vec<u8>,
}

impl Leaf<'_> {
    fn or_refuse<E: Error>(
        self,
        written: Option<()>,
        shown: impl FnOnce() -> String,
    ) -> Result<Is, E> {
        match written {
            Some(()) => Ok(Is::Present),
            None => Err(refuse(self.place, self.place.invalid(&kind_type(self.kind), &shown()))),
        }
    }
}

impl<'de> Visitor<'de> for Leaf<'_> {
    type Value = Is;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Is, E> {
        let written = match self.kind {
            Kind::Bool => {
                prost::encoding::bool::encode(self.number, &value, self.out);
                Some(())
            }
            _ => None,
        };
        self.or_refuse(written, || value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Is, E> {
        let written = scalar::write_integer(self.kind, self.number, value.into(), self.out);
        self.or_refuse(written, || value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Is, E> {
        let written = scalar::write_integer(self.kind, self.number, value.into(), self.out);
        self.or_refuse(written, || value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Is, E> {
        let written = scalar::write_float(self.kind, self.number, value, self.out);
        self.or_refuse(written, || shown(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Is, E> {
        let written = scalar::write_text(self.kind, self.number, value, self.out);
        if written.is_none() && *self.kind == Kind::Bytes {
            return Err(refuse(self.place, self.place.invalid_bytes(value)));
        }
        self.or_refuse(written, || quoted(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Is, E> {
        match self.kind {
            Kind::Enum(of) if of.full_name() == "google.protobuf.NullValue" => {
                prost::encoding::int32::encode(self.number, &0, self.out);
                Ok(Is::Present)
            }
            _ => Ok(Is::Null),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Is, A::Error> {
        Err(refuse(self.place, self.place.not_repeating()))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Is, A::Error> {
        Err(refuse(self.place, self.place.object_on_scalar(&kind_type(self.kind))))
    }
}

/// The content of a wrapper: its scalar, or an object with the scalar as `value`.
pub(super) struct Wrapped<'a> {
    pub(super) place: &'a Place,
    pub(super) kind: &'a Kind,
    pub(super) out: &'a mut Vec<u8>,
}

impl<'a> Wrapped<'a> {
    fn leaf(self) -> Leaf<'a> {
        let Wrapped { place, kind, out } = self;
        place.enter_value();
        Leaf { place, number: 1, kind, out }
    }
}

/// Leaves the place of the wrapper's value where that fitted.
fn left<E>(place: &Place, is: Result<Is, E>) -> Result<Is, E> {
    if is.is_ok() {
        place.leave();
    }
    is
}

impl<'de> Visitor<'de> for Wrapped<'_> {
    type Value = Is;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Is, E> {
        let place = self.place;
        left(place, self.leaf().visit_bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Is, E> {
        let place = self.place;
        left(place, self.leaf().visit_i64(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Is, E> {
        let place = self.place;
        left(place, self.leaf().visit_u64(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Is, E> {
        let place = self.place;
        left(place, self.leaf().visit_f64(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Is, E> {
        let place = self.place;
        left(place, self.leaf().visit_str(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Is, E> {
        Ok(Is::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Is, A::Error> {
        Err(refuse(self.place, self.place.not_repeating()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Is, A::Error> {
        let Wrapped { place, kind, out } = self;
        while let Some(name) = members.next_key::<String>()? {
            if name != "value" {
                return Err(refuse(place, place.unknown(&name)));
            }
            let before = out.len();
            let value = Wrapped { place, kind, out: &mut *out };
            if members.next_value_seed(Again(value))? == Is::Null {
                out.truncate(before);
            }
        }
        Ok(Is::Present)
    }
}

/// The scalar below `value`, which is never an object again.
struct Again<'a>(Wrapped<'a>);

impl<'de> serde::de::DeserializeSeed<'de> for Again<'_> {
    type Value = Is;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Is, D::Error> {
        let place = self.0.place;
        left(place, reader.deserialize_any(self.0.leaf()))
    }
}
