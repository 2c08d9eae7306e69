//! A mount and its life: made, served, ended; never left behind.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crossbeam_channel::{Sender, bounded};
use fuser::{Config, Session, SessionACL};
use musefs_core::{
    vfs::Vfs,
    workers::{Pool, Stats},
};

use crate::{
    adapter::Adapter,
    connection::Connection,
    error::MountError,
    mounting::{self, Prepared},
    notifier,
    options::Options,
    reads::Reads,
    trust::Trust,
};

/// After an abort the kernel answers everybody at once; what is left is for threads to notice.
const ABORT_LIMIT: Duration = Duration::from_secs(2);

/// A library that is being served at a mount point. Dropping it ends the mount.
pub struct Mounted {
    path: PathBuf,
    connection: Connection,
    end: Arc<End>,
    reads: Arc<Pool<Reads>>,
    trust: Arc<Trust>,
    /// The notifier goes when this does.
    _notifying: Sender<()>,
}

/// How a mount ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nobody used it any more.
    Cleanly,
    /// Files were still open when the time was over. Their readers get errors: at once, or, without root
    /// on a system without fusectl, when this process ends.
    ByForce,
}

impl Mounted {
    /// Mounts and serves a library. When this returns, the mount is there and answers.
    ///
    /// # Errors
    /// When the mount point cannot be used, or the system does not let us mount.
    pub fn start(vfs: Arc<dyn Vfs>, mount_point: &Path, options: &Options) -> Result<Self, MountError> {
        let path = mounting::check_mount_point(mount_point)?;
        let trust = Arc::new(Trust::new(options.ttl));
        let adapter = Adapter::new(Arc::clone(&vfs), Arc::clone(&trust), options).map_err(MountError::Start)?;
        let reads = Arc::clone(adapter.reads());
        let Prepared { device, unattached } = mounting::prepare(&path, options)?;
        let connection = match &unattached {
            Some(mount) => Connection::of_unattached(mount),
            None => Connection::of_mount_point(&path).and_then(|found| found.ok_or_else(vanished)),
        };
        let connection = connection.map_err(MountError::Start)?;
        let undo = |error| {
            let _ = connection.detach(&path);
            MountError::Start(error)
        };
        let (acl, config) = session_config(options);
        let session = Session::from_fd(adapter, device, acl, config).map_err(undo)?;
        let (notifying, stop) = bounded(0);
        notifier::start(vfs, session.notifier(), Arc::clone(&trust), stop).map_err(undo)?;
        connection.raise_read_ahead();
        let end = serve(session, connection, path.clone()).map_err(undo)?;
        let mounted = Self { path, connection, end, reads, trust, _notifying: notifying };
        if let Some(mount) = unattached {
            mounting::attach(mount, &mounted.path)?;
        }
        Ok(mounted)
    }

    /// Where it is mounted, absolute.
    pub fn mount_point(&self) -> &Path {
        &self.path
    }

    /// Whether the mount is still in the tree of mounts.
    pub fn stands(&self) -> bool {
        self.connection.stands_at(&self.path)
    }

    /// What the workers that read sources are doing.
    pub fn workers(&self) -> Stats {
        self.reads.stats()
    }

    /// Whether the kernel could not be told of a change and may show something old.
    pub fn pushing_fails(&self) -> bool {
        self.trust.pushing_fails()
    }

    /// Waits until the mount has ended: by [`stop`](Self::stop), or by somebody else's `umount`. After a
    /// stop by force there may be threads that never end: the process should.
    ///
    /// # Errors
    /// When serving ended by a fault of its own.
    pub fn wait(&self) -> io::Result<()> {
        self.end.wait(None).unwrap_or(Ok(()))
    }

    /// Takes the mount away at once and gives those who have files open `timeout` to finish; then they
    /// get errors. Can be called again, with a shorter time.
    ///
    /// # Errors
    /// When the mount is still there.
    pub fn stop(&self, timeout: Duration) -> Result<Stopped, MountError> {
        let detached = self.connection.detach(&self.path);
        if detached.is_ok() && self.end.wait(Some(timeout)).is_some() {
            return Ok(if self.end.was_forced() { Stopped::ByForce } else { Stopped::Cleanly });
        }
        self.end.force();
        match self.connection.abort() {
            Ok(()) => drop(self.end.wait(Some(ABORT_LIMIT))),
            Err(error) => tracing::warn!(%error, "open files can be read until this process ends"),
        }
        match detached {
            Err(error) if self.connection.stands_at(&self.path) => {
                Err(MountError::Unmount { path: self.path.clone(), reason: error.to_string() })
            }
            _ => {
                // A thread may never come back. The mount is gone; what is left ends with the process.
                self.end.set(Ok(()));
                Ok(Stopped::ByForce)
            }
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.end.wait(Some(Duration::ZERO)).is_none()
            && let Err(error) = self.stop(Duration::ZERO)
        {
            tracing::error!(%error, "the mount is left behind");
        }
    }
}

/// How serving ended, once it has.
#[derive(Default)]
struct End {
    state: Mutex<EndState>,
    changed: Condvar,
}

#[derive(Default)]
struct EndState {
    forced: bool,
    /// The error as text, as it is told to everyone who waits.
    ended: Option<Result<(), String>>,
}

impl End {
    /// The first to say so is believed.
    fn set(&self, result: Result<(), String>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ended.get_or_insert(result);
        self.changed.notify_all();
    }

    fn force(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).forced = true;
    }

    fn was_forced(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).forced
    }

    /// None: it has not ended within the time.
    fn wait(&self, timeout: Option<Duration>) -> Option<io::Result<()>> {
        let limit = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(ended) = &state.ended {
                return Some(ended.clone().map_err(io::Error::other));
            }
            state = match limit.map(|limit| limit.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return None,
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// Runs the event loops. When they have ended, nothing may be left that clients could hang on.
fn serve(session: Session<Adapter>, connection: Connection, path: PathBuf) -> io::Result<Arc<End>> {
    let end = Arc::new(End::default());
    let told = Arc::clone(&end);
    thread::Builder::new().name("musefs-session".into()).spawn(move || {
        let result = session.run();
        if let Err(error) = &result {
            // The device may still be open in a worker or the notifier: without this, clients would wait for ever.
            tracing::error!(%error, "serving has ended by a fault");
            let _ = connection.abort();
        }
        // An aborted connection leaves a dead mount.
        if let Err(error) = connection.detach(&path) {
            tracing::error!(path = %path.display(), %error, "the mount is left behind");
        }
        told.set(result.map_err(|error| error.to_string()));
    })?;
    Ok(end)
}

fn session_config(options: &Options) -> (SessionACL, Config) {
    let acl = if options.allow_other { SessionACL::All } else { SessionACL::Owner };
    let mut config = Config::default();
    config.n_threads = Some(options.loops.max(1));
    config.acl = acl;
    (acl, config)
}

fn vanished() -> io::Error {
    io::Error::other("the mount that was just made is gone")
}
