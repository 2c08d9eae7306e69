//! Taking a file of chunks apart.

use std::io;

use super::dialect::{Class, Dialect, Name};
use super::parts::{Chunk, Form, Role};
use super::texts::{INFO, Texts};
use super::walk::{Spot, Walk, walk};
use crate::envelope::{Envelope, Parts};
use crate::facts::ByteRange;
use crate::found::Found;
use crate::limits::CHUNKS_MAX;
use crate::sniff::behind_zeros;
use crate::source::Head;
use crate::table::Column;
use crate::{Editing, Facts, Format, Problem, Properties, ReadAt, Structure, Tags};

/// A file of chunks, opened.
pub(crate) struct Opened<'a> {
    source: &'a dyn ReadAt,
    dialect: Dialect,
    spots: Vec<Spot>,
    form: Form,
    /// In the order in which they count.
    found: Vec<Found>,
    is_cut: bool,
}

/// How a format is told and described.
pub(crate) struct Kind {
    pub(crate) format: Format,
    /// The dialect that the first [`HEAD_BYTES`] of a file are in.
    pub(crate) dialect: fn(&[u8]) -> Option<Dialect>,
    /// Technical facts, and where the encoded audio is.
    pub(crate) describe: fn(&Opened<'_>) -> io::Result<(Properties, ByteRange)>,
}

/// Bytes that tell a dialect.
const HEAD_BYTES: usize = 40;

/// Finds the chunks of a file, and reads the tags among them.
///
/// The first that has a key tells it: tags in front of the file, ID3v2 chunks in their order, texts, tags behind the file.
pub(crate) fn read(source: &dyn ReadAt, kind: &Kind) -> io::Result<Facts> {
    let mut head = Envelope::default();
    let end = head.read_leading(source, 0)?;
    let offset = if end > 0 { behind_zeros(source, end)? } else { 0 };
    head.keep(end, offset);
    match (kind.dialect)(&source.bytes(offset, HEAD_BYTES as u64, HEAD_BYTES)?) {
        Some(dialect) => {
            let opened = open(source, dialect, head, offset)?;
            let (properties, audio) = (kind.describe)(&opened)?;
            Ok(opened.facts(kind.format, properties, audio))
        }
        None => Ok(headless(kind.format)),
    }
}

fn headless(format: Format) -> Facts {
    let reason = format!("it does not begin as {} files do", format.name());
    Facts {
        format,
        properties: Properties::default(),
        audio: ByteRange::default(),
        tags: Tags::new(),
        pictures: Vec::new(),
        structure: Structure::default(),
        editing: Editing::Opaque(reason.clone()),
        problems: vec![Problem(reason)],
    }
}

fn open(source: &dyn ReadAt, dialect: Dialect, head: Envelope, offset: u64) -> io::Result<Opened<'_>> {
    let Walk { spots, end, is_cut } = walk(source, dialect, offset + dialect.form_bytes())?;
    let mut tail = Envelope::default();
    let begin = tail.read_trailing(source, end)?;
    let mut behind = Envelope::default();
    behind.keep(end, begin);
    behind.parts.0.append(&mut tail.parts.0);
    let mut found = head.found;
    let mut roles =
        Roles { source, dialect, id3: Vec::new(), texts: Texts::new(source, column(dialect)), audio: false };
    let chunks = spots.iter().map(|spot| roles.chunk(spot)).collect::<io::Result<_>>()?;
    found.append(&mut roles.id3);
    found.push(roles.texts.found);
    found.append(&mut tail.found);
    let is_broadcast = spots.iter().any(|spot| spot.name == *b"bext");
    let form = Form { dialect, head: head.parts, offset, chunks, is_broadcast, tail: behind.parts };
    Ok(Opened { source, dialect, spots, form, found, is_cut })
}

/// The column of the texts.
pub(super) fn column(dialect: Dialect) -> Column {
    if dialect == Dialect::Iff { Column::Aiff } else { Column::RiffInfo }
}

/// Finds out what each chunk is to a splice.
struct Roles<'a> {
    source: &'a dyn ReadAt,
    dialect: Dialect,
    id3: Vec<Found>,
    texts: Texts<'a>,
    /// Whether audio was met.
    audio: bool,
}

