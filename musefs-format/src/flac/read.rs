//! A source taken apart.

use std::io;

use super::picture::PictureBlock;
use super::properties::properties;
use super::structure::{BLOCK_BYTES_MAX, Block, FlacStructure, HEADER_BYTES, MARKER_BYTES, kind};
use crate::envelope::Envelope;
use crate::found::Found;
use crate::limits::{FLAC_BLOCKS_MAX, FLAC_COMMENT_BYTES_MAX, PICTURE_HEAD_BYTES};
use crate::picture::look;
use crate::sniff::{behind_zeros, leading_tags_end};
use crate::{ByteRange, Editing, Facts, Format, Picture, Problem, Properties, ReadAt, Structure, Tags, vorbis};

const MARKER: &[u8] = b"fLaC";

pub(super) fn read(source: &dyn ReadAt) -> io::Result<Facts> {
    let mut reader = Reader::new(source);
    let outcome = reader.walk()?;
    Ok(reader.facts(outcome))
}

/// What was read so far: kept when the walk ends early.
struct Reader<'a> {
    source: &'a dyn ReadAt,
    structure: FlacStructure,
    stream_info: Vec<u8>,
    /// One for each comment block, in order.
    comments: Vec<Found>,
    /// What tags around the FLAC stream say.
    others: Vec<Found>,
    pictures: Vec<Picture>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a dyn ReadAt) -> Self {
        let structure = FlacStructure { audio_end: source.len(), ..FlacStructure::default() };
        let (stream_info, comments, others, pictures, problems) = Default::default();
        Self { source, structure, stream_info, comments, others, pictures, problems }
    }

    /// Walks over the blocks. The error in words is why the file cannot be edited.
    fn walk(&mut self) -> io::Result<Result<(), &'static str>> {
        let Some(marker) = self.find_marker()? else { return Ok(Err("there is no FLAC marker")) };
        self.structure.marker = marker;
        loop {
            let at = self.structure.audio();
            let head = self.source.bytes(at, HEADER_BYTES, HEADER_BYTES as usize)?;
            let Some(&[head, a, b, c]) = head.first_chunk() else {
                return Ok(Err("the metadata ends in a block header"));
            };
            let block = Block { head, len: u32::from_be_bytes([0, a, b, c]), comments: None };
            if block.kind() == kind::FORBIDDEN {
                return Ok(Err("a metadata block is of a forbidden kind"));
            }
            if at + block.total() > self.source.len() {
                return Ok(Err("the metadata runs past the end of the file"));
            }
            if self.structure.blocks.len() == FLAC_BLOCKS_MAX {
                return Ok(Err("there are too many metadata blocks"));
            }
            if self.structure.comment_bytes() + block.comment_bytes() > FLAC_COMMENT_BYTES_MAX {
                return Ok(Err("the comments are too large"));
            }
            let is_last = block.is_last();
            self.block(block, at + HEADER_BYTES)?;
            if is_last {
                self.tail()?;
                return self.check();
            }
        }
    }

    /// Offset of the marker behind leading tags. Both ways to tell where those end must agree, the sizes that they claim
    /// and what is readable in them: else tags of another length might hide the marker.
    fn find_marker(&mut self) -> io::Result<Option<u64>> {
        let mut head = Envelope::default();
        let mut start = 0;
        loop {
            let end = head.read_leading(self.source, start)?;
            if end == start {
                break;
            }
            start = behind_zeros(self.source, end)?;
            head.keep(end, start);
        }
        self.structure.head = head.parts;
        self.others = head.found;
        let agrees = leading_tags_end(self.source)? == start;
        let is_there = self.source.bytes(start, MARKER_BYTES, MARKER.len())? == MARKER;
        Ok((agrees && is_there).then_some(start))
    }

    fn block(&mut self, mut block: Block, at: u64) -> io::Result<()> {
        let len = u64::from(block.len);
        match block.kind() {
            kind::STREAMINFO if self.stream_info.is_empty() => {
                self.stream_info = self.source.bytes(at, len, PICTURE_HEAD_BYTES)?;
            }
            kind::COMMENTS => {
                let (layout, found) = vorbis::read(&self.source.bytes(at, len, BLOCK_BYTES_MAX as usize)?);
                block.comments = Some(layout);
                self.comments.push(found);
            }
            kind::PICTURE => self.picture(ByteRange { offset: at, len })?,
            _ => {}
        }
        self.structure.blocks.push(block);
        Ok(())
    }

    fn picture(&mut self, range: ByteRange) -> io::Result<()> {
        let head = self.source.bytes(range.offset, range.len, PICTURE_HEAD_BYTES)?;
        let Some(block) = PictureBlock::parse(&head) else {
            self.problem("a picture block is malformed");
            return Ok(());
        };
        if block.is_link() {
            return Ok(());
        }
        let offset = range.offset + block.data_offset as u64;
        let data = ByteRange { offset, len: u64::from(block.data_len).min(range.end() - offset) };
        if data.len < u64::from(block.data_len) {
            self.problem("a picture runs past the end of its block");
        }
        let mut picture = Picture { range: data, ..block.picture };
        if let Some(look) = look(self.source, data)? {
            picture.adopt(look);
        }
        self.pictures.push(picture);
        Ok(())
    }

    /// Reads the tags behind the frames.
    fn tail(&mut self) -> io::Result<()> {
        let mut tail = Envelope::default();
        self.structure.audio_end = tail.read_trailing(self.source, self.structure.audio())?;
        self.structure.tail = tail.parts;
        self.others.extend(tail.found);
        Ok(())
    }

    /// Whether what was walked over can be what it seems: frames follow, or nothing at all.
    fn check(&mut self) -> io::Result<Result<(), &'static str>> {
        let overflows = |block: &Block| block.comments.as_ref().is_some_and(vorbis::Layout::overflows);
        let sync = self.source.bytes(self.structure.audio(), 2, 2)?;
        Ok(match sync.as_slice() {
            _ if self.stream_info.len() < 34 => Err("there is no STREAMINFO block"),
            _ if self.structure.blocks.iter().any(overflows) => Err("there are too many comment fields"),
            _ if self.structure.audio() == self.structure.audio_end => Ok(()),
            [0xff, second] if second & 0xfc == 0xf8 => Ok(()),
            _ => Err("no audio frame follows the metadata"),
        })
    }

    fn problem(&mut self, problem: &str) {
        self.problems.push(Problem(problem.to_owned()));
    }

    fn facts(mut self, outcome: Result<(), &'static str>) -> Facts {
        let mut tags = Tags::new();
        for found in &mut self.comments {
            found.fill(&mut tags);
            self.problems.append(&mut found.problems);
            self.pictures.append(&mut found.pictures);
        }
        for found in &mut self.others {
            add_others(&mut tags, found);
            self.problems.append(&mut found.problems);
            self.pictures.append(&mut found.pictures);
        }
        if self.comments.len() > 1 {
            self.problem("there are several comment blocks");
        }
        if let Err(reason) = outcome {
            self.problem(reason);
        }
        let audio = ByteRange::between(self.structure.audio().min(self.source.len()), self.structure.audio_end);
        let unknown = || Properties { codec: "flac".to_owned(), ..Properties::default() };
        Facts {
            format: Format::Flac,
            properties: properties(&self.stream_info, audio.len).unwrap_or_else(unknown),
            audio,
            tags,
            pictures: self.pictures,
            structure: outcome.map_or_else(|_| Structure::default(), |()| self.structure.encode()),
            editing: outcome.map_or_else(|reason| Editing::Opaque(reason.to_owned()), |()| Editing::Possible),
            problems: self.problems,
        }
    }
}

/// Adds the keys that only a tag around the stream has. One value in two frames of it is one value: when the comments
/// take over the key it would stand there twice, for all to see.
fn add_others(tags: &mut Tags, found: &Found) {
    let mut others = Tags::new();
    found.fill(&mut others);
    for (key, values) in others.iter().filter(|(key, _)| tags.get(key).is_empty()).collect::<Vec<_>>() {
        let mut values = values.to_vec();
        values.dedup();
        tags.set(key, values);
    }
}
