//! The file to serve: chunks with tags rewritten, the others taken from the source.

use std::collections::BTreeSet;

use super::dialect::{Dialect, Name, OPEN};
use super::parts::{Chunk, Form, Role};
use super::texts::{self, info_name};
use crate::envelope::Part;
use crate::facts::ByteRange;
use crate::id3::v2::{Pieces, Room, Version, can_hold, create};
use crate::table::Column;
use crate::{Edits, Refusal, Splice, SpliceBuilder};

/// Edited keys are changed in each tag that has them. New ones go to the ID3v2 tag, which nearly all readers look at and which
/// can say everything; where there is none, a chunk with one is made, with all effective tags. A list of texts
/// gets what it can say too; one is made where it alone is read, or alone can say a key.
pub(crate) fn splice(form: &Form, edits: &Edits) -> Result<Splice, Refusal> {
    let plan = Plan::new(form, edits);
    plan.check()?;
    let new = plan.contents()?;
    let added = plan.added()?;
    let mut body = Pieces::default();
    if new.iter().all(Option::is_none) && added.is_empty() {
        body.source(form.offset, form.end() - form.offset);
    } else {
        let layout = Layout::new(form, new, added);
        body.append(header(form, layout.len())?);
        body.append(layout.pieces()?);
    }
    let mut builder = SpliceBuilder::default();
    form.head.rewrite(edits, form.head.leading_id3v2().map(|_| 0))?.append_to(&mut builder);
    body.append_to(&mut builder);
    form.tail.rewrite(edits, None)?.append_to(&mut builder);
    Ok(builder.finish())
}

/// The header of the file, with `len` bytes behind its first two fields and the type.
fn header(form: &Form, len: u64) -> Result<Pieces, Refusal> {
    let dialect = form.dialect;
    let name_bytes = dialect.form_bytes() - dialect.header_bytes();
    let size = match dialect {
        Dialect::Rf64 => OPEN,
        _ => dialect.size(name_bytes + len).ok_or_else(too_long)?,
    };
    let mut pieces = Pieces::default();
    pieces.source(form.offset, name_bytes);
    pieces.made(dialect.number(size).ok_or_else(too_long)?);
    pieces.source(form.offset + dialect.header_bytes(), name_bytes);
    Ok(pieces)
}

fn too_long() -> Refusal {
    Refusal::Value {
        key: String::new(),
        reason: "the file would be longer than 4 GiB, which its header cannot say".to_owned(),
    }
}

/// What becomes of the tags.
struct Plan<'a> {
    form: &'a Form,
    edits: &'a Edits,
    /// Whether any edited key gets values.
    adds: bool,
    /// Index of the ID3v2 chunk that gets new keys.
    id3: Option<usize>,
    /// Index of the list that does.
    list: Option<usize>,
}

impl<'a> Plan<'a> {
    fn new(form: &'a Form, edits: &'a Edits) -> Self {
        let position = |is: fn(&Role) -> bool| form.chunks.iter().position(|chunk| is(&chunk.role));
        let id3 =
            position(|role| matches!(role, Role::Id3(parts) if parts.0.is_empty() || parts.leading_id3v2().is_some()));
        let list = position(|role| matches!(role, Role::Info(_)));
        let adds = edits.changed().any(|key| !edits.effective().get(key).is_empty());
        Self { form, edits, adds, id3, list }
    }

    /// Version of the tag that gets new keys.
    fn version(&self) -> Version {
        let chunk = self.id3.and_then(|at| match &self.form.chunks[at].role {
            Role::Id3(parts) => parts.leading_id3v2(),
            _ => None,
        });
        chunk.or(self.form.head.leading_id3v2()).unwrap_or(Version::V24)
    }

    /// Each value must find a place, and come back as it is.
    fn check(&self) -> Result<(), Refusal> {
        for key in self.edits.changed() {
            let values = self.edits.effective().get(key);
            let refuse = |reason: &str| Err(Refusal::Value { key: key.to_owned(), reason: reason.to_owned() });
            if values.iter().any(|value| value.contains('\0')) {
                return refuse("ID3 tags cannot hold a NUL in a value");
            }
            if !values.is_empty() && !can_hold(self.version(), key) && !self.lists(key) {
                return refuse("neither ID3 tags nor the texts of the file have a place for it");
            }
        }
        Ok(())
    }

    /// Whether a list of texts can hold a key.
    fn lists(&self, key: &str) -> bool {
        !matches!(self.form.dialect, Dialect::Iff | Dialect::Dsdiff) && info_name(key).is_some()
    }

    /// The new content of each chunk; `None` for one that stays, empty for one that goes.
    fn contents(&self) -> Result<Vec<Option<Pieces>>, Refusal> {
        let mut offset = self.form.offset + self.form.dialect.form_bytes();
        let mut written = BTreeSet::new();
        let mut contents = Vec::with_capacity(self.form.chunks.len());
        for (at, chunk) in self.form.chunks.iter().enumerate() {
            let content = ByteRange { offset: offset + self.form.dialect.header_bytes(), len: chunk.len };
            contents.push(self.content(at, chunk, content, &mut written)?);
            offset += self.form.total(chunk);
        }
        Ok(contents)
    }

