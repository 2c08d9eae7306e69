//! `musefs mount`: serve the catalogue as a tree, until unmounted.

use std::{
    collections::BTreeSet,
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use musefs_core::{
    library::{Follower, Library, LibraryOptions, View},
    vfs::{Attributes, Caching, Cookie, ListSink, NodeId, NodeKind, Vfs},
};
use musefs_db::{Access, Catalog};
use musefs_fuse::{Mounted, Options, Stopped};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{
    allocator, catalog,
    cli::Globals,
    exit::{Exit, Failure},
    output,
    registry::{Record, Registered, Registry},
    view::ViewArgs,
};

/// Serve the catalogue as a read-only tree, until it is unmounted
///
/// Stays in the foreground. SIGINT and SIGTERM unmount, also while files are open; a second one forces it.
/// SIGHUP looks at the catalogue at once.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  musefs mount /srv/music
  musefs mount ~/Music --template '$albumartist/$album[ ($year)]/$track $title' --expose-metrics")]
pub(crate) struct Mount {
    /// An empty directory
    #[arg(env = "MUSEFS_MOUNTPOINT")]
    mountpoint: PathBuf,
    /// Show where tracks would go and mount nothing
    #[arg(long, env = "MUSEFS_DRY_RUN")]
    dry_run: bool,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    serving: Serving,
    #[command(flatten)]
    access: AccessArgs,
}

/// How the tree is served.
#[derive(Debug, Args)]
#[command(next_help_heading = "Serving")]
struct Serving {
    /// Threads that read sources; at most half of them wait for one disk
    #[arg(long, value_name = "COUNT", env = "MUSEFS_WORKERS", default_value_t = 8,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,
    /// Threads that take requests from the kernel [default: number of CPUs, at most 4]
    #[arg(long, value_name = "COUNT", env = "MUSEFS_FUSE_THREADS", value_parser = clap::value_parser!(u16).range(1..=64))]
    fuse_threads: Option<u16>,
    /// MiB that read-ahead on slow disks may take in all; 0 turns it off
    #[arg(long, value_name = "MIB", env = "MUSEFS_READ_AHEAD_BUDGET_MIB", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(0..=65_536))]
    read_ahead_budget_mib: u32,
    /// Let the kernel keep what was read from one opening of a file to the next
    #[arg(long, value_name = "BOOL", env = "MUSEFS_KEEP_CACHE", default_value_t = true, action = clap::ArgAction::Set)]
    keep_cache: bool,
    /// Milliseconds for which the kernel may believe names and attributes; changes are pushed to it anyhow
    #[arg(long, value_name = "MS", env = "MUSEFS_ATTR_TTL_MS", default_value_t = 3_600_000)]
    attr_ttl_ms: u64,
    /// Milliseconds between looks at the catalogue when nothing tells of a change
    #[arg(long, value_name = "MS", env = "MUSEFS_POLL_INTERVAL_MS", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(10..=86_400_000))]
    poll_interval_ms: u64,
    /// Make names that differ only in case one
    #[arg(long, env = "MUSEFS_CASE_INSENSITIVE")]
    case_insensitive: bool,
    /// Add .musefs-metrics/metrics and .musefs-metrics/musefs.prom to the tree
    #[arg(long, env = "MUSEFS_EXPOSE_METRICS")]
    expose_metrics: bool,
    /// Milliseconds in which an unmount ends although files are open
    #[arg(long, value_name = "MS", env = "MUSEFS_UNMOUNT_TIMEOUT_MS", default_value_t = 3_000)]
    unmount_timeout_ms: u64,
}

/// Who may read the tree.
#[derive(Debug, Args)]
#[command(next_help_heading = "Access")]
struct AccessArgs {
    /// Let other users read the tree
    #[arg(long, env = "MUSEFS_ALLOW_OTHER")]
    allow_other: bool,
    /// User id that owns everything [default: yours]
    #[arg(long, value_name = "UID", env = "MUSEFS_OWNER")]
    owner: Option<u32>,
    /// Group id that owns everything [default: yours]
    #[arg(long, value_name = "GID", env = "MUSEFS_GROUP")]
    group: Option<u32>,
    /// Permissions of files, octal
    #[arg(long, value_name = "MODE", env = "MUSEFS_FILE_MODE", default_value = "444", value_parser = mode)]
    file_mode: u16,
    /// Permissions of directories, octal
    #[arg(long, value_name = "MODE", env = "MUSEFS_DIR_MODE", default_value = "555", value_parser = mode)]
    dir_mode: u16,
}

/// Octal permissions without write bits: nothing here can be written.
fn mode(text: &str) -> Result<u16, String> {
    match u16::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode & !0o222),
        _ => Err("not of the form 444: three octal digits".to_owned()),
    }
}

