//! Small files from which a fuzzer starts, made by code.

use musefs_format::Format;

/// Name, format and bytes of each seed.
pub fn seeds() -> Vec<(&'static str, Format, Vec<u8>)> {
    let comments = comments(&["TITLE=a", "ARTIST=b", "artist=c", "TRACKNUMBER=3/12", "OWN KEY=d", "malformed"]);
    let picture = [&[0, 0, 0, 3, 0, 0, 0, 9], &b"image/png"[..], &[0; 20], &[0, 0, 0, 4], b"\x89PNG"].concat();
    let padded = flac(&[(4, &comments), (6, &picture), (1, &[0; 64])]);
    let tag3 = id3(3, &[(b"TIT2", b"\x01\xff\xfea\0"), (b"TXXX", b"\0own key\0d"), (b"COMM", b"\0eng\0c")], 40);
    let tag4 =
        id3(4, &[(b"TPE1", b"\x03One\0Two"), (b"TRCK", b"\x003/12"), (b"APIC", b"\0image/png\0\x03\0\x89PNG")], 0);
    let tag2 = [&b"ID3\x02\0\0\0\0\0\x0b"[..], b"TT2\0\0\x02\0a", &[0; 3]].concat();
    let tag1 = [&b"TAG"[..], &[b'x'; 124], &[17]].concat();
    vec![
        ("flac-padded", Format::Flac, padded.clone()),
        ("flac-bare", Format::Flac, flac(&[])),
        ("flac-two-comments", Format::Flac, flac(&[(4, &comments), (4, &comments), (3, &[0; 18])])),
        ("flac-tagged", Format::Flac, [&tag3[..], &padded, &tag1].concat()),
        ("mp3-bare", Format::Mpeg, mp3()),
        ("mp3-v22", Format::Mpeg, [tag2, mp3()].concat()),
        ("mp3-v23", Format::Mpeg, [tag3.clone(), mp3(), tag1.clone()].concat()),
        ("mp3-v24", Format::Mpeg, [tag4.clone(), mp3()].concat()),
        ("mp3-many", Format::Mpeg, [&tag3[..], &[0; 9], &tag4, &mp3(), &ape(), &tag1].concat()),
        ("adts-bare", Format::Adts, adts()),
        ("adts-many", Format::Adts, [&tag3[..], b"junk", &adts(), &ape(), &tag1].concat()),
        ("wavpack", Format::WavPack, [&wavpack()[..], &ape(), &tag1].concat()),
        ("monkey", Format::MonkeysAudio, [&tag4[..], b"MAC \x64\x0f\xa0\x0f", &[9; 60], &ape()].concat()),
        ("musepack-7", Format::Musepack, [&b"MP+\x07"[..], &[9; 60], &ape()].concat()),
        ("musepack-8", Format::Musepack, b"MPCKSH\x0fcccc\x08\x84\xd8\x44\x64\x1b\x10\0SE\x03".to_vec()),
        ("tta", Format::TrueAudio, [&tag4[..], b"TTA1\x01\0\x02\0\x10\0\x44\xac\0\0\x44\xac\0\0cccc", &tag1].concat()),
        (
            "optimfrog",
            Format::OptimFrog,
            [&b"OFR \x0f\0\0\0\x88\x58\x01\0\0\0\x02\x01\x44\xac\0\0"[..], &ape()].concat(),
        ),
        ("tak", Format::Tak, [&b"tBaK\x04\x02\0\0xx\x01\x0d\0\0"[..], &[9; 13], &ape()].concat()),
        ("ogg-vorbis", Format::OggVorbis, vorbis(&comments, 40)),
        ("ogg-vorbis-pages", Format::OggVorbis, vorbis(&[&comments[..], &[1; 300]].concat(), 1)),
        ("ogg-opus", Format::OggOpus, opus(&[&comments[..], &[0; 90]].concat(), 9)),
        ("ogg-opus-kept", Format::OggOpus, opus(&[&comments[..], &[1; 90]].concat(), 1)),
        ("mp4-bare", Format::Mp4, mp4(&[], &[], false)),
        ("mp4-tagged", Format::Mp4, mp4(&itunes(), &[], false)),
        ("mp4-last", Format::Mp4, mp4(&itunes(), &[], true)),
        ("mp4-texts", Format::Mp4, mp4(&texts(), &keyed(), false)),
        ("mp4-fragmented", Format::Mp4, fragmented()),
        ("wav", Format::Wav, wav(&[], &[])),
        ("wav-list", Format::Wav, wav(&list(), &chunk(b"id3 ", &tag3, false))),
        ("wav-filler", Format::Wav, wav(&[chunk(b"JUNK", &[0; 90], false), list()].concat(), &tag1)),
        ("rf64", Format::Wav, rf64()),
        ("wave64", Format::Wav, wave64()),
        ("aiff", Format::Aiff, aiff(&tag4)),
        ("dff", Format::Dff, dff(&tag3)),
        ("dsf", Format::Dsf, dsf(&tag4)),
        ("dsf-bare", Format::Dsf, dsf(&[])),
    ]
}

