//! Exit codes, and the one place where an error becomes a message, a hint and a code.

use std::{fmt, process::ExitCode};

/// How the program ends. The numbers are a promise to scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All that was asked was done.
    Success = 0,
    /// Something failed that no other code names.
    Failure = 1,
    /// The command line or a template is wrong; nothing was done.
    Usage = 2,
    /// Done, but some paths could not be read.
    Partial = 3,
    /// The catalogue is missing, damaged, newer than this program, or busy.
    Catalog = 4,
    /// The mount could not be made or was lost.
    Mount = 5,
    /// No such track.
    NotFound = 6,
    /// An edit or undo was refused.
    Refused = 7,
    /// Ended by SIGINT.
    Interrupted = 130,
}

/// The exit codes as `--help` shows them.
pub(crate) const EXIT_CODES_HELP: &str = "\
Exit codes:
  0    done
  1    failed
  2    wrong command line or template; nothing was done
  3    done, but some paths could not be read
  4    catalogue missing, damaged, newer than this program, or busy
  5    mount could not be made or was lost
  6    no such track
  7    edit or undo refused
  130  interrupted";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that chooses its exit code and says what to do now.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// A failure that ends the program with `exit`.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    /// Adds what to do now.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Prints an error with its hint on stderr and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    if is_broken_pipe(error) {
        return Exit::Success;
    }
    let (exit, hint) = classify(error);
    eprintln!("musefs: {error:#}");
    if let Some(hint) = hint {
        eprintln!("hint: {hint}");
    }
    exit
}

fn classify(error: &anyhow::Error) -> (Exit, Option<String>) {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return (failure.exit, failure.hint.clone());
    }
    if let Some(catalog) = error.chain().find_map(|cause| cause.downcast_ref::<musefs_db::Error>()) {
        return (exit_of(catalog), catalog.hint());
    }
    if let Some(mount) = error.chain().find_map(|cause| cause.downcast_ref::<musefs_fuse::MountError>()) {
        return (Exit::Mount, mount.hint());
    }
    (Exit::Failure, None)
}

fn exit_of(error: &musefs_db::Error) -> Exit {
    match error.kind() {
        _ if matches!(error, musefs_db::Error::NoSuchTrack(_)) => Exit::NotFound,
        musefs_db::Kind::Refused => Exit::Refused,
        musefs_db::Kind::Unusable | musefs_db::Kind::Busy | musefs_db::Kind::Failed => Exit::Catalog,
    }
}

/// Whoever reads our output has seen enough: a success.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_its_code_and_hint_under_context() {
        let failure = Failure::new(Exit::NotFound, "no track 17").hint("musefs list shows all");
        let error = anyhow::Error::new(failure).context("showing");
        assert_eq!(classify(&error), (Exit::NotFound, Some("musefs list shows all".to_owned())));
    }

    #[test]
    fn a_closed_pipe_is_a_success() {
        let error = anyhow::Error::new(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!(report(&error), Exit::Success);
    }
}
