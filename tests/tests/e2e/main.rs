//! The real program, mounted for real, judged by foreign tools. One module an area.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod catalog;
mod copying;
mod corpus;
mod correcting;
mod documents;
mod fixture;
mod identity;
mod lifecycle;
mod live;
mod makers;
mod metrics;
mod names;
mod reading;
mod readonly;
mod rewriting;
mod scanning;
mod slow;