fn flac(blocks: &[(u8, &[u8])]) -> Vec<u8> {
    let stream_info = [&[0; 10][..], &[0x0a, 0xc4, 0x42, 0xf0, 0, 0, 0xac, 0x44], &[7; 16]].concat();
    let mut file = b"fLaC".to_vec();
    let all: Vec<_> = [(0, &stream_info[..])].iter().chain(blocks).copied().collect();
    for (at, (kind, content)) in (1..).zip(&all) {
        let last = if at == all.len() { 0x80 } else { 0 };
        file.extend((u32::from(kind | last) << 24 | content.len() as u32).to_be_bytes());
        file.extend_from_slice(content);
    }
    file.extend([0xff, 0xf8, 0xc9, 0x08].repeat(20));
    file
}

fn comments(fields: &[&str]) -> Vec<u8> {
    let counted = |text: &str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let mut packet = counted("vendor");
    packet.extend((fields.len() as u32).to_le_bytes());
    packet.extend(fields.iter().flat_map(|field| counted(field)));
    packet
}

fn id3(major: u8, frames: &[(&[u8; 4], &[u8])], padding: usize) -> Vec<u8> {
    let mut content = Vec::new();
    for (name, payload) in frames {
        content.extend([&name[..], &(payload.len() as u32).to_be_bytes(), &[0, 0], payload].concat());
    }
    content.resize(content.len() + padding, 0);
    let size = content.len();
    [&b"ID3"[..], &[major, 0, 0, 0, 0, (size >> 7) as u8, (size & 0x7f) as u8], &content].concat()
}

fn mp3() -> Vec<u8> {
    let mut frame = vec![0; 417];
    frame[..4].copy_from_slice(&[0xff, 0xfb, 0x90, 0x64]);
    frame.repeat(5)
}

fn adts() -> Vec<u8> {
    let mut frame = [0x21; 64];
    frame[..7].copy_from_slice(&[0xff, 0xf1, 0x50, 0x80, 8, 0x1f, 0xfc]);
    frame.repeat(5)
}

fn wavpack() -> Vec<u8> {
    let sub_blocks = [0x0d, 1, 2, 3, 0x67, 2, 0x44, 0xac, 0, 0];
    let numbers = [24 + sub_blocks.len() as u32, 0x0410, 99, 0, 99, 15 << 23 | 1 << 11 | 1, 0];
    [&b"wvpk"[..], &numbers.map(u32::to_le_bytes).concat(), &sub_blocks].concat().repeat(2)
}

fn ape() -> Vec<u8> {
    let item = [&1_u32.to_le_bytes()[..], &[0; 4], b"Title\0a"].concat();
    let end = |flags: u32| {
        let size = (item.len() + 32) as u32;
        let numbers = [2000, size, 1, flags].map(u32::to_le_bytes).concat();
        [&b"APETAGEX"[..], &numbers, &[0; 8]].concat()
    };
    [end(0xa000_0000), item.clone(), end(0x8000_0000)].concat()
}