    fn content(
        &self,
        at: usize,
        chunk: &Chunk,
        content: ByteRange,
        written: &mut BTreeSet<Name>,
    ) -> Result<Option<Pieces>, Refusal> {
        let edits = self.edits;
        match &chunk.role {
            Role::Id3(parts) => {
                let adds = self.adds && self.id3 == Some(at);
                if parts.0.is_empty() {
                    return if adds { create(Version::V24, edits, Room::Tight).map(Some) } else { Ok(None) };
                }
                if !adds && !edits.changed().any(|key| parts.carry(key)) {
                    return Ok(None);
                }
                parts.rewrite_in(edits, adds.then_some(0), Room::Tight).map(Some)
            }
            Role::Info(entries) => {
                let adds = self.adds && self.list == Some(at);
                Ok(texts::rewrite(self.form.dialect, entries, content, edits, adds))
            }
            Role::Text(entry) if entry.is_touched(edits) => {
                let is_first = written.insert(entry.name);
                let text = is_first.then(|| texts::text(Column::Aiff, entry.name, edits)).flatten();
                let mut pieces = Pieces::default();
                pieces.made(text.unwrap_or_default());
                Ok(Some(pieces))
            }
            _ => Ok(None),
        }
    }

    /// Chunks that the file did not have.
    fn added(&self) -> Result<Vec<(Name, Pieces)>, Refusal> {
        let (form, edits) = (self.form, self.edits);
        let has_values = |key: &&str| !edits.effective().get(key).is_empty();
        let holds = |key: &str| can_hold(Version::V24, key);
        let mut added = Vec::new();
        let is_led = matches!(form.head.0.first(), Some(Part::Id3v2(_)));
        if self.id3.is_none() && !is_led && edits.changed().filter(has_values).any(holds) {
            added.push((form.dialect.id3_name(), create(Version::V24, edits, Room::Tight)?));
        }
        let needs_list = |key: &str| self.lists(key) && (form.is_broadcast || !can_hold(self.version(), key));
        if self.list.is_none() && edits.changed().filter(has_values).any(needs_list) {
            let list = texts::rewrite(form.dialect, &[], ByteRange::default(), edits, true);
            added.extend(list.map(|list| (form.dialect.list_name(), list)));
        }
        Ok(added)
    }
}

/// The chunks as they will stand.
struct Layout<'a> {
    form: &'a Form,
    slots: Vec<Slot>,
    /// Bytes of a new filler right in front of the audio; 0 for none.
    filler: u64,
    /// Behind all of the source's.
    added: Vec<(Name, Pieces)>,
    /// Index of the audio.
    audio: usize,
}

/// What stands in the place of a chunk.
enum Slot {
    Old,
    /// Another content under the old name; none at all if it is empty.
    New(Pieces),
    /// A filler of so many bytes, header included, or nothing.
    Filler(u64),
}

impl<'a> Layout<'a> {
    fn new(form: &'a Form, new: Vec<Option<Pieces>>, added: Vec<(Name, Pieces)>) -> Self {
        let audio = form.chunks.iter().position(|chunk| chunk.role == Role::Audio).unwrap_or(0);
        let slots = new.into_iter().map(|content| content.map_or(Slot::Old, Slot::New)).collect();
        let mut layout = Self { form, slots, filler: 0, added, audio };
        layout.settle();
        layout
    }

    /// Keeps the audio where it is.
    fn settle(&mut self) {
        let front = || self.form.chunks.iter().enumerate().take(self.audio);
        let old: u64 = front().map(|(_, chunk)| self.form.total(chunk)).sum();
        let new: u64 = front().map(|(at, _)| self.slot_bytes(at)).sum();
        let fillers = front().filter(|(_, chunk)| chunk.role == Role::Filler);
        let filler = fillers.map(|(at, chunk)| (self.form.total(chunk), at)).max();
        let room = filler.map_or(0, |(room, _)| room);
        let left = (room + old).checked_sub(new).filter(|left| self.can_fill(*left));
        match (left, filler) {
            _ if new == old => {}
            (Some(left), Some((_, at))) => self.slots[at] = Slot::Filler(left),
            (Some(left), None) => self.filler = left,
            (None, _) => self.clear(),
        }
    }

    /// Whether a filler can have just so many bytes.
    fn can_fill(&self, bytes: u64) -> bool {
        bytes == 0 || bytes >= self.form.dialect.header_bytes() && bytes.is_multiple_of(self.form.dialect.align())
    }

