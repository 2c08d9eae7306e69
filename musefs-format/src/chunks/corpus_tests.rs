//! Real files of chunks, and DSF, edited, and judged by other readers.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::aiff::Aiff;
use crate::testing::{CorpusFile, Counted, corpus_files, foreign, materialise};
use crate::trial::try_out;
use crate::wav::Wav;
use crate::{ByteRange, Container, Editing, Edits, Facts, Format, container, sniff_source};

/// Files that are served whole; none of them can be decoded.
const OPAQUE: [&str; 6] = [
    "Borewit_music-metadata/CWE-835-01.aiff",
    "Serial-ATA_lofty-rs/crash-24728523ef4be15c838293b676f6853e73723bf4.wav",
    "Serial-ATA_lofty-rs/crash-cbd757427cea12bd8a21f86cd8cf74d98ce56bee.wav",
    "polyfloyd_rust-id3/tagged-mid-corrupted.wav",
    "taglib_taglib/invalid-chunk.wav",
    "wader_fq/bext.wav",
];

/// Its LIST chunk is too short to have a type: mutagen looks at nothing behind it.
const HIDDEN_FROM_MUTAGEN: &str = "Serial-ATA_lofty-rs/2_IDX_63_RAND_104275228651573584855676.wav";
/// It has no audio. ffmpeg takes all that follows for audio.
const NO_AUDIO: &str = "Serial-ATA_lofty-rs/zero.wav";

struct Case {
    name: String,
    decode: String,
    bytes: Vec<u8>,
    container: &'static dyn Container,
    facts: Facts,
}

/// All files of the four formats.
fn cases() -> impl Iterator<Item = Case> {
    corpus_files().filter_map(|file| {
        let CorpusFile { name, decode, bytes, .. } = file;
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
        let format = sniff_source(&bytes, extension.as_deref()).unwrap()?;
        let container =
            container(format).filter(|_| matches!(format, Format::Wav | Format::Aiff | Format::Dff | Format::Dsf))?;
        let mut facts = container.read(&bytes).unwrap();
        try_out(container, &bytes, &mut facts).unwrap();
        Some(Case { name, decode, bytes, container, facts })
    })
}

fn editable() -> impl Iterator<Item = Case> {
    cases().filter(|case| case.facts.editing == Editing::Possible)
}

fn large() -> String {
    "0123456789abcde ".repeat(4096)
}

/// Each change alone, and all of them.
fn changes() -> Vec<Vec<(&'static str, Vec<String>)>> {
    let one = |text: &str| vec![text.to_owned()];
    let all = vec![
        ("title", one("Ein neuer Titel ♫")),
        ("artist", Vec::new()),
        ("genre", ["Rock", "Dünn", "Jazz"].map(str::to_owned).to_vec()),
        ("MYKEY", one("=x=")),
        ("comment", vec![large()]),
    ];
    all.iter().map(|change| vec![change.clone()]).chain([all.clone()]).collect()
}

fn edits(facts: &Facts, changes: &[(&str, Vec<String>)]) -> Edits {
    Edits::over(facts.tags.clone(), changes.iter().map(|(key, values)| ((*key).to_owned(), values.clone())))
}

fn slice(bytes: &[u8], range: ByteRange) -> &[u8] {
    &bytes[range.offset as usize..range.end() as usize]
}

#[test]
fn what_is_served_whole_is_known() {
    let opaque: Vec<_> =
        cases().filter(|case| case.facts.editing != Editing::Possible).map(|case| (case.name, case.decode)).collect();
    if opaque.is_empty() {
        return;
    }
    assert!(opaque.iter().all(|(_, decode)| decode == "fail"), "{opaque:?}");
    assert_eq!(opaque.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), OPAQUE);
}

