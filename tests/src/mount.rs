//! Guarded mounts: started, awaited, and gone when the guard is, even if the test fails or is killed.
//!
//! A daemon is started with a parent-death signal: when the test process ends in any way, it gets SIGTERM and
//! unmounts. Only mounts on the guard's own mount point are ever touched.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{OnceLock, mpsc},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{sandbox::Sandbox, wait};

/// How long a daemon may take to end after SIGTERM in tests.
const END_LIMIT: Duration = Duration::from_secs(20);

/// A mount that is about to be started.
#[derive(Debug)]
pub struct MountCommand {
    command: Command,
    point: PathBuf,
    log: PathBuf,
}

impl MountCommand {
    /// A mount of the sandbox's catalogue on a folder `name` in it.
    ///
    /// # Panics
    /// When the folder cannot be made.
    pub fn new(sandbox: &Sandbox, name: &str) -> Self {
        let point = sandbox.root().join(name);
        // A dead mount cannot even be asked whether it is a directory.
        if !is_mount_point(&point) {
            fs::create_dir_all(&point).expect("a mount point can be made");
        }
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM", "--"]).arg(crate::program::binary()).arg("mount").arg(&point);
        sandbox.isolate(&mut command);
        Self { command, log: point.with_extension("log"), point }
    }

    /// A foreign mount that stays in the foreground: `program`, which mounts on `point`.
    ///
    /// # Panics
    /// When the mount point cannot be made.
    pub fn foreign(program: &Path, point: &Path, arguments: &[&str]) -> Self {
        fs::create_dir_all(point).expect("a mount point can be made");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM", "--"]).arg(program).arg(point).args(arguments);
        Self { command, log: point.with_extension("log"), point: point.to_owned() }
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it and waits until the mount is there.
    ///
    /// # Panics
    /// When it ends instead, with what it said.
    #[track_caller]
    pub fn start(mut self) -> Mount {
        let log = fs::OpenOptions::new().create(true).append(true).open(&self.log).expect("a log can be written");
        self.command.stdin(Stdio::null()).stdout(log.try_clone().expect("a file can be shared")).stderr(log);
        let child = spawn(self.command).expect("setpriv can be started");
        let mut mount = Mount { child, point: self.point, log: self.log, ended: None };
        wait::until("the mount", || mount.poll().is_some() || (mount.is_mounted() && mount.answers()));
        assert!(mount.poll().is_none(), "the mount ended with {:?}: {}", mount.ended, mount.log());
        mount
    }

    /// Starts it when it is expected to fail, and returns how it ended and what it said.
    ///
    /// # Panics
    /// When it goes on instead.
    #[track_caller]
    pub fn fail(mut self) -> crate::program::Ran {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawn(self.command).expect("setpriv can be started");
        let ended = wait::within(wait::LIMIT, || child.try_wait().expect("a child can be awaited"));
        if ended.is_none() {
            let mut mount = Mount { child, point: self.point, log: self.log, ended: None };
            mount.end();
            panic!("mounted although it had to fail");
        }
        child.wait_with_output().expect("a child can be awaited").into()
    }
}

/// Spawns on a thread that lives as long as the process: the parent-death signal is one of the *thread's* death.
fn spawn(command: Command) -> io::Result<Child> {
    type Job = (Command, mpsc::Sender<io::Result<Child>>);
    static KEEPER: OnceLock<mpsc::Sender<Job>> = OnceLock::new();
    let keeper = KEEPER.get_or_init(|| {
        let (jobs, queue) = mpsc::channel::<Job>();
        thread::spawn(move || {
            for (mut command, answer) in queue {
                // A test that gave up waiting needs no answer.
                let _ = answer.send(command.spawn());
            }
        });
        jobs
    });
    let (answer, result) = mpsc::channel();
    keeper.send((command, answer)).expect("the keeper never ends");
    result.recv().expect("the keeper answers each job")
}

/// A mount that is there, and its daemon.
#[derive(Debug)]
pub struct Mount {
    child: Child,
    point: PathBuf,
    log: PathBuf,
    ended: Option<ExitStatus>,
}

impl Mount {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// A path in it.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.point.join(path)
    }

    /// What the daemon has said so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// The daemon's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How the daemon ended, if it has.
    pub fn poll(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().expect("a child can be awaited");
        }
        self.ended
    }

    /// Whether something is mounted on the mount point. Asks the kernel's table only, never the mount.
    pub fn is_mounted(&self) -> bool {
        is_mount_point(&self.point)
    }

    /// Whether somebody is behind the mount: a dead one of an earlier program says that it is not connected. The
    /// name is a new one for each program, as the kernel answers for those it knows.
    fn answers(&self) -> bool {
        let asked = self.point.join(format!(".is-{}-there", self.child.id()));
        fs::symlink_metadata(asked).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Sends the daemon a signal.
    ///
    /// # Panics
    /// When it has ended already.
    pub fn signal(&mut self, signal: Signal) {
        assert!(self.poll().is_none(), "the daemon has ended: {}", self.log());
        kill_process(Pid::from_child(&self.child), signal).expect("a child can be signalled");
    }

    /// Waits until the daemon has ended by itself.
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    pub fn ends(&mut self) -> ExitStatus {
        match wait::within(END_LIMIT, || self.poll()) {
            Some(status) => status,
            None => panic!("the daemon did not end: {}", self.log()),
        }
    }

    /// Unmounts as a user does, by SIGTERM.
    ///
    /// # Panics
    /// When the daemon does not end with success or leaves its mount.
    #[track_caller]
    pub fn unmount(mut self) {
        self.signal(Signal::TERM);
        let status = self.ends();
        assert!(status.success(), "{status}: {}", self.log());
        assert!(!self.is_mounted(), "the mount is still there: {}", self.log());
    }

    /// Kills the daemon outright, as a crash would; the dead mount stays.
    ///
    /// # Panics
    /// When it has ended already.
    pub fn crash(&mut self) {
        self.signal(Signal::KILL);
        self.ends();
    }

    /// Ends everything without asking questions.
    fn end(&mut self) {
        if self.poll().is_none() {
            let pid = Pid::from_child(&self.child);
            // It may end between the look and the signal.
            let _ = kill_process(pid, Signal::TERM);
            if wait::within(END_LIMIT, || self.poll()).is_none() {
                let _ = kill_process(pid, Signal::KILL);
                let _ = self.child.wait();
            }
        }
        if self.is_mounted() {
            let _ = Command::new("umount").arg("-l").arg(&self.point).status();
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("log of the mount on {}:\n{}", self.point.display(), self.log());
        }
        self.end();
    }
}

/// Whether `path` is the root of a mount, by the kernel's table.
///
/// # Panics
/// When the table cannot be read.
pub fn is_mount_point(path: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").expect("Linux has /proc/self/mountinfo");
    table.lines().any(|line| line.split(' ').nth(4).is_some_and(|point| Path::new(point) == path))
}
