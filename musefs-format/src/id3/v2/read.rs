//! A tag of a source, taken apart.

use std::io;

use super::body::Body;
use super::content::Reader;
use super::kind::Kind;
use super::payload::payload;
use super::walk::{Stretch, Walk, walk};
use super::{
    FLAG_EXTENDED, FLAG_FOOTER, FLAG_UNSYNCHRONISED, Frame, FrameSizes, HEADER_BYTES, Header, Tag, Version, syncsafe,
};
use crate::ReadAt;
use crate::found::Found;
use crate::limits::{ID3_PADDING_BYTES_MAX, ID3_PICTURE_HEAD_BYTES, ID3_TEXT_BYTES_MAX, ID3_UNSYNC_BYTES_MAX};

/// What stands at a place that has the header of a tag.
#[derive(Debug)]
pub struct Read {
    /// The tag, if it can be rewritten.
    pub tag: Option<Tag>,
    /// Bytes of it.
    pub len: u64,
    /// What it says.
    pub found: Found,
}

/// Takes the tag at `offset` apart; `None` if there is no header of one.
///
/// Of a tag that says it is longer than the file, the frames that are there are read, and the tag ends behind
/// them: what follows may be anything.
///
/// # Errors
/// Those of `source`.
pub fn read(source: &dyn ReadAt, offset: u64) -> io::Result<Option<Read>> {
    let Some(header) = Header::parse(&source.bytes(offset, HEADER_BYTES, HEADER_BYTES as usize)?) else {
        return Ok(None);
    };
    let available = source.len().saturating_sub(offset + HEADER_BYTES);
    let is_cut = header.tag_bytes() > available + HEADER_BYTES;
    let len = header.tag_bytes().min(available + HEADER_BYTES);
    let content = header.content_bytes.min(available);
    let version = Version::of(header.major).filter(|version| is_known(*version, &header, content));
    let frames = version.map(|version| frames_of(source, offset, version, &header, content)).transpose()?.flatten();
    let (Some(version), Some((mut body, walk, sizes))) = (version, frames) else {
        let mut found = Found::default();
        found.problem("ID3v2 tag is compressed, or unsynchronised and too large; it is kept unread");
        return Ok(Some(Read { tag: None, len, found }));
    };
    let extended = walk.stretches.first().map_or(walk.end, |first| first.at);
    let (frames, mut found) = contents(source, &body, version, &header, sizes, &walk)?;
    let (padding, rest) = behind(&mut body, walk.end)?;
    let raw_end = body.raw(0, walk.end).0;
    let mut tag = Tag {
        offset,
        len,
        version,
        revision: header.revision,
        flags: header.flags,
        sizes,
        extended: body.raw(0, extended).0,
        frames,
        padding,
        rest: content - raw_end - padding,
        speaks: !found.is_empty(),
    };
    debug_assert!(rest <= tag.rest, "stuffing only adds");
    if is_cut {
        found.problem("ID3v2 tag is longer than the file");
        tag.flags &= !FLAG_FOOTER;
        tag.rest = 0;
        tag.len = HEADER_BYTES + raw_end + padding;
    }
    Ok(Some(Read { len: tag.len, tag: Some(tag), found }))
}

fn is_known(version: Version, header: &Header, content: u64) -> bool {
    let is_unsynchronised = version != Version::V24 && header.flags & FLAG_UNSYNCHRONISED != 0;
    let is_compressed = version == Version::V22 && header.flags & FLAG_EXTENDED != 0;
    !(is_compressed || is_unsynchronised && content > ID3_UNSYNC_BYTES_MAX)
}

/// Walks through the frames. Sizes in an unsynchronised tag are those without stuffing (ID3v2.3 section 5), but some
/// writers count it, and others set the flag and stuff nothing: the reading that meets more frames is right. `None` for a
/// tag with too much stuffing.
fn frames_of<'a>(
    source: &'a dyn ReadAt,
    offset: u64,
    version: Version,
    header: &Header,
    content: u64,
) -> io::Result<Option<(Body<'a>, Walk, FrameSizes)>> {
    let offset = offset + HEADER_BYTES;
    let walked = |mut body: Body<'a>| -> io::Result<(Body<'a>, Walk)> {
        let first = extended_bytes(&mut body, version, header)?;
        let walk = walk(&mut body, version, first)?;
        Ok((body, walk))
    };
    let sizes = |walk: &Walk| if walk.swapped { FrameSizes::Swapped } else { FrameSizes::Standard };
    if version == Version::V24 || header.flags & FLAG_UNSYNCHRONISED == 0 {
        let (body, walk) = walked(Body::plain(source, offset, content))?;
        let sizes = sizes(&walk);
        return Ok(Some((body, walk, sizes)));
    }
    let Some(decoded) = Body::decoded(source, offset, content)? else { return Ok(None) };
    let (body, walk) = walked(decoded)?;
    let (stuffed_body, stuffed) = walked(Body::plain(source, offset, content))?;
    if stuffed.frames() > walk.frames()
        || (stuffed.frames() == walk.frames() && stuffed.problems.len() < walk.problems.len())
    {
        return Ok(Some((stuffed_body, stuffed, FrameSizes::Stuffed)));
    }
    let sizes = sizes(&walk);
    Ok(Some((body, walk, sizes)))
}

