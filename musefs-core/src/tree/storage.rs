//! Rows that keep their index, and a text that holds all names.

use crate::limits::NAMES_BYTES_MAX;

/// Less is not worth copying a text for.
const GARBAGE_BYTES_MIN: usize = 4096;

/// A kind of row.
pub(super) trait Row {
    /// Whether it is left over from a row that went.
    fn is_free(&self) -> bool;
}

/// A column of rows with the indexes of free ones.
pub(super) struct Rows<T> {
    rows: Vec<T>,
    free: Vec<u32>,
}

impl<T: Row> Rows<T> {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new(), free: Vec::new() }
    }

    pub(super) fn add(&mut self, row: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.rows[index as usize] = row;
            return index;
        }
        reserve(&mut self.rows);
        self.rows.push(row);
        (self.rows.len() - 1) as u32
    }

    /// `row` is what a free one looks like.
    pub(super) fn remove(&mut self, index: u32, row: T) {
        self.rows[index as usize] = row;
        self.free.push(index);
    }

    /// Those in use, with their indexes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.rows.iter().enumerate().filter(|(_, row)| !row.is_free()).map(|(index, row)| (index as u32, row))
    }

    /// Those in use.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.rows.iter_mut().filter(|row| !row.is_free())
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = u32> + use<T> {
        0..self.rows.len() as u32
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    pub(super) fn shrink(&mut self) {
        self.rows.shrink_to_fit();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }
}

impl<T> std::ops::Index<u32> for Rows<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        &self.rows[index as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Rows<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.rows[index as usize]
    }
}

/// Room for one more, growing by an eighth: doubling would be most of the memory of a big tree while it is built.
fn reserve<T>(rows: &mut Vec<T>) {
    if rows.len() == rows.capacity() {
        rows.reserve_exact((rows.len() / 8).max(16));
    }
}

/// All names, one behind the other.
#[derive(Default)]
pub(super) struct Text {
    text: String,
    /// Bytes that no row means any more.
    garbage: usize,
}

impl Text {
    pub(super) fn add(&mut self, parts: &[&str]) -> u32 {
        let at = self.text.len();
        let len = parts.iter().map(|part| part.len()).sum();
        if self.text.capacity() - at < len {
            self.text.reserve_exact(len + (at / 8).max(256));
        }
        self.text.extend(parts.iter().copied());
        at as u32
    }

    pub(super) fn get(&self, at: u32, len: u8) -> &str {
        &self.text[at as usize..at as usize + usize::from(len)]
    }

    /// Bytes that no row means any more.
    pub(super) fn drop(&mut self, len: usize) {
        self.garbage += len;
    }

    /// Bytes that further names may use.
    pub(super) fn room(&self) -> usize {
        NAMES_BYTES_MAX - self.text.len()
    }

    /// Whether it is worth copying what is in use.
    pub(super) fn is_wasteful(&self) -> bool {
        self.garbage > GARBAGE_BYTES_MIN && self.garbage > self.text.len() / 4
    }

    /// An empty text with room for what is in use.
    pub(super) fn successor(&self) -> Self {
        let used = self.text.len() - self.garbage;
        Self { text: String::with_capacity(used + used / 16), garbage: 0 }
    }

    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.text.capacity()
    }
}
