//! Waiting for a condition with a limit.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Long enough for a debug build on a loaded machine; a test that waits this long has failed.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until `condition` gives something, and returns it.
///
/// # Panics
/// When [`LIMIT`] has passed; the message says `what` was awaited.
pub fn for_some<T>(what: &str, condition: impl FnMut() -> Option<T>) -> T {
    within(LIMIT, condition).unwrap_or_else(|| panic!("waited {LIMIT:?} in vain for {what}"))
}

/// Waits until `condition` is true.
///
/// # Panics
/// When [`LIMIT`] has passed; the message says `what` was awaited.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    for_some(what, || condition().then_some(()));
}

/// Waits at most `limit` for `condition` to give something.
pub fn within<T>(limit: Duration, mut condition: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return Some(value);
        }
        if start.elapsed() > limit {
            return None;
        }
        thread::sleep(PAUSE);
    }
}