#[test]
fn edits_are_read_back_and_audio_is_kept() {
    for case in editable() {
        for changes in changes() {
            let edits = edits(&case.facts, &changes);
            let splice = case.container.splice(&case.facts.structure, &edits).unwrap();
            let served = materialise(&splice, &case.bytes);
            assert_eq!(served.len() as u64, splice.len());
            let again = case.container.read(&served).unwrap();
            let keys: Vec<_> = changes.iter().map(|(key, _)| key).collect();
            assert_eq!(&again.tags, edits.effective(), "{} {keys:?}", case.name);
            assert_eq!(again.properties, case.facts.properties, "{} {keys:?}", case.name);
            assert_eq!(slice(&case.bytes, case.facts.audio), slice(&served, again.audio), "{} {keys:?}", case.name);
            if !case.bytes.starts_with(b"ID3") {
                assert_eq!(again.audio.offset, case.facts.audio.offset, "{} {keys:?}", case.name);
            }
            assert_eq!(again.pictures.len(), case.facts.pictures.len(), "{}", case.name);
            for (old, new) in case.facts.pictures.iter().zip(&again.pictures).filter(|(old, _)| old.range.len > 0) {
                assert_eq!(slice(&case.bytes, old.range), slice(&served, new.range), "{}", case.name);
            }
        }
    }
}

#[test]
fn only_what_is_not_audio_is_read() {
    for case in cases() {
        let source = Counted::new(&case.bytes);
        let facts = case.container.read(&source).unwrap();
        let tags = case.bytes.len() as u64 - facts.audio.len;
        let read = source.read.get();
        assert!(read <= tags * 2 + (16 << 10), "{}: {read} bytes of {} are read", case.name, case.bytes.len());
    }
}

/// A file of the corpus and what is served for it, both on disk.
struct Pair {
    case: Case,
    source: PathBuf,
    served: PathBuf,
}

/// With all changes at once.
fn pairs(folder: &Path) -> Vec<Pair> {
    let pair = |(at, case): (usize, Case)| {
        let extension = case.facts.format.name();
        let (source, served) =
            (folder.join(format!("{at}-source.{extension}")), folder.join(format!("{at}-served.{extension}")));
        let changes = changes().pop().unwrap();
        let splice = case.container.splice(&case.facts.structure, &edits(&case.facts, &changes)).unwrap();
        fs::write(&source, &case.bytes).unwrap();
        fs::write(&served, materialise(&splice, &case.bytes)).unwrap();
        Pair { case, source, served }
    };
    editable().enumerate().map(pair).collect()
}

/// Prints a line for each file: the texts of each frame that mutagen finds, or null if it does not read the file.
const MUTAGEN: &str = r"
import json, sys
from mutagen.wave import WAVE
from mutagen.aiff import AIFF
from mutagen.dsf import DSF
from mutagen.dsdiff import DSDIFF
kinds = {'wav': WAVE, 'aiff': AIFF, 'dsf': DSF, 'dff': DSDIFF}
for path in sys.argv[1:]:
    try:
        tags = kinds[path.rsplit('.')[-1]](path).tags or {}
        print(json.dumps({key: str(getattr(frame, 'text', frame)) for key, frame in tags.items()}))
    except Exception:
        print('null')
";

#[test]
fn mutagen_reads_the_new_and_the_untouched_old() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = pairs(folder.path());
    let paths = pairs.iter().flat_map(|pair| [&pair.source, &pair.served]).map(|path| path.to_str().unwrap());
    let args: Vec<_> = ["-c", MUTAGEN].into_iter().chain(paths).collect();
    let Some(output) = foreign("python3", &args) else { return };
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(std::env::var("CI").as_deref() != Ok("true"), "mutagen does not run: {error}");
        eprintln!("skipped: mutagen does not run: {error}");
        return;
    }
    let lines: Vec<Option<BTreeMap<String, String>>> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let files = pairs.iter().map(|pair| &pair.case).zip(lines.chunks_exact(2));
    for (case, read) in files.filter(|(case, _)| case.name != HIDDEN_FROM_MUTAGEN) {
        let (Some(old), new) = (&read[0], &read[1]) else { continue };
        let new = new.as_ref().unwrap_or_else(|| panic!("{} is not read", case.name));
        for (key, text) in
            [("TIT2", "['Ein neuer Titel ♫']"), ("TCON", "['Rock', 'Dünn', 'Jazz']"), ("TXXX:MYKEY", "['=x=']")]
        {
            assert_eq!(new.get(key).map(String::as_str), Some(text), "{} {key}", case.name);
        }
        assert_eq!(new.get("TPE1"), None, "{}", case.name);
        assert!(new.iter().any(|(key, text)| key.starts_with("COMM:") && text.len() > 65_000), "{}", case.name);
        let touched = ["TIT2", "TPE1", "TCON", "TXXX:COMMENTS"];
        for (key, text) in old.iter().filter(|(key, _)| !touched.contains(&key.as_str()) && !key.starts_with("COMM:")) {
            assert_eq!(new.get(key), Some(text), "{} {key}", case.name);
        }
    }
}