impl Mount {
    pub(crate) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        let view = self.view.view()?;
        let catalog = catalog::open(globals, Access::ReadOnly)?;
        let catalog_path = catalog.path().to_owned();
        let library = self.library(catalog, view)?;
        if self.dry_run {
            return show_tree(&library);
        }
        let record = self.register(&catalog_path).unwrap_or_else(|error| {
            tracing::warn!("recording the mount: {error:#}; after a crash it will not be cleared");
            None
        });
        self.serve(&library, record)
    }

    /// What the tree looks like, and whether names that differ only in case are one.
    ///
    /// # Errors
    /// As [`ViewArgs::view`].
    pub(crate) fn look(&self) -> anyhow::Result<(View, bool)> {
        Ok((self.view.view()?, self.serving.case_insensitive))
    }

    /// Clears what daemons that died have left behind, and records the mount that is to be made.
    fn register(&self, catalog: &Path) -> anyhow::Result<Option<Registered>> {
        let registry = Registry::of_this_user()?;
        for cleared in registry.clear_stale() {
            tracing::info!(target: "musefs", "cleared {}, which a daemon that died had left behind", cleared.display());
        }
        // One that cannot be resolved is refused, with a better message, when mounting.
        let Ok(mount_point) = fs::canonicalize(&self.mountpoint) else { return Ok(None) };
        let record = Record::of_this_process(mount_point, fs::canonicalize(catalog)?, arguments())?;
        Ok(Some(registry.register(&record)?))
    }

    fn library(&self, catalog: Catalog, view: View) -> anyhow::Result<Arc<Library>> {
        let path = catalog.path().to_owned();
        let options = LibraryOptions {
            view,
            fold_case: self.serving.case_insensitive,
            read_ahead_budget_bytes: (self.serving.read_ahead_budget_mib as usize) << 20,
            poll_interval: Duration::from_millis(self.serving.poll_interval_ms),
            expose_metrics: self.serving.expose_metrics,
            state_directory: Some(catalog::state_directory()?),
        };
        Library::open(catalog, options).with_context(|| format!("reading the catalogue {}", path.display()))
    }

    fn serve(&self, library: &Arc<Library>, record: Option<Registered>) -> anyhow::Result<Exit> {
        allocator::watch(library.metrics());
        // From before the mount: a signal that comes the moment it appears must unmount it, not end the program.
        let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("listening for signals")?;
        let vfs: Arc<dyn Vfs> = Arc::clone(library) as _;
        let mounted = match Mounted::start(vfs, &self.mountpoint, &self.options()) {
            Ok(mounted) => Arc::new(mounted),
            Err(error) => {
                record.map_or(Ok(()), Registered::clear)?;
                return Err(error.into());
            }
        };
        let follower = Follower::start(library)?;
        watch_signals(signals, &mounted, library, Duration::from_millis(self.serving.unmount_timeout_ms))?;
        let totals = library.totals();
        tracing::info!(target: "musefs", "serving {} tracks at {}", totals.files, mounted.mount_point().display());
        let ended = mounted.wait();
        if !mounted.stands() {
            record.map_or(Ok(()), Registered::clear)?;
        }
        drop(follower);
        ended.map_err(|error| Failure::new(Exit::Mount, format!("serving {}: {error}", self.mountpoint.display())))?;
        Ok(Exit::Success)
    }

    fn options(&self) -> Options {
        let defaults = Options::default();
        Options {
            allow_other: self.access.allow_other,
            owner: self.access.owner.unwrap_or(defaults.owner),
            group: self.access.group.unwrap_or(defaults.group),
            file_mode: self.access.file_mode,
            dir_mode: self.access.dir_mode,
            ttl: Duration::from_millis(self.serving.attr_ttl_ms),
            keep_cache: self.serving.keep_cache,
            loops: self.serving.fuse_threads.map_or(defaults.loops, usize::from),
            workers: usize::from(self.serving.workers),
            ..defaults
        }
    }
}

/// What this program was called with, for the record.
fn arguments() -> Vec<String> {
    env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Ends the mount on SIGINT and SIGTERM, by force on the second; SIGHUP looks at the catalogue at once.
fn watch_signals(
    mut signals: Signals,
    mounted: &Arc<Mounted>,
    library: &Arc<Library>,
    timeout: Duration,
) -> anyhow::Result<()> {
    let (mounted, library) = (Arc::clone(mounted), Arc::clone(library));
    let watch = move || {
        let mut times_asked = 0;
        for signal in signals.forever() {
            if signal == SIGHUP {
                refresh(&library);
                continue;
            }
            times_asked += 1;
            let timeout = if times_asked == 1 { timeout } else { Duration::ZERO };
            stop_in_background(Arc::clone(&mounted), timeout);
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(watch).context("listening for signals")?;
    Ok(())
}

fn refresh(library: &Library) {
    if let Err(error) = library.refresh() {
        tracing::warn!("following the catalogue: {error}");
    }
}

/// A second signal must be heard while the first is being obeyed.
fn stop_in_background(mounted: Arc<Mounted>, timeout: Duration) {
    let stop = move || match mounted.stop(timeout) {
        Ok(Stopped::Cleanly) => tracing::debug!("unmounted"),
        Ok(Stopped::ByForce) => tracing::warn!("unmounted by force: files were still open"),
        Err(error) => tracing::error!("{error}"),
    };
    if let Err(error) = thread::Builder::new().name("unmount".to_owned()).spawn(stop) {
        tracing::error!("unmounting: {error}");
    }
}

/// Prints the path of every file, and how many there are.
fn show_tree(library: &Library) -> anyhow::Result<Exit> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut waiting = vec![(NodeId::ROOT, String::new())];
    while let Some((directory, path)) = waiting.pop() {
        let mut children = Children::default();
        library.list(directory, Cookie::default(), &mut children)?;
        for file in &children.files {
            writeln!(out, "{}", output::safe(format!("{path}{file}")))?;
        }
        waiting.extend(children.directories.into_iter().rev().map(|(name, id)| (id, format!("{path}{name}/"))));
    }
    out.flush()?;
    let totals = library.totals();
    eprintln!("{} tracks in {} directories; nothing was mounted", totals.files, totals.directories);
    Ok(Exit::Success)
}

/// The children of one directory, by name.
#[derive(Default)]
struct Children {
    directories: BTreeSet<(String, NodeId)>,
    files: BTreeSet<String>,
}

impl ListSink for Children {
    fn child(&mut self, attributes: &Attributes, name: &[u8], _: Cookie, _: Caching) -> bool {
        let name = String::from_utf8_lossy(name).into_owned();
        match attributes.kind {
            NodeKind::Directory => self.directories.insert((name, attributes.node.id)),
            NodeKind::File => self.files.insert(name),
        };
        true
    }
}
