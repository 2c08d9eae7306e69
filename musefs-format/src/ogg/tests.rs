//! Made streams with made edits.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::collection::vec;
use proptest::prelude::*;

use super::page::{BEGINS, CHECKSUM_AT, CONTINUED, ENDS, Header, NO_GRANULE, SEGMENTS_MAX, whole_page};
use super::walk::{Met, Stream, next_page};
use super::{Ogg, PageSearch, checksum};
use crate::limits::{
    OGG_COMMENT_BYTES_MAX, OGG_GAP_BYTES_MAX, OGG_HEADER_PACKETS_MAX, OGG_HEADER_PAGES_MAX, OGG_STREAMS_MAX,
    OGG_TAIL_BYTES_MAX, OGG_WINDOW_BYTES,
};
use crate::testing::{materialise, materialise_range};
use crate::{Container, Editing, Edits, Format, ReadAt, Refusal, Splice, Structure, vorbis};

/// Lays packets on pages.
struct Maker {
    serial: u32,
    sequence: u32,
    bytes: Vec<u8>,
}

impl Maker {
    fn new(serial: u32) -> Self {
        Self { serial, sequence: 0, bytes: Vec::new() }
    }

    fn page(&mut self, flags: u8, granule: u64, lacing: &[u8], body: &[u8]) {
        let header = Header { flags, granule, serial: self.serial, sequence: self.sequence, checksum: 0, lacing };
        let mut page = [&header.bytes()[..], body].concat();
        let sum = checksum::extend(0, &page);
        page[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum.to_le_bytes());
        self.bytes.extend(page);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Packets on pages of so many lacing values; the first page has `flags`.
    fn packets(mut self, packets: &[Vec<u8>], segments: usize, flags: u8, granule: u64) -> Self {
        let mut lacing = Vec::new();
        for packet in packets {
            lacing.extend(vec![255; packet.len() / 255]);
            lacing.push((packet.len() % 255) as u8);
        }
        let body = packets.concat();
        let (mut at, mut flags) = (0, flags);
        for values in lacing.chunks(segments) {
            let len = values.iter().map(|len| usize::from(*len)).sum::<usize>();
            let granule = if values.iter().any(|len| *len < 255) { granule } else { NO_GRANULE };
            self.page(flags, granule, values, &body[at..at + len]);
            at += len;
            flags = if values.last() == Some(&255) { CONTINUED } else { 0 };
        }
        self
    }
}

fn counted(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes(), text].concat()
}

fn comments(fields: &[&str]) -> Vec<u8> {
    let fields_bytes: Vec<u8> = fields.iter().flat_map(|field| counted(field.as_bytes())).collect();
    [counted(b"a vendor"), (fields.len() as u32).to_le_bytes().to_vec(), fields_bytes].concat()
}

fn vorbis_first() -> Vec<u8> {
    [&b"\x01vorbis\0\0\0\0\x02\x44\xac\0\0"[..], &[0; 12], &[0xb8, 1]].concat()
}

fn opus_first() -> Vec<u8> {
    b"OpusHead\x01\x02\x38\x01\x80\xbb\0\0\0\0\0".to_vec()
}

fn speex_first(extra_headers: u32) -> Vec<u8> {
    let mut first = [&b"Speex   "[..], &[0; 72]].concat();
    first[36..40].copy_from_slice(&16_000_u32.to_le_bytes());
    first[48] = 1;
    first[68..72].copy_from_slice(&extra_headers.to_le_bytes());
    first
}

fn flac_first() -> Vec<u8> {
    let stream_info = [&[0; 10][..], &[0x0a, 0xc4, 0x42, 0xf0, 0, 0, 0xac, 0x44], &[7; 16]].concat();
    [&b"\x7fFLAC\x01\0\0\0fLaC\0\0\0\x22"[..], &stream_info].concat()
}

fn block(head: u8, content: &[u8]) -> Vec<u8> {
    [&(u32::from(head) << 24 | content.len() as u32).to_be_bytes(), content].concat()
}

