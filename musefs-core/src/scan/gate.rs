//! Where the walk hands over: decides for each found file whether there is anything to do.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use crossbeam_channel::Sender;
use musefs_db::SourceId;
use musefs_format::extension_format;

use super::{
    Scan,
    known::Standing,
    not_audio,
    probe::{Probed, extension},
    report::Others,
    walk::{Found, Passed, Visitor},
};

/// What the writer is told.
pub(super) enum Message {
    /// A file was probed.
    Probed(Found, Probed),
    /// A missing file is back as it was.
    Back(SourceId),
    /// What lies at or below a path could not be seen.
    Unreadable(PathBuf, String),
    /// Something about a path that is worth a word.
    Odd(PathBuf, &'static str),
}

/// What the walk counts.
#[derive(Default)]
pub(super) struct Tally {
    /// Files found that are audio, or may be.
    pub(super) found: AtomicU64,
    /// Those of them that need not be looked at.
    pub(super) unchanged: AtomicU64,
    /// Symbolic links that were not followed.
    pub(super) links: AtomicU64,
    /// Files that are no audio.
    pub(super) others: Mutex<Others>,
    /// Whether the walk is over.
    pub(super) walked: AtomicBool,
}

/// The visitor of a walk.
pub(super) struct Gate<'a> {
    pub(super) scan: &'a Scan<'a>,
    pub(super) to_probe: Sender<Found>,
    pub(super) messages: Sender<Message>,
}

impl Gate<'_> {
    /// Counts a file that is audio, or may be.
    fn count(&self, found: &Found) {
        self.scan.tally.found.fetch_add(1, Ordering::Relaxed);
        let places = &self.scan.places;
        let place = match &places[..] {
            [only] => Some(only),
            _ => places.iter().find(|place| found.dir.starts_with(&place.scope.path)),
        };
        if let Some(place) = place {
            place.found.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn probe(&self, found: Found) {
        self.count(&found);
        // Nobody listens any more when the writer failed; the walk is told to stop then.
        let _ = self.to_probe.send(found);
    }

    fn tell(&self, message: Message) {
        let _ = self.messages.send(message);
    }

    /// A file that the catalogue does not have.
    fn unknown(&self, found: Found) {
        let extension = extension(&found.name);
        let text = extension.as_deref().unwrap_or_default();
        let promised = extension_format(text).is_some();
        if !promised && (not_audio::is_known(text) || self.scan.dismissed.contains(&found)) {
            self.scan.tally.others.lock().unwrap_or_else(PoisonError::into_inner).add(text);
        } else {
            self.probe(found);
        }
    }
}

impl Visitor for Gate<'_> {
    fn file(&self, found: Found) {
        match self.scan.known.look_up(&found) {
            Standing::Unchanged => {
                self.count(&found);
                self.scan.tally.unchanged.fetch_add(1, Ordering::Relaxed);
            }
            Standing::Back(source) => {
                self.count(&found);
                self.tell(Message::Back(source));
            }
            Standing::Probe => self.probe(found),
            Standing::New => self.unknown(found),
        }
    }

    fn unreadable(&self, path: &Path, error: &io::Error) {
        self.tell(Message::Unreadable(path.to_owned(), error.to_string()));
    }

    fn passed(&self, path: &Path, why: Passed) {
        let words = match why {
            Passed::Link => {
                self.scan.tally.links.fetch_add(1, Ordering::Relaxed);
                return;
            }
            Passed::LinkInside | Passed::Special | Passed::Excluded => return,
            Passed::Loop => "a symbolic link that leads back to where it is; not followed",
            Passed::Dangling => "a symbolic link to nothing",
        };
        self.tell(Message::Odd(path.to_owned(), words));
    }

    fn stopped(&self) -> bool {
        self.scan.is_stopped()
    }
}
