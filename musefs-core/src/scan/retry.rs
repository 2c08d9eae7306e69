//! Errors that pass by themselves are waited for a little.

use std::{io, time::Duration};

use rustix::io::Errno;

use crate::limits::{RETRIES_MAX, RETRY_FIRST_WAIT};

/// Runs `attempt` again, with growing pauses, while it fails for want of descriptors, by an
/// interruption, or because a network disk renews its handles.
///
/// # Errors
/// The last error when they do not pass in time, and every other one at once.
pub(super) fn retried<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut wait = RETRY_FIRST_WAIT;
    for _ in 0..RETRIES_MAX {
        match attempt() {
            Err(error) if is_transient(&error) => pause(&mut wait),
            done => return done,
        }
    }
    attempt()
}

fn is_transient(error: &io::Error) -> bool {
    let transient = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::STALE, Errno::INTR, Errno::NOMEM];
    error.raw_os_error().is_some_and(|code| transient.iter().any(|errno| errno.raw_os_error() == code))
}

fn pause(wait: &mut Duration) {
    std::thread::sleep(*wait);
    *wait *= 2;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(times: u32, errno: Errno) -> (io::Result<u32>, u32) {
        let mut calls = 0;
        let result = retried(|| {
            calls += 1;
            if calls <= times { Err(errno.into()) } else { Ok(calls) }
        });
        (result, calls)
    }

    #[test]
    fn transient_errors_are_waited_for() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::STALE, Errno::INTR] {
            assert_eq!(failing(2, errno).0.ok(), Some(3));
        }
    }

    #[test]
    fn the_wait_has_an_end() {
        assert_eq!(failing(RETRIES_MAX, Errno::STALE).0.ok(), Some(RETRIES_MAX + 1));
        let (result, calls) = failing(RETRIES_MAX + 1, Errno::STALE);
        assert!(result.is_err());
        assert_eq!(calls, RETRIES_MAX + 1);
    }

    #[test]
    fn other_errors_are_not() {
        assert_eq!(failing(1, Errno::ACCESS).1, 1);
        assert_eq!(failing(1, Errno::IO).1, 1);
    }
}
