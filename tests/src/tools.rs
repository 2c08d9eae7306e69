//! Foreign tools: whether they are here, and running them.

use std::{
    env,
    ffi::OsStr,
    path::Path,
    process::{Command, Output, Stdio},
};

/// Whether a missing tool, corpus or device is a failure instead of a reason to skip.
pub fn must_have_all() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
}

/// Says why a test is skipped; with `CI=true` a skipped test is a failed one.
///
/// # Panics
/// With `CI=true` in the environment.
pub fn skip(reason: &str) {
    assert!(!must_have_all(), "{reason}, and CI=true allows no skipped test");
    eprintln!("skipped: {reason}");
}

/// Whether all of `names` can be run; says what is missing.
pub fn have(names: &[&str]) -> bool {
    let missing: Vec<_> = names.iter().filter(|name| !in_path(name)).collect();
    if !missing.is_empty() {
        skip(&format!("missing programs: {missing:?} (script/test installs them)"));
    }
    missing.is_empty()
}

fn in_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

/// Whether FUSE can be used here; says so if it cannot.
pub fn have_fuse() -> bool {
    let usable = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok();
    if !usable {
        skip("/dev/fuse cannot be opened");
    }
    usable && have(&["setpriv"])
}

/// The Python to use: `MUSEFS_PYTHON`, which `script/test` sets to one that can import mutagen, or `python3`.
pub fn python() -> Command {
    Command::new(env::var_os("MUSEFS_PYTHON").unwrap_or_else(|| "python3".into()))
}

/// Runs a command to its end without input and returns what it said.
///
/// # Panics
/// When it cannot be started.
pub fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("starting {command:?}: {error}"))
}

/// Runs a command that has to succeed and returns its stdout.
///
/// # Panics
/// When it fails, with all that it said.
pub fn succeed(command: &mut Command) -> String {
    let output = run(command);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A command of `name` with `arguments`.
pub fn command(name: &str, arguments: &[&dyn AsRef<OsStr>]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments.iter().map(AsRef::as_ref));
    command
}

/// Runs SQL in Debian's `sqlite3` shell, as a user would, and returns what it prints.
///
/// # Panics
/// When the shell reports an error.
pub fn sqlite3(database: &Path, sql: &str) -> String {
    succeed(Command::new("sqlite3").arg("-batch").arg("-bail").args(["-cmd", ".timeout 20000"]).arg(database).arg(sql))
}