fn vorbis(comments: &[u8], segments: usize) -> Vec<u8> {
    let first = [&b"\x01vorbis\0\0\0\0\x02\x44\xac\0\0"[..], &[0; 12], &[0xb8, 1]].concat();
    let second = [b"\x03vorbis", comments, &[1]].concat();
    let third = [&b"\x05vorbis"[..], &[7; 300]].concat();
    ogg(&[&first], &[&second, &third], segments)
}

fn opus(comments: &[u8], segments: usize) -> Vec<u8> {
    ogg(&[b"OpusHead\x01\x02\x38\x01\x80\xbb\0\0\0\0\0"], &[&[b"OpusTags", comments].concat()], segments)
}

/// The first packet, further headers and some audio, each on pages of their own.
fn ogg(first: &[&[u8]], headers: &[&[u8]], segments: usize) -> Vec<u8> {
    let mut pages = Vec::new();
    let audio = [&[0x78; 40][..], &[0x78; 255], &[0x78; 300]];
    for (flags, packets) in [(2, first), (0, headers), (4, &audio)] {
        let lace = |packet: &&[u8]| [vec![255; packet.len() / 255], vec![(packet.len() % 255) as u8]].concat();
        let lacing: Vec<u8> = packets.iter().flat_map(lace).collect();
        let body = packets.concat();
        let (mut at, mut continued) = (0, 0);
        for values in lacing.chunks(segments) {
            let len = values.iter().map(|len| usize::from(*len)).sum::<usize>();
            let number = pages.len() as u32;
            pages.push(page(flags | continued, number, values, &body[at..at + len]));
            at += len;
            continued = u8::from(values.ends_with(&[255]));
        }
    }
    pages.concat()
}

/// A page of granule position 960 and stream 7, with the checksum of RFC 3533, section 6.
fn page(flags: u8, number: u32, lacing: &[u8], body: &[u8]) -> Vec<u8> {
    let mut page = [&b"OggS\0"[..], &[flags], &960_u64.to_le_bytes(), &7_u32.to_le_bytes()].concat();
    page.extend([&number.to_le_bytes()[..], &[0; 4], &[lacing.len() as u8], lacing, body].concat());
    let shift = |sum: u32, _| sum << 1 ^ if sum >> 31 == 1 { 0x04c1_1db7 } else { 0 };
    let sum = page.iter().fold(0, |sum: u32, byte| (0..8).fold(sum ^ u32::from(*byte) << 24, shift));
    page[22..26].copy_from_slice(&sum.to_le_bytes());
    page
}

fn boxed(kind: &[u8; 4], content: &[&[u8]]) -> Vec<u8> {
    let content = content.concat();
    [&(content.len() as u32 + 8).to_be_bytes()[..], kind, &content].concat()
}

/// An MP4 file with one audio track of two chunks, its user data and its other metadata.
fn mp4(user_data: &[u8], meta: &[u8], moov_last: bool) -> Vec<u8> {
    let kind = boxed(b"ftyp", &[b"M4A \0\0\0\0"]);
    let media = boxed(b"mdat", &[&[0x55; 40], &[0xaa; 40]]);
    let moov = |first: u32| {
        let offsets = [first, first + 40].map(u32::to_be_bytes).concat();
        let table = boxed(b"stco", &[&[0; 4], &[0, 0, 0, 2], &offsets]);
        boxed(b"moov", &[&boxed(b"mvhd", &[&[0; 100]]), &track(&table), meta, user_data])
    };
    let start = kind.len() + 8;
    if moov_last {
        return [kind.clone(), media, moov(start as u32)].concat();
    }
    let moov = moov((start + moov(0).len()) as u32);
    [kind, moov, media].concat()
}