    /// Moves what has another length in front of the audio behind it.
    fn clear(&mut self) {
        for at in 0..self.audio {
            let chunk = &self.form.chunks[at];
            let total = self.form.total(chunk);
            if self.slot_bytes(at) == total {
                continue;
            }
            if let Slot::New(content) = std::mem::replace(&mut self.slots[at], Slot::Filler(total)) {
                let name = match &chunk.role {
                    Role::Text(entry) => entry.name,
                    Role::Info(_) => self.form.dialect.list_name(),
                    _ => self.form.dialect.id3_name(),
                };
                self.added.extend((!content.is_empty()).then_some((name, content)));
            }
        }
    }

    /// Bytes that stand in the place of a chunk.
    fn slot_bytes(&self, at: usize) -> u64 {
        let chunk = &self.form.chunks[at];
        match &self.slots[at] {
            Slot::Old => self.form.total(chunk) + self.missing_padding(at),
            Slot::New(content) if content.is_empty() => 0,
            Slot::New(content) => self.total(content.len()),
            Slot::Filler(bytes) => *bytes,
        }
    }

    /// Bytes of a chunk with a content of `len`.
    fn total(&self, len: u64) -> u64 {
        self.form.dialect.header_bytes() + len + self.form.dialect.padding(len)
    }

    /// What an old chunk lacks to have the next begin where readers look for it. In front of the audio it stays so.
    fn missing_padding(&self, at: usize) -> u64 {
        let chunk = &self.form.chunks[at];
        let due = self.form.dialect.padding(chunk.len);
        if at < self.audio { 0 } else { due.saturating_sub(chunk.padding.into()) }
    }

    /// Bytes of all chunks.
    fn len(&self) -> u64 {
        let old: u64 = (0..self.slots.len()).map(|at| self.slot_bytes(at)).sum();
        let added: u64 = self.added.iter().map(|(_, content)| self.total(content.len())).sum();
        old + self.filler + added
    }

    fn pieces(&self) -> Result<Pieces, Refusal> {
        let mut pieces = Pieces::default();
        let mut offset = self.form.offset + self.form.dialect.form_bytes();
        for (at, chunk) in self.form.chunks.iter().enumerate() {
            if at == self.audio {
                self.filler(self.filler, &mut pieces)?;
            }
            match &self.slots[at] {
                Slot::Old => self.old(at, offset, &mut pieces)?,
                Slot::New(content) if content.is_empty() => {}
                Slot::New(content) => {
                    pieces.source(offset, self.name_bytes());
                    self.content(content, &mut pieces)?;
                }
                Slot::Filler(bytes) => self.filler(*bytes, &mut pieces)?,
            }
            offset += self.form.total(chunk);
        }
        for (name, content) in &self.added {
            let mut header = self.form.dialect.new_header(*name, 0).unwrap_or_default();
            header.truncate(self.name_bytes() as usize);
            pieces.made(header);
            self.content(content, &mut pieces)?;
        }
        Ok(pieces)
    }

    fn name_bytes(&self) -> u64 {
        self.form.dialect.form_bytes() - self.form.dialect.header_bytes()
    }

    /// Length, content and padding.
    fn content(&self, content: &Pieces, pieces: &mut Pieces) -> Result<(), Refusal> {
        let len = content.len();
        pieces.made(self.size(len)?);
        pieces.append(content.clone());
        pieces.made(vec![0; self.form.dialect.padding(len) as usize]);
        Ok(())
    }

    fn filler(&self, bytes: u64, pieces: &mut Pieces) -> Result<(), Refusal> {
        let Some(len) = bytes.checked_sub(self.form.dialect.header_bytes()) else { return Ok(()) };
        let mut filler = self.form.dialect.new_header(self.form.dialect.filler_name(), len).ok_or_else(too_long)?;
        filler.resize(filler.len() + len as usize, 0);
        pieces.made(filler);
        Ok(())
    }

    /// A chunk as it was, with a true length.
    fn old(&self, at: usize, offset: u64, pieces: &mut Pieces) -> Result<(), Refusal> {
        let (chunk, dialect) = (&self.form.chunks[at], self.form.dialect);
        let content = offset + dialect.header_bytes();
        let mut done = 0;
        if chunk.role == Role::Sizes {
            let sizes = [self.name_bytes() + self.len(), self.form.chunks[self.audio].len];
            pieces.source(offset, dialect.header_bytes());
            pieces.made(sizes.map(u64::to_le_bytes).concat());
            done = 16;
        } else if chunk.mended {
            pieces.source(offset, self.name_bytes());
            pieces.made(if dialect == Dialect::Rf64 { vec![0xff; 4] } else { self.size(chunk.len)? });
        } else {
            pieces.source(offset, dialect.header_bytes());
        }
        pieces.source(content + done, chunk.len - done + u64::from(chunk.padding));
        pieces.made(vec![0; self.missing_padding(at) as usize]);
        Ok(())
    }

    /// A length as a chunk's header has it.
    fn size(&self, len: u64) -> Result<Vec<u8>, Refusal> {
        self.form.dialect.size(len).and_then(|size| self.form.dialect.number(size)).ok_or_else(too_long)
    }
}
