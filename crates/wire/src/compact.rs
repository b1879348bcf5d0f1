//! JSON that is written into memory: byte for byte what `serde_json` writes, sooner.
//!
//! Nearly every text of a verdict stands in JSON as it is. Such a text is looked at as a whole and
//! copied as a whole; one that must be escaped, and every number, is left to `serde_json`.

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

/// How `serde_json` is told that a text is JSON already.
const RAW: &str = "$serde_json::private::RawValue";

/// Writes a value behind what stands there.
///
/// # Errors
/// The value cannot be written as JSON; what it wrote so far stays.
pub fn write(out: &mut Vec<u8>, value: &impl Serialize) -> Result<(), Error> {
    value.serialize(Compact(out))
}

struct Compact<'o>(&'o mut Vec<u8>);

impl<'o> Compact<'o> {
    fn text(self, text: &str) -> Result<(), Error> {
        if !is_plain(text.as_bytes()) {
            return serde_json::to_writer(self.0, text);
        }
        self.0.reserve(text.len() + 2);
        self.0.push(b'"');
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'"');
        Ok(())
    }

    fn open(self, begin: &[u8], end: &'static [u8]) -> Members<'o> {
        self.0.extend_from_slice(begin);
        Members { out: self.0, is_first: true, end }
    }

    /// The name of a variant, which has its content behind it.
    fn variant(self, name: &str) -> Result<&'o mut Vec<u8>, Error> {
        self.0.push(b'{');
        Compact(&mut *self.0).text(name)?;
        self.0.push(b':');
        Ok(self.0)
    }
}

/// Whether a text has nothing in it that JSON escapes; eight bytes are looked at at once.
fn is_plain(text: &[u8]) -> bool {
    let (eights, rest) = text.as_chunks();
    let filled = rest.iter().fold(EACH * 0x20, |eight, byte| eight << 8 | u64::from(*byte));
    eights.iter().all(|eight| are_plain(u64::from_le_bytes(*eight))) && are_plain(filled)
}

/// A one in each of eight bytes.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Whether none of eight bytes is below a blank, a quote or a backslash.
const fn are_plain(eight: u64) -> bool {
    // Taking more from a byte than it has sets its highest bit; those that had it set are others.
    const fn below(eight: u64, limit: u64) -> u64 {
        eight.wrapping_sub(EACH * limit) & !eight
    }
    let quote = below(eight ^ (EACH * 0x22), 1);
    let backslash = below(eight ^ (EACH * 0x5c), 1);
    (below(eight, 0x20) | quote | backslash) & (EACH * 0x80) == 0
}

/// What stands between two brackets.
struct Members<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
    end: &'static [u8],
}

impl Members<'_> {
    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        value.serialize(Compact(self.out))
    }

    fn key(&mut self, key: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let start = self.out.len() + usize::from(!self.is_first);
        self.item(key)?;
        // A key is a text, whatever it is.
        if self.out.get(start) != Some(&b'"') {
            self.out.insert(start, b'"');
            self.out.push(b'"');
        }
        self.out.push(b':');
        Ok(())
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        value.serialize(Compact(self.out))
    }

    fn field(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if key == RAW {
            return serde_json::to_writer(&mut *self.out, &Raw(value));
        }
        // What a type calls its field stands as it is.
        self.out.reserve(key.len() + 4);
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.value(value)
    }

    fn close(self) {
        self.out.extend_from_slice(self.end);
    }
}

/// A text that is JSON already, told to `serde_json` in its own way.
struct Raw<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Serialize for Raw<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW, 1)?;
        raw.serialize_field(RAW, self.0)?;
        raw.end()
    }
}

/// Values that `serde_json` writes.
macro_rules! left_to_serde_json {
    ($($method:ident: $kind:ty),*) => {$(
        fn $method(self, value: $kind) -> Result<(), Error> {
            serde_json::to_writer(self.0, &value)
        }
    )*};
}

impl<'o> Serializer for Compact<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Members<'o>;
    type SerializeTuple = Members<'o>;
    type SerializeTupleStruct = Members<'o>;
    type SerializeTupleVariant = Members<'o>;
    type SerializeMap = Members<'o>;
    type SerializeStruct = Members<'o>;
    type SerializeStructVariant = Members<'o>;

    left_to_serde_json! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_f32: f32, serialize_f64: f64, serialize_char: char, serialize_bytes: &[u8]
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.text(value)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
    ) -> Result<(), Error> {
        self.text(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let out = self.variant(name)?;
        value.serialize(Compact(&mut *out))?;
        out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'o>, Error> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'o>, Error> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'o>, Error> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Members<'o>, Error> {
        Ok(Compact(self.variant(name)?).open(b"[", b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'o>, Error> {
        Ok(self.open(b"{", b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'o>, Error> {
        Ok(if name == RAW { self.open(b"", b"") } else { self.open(b"{", b"}") })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Members<'o>, Error> {
        Ok(Compact(self.variant(name)?).open(b"{", b"}}"))
    }
}

/// Lists of any sort.
macro_rules! listed {
    ($($sort:ident: $method:ident),*) => {$(
        impl $sort for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        }
    )*};
}

listed! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field
}

/// Objects whose members have names of their own.
macro_rules! named {
    ($($sort:ident),*) => {$(
        impl $sort for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.field(key, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        }
    )*};
}

named! { SerializeStruct, SerializeStructVariant }

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.value(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Serialize)]
    enum Kind {
        Unit,
        Newtype(u8),
        Tuple(i64, &'static str),
        Struct { name: &'static str, at: Option<f64> },
    }

    #[derive(Serialize)]
    struct Whole<'a> {
        raw: &'a RawValue,
        kinds: Vec<Kind>,
        pair: (char, bool),
        nothing: (),
        missing: Option<u8>,
        numbers: BTreeMap<u16, &'static [u8]>,
        texts: Vec<String>,
        value: Value,
        none: [u8; 0],
    }

    #[test]
    fn the_bytes_are_those_of_serde_json() {
        let raw = RawValue::from_string(r#""as \u0061 given""#.to_owned()).unwrap();
        // Every byte that could have to be escaped, at every place of a text.
        let signs = (0..=u8::MAX).map(char::from);
        let texts = signs.flat_map(|sign| {
            ["", "1", "a text of more than sixteen bytes, and of thirty-two"]
                .map(|text| format!("{text}{sign}{text}"))
        });
        let whole = Whole {
            raw: &raw,
            kinds: vec![
                Kind::Unit,
                Kind::Newtype(1),
                Kind::Tuple(-2, "\n"),
                Kind::Struct { name: "\"", at: Some(0.1) },
                Kind::Struct { name: "", at: None },
            ],
            pair: ('\u{1f}', true),
            nothing: (),
            missing: None,
            numbers: BTreeMap::from([(1, &b"ab"[..]), (20, b"")]),
            texts: texts.collect(),
            value: json!({ "a\\": [1, -1, 1.5, null, {}, []], "ü": { "b": false } }),
            none: [],
        };
        let mut out = b"before ".to_vec();
        write(&mut out, &whole).unwrap();
        let want = format!("before {}", serde_json::to_string(&whole).unwrap());
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
