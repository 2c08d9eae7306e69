//! Finds audio files below roots and takes into the catalogue what is new or changed.
//!
//! Three stages, joined by bounded queues: threads that walk, threads that probe, and one writer, the
//! calling thread. An unchanged file ends in the first stage, for the price of one `stat`. A file that
//! cannot be read is told in the [`Report`] and harms no other.

mod dismissed;
mod file;
mod from_name;
mod gate;
mod identity;
mod known;
mod not_audio;
mod probe;
mod report;
mod retry;
mod roots;
mod rows;
mod settle;
mod walk;
mod writer;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;

use std::{
    path::PathBuf,
    sync::{
        PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use musefs_db::{self as db, Catalog, RootId};

pub use self::report::{Others, Problem, Problems, Report};
use self::{
    dismissed::DismissedFiles,
    gate::{Gate, Message, Tally},
    known::KnownFiles,
    roots::{Scope, ScopeKind},
    settle::settle,
    walk::{Found, Visitor as _, Walk},
    writer::Writer,
};
use crate::limits::{FOUND_QUEUE_MAX, PROBED_QUEUE_MAX};

/// What to scan, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directories and files.
    pub paths: Vec<PathBuf>,
    /// Directories that are not entered: mounts of this program.
    pub excluded: Vec<PathBuf>,
    /// Files that are read at once.
    pub jobs: usize,
    /// Whether symbolic links are followed.
    pub follow_links: bool,
}

/// How far a scan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files found so far that are audio, or may be.
    pub found: u64,
    /// Those of them that are done.
    pub done: u64,
    /// Whether there may be more than were found so far.
    pub walking: bool,
}

/// Who follows a scan; called by the thread that runs it.
pub trait Observer {
    /// Called several times a second.
    fn progress(&mut self, progress: Progress);
    /// Called for each problem, as it comes.
    fn problem(&mut self, problem: &Problem);
}

/// How often an observer hears of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Name of the threads that read files. A panic in one is caught and told as a problem of its file.
pub const PROBE_THREAD: &str = "probe";

/// Stack of a probing thread, in bytes: readers of nested containers are recursive.
const PROBE_STACK_BYTES: usize = 8 << 20;

