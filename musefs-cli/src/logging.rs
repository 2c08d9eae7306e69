//! Talk on stderr: how much, and in which shape.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::cli::Globals;

/// Starts logging to stderr. `MUSEFS_LOG` (for example `musefs_core=debug`) overrides `-q` and `-v`.
pub(crate) fn start(globals: &Globals) {
    let level = match (globals.quiet, globals.verbose) {
        (true, _) => "error",
        (_, 0) => "warn,musefs=info",
        (_, 1) => "info",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_env("MUSEFS_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .without_time()
        .init();
}