impl Roles<'_> {
    fn chunk(&mut self, spot: &Spot) -> io::Result<Chunk> {
        let content = content(self.dialect, spot);
        let role = match self.dialect.class(spot.name) {
            Class::Audio if !self.audio => {
                self.audio = true;
                Role::Audio
            }
            Class::Sizes if spot.len >= 16 => Role::Sizes,
            Class::Filler => Role::Filler,
            Class::Text => Role::Text(self.texts.chunk(spot, content)?),
            Class::List if self.source.bytes(content.offset, content.len, 4)? == INFO => {
                Role::Info(self.texts.list(self.dialect, content)?)
            }
            Class::Id3 => Role::Id3(self.id3(content)?),
            Class::Audio | Class::Sizes | Class::List | Class::Other => Role::Kept,
        };
        Ok(Chunk { len: spot.len, padding: spot.padding, mended: spot.mended, role })
    }

    fn id3(&mut self, content: ByteRange) -> io::Result<Parts> {
        let mut envelope = Envelope::default();
        let end = envelope.read_leading(&Head::new(self.source, content.end()), content.offset)?;
        envelope.keep(end, content.end());
        self.id3.append(&mut envelope.found);
        Ok(envelope.parts)
    }
}

fn content(dialect: Dialect, spot: &Spot) -> ByteRange {
    ByteRange { offset: spot.offset + dialect.header_bytes(), len: spot.len }
}

impl Opened<'_> {
    /// The content of the first chunk of a name.
    pub(crate) fn find(&self, name: &Name) -> Option<ByteRange> {
        let spot = self.spots.iter().find(|spot| spot.name == *name)?;
        Some(content(self.dialect, spot))
    }

    /// The content of the audio chunk.
    pub(crate) fn audio(&self) -> Option<ByteRange> {
        let at = self.form.chunks.iter().position(|chunk| chunk.role == Role::Audio)?;
        Some(content(self.dialect, self.spots.get(at)?))
    }

    /// The first `limit` bytes of a chunk; empty if there is none.
    pub(crate) fn bytes(&self, name: &Name, limit: usize) -> io::Result<Vec<u8>> {
        let range = self.find(name).unwrap_or_default();
        self.source.bytes(range.offset, range.len, limit)
    }

    /// How numbers are written.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Reads inside a chunk.
    pub(crate) fn source(&self) -> &dyn ReadAt {
        self.source
    }

    /// Everything that is known of the file.
    fn facts(self, format: Format, properties: Properties, audio: ByteRange) -> Facts {
        let opaque = self.opaque();
        let mut facts = Facts {
            format,
            properties,
            audio,
            tags: Tags::new(),
            pictures: Vec::new(),
            structure: Structure::default(),
            editing: Editing::Possible,
            problems: Vec::new(),
        };
        for found in self.found {
            found.fill(&mut facts.tags);
            facts.pictures.extend(found.pictures);
            facts.problems.extend(found.problems);
        }
        if self.spots.iter().any(|spot| spot.mended) {
            facts.problems.push(Problem("a chunk has a length that is not its own; it ends with the file".to_owned()));
        }
        match opaque {
            Some(reason) => {
                facts.problems.push(Problem(reason.clone()));
                facts.editing = Editing::Opaque(reason);
            }
            None => facts.structure = self.form.encode(),
        }
        facts
    }

    /// Why edits cannot reach the bytes.
    fn opaque(&self) -> Option<String> {
        let chunks = &self.form.chunks;
        let has = |role: &Role| chunks.iter().any(|chunk| chunk.role == *role);
        if self.is_cut {
            return Some(format!("it has more than {CHUNKS_MAX} chunks"));
        }
        if !has(&Role::Audio) {
            return Some("it has no chunk with audio".to_owned());
        }
        if self.dialect == Dialect::Rf64 && !has(&Role::Sizes) {
            return Some("it has no chunk with the lengths of others, which RF64 needs".to_owned());
        }
        let is_long = self.dialect.number(self.form.end() - self.form.offset).is_none();
        (is_long && self.dialect != Dialect::Rf64).then(|| "it is longer than its header can say".to_owned())
    }
}
