//! `musefs scan`: takes audio files into the catalogue.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use indicatif::{BinaryBytes, HumanCount};
use musefs_core::scan::{self, Options, Report};
use musefs_db::Access;
use musefs_fuse::mountinfo::{self, Entry};
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::{
    catalog,
    cli::Globals,
    exit::{Exit, Failure},
    output::{self, safe},
    progress::ScanProgress,
};

/// Most problems that the summary lists; `--json` has more.
const PROBLEMS_SHOWN_MAX: usize = 20;

/// Take audio files into the catalogue
///
/// Files are only read, never written. What was scanned before and has not changed costs one look at its size
/// and times. A file that is gone is kept as missing, with its edits; one that moved keeps its track. A folder
/// that is gone or has no audio any more is taken for a disk that is not mounted: its tracks stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  musefs scan ~/Music
  musefs scan --dry-run --json /mnt/nas/flac | jq .new

Ends with 0 when all was looked at (damaged files are listed, and served as they are), with 3 when some paths could
not be read or are gone, and with 130 after an interrupt; what was read by then is in the catalogue.")]
pub(crate) struct Scan {
    /// Folders and files to scan
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Files to read at once [default: two for each processor, at least 4 and at most 16]
    #[arg(long, value_name = "N", env = "MUSEFS_JOBS")]
    jobs: Option<NonZeroUsize>,
    /// Follow symbolic links; what they lead to is scanned once
    #[arg(long)]
    follow_symlinks: bool,
    /// Tell what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Scan {
    pub(crate) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        let options = self.options()?;
        let stop = stopped_by_signals()?;
        report_reader_panics_quietly();
        let mut progress = ScanProgress::new(globals.quiet);
        let result = if self.dry_run {
            let exists = catalog::path(globals)?.exists();
            let catalog = exists.then(|| catalog::open(globals, Access::ReadOnly)).transpose()?;
            scan::rehearse(catalog.as_ref(), &options, &stop, &mut progress)
        } else {
            scan::scan(&catalog::open(globals, Access::Create)?, &options, &stop, &mut progress)
        };
        progress.finish();
        let report = result?;
        self.refuse_nothing(&report)?;
        if self.json {
            output::json(&as_json(&report))?;
        } else if !globals.quiet {
            output::text(&summary(&report, self.dry_run))?;
        }
        Ok(exit(&report))
    }

    /// Paths that are neither there nor in the catalogue are slips of the hand.
    fn refuse_nothing(&self, report: &Report) -> anyhow::Result<()> {
        let Some((first, _)) = report.gone.first() else { return Ok(()) };
        if report.gone.len() < self.paths.len() || report.gone.iter().any(|(_, tracks)| *tracks > 0) {
            return Ok(());
        }
        let message = format!("there is nothing to scan at {}", safe(first.as_os_str().as_encoded_bytes()));
        Err(Failure::new(Exit::Failure, message).into())
    }

    fn options(&self) -> anyhow::Result<Options> {
        let excluded = own_mounts();
        for path in &self.paths {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if excluded.iter().any(|mount| real.starts_with(mount)) {
                let message = format!("{} is a mount of musefs", safe(path.as_os_str().as_encoded_bytes()));
                return Err(Failure::new(Exit::Usage, message).hint("scan the folder with your music").into());
            }
        }
        let jobs = self.jobs.map_or_else(default_jobs, NonZeroUsize::get).min(JOBS_MAX);
        Ok(Options { paths: self.paths.clone(), excluded, jobs, follow_links: self.follow_symlinks })
    }
}

/// Most files that are read at once: more threads help no disk.
const JOBS_MAX: usize = 64;

fn default_jobs() -> usize {
    let processors = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
    (2 * processors).clamp(4, 16)
}

/// A flag that SIGINT and SIGTERM raise. A second SIGINT ends the program at once.
fn stopped_by_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, Exit::Interrupted as i32, Arc::clone(&stop))?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// A reader that panics costs its file, which the summary names; the rest is for those who mend the reader.
fn report_reader_panics_quietly() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some(scan::PROBE_THREAD) {
            tracing::debug!("{panic}");
        } else {
            usual(panic);
        }
    }));
}

/// Mount points of this program: their files are not music of their own.
fn own_mounts() -> Vec<PathBuf> {
    let mounts = mountinfo::read().unwrap_or_default();
    mounts.into_iter().filter(Entry::is_ours).map(|entry| entry.mount_point).collect()
}

