//! How far a scan is: a bar on a terminal, now and then a line elsewhere, on stderr.

use std::{
    io::IsTerminal as _,
    time::{Duration, Instant},
};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use musefs_core::scan::{Observer, Problem, Progress};

use crate::output::safe;

/// How often a line is written where no bar can be drawn.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Shows the progress of a scan.
pub(crate) enum ScanProgress {
    /// A bar, redrawn in place.
    Bar(ProgressBar),
    /// Lines, as of the last one.
    Lines { began: Instant, written: Instant },
    /// Nothing.
    Silent,
}

impl ScanProgress {
    /// What suits stderr.
    pub(crate) fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Silent;
        }
        if std::io::stderr().is_terminal() {
            return Self::Bar(ProgressBar::no_length().with_style(searching()));
        }
        Self::Lines { began: Instant::now(), written: Instant::now() }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Observer for ScanProgress {
    fn progress(&mut self, progress: Progress) {
        match self {
            Self::Bar(bar) => {
                // Until all files are found, nobody knows how long it will take.
                if !progress.walking && bar.length() != Some(progress.found) {
                    bar.set_style(counting());
                    bar.set_length(progress.found);
                }
                bar.set_position(progress.done);
            }
            Self::Lines { began, written } if written.elapsed() >= LINE_INTERVAL => {
                *written = Instant::now();
                eprintln!("{}", line(progress, began.elapsed()));
            }
            Self::Lines { .. } | Self::Silent => {}
        }
    }

    fn problem(&mut self, problem: &Problem) {
        tracing::debug!("{}: {}", safe(problem.path.as_os_str().as_encoded_bytes()), safe(&problem.what));
    }
}

fn searching() -> ProgressStyle {
    style("{spinner} {human_pos} files, {per_sec:.0}, still looking for more")
}

fn counting() -> ProgressStyle {
    style("{wide_bar} {human_pos} of {human_len} files, {per_sec:.0}, {eta} left")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant that a test draws")
}

/// One line for a log.
fn line(progress: Progress, elapsed: Duration) -> String {
    let Progress { found, done, walking } = progress;
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    let done_of = format!("{} of {} files, {rate:.0}/s", HumanCount(done), HumanCount(found));
    if walking {
        return format!("{done_of}, still looking for more");
    }
    let left_s = found.saturating_sub(done) as f64 / rate.max(0.001);
    // A day is as good as never, and what a Duration can hold has an end.
    format!("{done_of}, {} left", HumanDuration(Duration::from_secs_f64(left_s.min(86_400.0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_count_rate_and_time_left() {
        let walking = Progress { found: 5_000, done: 1_000, walking: true };
        let told = |progress| line(progress, Duration::from_secs(10));
        assert_eq!(told(walking), "1,000 of 5,000 files, 100/s, still looking for more");
        assert_eq!(told(Progress { walking: false, ..walking }), "1,000 of 5,000 files, 100/s, 40 seconds left");
        assert_eq!(told(Progress { found: 0, done: 0, walking: false }), "0 of 0 files, 0/s, 0 seconds left");
    }

    #[test]
    fn templates_are_right() {
        for style in [searching(), counting()] {
            ProgressBar::hidden().set_style(style);
        }
    }
}
