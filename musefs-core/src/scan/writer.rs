//! The last stage: gathers what the others found and writes it in short transactions.
//!
//! A transaction lasts as long as writing takes, not as long as reading files does: people who edit
//! meanwhile wait for milliseconds.

use std::{path::PathBuf, time::Instant};

use musefs_db::{self as db, RootId, SourceId};

use super::{
    Observer, Progress,
    gate::Message,
    known::KnownFiles,
    probe::{Outcome, Probed, Readability, Track, extension},
    report::{Problem, Report},
    rows::Row,
    walk::Found,
};
use crate::limits::{BATCH_BYTES_MAX, BATCH_FILES_MAX, BATCH_TIME_MAX};

/// Takes messages in; tells the observer and counts for the report.
pub(super) struct Writer<'a> {
    /// `None`: nothing is written.
    catalog: Option<&'a mut db::Writer>,
    /// Directories of roots; all that is found lies in one of them.
    roots: &'a [(PathBuf, RootId)],
    known: &'a KnownFiles,
    observer: &'a mut dyn Observer,
    pub(super) report: Report,
    /// Directories and files that could not be seen.
    pub(super) unseen: Vec<PathBuf>,
    /// Files that are audio, or may have been, and are done.
    done: u64,
    waiting: Waiting,
}

/// What is written next.
#[derive(Default)]
struct Waiting {
    tracks: Vec<(Found, Box<Track>)>,
    back: Vec<SourceId>,
    dismissed: Vec<Found>,
    bytes: usize,
    since: Option<Instant>,
}

impl Waiting {
    fn len(&self) -> usize {
        self.tracks.len() + self.back.len() + self.dismissed.len()
    }

    fn is_due(&self) -> bool {
        self.len() >= BATCH_FILES_MAX
            || self.bytes >= BATCH_BYTES_MAX
            || self.since.is_some_and(|since| since.elapsed() >= BATCH_TIME_MAX)
    }
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        catalog: Option<&'a mut db::Writer>,
        roots: &'a [(PathBuf, RootId)],
        known: &'a KnownFiles,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self {
            catalog,
            roots,
            known,
            observer,
            report: Report::default(),
            unseen: Vec::new(),
            done: 0,
            waiting: Waiting::default(),
        }
    }

    /// Takes a message in; writes when enough have gathered.
    pub(super) fn take(&mut self, message: Message) -> Result<(), db::Error> {
        match message {
            Message::Probed(found, probed) => self.probed(found, probed),
            Message::Back(source) => {
                self.done += 1;
                self.report.returned += 1;
                self.waiting.back.push(source);
            }
            Message::Unreadable(path, error) => self.unreadable(path, &error),
            Message::Odd(path, words) => self.problem(path, words),
        }
        if self.waiting.len() > 0 {
            self.waiting.since.get_or_insert_with(Instant::now);
        }
        self.write_if_due()
    }

    /// Writes what has waited long enough.
    pub(super) fn write_if_due(&mut self) -> Result<(), db::Error> {
        if self.waiting.is_due() { self.write() } else { Ok(()) }
    }

    /// Tells the observer of progress, made from the number of files that are done.
    pub(super) fn tell(&mut self, progress: impl FnOnce(u64) -> Progress) {
        self.observer.progress(progress(self.done));
    }

    /// Tells and keeps a problem.
    pub(super) fn problem(&mut self, path: PathBuf, what: impl Into<String>) {
        let problem = Problem { path, what: what.into() };
        self.observer.problem(&problem);
        self.report.problems.add(problem);
    }

    /// Tells that what lies at or below a path could not be seen: its tracks stay as they are.
    pub(super) fn unreadable(&mut self, path: PathBuf, error: &str) {
        self.report.unreadable += 1;
        self.problem(path.clone(), format!("cannot be read: {error}"));
        self.unseen.push(path);
    }

    /// Tells that a place is gone, or as good as that.
    pub(super) fn gone(&mut self, path: PathBuf, what: &str, tracks: u64) {
        self.report.unreadable += 1;
        let stay = if tracks > 0 { format!("; its {tracks} tracks stay as they are") } else { String::new() };
        self.problem(path.clone(), format!("{what}{stay}"));
        self.report.gone.push((path.clone(), tracks));
        self.unseen.push(path);
    }

    fn probed(&mut self, found: Found, probed: Probed) {
        self.done += 1;
        self.report.opened += u64::from(probed.opened);
        self.report.bytes_read += probed.bytes_read;
        match probed.outcome {
            Outcome::Track(track) => self.track(found, track),
            Outcome::NotAudio => {
                self.report.others.add(extension(&found.name).as_deref().unwrap_or_default());
                self.waiting.dismissed.push(found);
            }
            Outcome::Unreadable(error) => self.unreadable(found.path(), &error.to_string()),
            // As if it had never been found: a track that it had is missing.
            Outcome::Gone => self.known.unsee(&found),
        }
    }

    fn track(&mut self, found: Found, track: Box<Track>) {
        for problem in &track.problems {
            self.problem(found.path(), problem.as_str());
        }
        self.report.unreadable += u64::from(matches!(track.readability, Readability::Unreadable(_)));
        self.waiting.bytes += track.structure.0.len();
        self.waiting.tracks.push((found, track));
    }

    /// Writes all that waits, in one transaction.
    pub(super) fn write(&mut self) -> Result<(), db::Error> {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(catalog) = self.catalog.take() else {
            waiting.tracks.iter().for_each(|(found, _)| self.count(self.known.contains(found)));
            return Ok(());
        };
        let written = self.write_to(catalog, &waiting);
        self.catalog = Some(catalog);
        written
    }

    fn count(&mut self, known: bool) {
        *(if known { &mut self.report.changed } else { &mut self.report.new }) += 1;
    }

    fn write_to(&mut self, catalog: &mut db::Writer, waiting: &Waiting) -> Result<(), db::Error> {
        if waiting.len() == 0 {
            return Ok(());
        }
        let mut batch = catalog.batch()?;
        for (found, track) in &waiting.tracks {
            let Some(root) = self.root_of(found) else { continue };
            match batch.put(&Row::new(found, track).put(root)) {
                Ok(db::Put::New(_)) => self.count(false),
                Ok(db::Put::Changed(_)) => self.count(true),
                Ok(db::Put::Same(_)) => self.report.unchanged += 1,
                Err(error) if error.kind() == db::Kind::Refused => {
                    self.report.unreadable += 1;
                    self.problem(found.path(), format!("cannot be catalogued: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
        for source in &waiting.back {
            batch.back(*source)?;
        }
        for found in &waiting.dismissed {
            let Some(root) = self.root_of(found) else { continue };
            let file = db::Dismissed { dir: found.dir_bytes(), name: found.name_bytes(), stamp: found.stamp };
            match batch.dismiss(root, &file) {
                // It will be looked into again, that is all.
                Err(error) if error.kind() != db::Kind::Refused => return Err(error),
                _ => {}
            }
        }
        batch.commit()?;
        Ok(())
    }

    fn root_of(&self, found: &Found) -> Option<RootId> {
        self.roots.iter().find(|(path, _)| found.dir.starts_with(path)).map(|(_, root)| *root)
    }
}