fn exit(report: &Report) -> Exit {
    match report {
        Report { interrupted: true, .. } => Exit::Interrupted,
        Report { unreadable: 0, .. } => Exit::Success,
        _ => Exit::Partial,
    }
}

fn summary(report: &Report, dry_run: bool) -> String {
    let mut lines = Vec::new();
    let mut line = |line: String| lines.push(line);
    let changes = [
        ("new", report.new),
        ("changed", report.changed),
        ("moved", report.moved),
        ("back", report.returned),
        ("missing", report.missing),
        ("not looked for", report.kept),
        ("unchanged", report.unchanged),
    ];
    let told = listed(changes.into_iter().filter(|(_, count)| *count > 0));
    let tracks = if told.is_empty() { "none".to_owned() } else { told };
    line(format!("{}: {tracks}", if dry_run { "tracks, if this were no dry run" } else { "tracks" }));
    if !report.by_state.is_empty() {
        let states = report.by_state.iter().map(|(state, count)| (state.as_str(), *count));
        line(format!("catalogue: {}", listed(states)));
        line(format!("formats: {}", listed(report.by_format.iter().map(|(name, count)| (name.as_str(), *count)))));
    }
    if report.others.total() > 0 {
        line(format!("other files: {}", listed(report.others.iter().map(|(name, count)| (named(name), count)))));
    }
    if report.links > 0 {
        line(format!("links not followed: {}", HumanCount(report.links)));
    }
    let (opened, read) = (HumanCount(report.opened), BinaryBytes(report.bytes_read));
    line(format!("{:.1} s, {opened} files opened, {read} read", report.elapsed.as_secs_f64()));
    if report.interrupted {
        line("interrupted: the next scan goes on from here".to_owned());
    }
    if report.problems.count > 0 {
        line(format!("problems: {}", HumanCount(report.problems.count)));
        for problem in report.problems.first.iter().take(PROBLEMS_SHOWN_MAX) {
            line(format!("  {}: {}", safe(problem.path.as_os_str().as_encoded_bytes()), safe(&problem.what)));
        }
        if report.problems.count > PROBLEMS_SHOWN_MAX as u64 {
            let more = report.problems.count - PROBLEMS_SHOWN_MAX as u64;
            line(format!("  and {} more; --json tells them", HumanCount(more)));
        }
    }
    lines.join("\n") + "\n"
}

fn named(extension: &str) -> &str {
    if extension.is_empty() { "without extension" } else { extension }
}

/// `flac 1,200, mp3 30`, the most frequent first.
fn listed<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words: Vec<_> = counts.iter().map(|(name, count)| format!("{} {}", safe(name), HumanCount(*count))).collect();
    words.join(", ")
}

fn as_json(report: &Report) -> Value {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let counts = |counts: &mut dyn Iterator<Item = (String, u64)>| {
        Value::Object(counts.map(|(name, count)| (name, count.into())).collect())
    };
    let problems: Vec<Value> =
        report.problems.first.iter().map(|it| json!({ "path": shown(&it.path), "problem": it.what })).collect();
    let gone: Vec<Value> =
        report.gone.iter().map(|(path, tracks)| json!({ "path": shown(path), "tracks": tracks })).collect();
    json!({
        "new": report.new,
        "changed": report.changed,
        "moved": report.moved,
        "back": report.returned,
        "missing": report.missing,
        "not_looked_for": report.kept,
        "unchanged": report.unchanged,
        "unreadable": report.unreadable,
        "gone": gone,
        "by_state": counts(&mut report.by_state.iter().map(|(state, count)| (state.as_str().to_owned(), *count))),
        "by_format": counts(&mut report.by_format.iter().map(|(name, count)| (name.clone(), *count))),
        "other_files": counts(&mut report.others.iter().map(|(name, count)| (name.to_owned(), count))),
        "links_not_followed": report.links,
        "problems": problems,
        "problems_total": report.problems.count,
        "files_opened": report.opened,
        "bytes_read": report.bytes_read,
        "seconds": report.elapsed.as_secs_f64(),
        "interrupted": report.interrupted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_listed_by_size() {
        assert_eq!(listed([("mp3", 3), ("flac", 1200), ("", 1)].into_iter()), "flac 1,200, mp3 3,  1");
    }
}
