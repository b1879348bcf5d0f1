//! The columns of a row, of whichever database.

use portcullis_approval::{Id, Moment};

use crate::{StoreError, broken};

/// A row of whichever database, read by place.
pub(crate) trait Row {
    /// A text; none where the column is empty.
    fn text(&self, place: usize) -> Result<Option<String>, StoreError>;
    /// A number.
    fn integer(&self, place: usize) -> Result<Option<i64>, StoreError>;
    /// Bytes.
    fn bytes(&self, place: usize) -> Result<Option<Vec<u8>>, StoreError>;
}

impl Row for rusqlite::Row<'_> {
    fn text(&self, place: usize) -> Result<Option<String>, StoreError> {
        Ok(self.get(place)?)
    }

    fn integer(&self, place: usize) -> Result<Option<i64>, StoreError> {
        Ok(self.get(place)?)
    }

    fn bytes(&self, place: usize) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.get(place)?)
    }
}

/// What a column can hold.
pub(super) trait Held: Sized {
    fn held(row: &dyn Row, place: usize) -> Result<Option<Self>, StoreError>;
}

impl Held for String {
    fn held(row: &dyn Row, place: usize) -> Result<Option<String>, StoreError> {
        row.text(place)
    }
}

impl Held for Vec<u8> {
    fn held(row: &dyn Row, place: usize) -> Result<Option<Vec<u8>>, StoreError> {
        row.bytes(place)
    }
}

impl Held for i64 {
    fn held(row: &dyn Row, place: usize) -> Result<Option<i64>, StoreError> {
        row.integer(place)
    }
}

impl Held for u32 {
    fn held(row: &dyn Row, place: usize) -> Result<Option<u32>, StoreError> {
        let number = row.integer(place)?;
        number.map(|number| u32::try_from(number).map_err(|_| unreadable(place))).transpose()
    }
}

impl Held for bool {
    fn held(row: &dyn Row, place: usize) -> Result<Option<bool>, StoreError> {
        Ok(row.integer(place)?.map(|number| number != 0))
    }
}

impl<const N: usize> Held for [u8; N] {
    fn held(row: &dyn Row, place: usize) -> Result<Option<[u8; N]>, StoreError> {
        let bytes = row.bytes(place)?;
        bytes.map(|bytes| bytes.try_into().map_err(|_| unreadable(place))).transpose()
    }
}

/// The columns of a row, taken from left to right.
pub(super) struct Columns<'a> {
    row: &'a dyn Row,
    next: usize,
}

impl<'a> Columns<'a> {
    /// The columns of a row.
    pub(super) const fn of(row: &'a dyn Row) -> Columns<'a> {
        Columns { row, next: 0 }
    }

    /// Leaves so many columns out.
    pub(super) const fn skip(&mut self, columns: usize) {
        self.next += columns;
    }

    /// A value that must be there.
    pub(super) fn take<T: Held>(&mut self) -> Result<T, StoreError> {
        self.next += 1;
        T::held(self.row, self.next - 1)?.ok_or_else(|| self.unreadable())
    }

    /// A value that may be absent.
    pub(super) fn some<T: Held>(&mut self) -> Result<Option<T>, StoreError> {
        self.next += 1;
        T::held(self.row, self.next - 1)
    }

    /// A value that `read` makes of what stands in the column.
    pub(super) fn read<S: Held, T>(
        &mut self,
        read: impl FnOnce(S) -> Option<T>,
    ) -> Result<T, StoreError> {
        let value = self.take()?;
        read(value).ok_or_else(|| self.unreadable())
    }

    /// The same, where the column may be empty.
    pub(super) fn maybe<S: Held, T>(
        &mut self,
        read: impl FnOnce(S) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        match self.some::<S>()? {
            Some(value) => read(value).map(Some).ok_or_else(|| self.unreadable()),
            None => Ok(None),
        }
    }

    pub(super) fn unreadable(&self) -> StoreError {
        unreadable(self.next - 1)
    }

    pub(super) fn id(&mut self) -> Result<Id, StoreError> {
        self.read(id_of)
    }

    pub(super) fn moment(&mut self) -> Result<Moment, StoreError> {
        self.take().map(Moment::from_ms)
    }

    pub(super) fn maybe_moment(&mut self) -> Result<Option<Moment>, StoreError> {
        self.maybe(|ms| Some(Moment::from_ms(ms)))
    }
}

/// A column holds what no version of ours wrote.
fn unreadable(place: usize) -> StoreError {
    broken(&format!("column {place} of a row holds something else"))
}

/// An id from its bytes.
pub(super) fn id_of(bytes: [u8; 16]) -> Option<Id> {
    Id::from_bytes(&bytes)
}
