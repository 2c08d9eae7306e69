//! A source taken apart.

use std::io;

use super::codec::{Codec, HeaderCount};
use super::page::{BEGINS, CONTINUED};
use super::properties::{Audio, properties};
use super::structure::OggStructure;
use super::walk::{Met, Packet, Stream, next_page};
use crate::envelope::Envelope;
use crate::flac::picture::PictureBlock;
use crate::found::Found;
use crate::limits::{
    OGG_COMMENT_BYTES_MAX, OGG_HEADER_PACKETS_MAX, OGG_HEADER_PAGES_MAX, OGG_STREAMS_MAX, PICTURE_HEAD_BYTES,
};
use crate::picture::look;
use crate::sniff::behind_zeros;
use crate::vorbis::{self, Layout};
use crate::{ByteRange, Editing, Facts, Format, Picture, Problem, ReadAt, Structure, Tags};

/// Bytes of a first packet that are looked at: all that any codec has there that counts.
const FIRST_PACKET_BYTES: usize = 512;
/// Kinds of FLAC's metadata blocks (RFC 9639, section 8.1, table 1).
const FLAC_PADDING: u8 = 1;
const FLAC_PICTURE: u8 = 6;

pub(super) fn read(source: &dyn ReadAt) -> io::Result<Facts> {
    let mut reader = Reader::new(source);
    let outcome = reader.walk()?;
    reader.facts(outcome)
}

/// A logical stream, by the page that begins it.
struct Begun {
    met: Met,
    first_packet: Vec<u8>,
}

