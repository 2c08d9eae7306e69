//! A folder seen through the kit's `slowfs`: a stand-in for a slow disk or a NAS that does not answer.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use crate::{
    mount::{Mount, MountCommand},
    program, tools,
};

/// The compiled `slowfs`, or none where it cannot be compiled.
///
/// # Panics
/// When the compiler fails, or with `CI=true` when there is none.
pub fn program(into: &Path) -> Option<PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(|| compile(into)).clone()
}

fn compile(into: &Path) -> Option<PathBuf> {
    if !tools::have(&["cc", "pkg-config"]) {
        return None;
    }
    let flags = tools::run(Command::new("pkg-config").args(["--cflags", "--libs", "fuse3"]));
    if !flags.status.success() {
        tools::skip("libfuse3 is missing (script/test installs it)");
        return None;
    }
    // A name of this process: several test programs may compile it at a time.
    let target = into.join(format!("slowfs-{}", std::process::id()));
    let source = program::workspace().join("script/bench.d/slowfs.c");
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    tools::succeed(Command::new("cc").args(["-O2", "-o"]).arg(&target).arg(source).args(flags.split_whitespace()));
    Some(target)
}

/// Mounts `source` on `point` with a delay for each open and stat, and one for each read.
#[track_caller]
pub fn mount(program: &Path, source: &Path, point: &Path, meta: Duration, read: Duration) -> Mount {
    MountCommand::foreign(program, point, &["-f", "-o", "ro"])
        .env("SLOW_SRC", source)
        .env("SLOW_META_US", meta.as_micros().to_string())
        .env("SLOW_READ_US", read.as_micros().to_string())
        .start()
}