/// Length of the extended header: ID3v2.3 section 3.2 leaves the size field out of the size, ID3v2.4 section 3.2
/// counts it; writers mix that up, so the first reading behind which a frame or padding stands is taken.
fn extended_bytes(body: &mut Body<'_>, version: Version, header: &Header) -> io::Result<u64> {
    if version == Version::V22 || header.flags & FLAG_EXTENDED == 0 {
        return Ok(0);
    }
    let Some(stored) = body.window(0)?.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes)) else { return Ok(0) };
    if super::kind::is_name(&stored.to_be_bytes()) {
        // The flag lies.
        return Ok(0);
    }
    let safe = u64::from(syncsafe(stored).unwrap_or(stored));
    let plain = u64::from(stored);
    let readings = match version {
        Version::V24 => [safe, safe + 4, plain, plain + 4],
        _ => [plain + 4, plain, safe + 4, safe],
    };
    for len in readings {
        let fits = (4..body.len()).contains(&len);
        if fits && body.window(len)?.first_chunk::<4>().is_some_and(|name| super::kind::is_name(name)) {
            return Ok(len);
        }
    }
    Ok(readings[0].min(body.len()))
}

/// The frames as a rewrite needs them, and what they say.
fn contents(
    source: &dyn ReadAt,
    body: &Body<'_>,
    version: Version,
    header: &Header,
    sizes: FrameSizes,
    walk: &Walk,
) -> io::Result<(Vec<Frame>, Found)> {
    let mut reader = Reader::new(source, version);
    let mut text = 0;
    let mut frames = Vec::with_capacity(walk.stretches.len());
    for stretch in &walk.stretches {
        let mut frame = frame(&mut reader, body, (version, header.flags, sizes), stretch, &mut text)?;
        (frame.len, frame.stuffing) = body.raw(stretch.at, stretch.at + stretch.len);
        frames.push(frame);
    }
    let mut found = reader.finish();
    walk.problems.iter().for_each(|problem| found.problem(problem.clone()));
    Ok((frames, found))
}

fn frame(
    reader: &mut Reader<'_>,
    body: &Body<'_>,
    tag: (Version, u8, FrameSizes),
    stretch: &Stretch,
    text: &mut u64,
) -> io::Result<Frame> {
    let Some(header) = &stretch.frame else { return Ok(Frame::default()) };
    let kind = Kind::of(&header.name);
    let limit = if kind.is_readable() { ID3_TEXT_BYTES_MAX } else { ID3_PICTURE_HEAD_BYTES };
    if kind.is_readable() {
        *text += stretch.len;
    }
    let payload = match *text > ID3_TEXT_BYTES_MAX as u64 {
        true => None,
        false => payload(body, stretch, header, tag, limit)?,
    };
    if payload.is_none() {
        reader
            .found
            .problem(format!("ID3v2 frame {} is encrypted, damaged or too large; it is kept unread", header.name));
    }
    reader.frame(&header.name, payload.as_ref())
}

/// Bytes of padding behind the frames, and of what is not even that.
///
/// Zeros only count: whatever else stands there is somebody's.
fn behind(body: &mut Body<'_>, from: u64) -> io::Result<(u64, u64)> {
    let end = body.len().min(from + ID3_PADDING_BYTES_MAX);
    let mut at = from;
    while at < end {
        let window = body.window(at)?;
        match window.iter().position(|&byte| byte != 0) {
            Some(zeros) => return Ok((at + zeros as u64 - from, body.len() - at - zeros as u64)),
            None => at += window.len() as u64,
        }
    }
    let at = at.min(end);
    Ok((at - from, body.len() - at))
}