fn track(offsets: &[u8]) -> Vec<u8> {
    let entry = boxed(b"mp4a", &[&[0; 8], &[0; 8], &[0, 2, 0, 16, 0, 0, 0, 0], &[0xac, 0x44, 0, 0]]);
    let description = boxed(b"stsd", &[&[0; 4], &[0, 0, 0, 1], &entry]);
    let info = boxed(b"minf", &[&boxed(b"stbl", &[&description, offsets])]);
    let header = boxed(b"mdhd", &[&[0; 12], &44_100_u32.to_be_bytes(), &88_200_u32.to_be_bytes(), &[0; 4]]);
    let handler = boxed(b"hdlr", &[&[0; 8], b"soun", &[0; 13]]);
    let track = boxed(b"tkhd", &[&[0; 12], &[0, 0, 0, 1], &[0; 68]]);
    boxed(b"trak", &[&track, &boxed(b"mdia", &[&header, &handler, &info])])
}

fn data(type_code: u8, payload: &[u8]) -> Vec<u8> {
    boxed(b"data", &[&[0, 0, 0, type_code], &[0; 4], payload])
}

fn itunes() -> Vec<u8> {
    let free_form = [boxed(b"mean", &[&[0; 4], b"com.apple.iTunes"]), boxed(b"name", &[&[0; 4], b"own key"])].concat();
    let items = [
        boxed(b"\xa9nam", &[&data(1, b"a")]),
        boxed(b"\xa9ART", &[&data(1, b"One"), &data(1, b"Two")]),
        boxed(b"trkn", &[&data(0, &[0, 0, 0, 3, 0, 12, 0, 0])]),
        boxed(b"gnre", &[&data(0, &[0, 18])]),
        boxed(b"covr", &[&data(14, b"\x89PNG")]),
        boxed(b"----", &[&free_form, &data(1, b"d")]),
    ];
    let list = boxed(b"ilst", &[&items.concat()]);
    let handler = boxed(b"hdlr", &[&[0; 8], b"mdirappl", &[0; 9]]);
    boxed(b"udta", &[&boxed(b"meta", &[&[0; 4], &handler, &list, &boxed(b"free", &[&[0; 60]])])])
}

fn texts() -> Vec<u8> {
    let quick_time = boxed(b"\xa9nam", &[b"\0\x01\0\0a"]);
    boxed(b"udta", &[&quick_time, &boxed(b"perf", &[&[0; 4], b"\x15\xc7b\0"]), &[0; 4]])
}

fn keyed() -> Vec<u8> {
    let keys = boxed(b"keys", &[&[0; 4], &[0, 0, 0, 2], &boxed(b"mdta", &[b"artist"]), &boxed(b"mdta", &[b"genre"])]);
    let items = [boxed(&[0, 0, 0, 1], &[&data(1, b"c")]), boxed(&[0, 0, 0, 2], &[&data(1, b"d")])].concat();
    let handler = boxed(b"hdlr", &[&[0; 8], b"mdta", &[0; 13]]);
    boxed(b"meta", &[&handler, &keys, &boxed(b"ilst", &[&items])])
}

fn fragmented() -> Vec<u8> {
    let defaults = boxed(b"trex", &[&[0; 4], &[0, 0, 0, 1], &[0; 4], &[0, 0, 4, 0], &[0; 8]]);
    let moov = boxed(b"moov", &[&track(&boxed(b"stco", &[&[0; 8]])), &boxed(b"mvex", &[&defaults])]);
    let start = (moov.len() as u64).to_be_bytes();
    let header = boxed(b"tfhd", &[&[0, 0, 0, 1], &[0, 0, 0, 1], &start]);
    let run = boxed(b"trun", &[&[0, 0, 0, 0], &[0, 0, 0, 9]]);
    let fragment = boxed(b"moof", &[&boxed(b"traf", &[&header, &run])]);
    let entry = boxed(b"tfra", &[&[1, 0, 0, 0], &[0, 0, 0, 1], &[0; 4], &[0, 0, 0, 1], &[0; 8], &start, &[1; 3]]);
    [moov, fragment, boxed(b"mdat", &[&[7; 80]]), boxed(b"mfra", &[&entry])].concat()
}

const WAVE_FORMAT: [u8; 16] = [1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0];