/// The header packets of a codec with these comments, and `more` in its other headers.
fn headers(codec: usize, fields: &[&str], more: usize) -> Vec<Vec<u8>> {
    let comments = comments(fields);
    match codec {
        0 => vec![
            vorbis_first(),
            [b"\x03vorbis", &comments[..], &[1]].concat(),
            [&b"\x05vorbis"[..], &vec![5; more]].concat(),
        ],
        1 => vec![opus_first(), [b"OpusTags", &comments[..]].concat()],
        2 => vec![opus_first(), [b"OpusTags", &comments[..], &vec![0; more]].concat()],
        3 => vec![opus_first(), [b"OpusTags", &comments[..], &vec![1; more + 1]].concat()],
        4 => vec![speex_first(1), comments, vec![9; more]],
        5 => vec![flac_first(), block(0x84, &comments)],
        6 => vec![flac_first(), block(4, &comments), block(3, &vec![3; more]), block(0x81, &vec![0; more])],
        _ => {
            vec![vorbis_first(), [b"\x03vorbis", &comments[..], &[1], &vec![0; more]].concat(), b"\x05vorbis".to_vec()]
        }
    }
}

const CODECS: std::ops::Range<usize> = 0..8;

/// A whole file. With `shared` the last header page has audio, too.
fn file(headers: &[Vec<u8>], audio: &[Vec<u8>], (segments, audio_segments): (usize, usize), shared: bool) -> Vec<u8> {
    let maker = Maker::new(7).packets(&headers[..1], SEGMENTS_MAX, BEGINS, 0);
    if shared {
        let packets: Vec<_> = headers[1..].iter().chain(audio).cloned().collect();
        return maker.packets(&packets, segments, 0, 960).bytes;
    }
    let mut maker = maker.packets(&headers[1..], segments, 0, 0);
    maker.sequence = maker.sequence.max(if audio_segments == 1 { u32::MAX - 1 } else { 0 });
    maker.packets(audio, audio_segments, 0, 960).bytes
}

/// All pages, which lie one behind the other and are whole.
fn pages(file: &[u8]) -> Vec<(Met, Vec<u8>)> {
    let mut pages = Vec::new();
    let mut at = 0;
    while at < file.len() {
        let (_, len) = whole_page(&file[at..]).expect("a whole page begins where the last ended");
        pages.push((next_page(&file.to_vec(), at as u64).unwrap().unwrap(), file[at..at + len].to_vec()));
        at += len;
    }
    pages
}

/// The packets of a stream, and what is wrong about its pages.
fn packets(file: &[u8], serial: u32) -> (Vec<Vec<u8>>, Vec<String>) {
    let (mut stream, mut wrong) = (Stream::default(), Vec::new());
    for (met, _) in pages(file).into_iter().filter(|(met, _)| met.serial == serial) {
        if (met.page.flags & CONTINUED != 0) != (stream.open_bytes() > 0) {
            wrong.push(format!("continuation at {}", met.page.offset));
        }
        if met.lacing.iter().all(|len| *len == 255) != (met.granule == NO_GRANULE) {
            wrong.push(format!("granule {} at {}", met.granule, met.page.offset));
        }
        if stream.pages.last().is_some_and(|last| last.page.sequence.wrapping_add(1) != met.page.sequence) {
            wrong.push(format!("number {} at {}", met.page.sequence, met.page.offset));
        }
        stream.push(met);
    }
    let source = file.to_vec();
    let packets = stream.packets.iter().map(|packet| stream.bytes(&source, *packet, usize::MAX).unwrap());
    (packets.collect(), wrong)
}

fn splice(source: &[u8], changes: &[(&str, Vec<String>)]) -> Result<(Splice, Edits), Refusal> {
    let facts = Ogg.read(&source.to_vec()).unwrap();
    assert_eq!(facts.editing, Editing::Possible);
    let edits = Edits::over(facts.tags, changes.iter().map(|(key, values)| ((*key).to_owned(), values.clone())));
    Ok((Ogg.splice(&facts.structure, &edits)?, edits))
}

fn served(source: &[u8], changes: &[(&str, Vec<String>)]) -> Vec<u8> {
    materialise(&splice(source, changes).unwrap().0, source)
}

/// Something that looks like pages of the stream itself, within a packet.
fn decoy() -> Vec<u8> {
    let mut maker = Maker::new(7).packets(&[vec![1; 300], vec![2; 20]], 1, 0, 5);
    maker.page(0, 5, &[255; 255], &[3; 9]);
    [maker.bytes, b"OggS\0\0".to_vec()].concat()
}