/// Scans, and takes into the catalogue what it finds. `stop` ends it early: what was probed by then is written.
///
/// # Errors
/// Those of the catalogue only; what happens to files is data, and in the report.
pub fn scan(
    catalog: &Catalog,
    options: &Options,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Report, db::Error> {
    let began = Instant::now();
    let mut writer = catalog.writer("a scan")?;
    let scan = Scan::new(options, stop, Some(catalog))?;
    let roots = scan.register_roots(&mut writer)?;
    let (mut report, unseen) = scan.run(Writer::new(Some(&mut writer), &roots, &scan.known, observer))?;
    if !report.interrupted {
        let scopes: Vec<Scope> = scan.places.iter().map(|place| place.scope.clone()).collect();
        let settled = settle(catalog, &mut writer, &scan.known, &scopes, &unseen)?;
        report.new = report.new.saturating_sub(settled.moved);
        (report.moved, report.missing, report.kept) = (settled.moved, settled.missing, settled.kept);
    }
    catalog.read(|reader| {
        report.by_state = reader.counts_by_state()?.into_iter().collect();
        report.by_format = reader.counts_by_format()?.into_iter().collect();
        Ok(())
    })?;
    report.elapsed = began.elapsed();
    Ok(report)
}

/// Tells what a scan would do, and writes nothing. A file that moved counts as a new and a missing one. Without a
/// catalogue, all is new.
///
/// # Errors
/// Those of the catalogue.
pub fn rehearse(
    catalog: Option<&Catalog>,
    options: &Options,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Report, db::Error> {
    let began = Instant::now();
    let scan = Scan::new(options, stop, catalog)?;
    let (mut report, unseen) = scan.run(Writer::new(None, &[], &scan.known, observer))?;
    if let Some(catalog) = catalog.filter(|_| !report.interrupted) {
        for place in &scan.places {
            let not_met = |reader: &db::Reader<'_>| settle::not_met(reader, &scan.known, &place.scope, &unseen);
            let (missing, kept) = catalog.read(not_met)?;
            report.missing += missing.len() as u64;
            report.kept += kept;
        }
    }
    report.elapsed = began.elapsed();
    Ok(report)
}

/// A scan under way.
struct Scan<'a> {
    options: &'a Options,
    /// Set by whoever wants an early end.
    stop: &'a AtomicBool,
    /// Set when nobody takes in what is found any more.
    failed: AtomicBool,
    places: Vec<Place>,
    known: KnownFiles,
    dismissed: DismissedFiles,
    tally: Tally,
}

/// A place that is scanned.
struct Place {
    scope: Scope,
    /// How many files of it the catalogue has, missing ones aside.
    known: u64,
    /// Files found there that are audio, or may be.
    found: AtomicU64,
}

impl<'a> Scan<'a> {
    /// Learns what the catalogue knows of the places.
    fn new(options: &'a Options, stop: &'a AtomicBool, catalog: Option<&Catalog>) -> Result<Self, db::Error> {
        let mut scan = Self {
            options,
            stop,
            failed: AtomicBool::new(false),
            places: Vec::new(),
            known: KnownFiles::default(),
            dismissed: DismissedFiles::default(),
            tally: Tally::default(),
        };
        for scope in roots::scopes(&options.paths) {
            let known = match catalog {
                Some(catalog) => catalog.read(|reader| scan.learn(reader, &scope))?,
                None => 0,
            };
            scan.places.push(Place { scope, known, found: AtomicU64::new(0) });
        }
        scan.known.seal();
        Ok(scan)
    }

    /// Takes in what the catalogue has of a place; tells how many files of it are not missing.
    fn learn(&mut self, reader: &db::Reader<'_>, scope: &Scope) -> Result<u64, db::Error> {
        let mut count = 0;
        scope.known(reader, &mut |file| {
            count += u64::from(file.state != db::SourceState::Missing);
            self.known.add(file);
        })?;
        reader.dismissed(&scope.path, &mut |file| self.dismissed.add(file))?;
        Ok(count)
    }

    fn register_roots(&self, catalog: &mut db::Writer) -> Result<Vec<(PathBuf, RootId)>, db::Error> {
        let paths = self.places.iter().filter_map(|place| place.scope.root());
        paths.map(|path| Ok((path.to_owned(), catalog.root(path)?))).collect()
    }

    /// Walks, probes and writes. Gives the report, and what could not be seen.
    fn run(&self, mut writer: Writer<'_>) -> Result<(Report, Vec<PathBuf>), db::Error> {
        self.pipeline(&mut writer)?;
        let mut report = writer.report;
        report.interrupted = self.stop.load(Ordering::Relaxed);
        report.unchanged += self.tally.unchanged.load(Ordering::Relaxed);
        report.links = self.tally.links.load(Ordering::Relaxed);
        report.problems.first.sort();
        report.others.merge(&self.tally.others.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((report, writer.unseen))
    }

    fn pipeline(&self, writer: &mut Writer<'_>) -> Result<(), db::Error> {
        let (to_probe, found) = bounded(FOUND_QUEUE_MAX);
        let (sender, messages) = bounded(PROBED_QUEUE_MAX);
        std::thread::scope(|scope| {
            let gate = Gate { scan: self, to_probe, messages: sender.clone() };
            scope.spawn(move || self.walk(&gate));
            for _ in 0..self.options.jobs.max(1) {
                let (found, sender) = (found.clone(), sender.clone());
                std::thread::Builder::new()
                    .name(PROBE_THREAD.to_owned())
                    .stack_size(PROBE_STACK_BYTES)
                    .spawn_scoped(scope, move || self.probe(&found, &sender))
                    .expect("the system gives as many threads as were asked for");
            }
            // What is left of the channels' ends here would keep the others waiting.
            drop((found, sender));
            let written = self.write(&messages, writer);
            self.failed.store(written.is_err(), Ordering::Relaxed);
            drop(messages);
            written
        })
    }

    fn walk(&self, gate: &Gate<'_>) {
        let (files, directories): (Vec<&Scope>, _) = self
            .places
            .iter()
            .map(|place| &place.scope)
            .filter(|scope| scope.kind != ScopeKind::Gone)
            .partition(|scope| scope.kind == ScopeKind::File);
        files.iter().filter_map(|scope| walk::file_behind(&scope.path)).for_each(|found| gate.file(found));
        let roots: Vec<PathBuf> = directories.iter().map(|scope| scope.path.clone()).collect();
        let Options { excluded, follow_links, jobs, .. } = self.options;
        Walk { roots: &roots, excluded, follow_links: *follow_links, threads: *jobs }.run(gate);
        self.tally.walked.store(true, Ordering::Relaxed);
    }

    fn probe(&self, found: &Receiver<Found>, messages: &Sender<Message>) {
        for found in found {
            // The rest is taken out of the queue, so that the walk can end.
            if self.is_stopped() {
                continue;
            }
            let probed = probe::probe(&found.path(), found.stamp);
            // Nobody listens any more when the writer failed.
            let _ = messages.send(Message::Probed(found, probed));
        }
    }

    fn write(&self, messages: &Receiver<Message>, writer: &mut Writer<'_>) -> Result<(), db::Error> {
        let mut told = Instant::now();
        loop {
            match messages.recv_timeout(PROGRESS_INTERVAL) {
                Ok(message) => writer.take(message)?,
                Err(RecvTimeoutError::Timeout) => writer.write_if_due()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if told.elapsed() >= PROGRESS_INTERVAL {
                writer.tell(|done| self.progress(done));
                told = Instant::now();
            }
        }
        writer.write()?;
        if !self.is_stopped() {
            self.tell_gone(writer);
        }
        writer.tell(|done| self.progress(done));
        Ok(())
    }

    fn progress(&self, done: u64) -> Progress {
        Progress {
            found: self.tally.found.load(Ordering::Relaxed),
            done: done + self.tally.unchanged.load(Ordering::Relaxed),
            walking: !self.tally.walked.load(Ordering::Relaxed),
        }
    }

    /// Places without any audio are taken for disks that are not mounted: their tracks stay as they are.
    fn tell_gone(&self, writer: &mut Writer<'_>) {
        for Place { scope, known, found } in &self.places {
            let is_gone = scope.kind == ScopeKind::Gone;
            let looks_empty = *known > 0 && found.load(Ordering::Relaxed) == 0;
            if (is_gone || looks_empty) && !writer.unseen.contains(&scope.path) {
                let what = if is_gone { "is not there" } else { "has no audio any more; is its disk mounted?" };
                writer.gone(scope.path.clone(), what, *known);
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }
}