/// What was read so far: kept when the walk ends early.
struct Reader<'a> {
    source: &'a dyn ReadAt,
    head: Envelope,
    tail: Envelope,
    streams: Vec<Begun>,
    codec: Option<Codec>,
    first_packet: Vec<u8>,
    serial: u32,
    stream: Stream,
    layout: Layout,
    found: Found,
    /// Bytes of the comments' packet behind the last comment: those that stay, and padding.
    behind: (u32, u32),
    /// Index of the last packet that an edit may change.
    last_changeable: usize,
    pictures: Vec<Picture>,
    /// Offset of the first byte behind the headers' pages, and behind all pages.
    audio: (u64, u64),
    /// Offset of the page behind the headers if it begins another stream: a link of a chain without audio.
    next_link: Option<u64>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a dyn ReadAt) -> Self {
        let (head, tail, streams, codec, first_packet, serial, stream) = Default::default();
        let (layout, found, behind, last_changeable, pictures, problems) = Default::default();
        Self {
            source,
            head,
            tail,
            streams,
            codec,
            first_packet,
            serial,
            stream,
            layout,
            found,
            behind,
            last_changeable,
            pictures,
            audio: (0, source.len()),
            next_link: None,
            problems,
        }
    }

    /// Walks over the headers. The error in words is why the file cannot be edited.
    fn walk(&mut self) -> io::Result<Result<(), &'static str>> {
        let start = self.leading()?;
        let behind = match self.begins(start)? {
            Ok(behind) => behind,
            Err(reason) => return Ok(Err(reason)),
        };
        if let Err(reason) = self.choose() {
            return Ok(Err(reason));
        }
        if let Err(reason) = self.headers(behind)? {
            return Ok(Err(reason));
        }
        self.audio.1 = self.tail.read_trailing(self.source, self.audio.0)?;
        let next = next_page(self.source, self.audio.0)?.filter(|met| met.page.flags & BEGINS != 0);
        self.next_link = next.map(|met| met.page.offset);
        Ok(self.check())
    }

    /// Passes the tags in front of the first page.
    fn leading(&mut self) -> io::Result<u64> {
        let mut start = 0;
        loop {
            let end = self.head.read_leading(self.source, start)?;
            if end == start {
                return Ok(start);
            }
            start = behind_zeros(self.source, end)?;
            self.head.keep(end, start);
        }
    }

    /// Meets the pages that begin streams: all stand first. Gives the end of the last.
    fn begins(&mut self, start: u64) -> io::Result<Result<u64, &'static str>> {
        let mut at = start;
        while let Some(met) = next_page(self.source, at)?.filter(|met| met.page.flags & BEGINS != 0) {
            // A stream that begins twice is a chain of two links.
            if self.streams.iter().any(|begun| begun.met.serial == met.serial) {
                break;
            }
            if self.streams.len() == OGG_STREAMS_MAX {
                return Ok(Err("there are too many streams beside each other"));
            }
            at = met.page.end();
            let body = met.page.body_offset();
            let first_packet = self.source.bytes(body, u64::from(met.page.body), FIRST_PACKET_BYTES)?;
            self.streams.push(Begun { met, first_packet });
        }
        Ok(if self.streams.is_empty() { Err("no page begins a stream") } else { Ok(at) })
    }

    /// Chooses the stream to read and edit: the only one with audio.
    fn choose(&mut self) -> Result<(), &'static str> {
        let known = |begun: &&Begun| Codec::of(&begun.first_packet).is_some();
        let count = self.streams.iter().filter(known).count();
        let begun = self.streams.iter().find(known).ok_or("it has no Vorbis, Opus, FLAC or Speex")?;
        self.codec = Codec::of(&begun.first_packet);
        self.serial = begun.met.serial;
        self.first_packet.clone_from(&begun.first_packet);
        self.stream.push(begun.met.clone());
        // Skeleton 4 (its header's 16-bit version follows the mark) says where in the file things are.
        let has_index =
            |begun: &Begun| begun.first_packet.starts_with(b"fishead\0") && begun.first_packet.get(8) > Some(&3);
        match count {
            1 if self.streams.iter().any(has_index) => Err("a Skeleton index says where its pages are"),
            1 => Ok(()),
            _ => Err("it has several streams with audio beside each other"),
        }
    }

    /// Walks over the header packets of the chosen stream, whose first page is known.
    fn headers(&mut self, behind: u64) -> io::Result<Result<(), &'static str>> {
        let Some(codec) = self.codec else { return Ok(Err("no codec is known")) };
        let count = codec.header_count(&self.first_packet);
        if let HeaderCount::Packets(count) = count
            && count > OGG_HEADER_PACKETS_MAX as u64
        {
            return Ok(Err("there are too many header packets"));
        }
        let (mut at, mut seen, mut pages) = (behind, 0, 0);
        loop {
            while let Some(packet) = self.stream.packets.get(seen).copied() {
                if let Err(reason) = self.packet(codec, seen, packet)? {
                    return Ok(Err(reason));
                }
                seen += 1;
                if self.ends_headers(count, seen, packet)? {
                    self.audio.0 = at.max(self.stream.pages[packet.last.0].page.end());
                    return Ok(Ok(()));
                }
                if seen == OGG_HEADER_PACKETS_MAX {
                    return Ok(Err("there are too many header packets"));
                }
            }
            if self.stream.packets.len() == 1 && self.stream.open_bytes() > OGG_COMMENT_BYTES_MAX {
                return Ok(Err("the comments are too large"));
            }
            if pages == OGG_HEADER_PAGES_MAX {
                return Ok(Err("the headers take too many pages"));
            }
            pages += 1;
            let Some(met) = next_page(self.source, at)? else { return Ok(Err("the headers are cut")) };
            if met.page.flags & BEGINS != 0 {
                return Ok(Err("a stream begins within the headers"));
            }
            at = met.page.end();
            if met.serial == self.serial {
                self.note_continuation(&met);
                self.stream.push(met);
            }
        }
    }

    fn note_continuation(&mut self, met: &Met) {
        if (met.page.flags & CONTINUED != 0) != (self.stream.open_bytes() > 0) {
            self.problem("a page of the headers is not marked as its packets go on");
        }
    }

    /// Whether a packet, the `seen`th, is the last of the headers.
    fn ends_headers(&self, count: HeaderCount, seen: usize, packet: Packet) -> io::Result<bool> {
        Ok(match count {
            HeaderCount::Packets(count) => seen as u64 == count,
            HeaderCount::ToLastBlock if seen == 1 => false,
            HeaderCount::ToLastBlock => {
                self.stream.bytes(self.source, packet, 1)?.first().is_none_or(|head| head & 0x80 != 0)
            }
        })
    }

    /// Looks at a header packet.
    fn packet(&mut self, codec: Codec, index: usize, packet: Packet) -> io::Result<Result<(), &'static str>> {
        if index == 1 {
            return self.comments(codec, packet);
        }
        if index > 1 && codec == Codec::Flac {
            let head = self.stream.bytes(self.source, packet, 4)?;
            match head.first().map(|head| head & 0x7f) {
                Some(FLAC_PADDING) if head.len() == 4 => self.last_changeable = index,
                Some(FLAC_PICTURE) => self.picture(packet)?,
                _ => {}
            }
        }
        Ok(Ok(()))
    }

    fn comments(&mut self, codec: Codec, packet: Packet) -> io::Result<Result<(), &'static str>> {
        if packet.len > OGG_COMMENT_BYTES_MAX {
            return Ok(Err("the comments are too large"));
        }
        let bytes = self.stream.bytes(self.source, packet, OGG_COMMENT_BYTES_MAX as usize)?;
        if !codec.is_comments(&bytes) {
            return Ok(Err("the second packet has no comments"));
        }
        let (layout, found) = vorbis::read(&bytes[codec.prefix_bytes()..]);
        if layout.complete {
            let rest = &bytes[codec.prefix_bytes() + layout.end as usize..];
            let kept = codec.kept_bytes(rest);
            self.behind = (kept as u32, (rest.len() - kept) as u32);
        }
        (self.layout, self.found, self.last_changeable) = (layout, found, 1);
        Ok(Ok(()))
    }

    /// A picture block of FLAC: a plain range if it lies on one page.
    fn picture(&mut self, packet: Packet) -> io::Result<()> {
        let head = self.stream.bytes(self.source, packet, PICTURE_HEAD_BYTES)?;
        let Some(block) = head.get(4..).and_then(PictureBlock::parse) else {
            self.problem("a picture block is malformed");
            return Ok(());
        };
        if block.is_link() {
            return Ok(());
        }
        let mut picture = block.picture.clone();
        let ranges = self.stream.ranges(packet);
        let data_at = 4 + block.data_offset as u64;
        if let [range] = ranges[..] {
            let offset = range.offset + data_at;
            picture.range = ByteRange { offset, len: u64::from(block.data_len).min(range.end() - offset) };
        }
        let data = head.get(data_at as usize..).unwrap_or_default();
        if let Some(look) = look(data, ByteRange { offset: 0, len: data.len() as u64 })? {
            picture.adopt(look);
        }
        self.pictures.push(picture);
        Ok(())
    }

    /// Whether what was walked over can be edited.
    fn check(&self) -> Result<(), &'static str> {
        if self.layout.overflows() { Err("there are too many comment fields") } else { Ok(()) }
    }

    fn problem(&mut self, problem: &str) {
        self.problems.push(Problem(problem.to_owned()));
    }

    fn structure(&self, codec: Codec) -> OggStructure {
        let packets = &self.stream.packets[1..=self.last_changeable];
        let (first, last) = (packets[0].first, packets[packets.len() - 1].last);
        let pages = &self.stream.pages[first.0..=last.0];
        let last_page = &self.stream.pages[last.0];
        OggStructure {
            head: self.head.parts.clone(),
            codec,
            serial: self.serial,
            pages: pages.iter().map(|met| met.page.clone()).collect(),
            before: self.stream.pages[first.0].lacing[..first.1].to_vec(),
            packets: packets.iter().map(|packet| packet.len as u32).collect(),
            after: last_page.lacing[last.1..].to_vec(),
            granule: last_page.granule,
            comments: self.layout.clone(),
            kept: self.behind.0,
            padding: self.behind.1,
            stream_end: self.next_link.unwrap_or(self.audio.1).min(self.audio.1),
            end: self.audio.1,
            tail: self.tail.parts.clone(),
        }
    }

    fn facts(mut self, outcome: Result<(), &'static str>) -> io::Result<Facts> {
        let structure = match (outcome, self.codec) {
            (Ok(()), Some(codec)) => self.structure(codec).encode(),
            _ => Structure::default(),
        };
        let mut tags = Tags::new();
        for mut found in [std::mem::take(&mut self.found)].into_iter().chain(self.head.found).chain(self.tail.found) {
            found.fill(&mut tags);
            self.problems.append(&mut found.problems);
            self.pictures.append(&mut found.pictures);
        }
        if let Err(reason) = outcome {
            self.problems.push(Problem(reason.to_owned()));
        }
        let audio = ByteRange::between(self.audio.0, self.audio.1);
        let format = match (self.codec, self.streams.len()) {
            (Some(codec), 1) => codec.format(),
            _ => Format::OggOther,
        };
        let about = self.codec.map(|codec| Audio {
            codec,
            first_packet: &self.first_packet,
            serial: self.serial,
            alone: self.streams.len() == 1,
            range: audio,
        });
        Ok(Facts {
            format,
            properties: about.map_or(Ok(crate::Properties::default()), |about| properties(self.source, &about))?,
            audio,
            tags,
            pictures: self.pictures,
            structure,
            editing: outcome.map_or_else(|reason| Editing::Opaque(reason.to_owned()), |()| Editing::Possible),
            problems: self.problems,
        })
    }
}
