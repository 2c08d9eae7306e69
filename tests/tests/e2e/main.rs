//! The real program, mounted for real, judged by foreign tools. One module an area.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod makers;