/// A chunk of RIFF, or of AIFF with its numbers the other way round.
fn chunk(name: &[u8; 4], content: &[u8], big_endian: bool) -> Vec<u8> {
    let len = content.len() as u32;
    let len = if big_endian { len.to_be_bytes() } else { len.to_le_bytes() };
    [&name[..], &len, content, &vec![0; content.len() % 2]].concat()
}

fn list() -> Vec<u8> {
    let entries = [chunk(b"INAM", b"a\0", false), chunk(b"IPRT", b"3/12\0", false), chunk(b"ISBJ", b"d\0", false)];
    chunk(b"LIST", &[b"INFO".to_vec(), entries.concat()].concat(), false)
}

fn wav(before: &[u8], behind: &[u8]) -> Vec<u8> {
    let parts = [&b"WAVE"[..], &chunk(b"fmt ", &WAVE_FORMAT, false), before, &chunk(b"data", &[7; 45], false), behind];
    chunk(b"RIFF", &parts.concat(), false)
}

fn rf64() -> Vec<u8> {
    let sizes = [&[0; 8][..], &45_u64.to_le_bytes(), &[0; 12]].concat();
    let mut file = wav(&chunk(b"ds64", &sizes, false), &list());
    file[..8].copy_from_slice(b"RF64\xff\xff\xff\xff");
    file[76..80].fill(0xff);
    file
}

fn wave64() -> Vec<u8> {
    const TAIL: [u8; 12] = [0xf3, 0xac, 0xd3, 0x11, 0x8c, 0xd1, 0x00, 0xc0, 0x4f, 0x8e, 0xdb, 0x8a];
    let chunk = |name: &[u8; 4], content: &[u8]| {
        let len = (content.len() as u64 + 24).to_le_bytes();
        [&name[..], &TAIL, &len, content, &vec![0; content.len().wrapping_neg() % 8]].concat()
    };
    let body = [chunk(b"fmt ", &WAVE_FORMAT), chunk(b"data", &[7; 45])].concat();
    let riff = [&b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00"[..], &(body.len() as u64 + 40).to_le_bytes()]
        .concat();
    [&riff, &b"wave"[..], &TAIL, &body].concat()
}

fn aiff(tag: &[u8]) -> Vec<u8> {
    let common = [&[0, 1, 0, 0, 0, 45, 0, 8, 0x40, 0x0b, 0xfa][..], &[0; 7]].concat();
    let sound = [[0; 8].to_vec(), vec![7; 45]].concat();
    let parts = [
        b"AIFF".to_vec(),
        chunk(b"COMM", &common, true),
        chunk(b"NAME", b"a", true),
        chunk(b"SSND", &sound, true),
        chunk(b"ID3 ", tag, true),
    ];
    chunk(b"FORM", &parts.concat(), true)
}

fn dff(tag: &[u8]) -> Vec<u8> {
    let chunk = |name: &[u8; 4], content: &[u8]| {
        [&name[..], &(content.len() as u64).to_be_bytes(), content, &vec![0; content.len() % 2]].concat()
    };
    let rate = chunk(b"FS  ", &2_822_400_u32.to_be_bytes());
    let properties = [&b"SND "[..], &rate, &chunk(b"CHNL", b"\0\x01SLFT"), &chunk(b"CMPR", b"DSD \0")].concat();
    let parts = [chunk(b"PROP", &properties), chunk(b"DSD ", &[0x69; 45]), chunk(b"ID3 ", tag)].concat();
    chunk(b"FRM8", &[b"DSD ".to_vec(), parts].concat())
}

fn dsf(tag: &[u8]) -> Vec<u8> {
    let pointer = if tag.is_empty() { 0 } else { 140 };
    let numbers = [28, 140 + tag.len() as u64, pointer].map(u64::to_le_bytes).concat();
    let format = [1, 0, 1, 1, 2_822_400, 1, 384, 0, 48, 0].map(u32::to_le_bytes).concat();
    let audio = [&b"data"[..], &60_u64.to_le_bytes(), &[0x69; 48]].concat();
    [&b"DSD "[..], &numbers, b"fmt ", &52_u64.to_le_bytes(), &format, &audio, tag].concat()
}
