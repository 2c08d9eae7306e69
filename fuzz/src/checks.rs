//! What must hold for any bytes; shared by the fuzz targets and by a test that needs no fuzzer.

use musefs_format::{Container, Editing, Edits, Format, ReadAt, Served, Splice, container, sniff, trial::try_out};

const CHANGES: [(&str, &[&str]); 4] =
    [("title", &["A title"]), ("artist", &["One", "Zwölf"]), ("own key", &["own value"]), ("genre", &[])];

/// Reads `source` as `format` and edits it: the served file has the promised length, the new values and the old audio.
pub fn edited(format: Format, source: &[u8]) {
    let Some(container) = container(format) else { return };
    let Some((splice, edits)) = splice(container, source) else { return };
    let before = container.read(&source.to_vec()).expect("memory is read without errors");
    let served = bytes(&splice, source, 0, u64::MAX);
    assert_eq!(served.len() as u64, splice.len());
    let after = container.read(&served).expect("memory is read without errors");
    for (key, _) in CHANGES {
        assert_eq!(after.tags.get(key), edits.effective().get(key), "{key}");
    }
    let audio = |bytes: &[u8], range: musefs_format::ByteRange| {
        let audio = &bytes[range.offset as usize..range.end() as usize];
        if bytes.windows(4).any(|mark| mark == b"OggS") { without_numbers(audio) } else { audio.to_vec() }
    };
    // Where no frame was found, nothing tells junk from audio: all of it is kept, but may be divided otherwise.
    if !before.properties.codec.is_empty() {
        assert!(audio(&served, after.audio) == audio(source, before.audio), "other audio");
    }
}

/// Pages of Ogg without what tells the how manieth each is, and the checksum that follows from it.
fn without_numbers(pages: &[u8]) -> Vec<u8> {
    let mut bare = pages.to_vec();
    for at in 0..pages.len() {
        if pages[at..].starts_with(b"OggS") {
            let end = pages.len().min(at + 26);
            bare[end.min(at + 18)..end].fill(0);
        }
    }
    bare
}

/// Reads a range of an edited file: it is the same part of the whole.
pub fn ranges(input: &[u8]) {
    let Some((numbers, source)) = input.split_first_chunk::<4>() else { return };
    let offset = u64::from(u16::from_le_bytes([numbers[0], numbers[1]]));
    let len = u64::from(u16::from_le_bytes([numbers[2], numbers[3]]));
    let Some(container) = sniff(source, Some("mp3")).and_then(container) else { return };
    let Some((splice, _)) = splice(container, source) else { return };
    let whole = bytes(&splice, source, 0, u64::MAX);
    let start = offset.min(splice.len()) as usize;
    let end = (offset + len).min(splice.len()) as usize;
    assert_eq!(bytes(&splice, source, offset, len), whole[start..end]);
}

fn splice(container: &dyn Container, source: &[u8]) -> Option<(Splice, Edits)> {
    let source = source.to_vec();
    let mut facts = container.read(&source).expect("memory is read without errors");
    try_out(container, &source, &mut facts).expect("memory is read without errors");
    if facts.editing != Editing::Possible {
        return None;
    }
    let changes =
        CHANGES.map(|(key, values)| (key.to_owned(), values.iter().map(|value| (*value).to_owned()).collect()));
    let edits = Edits::over(facts.tags, changes);
    container.splice(&facts.structure, &edits).ok().map(|splice| (splice, edits))
}

fn bytes(splice: &Splice, source: &[u8], offset: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; splice.len().saturating_sub(offset).min(len) as usize];
    let source = source.to_vec();
    let read = Served { splice, source: &source }.read_at(&mut bytes, offset).expect("memory is read without errors");
    assert_eq!(read, bytes.len());
    bytes
}
