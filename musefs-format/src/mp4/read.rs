//! A source taken apart.

use std::io;

use super::boxes::{Boxed, Walker};
use super::fragments::{Fragments, random_access};
use super::items::Reader;
use super::properties::{first_audio, properties};
use super::structure::{Container, Mp4Structure, Table};
use super::tags::{Reason, movie};
use super::track::{Track, time, track};
use crate::limits::MP4_TABLES_MAX;
use crate::{ByteRange, Editing, Facts, Format, Problem, Properties, ReadAt, Structure, Tags};

pub(super) fn read(source: &dyn ReadAt) -> io::Result<Facts> {
    let walker = Walker::new(source);
    let top = walker.top()?;
    let mut file = File::default();
    file.movie(&walker, &top.boxes)?;
    file.fragments(&walker, &top.boxes)?;
    let mut tags = Reader::new(&walker);
    let outcome = match top.boxes.iter().find(|one| &one.kind == b"moov") {
        Some(moov) if moov.end > source.len() => {
            // What is there is read all the same.
            let _ = movie(&mut tags, Boxed { end: source.len(), ..*moov })?;
            Err("the file ends within its moov box")
        }
        Some(moov) => movie(&mut tags, *moov)?,
        None => Err("there is no moov box"),
    };
    let outcome = outcome.and_then(|moov| file.check(&walker, &top.boxes, moov));
    let audio = audio(&top.boxes, &file.tables, source.len());
    Ok(file.facts(tags, outcome, audio, &top.boxes, source.len()))
}

/// What was read of a file, tags apart.
#[derive(Default)]
struct File {
    tracks: Vec<Track>,
    /// Time scale and duration of `mvhd`.
    time: (u32, Option<u64>),
    fragments: Option<Fragments>,
    tables: Vec<Table>,
    /// Why offsets into the file cannot be kept right.
    obstacle: Option<Reason>,
}

impl File {
    /// Reads the tracks in `moov`.
    fn movie(&mut self, walker: &Walker<'_>, boxes: &[Boxed]) -> io::Result<()> {
        let Some(moov) = boxes.iter().find(|one| &one.kind == b"moov") else { return Ok(()) };
        let children = walker.children(moov.content())?.boxes;
        for &child in &children {
            match &child.kind {
                b"mvhd" => self.time = time(walker, child)?,
                b"trak" => match track(walker, child, &mut self.tables)? {
                    Ok(track) => self.tracks.push(track),
                    Err(reason) => self.obstacle = Some(reason),
                },
                b"cmov" => self.obstacle = Some("its moov box is compressed"),
                _ => {}
            }
        }
        let mvex = children.iter().find(|child| &child.kind == b"mvex");
        let id = first_audio(&self.tracks).map_or(0, |track| track.id);
        if let Some(mvex) = mvex {
            let mut fragments = Fragments::of(id);
            fragments.defaults(walker, *mvex)?;
            self.fragments = Some(fragments);
        }
        Ok(())
    }

    /// Reads the fragments. Where `moov` announces none, a stray one says nothing of the play time.
    fn fragments(&mut self, walker: &Walker<'_>, boxes: &[Boxed]) -> io::Result<()> {
        let mut stray = Fragments::default();
        let fragments = self.fragments.as_mut().unwrap_or(&mut stray);
        for &one in boxes {
            match &one.kind {
                b"moof" => fragments.fragment(walker, one, &mut self.tables)?,
                b"mfra" => random_access(walker, one, &mut self.tables)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether the file can be edited, and what is needed for it.
    fn check(&mut self, walker: &Walker<'_>, boxes: &[Boxed], moov: Container) -> Result<Mp4Structure, Reason> {
        let at = boxes.iter().position(|one| &one.kind == b"moov").unwrap_or(0);
        let behind = &boxes[at + 1..];
        if let Some(reason) = self.obstacle {
            return Err(reason);
        }
        if walker.is_exhausted() {
            return Err("it has more boxes than are read");
        }
        if behind.iter().any(|one| &one.kind == b"moov") {
            return Err("there are several moov boxes");
        }
        if boxes[..at].iter().any(|one| &one.kind == b"sidx") {
            return Err("an index of its segments stands in front of its moov box");
        }
        self.tables.retain(|table| table.len > 0);
        self.tables.sort_by_key(|table| table.offset);
        if self.tables.len() > MP4_TABLES_MAX {
            return Err("its fragments have too many offsets into the file");
        }
        let free = behind.first().filter(|one| is_free(one) && one.end <= walker.source.len());
        let free = free.map_or(0, |one| one.end - one.offset);
        let leads = behind.iter().any(|one| !is_free(one));
        let tables = self.tables.clone();
        Ok(Mp4Structure { len: walker.source.len(), moov, free, leads, speaks: false, tables })
    }

    fn facts(
        self,
        reader: Reader<'_>,
        outcome: Result<Mp4Structure, Reason>,
        audio: ByteRange,
        boxes: &[Boxed],
        len: u64,
    ) -> Facts {
        let media = boxes
            .iter()
            .filter(|one| &one.kind == b"mdat")
            .map(|one| ByteRange::between(one.content().offset, one.end.min(len)).len);
        let media_bytes = media.fold(0, u64::saturating_add);
        let properties = match first_audio(&self.tracks) {
            None if self.tracks.is_empty() => Properties { codec: "aac".to_owned(), ..Properties::default() },
            _ => properties(&self.tracks, self.time, self.fragments.as_ref(), media_bytes),
        };
        let speaks = !reader.items.is_empty();
        let (mut tags, mut pictures, mut problems) = (Tags::new(), Vec::new(), Vec::new());
        for found in [reader.items, reader.keyed, reader.user_data] {
            found.fill(&mut tags);
            pictures.extend(found.pictures);
            problems.extend(found.problems);
        }
        if let Err(reason) = outcome {
            problems.push(Problem(reason.to_owned()));
        }
        if boxes.last().is_some_and(|last| last.end > len) {
            problems.push(Problem("the file ends within a box".to_owned()));
        }
        let (structure, editing) = match outcome {
            Ok(structure) => (Mp4Structure { speaks, ..structure }.encode(), Editing::Possible),
            Err(reason) => (Structure::default(), Editing::Opaque(reason.to_owned())),
        };
        Facts { format: Format::Mp4, properties, audio, tags, pictures, structure, editing, problems }
    }
}

fn is_free(one: &Boxed) -> bool {
    matches!(&one.kind, b"free" | b"skip")
}

/// The media, from the first to the last, without anything that an edit may change: of several such runs the longest.
fn audio(boxes: &[Boxed], tables: &[Table], len: u64) -> ByteRange {
    let holds_offsets = |one: &Boxed| tables.iter().any(|table| (one.offset..one.end).contains(&table.offset));
    let mut longest = ByteRange::default();
    let mut run: Option<ByteRange> = None;
    for one in boxes {
        let content = ByteRange::between(one.content().offset, one.end.min(len));
        if &one.kind == b"moov" || holds_offsets(one) {
            run = None;
        } else if &one.kind == b"mdat" && content.len > 0 {
            let begin = run.map_or(content.offset, |run| run.offset);
            let whole = ByteRange::between(begin, content.end());
            run = Some(whole);
            if whole.len > longest.len {
                longest = whole;
            }
        }
    }
    longest
}
