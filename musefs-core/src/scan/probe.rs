//! Takes one file apart: what it is, what it says, and what was odd about it.

use std::{
    ffi::OsStr,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use musefs_db::Stamp;
use musefs_format::{
    ByteRange, Editing, Facts, Format, Picture, Problem, Properties, ReadAt as _, Structure, Tags, container,
    extension_format, sniff_source, trial::try_out,
};

use super::{
    file::SourceFile,
    from_name,
    identity::{Identity, identity},
    rows,
};

/// What a probe made of a file.
pub(super) enum Outcome {
    /// A track.
    Track(Box<Track>),
    /// Neither an audio extension nor audio content.
    NotAudio,
    /// Not one for a library by its name, and it cannot be read.
    Unreadable(io::Error),
    /// Removed since it was found.
    Gone,
}

/// A file that becomes a track.
pub(super) struct Track {
    pub(super) stamp: Stamp,
    pub(super) format: Format,
    pub(super) properties: Properties,
    pub(super) audio: ByteRange,
    pub(super) identity: Option<Identity>,
    pub(super) tags: Tags,
    pub(super) pictures: Vec<Picture>,
    pub(super) structure: Structure,
    pub(super) readability: Readability,
    pub(super) problems: Vec<String>,
}

/// How far a file could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readability {
    /// Edits reach its bytes.
    Editable,
    /// Served whole always, and why.
    Opaque(String),
    /// The disk gave nothing, and why.
    Unreadable(String),
}

/// An [`Outcome`] and what it cost.
pub(super) struct Probed {
    pub(super) outcome: Outcome,
    pub(super) bytes_read: u64,
    /// How many times the file was opened.
    pub(super) opened: u32,
}

/// The extension of a name in lower case.
pub(super) fn extension(name: &OsStr) -> Option<String> {
    Some(Path::new(name).extension()?.to_str()?.to_ascii_lowercase())
}

/// Probes a file; reads it once more when it changes meanwhile.
pub(super) fn probe(path: &Path, stamp: Stamp) -> Probed {
    let first = attempt(path, stamp);
    if !first.1 {
        return first.0;
    }
    let (mut second, changed) = attempt(path, stamp);
    second.bytes_read += first.0.bytes_read;
    second.opened += first.0.opened;
    if changed && let Outcome::Track(track) = &mut second.outcome {
        track.problems.push("it changes while it is read; the next scan reads it again".to_owned());
    }
    second
}

/// One probe, and whether the file changed meanwhile.
fn attempt(path: &Path, stamp: Stamp) -> (Probed, bool) {
    let name = path.file_name().unwrap_or_default();
    let source = match SourceFile::open(path) {
        Ok(source) => source,
        Err(error) => return (Probed { outcome: unopened(name, stamp, error), bytes_read: 0, opened: 0 }, false),
    };
    let result = catch_unwind(AssertUnwindSafe(|| read(name, &source)));
    let changed = source.stamp().is_ok_and(|now| now != source.opened_stamp());
    let stamp = source.opened_stamp();
    let promised = promised(name);
    let outcome = match result {
        Ok(Ok(Some(track))) => Outcome::Track(Box::new(track)),
        Ok(Ok(None)) => Outcome::NotAudio,
        Ok(Err(error)) => match promised {
            Some(format) if is_of_disk(&error) => Outcome::Track(unreadable(name, stamp, format, &error)),
            Some(format) => Outcome::Track(Box::new(opaque(name, &source, format, error.to_string()))),
            None => Outcome::Unreadable(error),
        },
        Err(_) => {
            let reason = "its reader failed".to_owned();
            Outcome::Track(Box::new(opaque(name, &source, promised.unwrap_or(Format::Unknown), reason)))
        }
    };
    (Probed { outcome, bytes_read: source.bytes_read(), opened: 1 }, changed)
}

fn promised(name: &OsStr) -> Option<Format> {
    extension(name).as_deref().and_then(extension_format)
}

/// Errors of the disk, as opposed to limits and to files that end too early.
fn is_of_disk(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
}

fn unopened(name: &OsStr, stamp: Stamp, error: io::Error) -> Outcome {
    match promised(name) {
        _ if error.kind() == io::ErrorKind::NotFound => Outcome::Gone,
        Some(format) => Outcome::Track(unreadable(name, stamp, format, &error)),
        None => Outcome::Unreadable(error),
    }
}

fn unreadable(name: &OsStr, stamp: Stamp, format: Format, error: &io::Error) -> Box<Track> {
    let mut track = from_name_alone(name, stamp, format);
    track.readability = Readability::Unreadable(error.to_string());
    track.problems.push(error.to_string());
    Box::new(track)
}

