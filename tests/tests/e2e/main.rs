//! The real program, mounted for real, judged by foreign tools. One module an area.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod copying;
mod corpus;
mod correcting;
mod fixture;
mod identity;
mod lifecycle;
mod makers;
mod metrics;
mod names;
mod reading;
mod readonly;
mod scanning;
mod slow;
