//! What the end-to-end tests share: the real program in a world of its own, guarded mounts, makers of tiny audio
//! files, the corpus, and foreign tools as judges.
//!
//! Nothing here calls into the other crates: a test sees of the project what a user sees. A [`Sandbox`](sandbox::Sandbox)
//! has its own home, catalogue and music; a [`Mount`](mount::Mount) is gone when its guard is, whatever the test did.

pub mod compare;
pub mod corpus;
pub mod make;
pub mod mount;
pub mod oracle;
pub mod program;
pub mod sandbox;
pub mod slow;
pub mod tools;
pub mod wait;
