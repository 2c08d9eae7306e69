//! The program under test: found or built once, run without any of the user's own settings.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Output},
    sync::OnceLock,
};

/// The musefs binary: `MUSEFS_BIN`, or the one that cargo builds for the profile of this test.
///
/// # Panics
/// When cargo cannot build it.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| env::var_os("MUSEFS_BIN").map_or_else(build, PathBuf::from))
}

fn build() -> PathBuf {
    // This test is target/PROFILE/deps/NAME-HASH.
    let test = env::current_exe().expect("a running test has a path");
    let folder = test.ancestors().nth(2).expect("cargo puts tests into a folder of the profile").to_owned();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "-p", "musefs-cli"]).current_dir(workspace());
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo can be started, it started this test");
    assert!(status.success(), "building musefs failed");
    folder.join("musefs")
}

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a folder of the workspace").to_owned()
}

/// What a finished run said.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub status: ExitStatus,
    /// Its data.
    pub stdout: String,
    /// Its talk.
    pub stderr: String,
}

impl Ran {
    /// Asserts the exit code and returns itself.
    ///
    /// # Panics
    /// When the program ended otherwise, with all that it said.
    #[track_caller]
    pub fn code(self, expected: i32) -> Self {
        assert_eq!(self.status.code(), Some(expected), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that stderr contains all of `texts`.
    ///
    /// # Panics
    /// When one is missing.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "no {text:?} in: {}", self.stderr);
        }
        self
    }

    /// Stdout as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