fn opaque(name: &OsStr, source: &SourceFile, format: Format, reason: String) -> Track {
    let whole = ByteRange { offset: 0, len: source.len() };
    let mut track = from_name_alone(name, source.opened_stamp(), format);
    track.audio = whole;
    track.identity = identity(source, whole).ok().flatten();
    track.problems.push(reason.clone());
    track.readability = Readability::Opaque(reason);
    track
}

fn from_name_alone(name: &OsStr, stamp: Stamp, format: Format) -> Track {
    Track {
        stamp,
        format,
        properties: Properties { codec: usual_codec(format).to_owned(), ..Properties::default() },
        audio: ByteRange::default(),
        identity: None,
        tags: from_name::tags(name),
        pictures: Vec::new(),
        structure: Structure::default(),
        readability: Readability::Editable,
        problems: Vec::new(),
    }
}

/// Reads a file by its content. `None`: it is not audio.
fn read(name: &OsStr, source: &SourceFile) -> io::Result<Option<Track>> {
    let extension = extension(name);
    let promised = extension.as_deref().and_then(extension_format);
    if is_apple_double(name, source.head()) {
        return Ok(None);
    }
    let Some(format) = sniff_source(source, extension.as_deref())?.or(promised.map(|_| Format::Unknown)) else {
        return Ok(None);
    };
    let mut track = match container(format) {
        Some(container) => {
            let mut facts = container.read(source)?;
            try_out(container, source, &mut facts)?;
            own(source, facts)?
        }
        None => foreign(name, source, format)?,
    };
    rows::trim(&mut track.tags, &mut track.problems);
    Ok(Some(track))
}

/// What macOS keeps beside each file on foreign disks: `._Song.mp3` holds attributes of `Song.mp3`, never audio.
fn is_apple_double(name: &OsStr, head: &[u8]) -> bool {
    const APPLE_DOUBLE: [u8; 4] = [0, 5, 0x16, 7];
    name.as_encoded_bytes().starts_with(b"._") && head.starts_with(&APPLE_DOUBLE)
}

/// A track of a format with a reader in this project.
fn own(source: &SourceFile, facts: Facts) -> io::Result<Track> {
    let (readability, audio) = match facts.editing {
        Editing::Possible => (Readability::Editable, facts.audio),
        Editing::Opaque(reason) => (Readability::Opaque(reason), facts.audio),
    };
    let identified = if audio.len == 0 { ByteRange { offset: 0, len: source.len() } } else { audio };
    Ok(Track {
        stamp: source.opened_stamp(),
        format: facts.format,
        properties: facts.properties,
        audio,
        identity: identity(source, identified)?,
        tags: facts.tags,
        pictures: facts.pictures,
        structure: facts.structure,
        readability,
        problems: facts.problems.into_iter().map(|Problem(text)| text).collect(),
    })
}

/// A track of any other format.
fn foreign(name: &OsStr, source: &SourceFile, format: Format) -> io::Result<Track> {
    let audio = ByteRange { offset: 0, len: source.len() };
    let mut track = from_name_alone(name, source.opened_stamp(), format);
    track.audio = audio;
    track.identity = identity(source, audio)?;
    let reason = match format {
        Format::Unknown if source.len() == 0 => "the file is empty".to_owned(),
        Format::Unknown => "its content is no audio of a known kind".to_owned(),
        _ => format!("edits of {} files do not reach their bytes yet", format.name()),
    };
    if format == Format::Unknown {
        track.problems.push(reason.clone());
    }
    track.readability = Readability::Opaque(reason);
    Ok(track)
}

/// The codec that files of a format have unless something tells otherwise; empty where there is none.
fn usual_codec(format: Format) -> &'static str {
    match format {
        Format::Flac | Format::OggFlac => "flac",
        Format::Mpeg => "mp3",
        Format::Adts | Format::Mp4 => "aac",
        Format::OggVorbis => "vorbis",
        Format::OggOpus => "opus",
        Format::OggSpeex => "speex",
        Format::Wav | Format::Aiff => "pcm",
        Format::MonkeysAudio => "ape",
        Format::WavPack => "wavpack",
        Format::Musepack => "musepack",
        Format::TrueAudio => "tta",
        Format::OptimFrog => "optimfrog",
        Format::Tak => "tak",
        Format::Dsf | Format::Dff => "dsd",
        Format::Asf => "wma",
        Format::OggOther | Format::Matroska | Format::Unknown => "",
    }
}
