//! Waiting for others: bounded, and it says who waits for whom.
//!
//! SQLite asks a connection's handler again and again while somebody else has what it needs. The handler
//! sleeps a little longer each time, tells of the wait once after [`WAIT_QUIET`], and gives up after
//! [`WAIT_MAX`]. [`Error::Busy`] then tells the same.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use crate::{
    Error, holder,
    limits::{WAIT_MAX, WAIT_QUIET},
};

/// Longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(50);

thread_local! {
    /// The latest wait of this thread that was given up. SQLite runs a handler on the thread of the statement,
    /// and the statement's error comes right after it.
    static GIVEN_UP: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Makes a connection wait for others in the name of `purpose`.
pub(crate) fn wait_politely(connection: &mut Connection, catalog: &Path, purpose: &str) -> rusqlite::Result<()> {
    let mut wait = Wait { catalog: catalog.to_owned(), purpose: purpose.into(), since: Instant::now(), told: false };
    connection.busy_handler(Some(move |tries| wait.go_on(tries)))
}

/// The error for a statement that just failed because of others.
pub(crate) fn given_up() -> Error {
    GIVEN_UP.take().unwrap_or_else(|| Error::Busy {
        purpose: "this program".into(),
        waited_ms: 0,
        holder: "another one that works on the same rows".into(),
    })
}

struct Wait {
    catalog: PathBuf,
    purpose: Arc<str>,
    since: Instant,
    told: bool,
}

impl Wait {
    /// Pauses. False: enough.
    fn go_on(&mut self, tries: i32) -> bool {
        if tries == 0 {
            self.since = Instant::now();
            self.told = false;
        }
        let waited = self.since.elapsed();
        if waited >= WAIT_MAX {
            let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
            let holder = holder::of(&self.catalog);
            GIVEN_UP.set(Some(Error::Busy { purpose: self.purpose.to_string(), waited_ms, holder }));
            return false;
        }
        if waited >= WAIT_QUIET && !self.told {
            self.told = true;
            tracing::info!("{} waits for {} to finish with the catalogue", self.purpose, holder::of(&self.catalog));
        }
        let pause = Duration::from_millis(1 << tries.clamp(0, 10)).min(PAUSE_MAX);
        std::thread::sleep(pause.min(WAIT_MAX - waited));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_after_its_limit_and_names_the_waiter() {
        let since = Instant::now().checked_sub(WAIT_MAX).expect("the machine is up for longer");
        let mut wait = Wait { catalog: "/nowhere".into(), purpose: "scan".into(), since, told: false };
        assert!(!wait.go_on(7));
        let error = given_up();
        assert!(error.to_string().starts_with("scan waited 60 s for "), "{error}");
        assert!(error.hint().is_some());
    }

    #[test]
    fn a_new_wait_starts_its_own_clock() {
        let since = Instant::now().checked_sub(WAIT_MAX).expect("the machine is up for longer");
        let mut wait = Wait { catalog: "/nowhere".into(), purpose: "scan".into(), since, told: true };
        assert!(wait.go_on(0));
        assert!(!wait.told);
    }
}
