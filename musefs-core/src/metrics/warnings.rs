//! Keeps a broken disk from filling the log.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::Warning;
use crate::limits::{WARNINGS_MAX, WARNINGS_PERIOD};

/// Which warnings may still be shown.
#[derive(Debug, Default)]
pub(super) struct Limiter {
    classes: Mutex<[Option<Window>; Warning::NAMES.len()]>,
}

/// A period of one class.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: Instant,
    shown: u32,
}

impl Limiter {
    /// Whether a warning of this class may be shown; counts it if so.
    pub(super) fn admits(&self, class: Warning, now: Instant) -> bool {
        let mut classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let window = &mut classes[class as usize];
        match window {
            Some(window) if now.saturating_duration_since(window.start) < WARNINGS_PERIOD => {
                let admits = window.shown < WARNINGS_MAX;
                window.shown += u32::from(admits);
                admits
            }
            _ => {
                *window = Some(Window { start: now, shown: 1 });
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_own_limit_and_period() {
        let (limiter, start) = (Limiter::default(), Instant::now());
        for _ in 0..WARNINGS_MAX {
            assert!(limiter.admits(Warning::Source, start));
        }
        assert!(!limiter.admits(Warning::Source, start));
        assert!(limiter.admits(Warning::Push, start));
        assert!(!limiter.admits(Warning::Source, start + WARNINGS_PERIOD - std::time::Duration::from_nanos(1)));
        assert!(limiter.admits(Warning::Source, start + WARNINGS_PERIOD));
    }
}
