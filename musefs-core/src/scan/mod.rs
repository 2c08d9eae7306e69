//! Finds audio files below roots and takes into the catalogue what is new or changed.
#![expect(dead_code, reason = "the writer that calls all this follows")]

mod audio_range;
mod file;
mod from_name;
mod identity;
mod known;
mod long_tail;
mod not_audio;
mod probe;
mod retry;
mod roots;
mod walk;

#[cfg(test)]
mod corpus_tests;
