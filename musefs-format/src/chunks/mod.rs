//! Files of chunks: RIFF with its relatives, AIFF and DSDIFF.
//!
//! All of them are a header with the length of the file and then chunks, each with a name and a length. They
//! differ in byte order and in the width of names and lengths ([`Dialect`]). [`read()`] finds the chunks, by stepping
//! from one to the next and never through one, and takes those apart that hold tags; [`splice()`] rewrites those.
//!
//! The audio never moves for the sake of a chunk: what becomes longer in front of it takes room from a filler there, or
//! else goes behind it and leaves a filler.

mod dialect;
mod lookup;
mod parts;
mod read;
mod splice;
mod texts;
mod walk;

pub(crate) use dialect::Dialect;
pub(crate) use parts::Form;
pub(crate) use read::{Kind, Opened, read};
pub(crate) use splice::splice;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;
