//! Lists of bounded length: a longer one is refused while it is read, before it takes the memory.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

/// How much an element counts.
pub(super) trait Count {
    fn count(&self) -> usize {
        1
    }
}

impl Count for f64 {}
impl Count for Option<i64> {}

/// A list whose elements count at most `MOST` together.
pub(super) struct Bounded<T, const MOST: usize>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de> + Count, const MOST: usize> Deserialize<'de> for Bounded<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Count, const MOST: usize> Visitor<'de> for ListVisitor<T, MOST> {
    type Value = Bounded<T, MOST>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MOST}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut counted) = (Vec::new(), 0);
        while let Some(one) = list.next_element::<T>()? {
            counted += one.count();
            if counted > MOST {
                return Err(Error::custom(format!("a list of more than {MOST}")));
            }
            found.push(one);
        }
        Ok(Bounded(found))
    }
}