/// The title that ffprobe finds, if it reads the file, and whether it does.
fn title(path: &Path) -> Option<Option<String>> {
    let args = ["-v", "error", "-show_entries", "format_tags", "-of", "json", path.to_str().unwrap()];
    let output = foreign("ffprobe", &args).filter(|output| output.status.success())?;
    let probed: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some(probed["format"]["tags"]["title"].as_str().map(str::to_owned))
}

/// The hash of all packets.
fn packets(path: &Path) -> Option<Vec<u8>> {
    let args =
        ["-nostdin", "-v", "error", "-i", path.to_str().unwrap(), "-map", "0:a:0", "-c", "copy", "-f", "md5", "-"];
    let output = foreign("ffmpeg", &args)?;
    output.status.success().then_some(output.stdout)
}

#[test]
fn ffmpeg_reads_the_new_title_and_the_same_packets() {
    let folder = tempfile::tempdir().unwrap();
    for Pair { case, source, served } in pairs(folder.path()) {
        if case.name == NO_AUDIO {
            continue;
        }
        // ffmpeg reads no tags of DSDIFF.
        if case.facts.format != Format::Dff && title(&source).is_some() {
            let new = title(&served).unwrap_or_else(|| panic!("{} is not read", case.name));
            assert_eq!(new.as_deref(), Some("Ein neuer Titel ♫"), "{}", case.name);
        }
        if case.decode == "ok" {
            assert_eq!(packets(&source), packets(&served), "{}", case.name);
        }
    }
}

/// Kinds of files that the corpus lacks.
#[test]
fn files_of_ffmpeg_stay_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    for (name, container, options) in [
        ("a.w64", &Wav as &dyn Container, &["-f", "w64"][..]),
        ("a.wav", &Wav, &["-f", "wav", "-rf64", "always"]),
        ("b.wav", &Wav, &["-f", "wav", "-metadata", "title=Old", "-metadata", "artist=A"]),
        ("a.aiff", &Aiff, &["-f", "aiff", "-write_id3v2", "1", "-metadata", "title=Old", "-metadata", "artist=A"]),
    ] {
        let source = folder.path().join(name);
        let made = ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=0.1"];
        let args: Vec<_> = made.iter().chain(options).copied().chain([source.to_str().unwrap()]).collect();
        let Some(output) = foreign("ffmpeg", &args) else { return };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = fs::read(&source).unwrap();
        let facts = container.read(&bytes).unwrap();
        assert_eq!((facts.editing.clone(), facts.properties.duration_ms), (Editing::Possible, Some(100)), "{name}");
        let splice = container.splice(&facts.structure, &edits(&facts, &changes().pop().unwrap())).unwrap();
        let served = folder.path().join(format!("served-{name}"));
        fs::write(&served, materialise(&splice, &bytes)).unwrap();
        assert_eq!(packets(&source), packets(&served), "{name}");
        if name != "a.w64" {
            assert_eq!(title(&served), Some(Some("Ein neuer Titel ♫".to_owned())), "{name}");
        }
    }
}