fn audio() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let packet = prop_oneof![
        8 => (0..700_usize, any::<u8>()).prop_map(|(len, byte)| vec![byte; len]),
        1 => Just(vec![8; 510]),
        1 => Just(vec![9; 90_000]),
        2 => Just(decoy()),
    ];
    vec(packet, 0..40)
}

fn changes() -> impl Strategy<Value = Vec<(&'static str, Vec<String>)>> {
    let value = prop_oneof![
        4 => (0..600_usize).prop_map(|len| "v".repeat(len)),
        1 => Just("w".repeat(70_000)),
        1 => Just("u".repeat(200_000)),
    ];
    let key = prop_oneof![Just("title"), Just("artist"), Just("own"), Just("long")];
    vec((key, vec(value, 0..3)), 1..4)
}

fn a_file() -> impl Strategy<Value = (usize, Vec<u8>)> {
    let long = prop_oneof![3 => 0..900_usize, 1 => Just(100_000)];
    let segments = prop_oneof![1 => Just(1), 2 => 2..20_usize, 2 => Just(17), 2 => Just(SEGMENTS_MAX)];
    let made = (CODECS, long, 0..5000_usize, (segments.clone(), segments), audio(), any::<bool>());
    made.prop_map(|(codec, long, more, segments, audio, shared)| {
        let long = format!("LONG={}", "l".repeat(long));
        let headers = headers(codec, &["TITLE=old", &long, "artist=a", "ARTIST=b", "malformed"], more);
        // What stands on one page with headers has a granule position that no reader takes for its end.
        let source = file(&headers, &audio, segments, shared);
        (headers.len(), source)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn edits_change_the_comments_and_nothing_else((headers, source) in a_file(), changes in changes()) {
        let facts = Ogg.read(&source).unwrap();
        prop_assert_eq!(&facts.editing, &Editing::Possible);
        let (splice, edits) = splice(&source, &changes).unwrap();
        let served = materialise(&splice, &source);
        let again = Ogg.read(&served).unwrap();
        prop_assert!(&again.tags == edits.effective());
        prop_assert_eq!((again.problems, again.properties.sample_rate_hz), (facts.problems, facts.properties.sample_rate_hz));
        let ((old, _), (new, wrong)) = (packets(&source, 7), packets(&served, 7));
        // Numbers of audio pages may have started elsewhere.
        prop_assert!(wrong.iter().all(|it| it.starts_with("number")) && wrong.len() <= 1, "{:?}", wrong);
        prop_assert_eq!(&new[0], &old[0]);
        prop_assert!(new[2..headers] == old[2..headers] || new[2..headers - 1] == old[2..headers - 1] && new[headers - 1][0] == 0x81);
        prop_assert!(new[headers..] == old[headers..], "other audio");
        let old_numbers: Vec<_> = pages(&source).iter().map(|(met, _)| met.page.sequence).collect();
        let new_numbers: Vec<_> = pages(&served).iter().map(|(met, _)| met.page.sequence).collect();
        if old_numbers.len() == new_numbers.len() {
            prop_assert_eq!(old_numbers, new_numbers);
        }
    }

    #[test]
    fn ranges_are_parts_of_the_whole(
        (_, source) in a_file(),
        changes in changes(),
        ranges in vec((any::<prop::sample::Index>(), prop_oneof![0..40_u64, 0..200_000_u64]), 1..12),
    ) {
        let (splice, _) = splice(&source, &changes).unwrap();
        let whole = materialise(&splice, &source);
        let mut search = PageSearch::default();
        for (at, len) in ranges {
            let at = at.index(whole.len() + 1);
            let end = (at + len as usize).min(whole.len());
            prop_assert!(materialise_range(&splice, &source, at as u64, len) == whole[at..end], "{} {}", at, len);
            // A search that remembers gives the same.
            let mut buf = vec![0; end - at];
            let copy = |at: u64, buf: &mut [u8]| source.read_at(buf, at).map(|_| ());
            splice.read_with(&mut search, at as u64, &mut buf, copy).unwrap();
            prop_assert!(buf == whole[at..end], "{} {} after others", at, len);
        }
    }

    #[test]
    fn damaged_files_do_no_harm((_, mut source) in a_file(), damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        for (at, byte) in damage {
            let at = at.index(source.len().min(1000));
            source[at] = byte;
        }
        source.truncate(cut.index(source.len()) + 1);
        let facts = Ogg.read(&source).unwrap();
        if facts.editing == Editing::Possible {
            let edits = Edits::over(facts.tags, [("title".to_owned(), vec!["x".repeat(70_000)])]);
            let splice = Ogg.splice(&facts.structure, &edits).unwrap();
            prop_assert_eq!(materialise(&splice, &source).len() as u64, splice.len());
        }
    }

    #[test]
    fn damaged_structures_are_refused_or_harmless((_, source) in a_file(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut structure = Ogg.read(&source).unwrap().structure;
        let at = at.index(structure.0.len());
        structure.0[at] = byte;
        let edits = Edits::over(crate::Tags::new(), [("title".to_owned(), vec!["x".to_owned()])]);
        match Ogg.splice(&structure, &edits) {
            Ok(splice) => prop_assert!(!splice.is_empty()),
            Err(refusal) => prop_assert!(matches!(refusal, Refusal::Structure(_)), "{:?}", refusal),
        }
    }
}

#[test]
fn structures_of_other_versions_are_refused() {
    for bytes in [&[][..], &[0, 1], &[1], &[9, 9]] {
        assert!(matches!(Ogg.splice(&Structure(bytes.to_vec()), &Edits::default()), Err(Refusal::Structure(_))));
    }
}

#[test]
fn an_edit_that_changes_nothing_gives_the_source() {
    for codec in CODECS {
        let source = file(&headers(codec, &["A=b"], 9), &[vec![1; 9]], (3, 3), false);
        assert_eq!(served(&source, &[("title", vec![])]), source);
    }
}

fn title(len: usize) -> Vec<(&'static str, Vec<String>)> {
    vec![("title", vec!["t".repeat(len)])]
}

#[test]
fn padding_keeps_the_length_or_moves_audio_by_pages() {
    for (codec, len, grown) in [
        (1, 5, 0),
        (1, 2, 0),
        (1, 300, 4096),
        (1, 300_000, 300 << 10),
        (2, 500, 0),
        (2, 900, 4096),
        (6, 500, 0),
        (6, 900, 4096),
        (7, 500, 0),
        (7, 900, 4096),
    ] {
        let source = file(&headers(codec, &["TITLE=tttttt"], 800), &[vec![1; 99]], (SEGMENTS_MAX, 9), false);
        let served = served(&source, &title(len));
        let moved = served.len() - source.len();
        assert!(moved == grown || grown > 4096 && moved.is_multiple_of(4096), "{codec} {len}: {moved}");
    }
}

#[test]
fn large_comments_have_right_pages() {
    let source = file(&headers(0, &["TITLE=t"], 3000), &[vec![1; 99], vec![2; 600]], (SEGMENTS_MAX, 1), false);
    for len in [70_000, 500 << 10, 255 * 600 - 42] {
        let served = served(&source, &title(len));
        let (new, wrong) = packets(&served, 7);
        assert!(wrong.len() <= 1, "{wrong:?}");
        assert_eq!((&new[2..], new[1].len() > len), (&packets(&source, 7).0[2..], true));
    }
}

#[test]
fn a_packet_of_whole_segments_ends_with_a_zero() {
    let source = file(&headers(4, &[], 3), &[], (SEGMENTS_MAX, 9), false);
    let bare = headers(4, &[], 3)[1].len() + 4 + "TITLE=".len();
    let served = served(&source, &title(510 - bare));
    assert_eq!(pages(&served)[1].0.lacing, [255, 255, 0, 3]);
}

#[test]
fn page_numbers_wrap() {
    let source = file(&headers(1, &[], 0), &vec![vec![1; 9]; 5], (SEGMENTS_MAX, 1), false);
    let served = served(&source, &title(70_000));
    let numbers: Vec<_> = pages(&served).iter().map(|(met, _)| met.page.sequence).collect();
    assert_eq!(numbers, [0, 1, 2, u32::MAX, 0, 1, 2, 3]);
}

#[test]
fn other_streams_and_links_are_kept() {
    let other = |flags| Maker::new(9).packets(&[vec![4; 30]], 9, flags, 3).bytes;
    let [first, second, third] = [0, 1, 2].map(|at| headers(0, &["TITLE=t"], 9)[at].clone());
    let own = Maker::new(7).packets(&[first], 9, BEGINS, 0);
    let begin = own.bytes.len();
    let own = own.packets(&[second, third], 1, 0, 0);
    let half = begin + pages(&own.bytes)[1].1.len();
    let end = own.bytes.len();
    let own = own.packets(&[vec![5; 70], vec![6; 70]], 1, ENDS, 9).bytes;
    let link = file(&headers(1, &["TITLE=u"], 0), &[vec![1; 9]], (9, 9), false);
    let parts = [&own[..begin], &other(BEGINS), &own[begin..half], &other(0), &own[half..end], &other(0), &own[end..]];
    let source = [parts.concat(), link.clone()].concat();
    assert_eq!(Ogg.read(&source).unwrap().format, Format::OggOther);
    for len in [3, 70_000] {
        let served = served(&source, &title(len));
        let of = |file: &[u8], serial| -> Vec<_> {
            pages(file).into_iter().filter(|(met, _)| met.serial == serial).map(|(_, page)| page).collect()
        };
        assert_eq!(of(&served, 9), of(&source, 9));
        assert_eq!(Ogg.read(&served).unwrap().tags.get("title"), ["t".repeat(len)]);
    }
}

#[test]
fn files_that_are_not_edited_say_why() {
    let begin = |serial: u32, first: Vec<u8>| Maker::new(serial).packets(&[first], 9, BEGINS, 0).bytes;
    let headers = headers(0, &[], 9);
    let index = [&b"fishead\0\x04\0"[..], &[0; 70]].concat();
    let table = [
        (vec![], "no page begins a stream"),
        (begin(1, vec![1; 9]), "it has no Vorbis, Opus, FLAC or Speex"),
        (
            [begin(1, vorbis_first()), begin(2, opus_first())].concat(),
            "it has several streams with audio beside each other",
        ),
        ([begin(1, index), begin(2, vorbis_first())].concat(), "a Skeleton index says where its pages are"),
        (begin(1, vorbis_first()), "the headers are cut"),
        ([begin(7, headers[0].clone()), begin(7, headers[0].clone())].concat(), "a stream begins within the headers"),
        (file(&[vorbis_first(), opus_first()], &[], (9, 9), false), "the second packet has no comments"),
    ];
    for (source, reason) in table {
        assert_eq!(Ogg.read(&source).unwrap().editing, Editing::Opaque(reason.to_owned()));
    }
}

#[test]
fn structures_grow_up_to_the_limits() {
    let editing = |source: Vec<u8>| match Ogg.read(&source).unwrap().editing {
        Editing::Possible => String::new(),
        Editing::Opaque(reason) => reason,
    };
    for (more, reason) in [(0, ""), (1, "there are too many streams beside each other")] {
        let begin = |at: usize| Maker::new(10 + at as u32).packets(&[vec![1; 9]], 9, BEGINS, 0).bytes;
        let others: Vec<u8> = (0..OGG_STREAMS_MAX - 1 + more).flat_map(begin).collect();
        assert_eq!(editing([others, file(&headers(0, &[], 9), &[], (9, 9), false)].concat()), reason);
    }
    for (more, reason) in [(0, ""), (1, "there are too many header packets")] {
        let extra = OGG_HEADER_PACKETS_MAX - 2 + more;
        let headers = [vec![speex_first(extra as u32), comments(&[])], vec![vec![1]; extra]].concat();
        assert_eq!(editing(file(&headers, &[], (9, 9), false)), reason);
        let blocks = vec![block(2, &[]); OGG_HEADER_PACKETS_MAX - 3 + more];
        let headers = [vec![flac_first(), block(4, &comments(&[]))], blocks, vec![block(0x82, &[])]].concat();
        assert_eq!(editing(file(&headers, &[], (9, 9), false)), reason);
    }
    for (more, reason) in [(0, ""), (1, "the headers take too many pages")] {
        let setup = vec![5; 255 * (OGG_HEADER_PAGES_MAX - 2 + more)];
        let headers = [&headers(0, &[], 9)[..2], &[setup]].concat();
        assert_eq!(editing(file(&headers, &[], (1, 9), false)), reason);
    }
    for (more, reason) in [(0, ""), (1, "the comments are too large")] {
        let bare = comments(&[]);
        let padding = vec![0; OGG_COMMENT_BYTES_MAX as usize - bare.len() - 8 + more];
        let headers = [opus_first(), [b"OpusTags", &bare[..], &padding].concat()];
        assert_eq!(editing(file(&headers, &[], (SEGMENTS_MAX, 9), false)), reason);
    }
    let headers = headers(1, &[], 0);
    let begin = Maker::new(7).packets(&headers[..1], 9, BEGINS, 0);
    let at = begin.bytes.len();
    let own = begin.packets(&headers[1..], 9, 0, 0).bytes;
    let least = super::page::MARK.len();
    for (gap, reason) in [(OGG_GAP_BYTES_MAX - least, ""), (OGG_GAP_BYTES_MAX - least + 1, "the headers are cut")] {
        assert_eq!(editing([&own[..at], &vec![8; gap], &own[at..]].concat()), reason);
    }
}

#[test]
fn the_last_page_is_looked_for_up_to_the_limit() {
    let source = file(&headers(4, &[], 3), &[vec![1; 9]], (9, 9), false);
    let page = pages(&source).last().unwrap().1.len();
    for (junk, duration_ms) in [(OGG_TAIL_BYTES_MAX as usize - page, Some(60)), (OGG_TAIL_BYTES_MAX as usize, None)] {
        let facts = Ogg.read(&[&source[..], &vec![7; junk]].concat()).unwrap();
        assert_eq!(facts.properties.duration_ms, duration_ms);
    }
}

#[test]
fn more_than_a_window_is_read_at_once() {
    let source = file(&headers(1, &[], 0), &vec![vec![1; 60_000]; 10], (SEGMENTS_MAX, 3), false);
    let (splice, _) = splice(&source, &title(70_000)).unwrap();
    assert!(splice.len() > 2 * OGG_WINDOW_BYTES as u64);
    let (_, wrong) = packets(&materialise(&splice, &source), 7);
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_damaged_page_stays_as_it_is() {
    let mut source = file(&headers(1, &[], 0), &vec![vec![1; 90]; 5], (SEGMENTS_MAX, 2), false);
    let last = source.len() - 1;
    source[last] ^= 1;
    let begin = source.len() - (27 + 1 + 90);
    let served = served(&source, &title(70_000));
    assert!(served.ends_with(&source[begin..]));
}

#[test]
fn facts_are_told() {
    let told = |codec: usize| {
        let facts = Ogg.read(&file(&headers(codec, &[], 9), &vec![vec![0x78; 30]; 3], (9, 9), false)).unwrap();
        let it = facts.properties;
        (it.codec, it.sample_rate_hz, it.channels, it.duration_ms)
    };
    assert_eq!(told(0), ("vorbis".to_owned(), Some(44_100), Some(2), Some(21)));
    // 960 samples, of which 312 are skipped.
    assert_eq!(told(1), ("opus".to_owned(), Some(48_000), Some(2), Some(13)));
    assert_eq!(told(4), ("speex".to_owned(), Some(16_000), Some(1), Some(60)));
    assert_eq!(told(5), ("flac".to_owned(), Some(44_100), Some(2), Some(1000)));
}

#[test]
fn how_long_a_chain_plays_is_not_told() {
    let link = file(&headers(1, &[], 9), &[vec![0x78; 30]], (9, 9), false);
    let mut other = Maker::new(8).packets(&headers(1, &[], 9)[..1], 9, BEGINS, 0);
    other = other.packets(&[vec![0x78; 30]], 9, ENDS, 960);
    let facts = Ogg.read(&[link, other.bytes].concat()).unwrap();
    assert_eq!((facts.properties.duration_ms, facts.editing), (None, Editing::Possible));
}

#[test]
fn padding_of_taggers_is_told_from_what_stays() {
    for (codec, fields, kept) in [(0, 1, 1), (2, 0, 0), (3, 10, 10), (7, 1, 1)] {
        let packet = &headers(codec, &[], 9)[1];
        let prefix = if codec == 0 || codec == 7 { 7 } else { 8 };
        let (layout, _) = vorbis::read(&packet[prefix..]);
        let codec = if prefix == 7 { super::codec::Codec::Vorbis } else { super::codec::Codec::Opus };
        let rest = &packet[prefix + layout.end as usize..];
        assert_eq!((codec.kept_bytes(rest), kept), (fields, fields));
    }
}
