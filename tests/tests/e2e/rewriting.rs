//! Corrections of the corpus' FLAC, MP3 and Ogg files, judged by foreign tools.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

use musefs_tests::{compare, oracle, sandbox::Sandbox, tools, wait};

use crate::fixture;

/// The least share of files, in percent, whose served bytes carry their edits.
const EDITED_PERCENT_MIN: usize = 97;

/// Foreign programs run side by side.
const THREADS: usize = 2;

const TITLE: &str = "A corrected Tïtle – 題";
const ALBUM_ARTIST: &str = "The Corrected Ärtists";
const CUSTOM: &str = "any value";

/// One track that is corrected: its source, and where it is served.
#[derive(Debug)]
struct Case {
    track: u64,
    source: PathBuf,
    served: PathBuf,
}

#[test]
fn corrections_of_the_corpus_reach_foreign_readers() {
    if !tools::have(&["ffmpeg", "ffprobe", "flac", "metaflac"]) {
        return;
    }
    let Some((scanned, sandbox, mount)) = fixture::mounted_corpus() else { return };
    let wanted = |path: &Path| {
        let row = scanned.corpus.row(path);
        row.is_some_and(|row| {
            matches!(row.get("format").split('-').next(), Some("flac" | "mp3" | "ogg")) && row.ffmpeg_reads_it()
        })
    };
    let sources: BTreeMap<u64, PathBuf> = sandbox.sources().into_iter().filter(|(_, path)| wanted(path)).collect();
    assert!(sources.len() > 100, "{} files", sources.len());
    let change = edit(&sandbox, sources.keys());

    let cases = wait::for_some("all edits", || {
        let cases = cases(mount.path(), &sources);
        // A revision makes another inode, so an edited track has none below 2^53.
        (cases.len() == sources.len()).then_some(cases)
    });
    let problems = judge_all(&cases);
    let whole = served_whole(&cases);
    for case in &whole {
        let served = &sandbox.run(["show", "--json", &case.track.to_string()]).code(0).json()[0]["served"];
        assert!(served["how"] == "whole" && served["reason"].is_string(), "{}: {served}", case.source.display());
    }
    let edited_percent = (cases.len() - whole.len()) * 100 / cases.len();
    eprintln!("{} files, {} served whole: {:?}", cases.len(), whole.len(), names(&whole));
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(edited_percent >= EDITED_PERCENT_MIN, "{edited_percent} % of {}: {:?}", cases.len(), names(&whole));

    sandbox.run(["undo", &change.to_string()]).code(0);
    wait::until("the undo", || cases_are_sources(mount.path(), &sources));
    mount.unmount();
}

/// Edits tracks by one command and returns the number of the change.
fn edit<'a>(sandbox: &Sandbox, tracks: impl Iterator<Item = &'a u64>) -> u64 {
    let tracks = tracks.map(u64::to_string);
    let set = [format!("title={TITLE}"), format!("albumartist={ALBUM_ARTIST}"), format!("musefs_test={CUSTOM}")];
    let set = set.into_iter().flat_map(|set| ["--set".to_owned(), set]);
    let edited = sandbox.run(["edit".to_owned(), "--json".to_owned()].into_iter().chain(tracks).chain(set)).code(0);
    edited.json()["change"].as_u64().unwrap()
}

fn cases(mount: &Path, sources: &BTreeMap<u64, PathBuf>) -> Vec<Case> {
    let Ok(tree) = compare::try_walk(mount) else { return Vec::new() };
    let edited = compare::files(&tree).filter(|(_, seen)| seen.inode >= 1 << 53);
    edited
        .filter_map(|(path, seen)| Some((path, seen.track(), sources.get(&seen.track())?)))
        .map(|(path, track, source)| Case { track, source: source.clone(), served: mount.join(path) })
        .collect()
}

fn served_whole(cases: &[Case]) -> Vec<&Case> {
    cases.iter().filter(|case| compare::same_bytes(&case.source, &case.served).unwrap()).collect()
}

fn names(cases: &[&Case]) -> Vec<String> {
    cases.iter().map(|case| case.source.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

fn cases_are_sources(mount: &Path, sources: &BTreeMap<u64, PathBuf>) -> bool {
    let Ok(tree) = compare::try_walk(mount) else { return false };
    compare::files(&tree)
        .filter_map(|(path, seen)| Some((path, sources.get(&seen.track())?)))
        .all(|(path, source)| compare::same_bytes(&mount.join(path), source).unwrap_or(false))
}

/// Judges all cases by several threads; what is wrong, in words.
fn judge_all(cases: &[Case]) -> Vec<String> {
    let tags = mutagen_pairs(cases);
    let problems = Mutex::new(Vec::new());
    let todo = Mutex::new(cases.iter().zip(&tags));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let next = todo.lock().unwrap().next();
                    let Some((case, (source, served))) = next else { return };
                    let found = judge(case, source, served);
                    problems.lock().unwrap().extend(found);
                }
            });
        }
    });
    problems.into_inner().unwrap()
}

fn mutagen_pairs(cases: &[Case]) -> Vec<(serde_json::Value, serde_json::Value)> {
    let sources = oracle::mutagen_tags(cases.iter().map(|case| case.source.as_path()));
    let served = oracle::mutagen_tags(cases.iter().map(|case| case.served.as_path()));
    sources.into_iter().zip(served).collect()
}

fn judge(case: &Case, mutagen_source: &serde_json::Value, mutagen_served: &serde_json::Value) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |holds: bool, what: String| {
        if !holds {
            problems.push(format!("{}: {what}", case.source.display()));
        }
    };
    let size = fs::metadata(&case.served).unwrap().len();
    let bytes = fs::read(&case.served).unwrap();
    check(bytes.len() as u64 == size, format!("stat says {size}, a read gives {}", bytes.len()));
    check(same_audio(&case.source, &case.served), "the audio differs".to_owned());
    if case.source.extension().is_some_and(|extension| extension == "flac") && oracle::flac_test(&case.source) {
        check(oracle::flac_test(&case.served), "flac -t fails".to_owned());
    }
    if !compare::same_bytes(&case.source, &case.served).unwrap() {
        problems.extend(judge_tags(case, mutagen_source, mutagen_served));
    }
    problems
}

/// Equal packets; or equal sound, where a tag behind the audio counts as packets; or equal packets without the ID3v1
/// tag, where ffmpeg takes that for the end of a truncated last frame.
fn same_audio(a: &Path, b: &Path) -> bool {
    let same = |a: &Path, b: &Path, md5: fn(&Path) -> Option<String>| md5(a).is_some_and(|of_a| Some(of_a) == md5(b));
    same(a, b, oracle::packet_md5) || same(a, b, oracle::decoded_md5) || {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = [("a", a), ("b", b)].map(|(name, path)| without_id3v1(path, &dir.path().join(name)));
        same(&a, &b, oracle::packet_md5)
    }
}

fn without_id3v1(path: &Path, copy: &Path) -> PathBuf {
    let bytes = fs::read(path).unwrap();
    let end = bytes.len().saturating_sub(128);
    let end = if bytes[end..].starts_with(b"TAG") { end } else { bytes.len() };
    let copy = copy.with_extension(path.extension().unwrap());
    fs::write(&copy, &bytes[..end]).unwrap();
    copy
}

/// The keys under which foreign readers see what was edited.
const EDITED_KEYS: [&str; 9] =
    ["title", "albumartist", "album_artist", "album artist", "musefs_test", "tit2", "tpe2", "txxx:musefs_test", "tt2"];

fn judge_tags(case: &Case, mutagen_source: &serde_json::Value, mutagen_served: &serde_json::Value) -> Vec<String> {
    let mut problems = Vec::new();
    let name = case.source.display();
    let (before, after) = (oracle::ffprobe_tags(&case.source), oracle::ffprobe_tags(&case.served));
    let by_mutagen = mutagen_values(mutagen_served);
    for (keys, value) in [
        (&["title", "tit2"][..], TITLE),
        (&["album_artist", "albumartist", "tpe2"], ALBUM_ARTIST),
        (&["musefs_test", "txxx:musefs_test"], CUSTOM),
    ] {
        // ffmpeg and mutagen see no tags at all in a few FLACs whose properties they do not like.
        let seen =
            |tags: &BTreeMap<String, String>| keys.iter().any(|key| tags.get(*key).is_some_and(|seen| seen == value));
        let by_metaflac =
            || keys.iter().any(|key| oracle::metaflac_tag(&case.served, key).is_some_and(|seen| seen == [value]));
        if !seen(&after) && (!after.is_empty() || !(seen(&by_mutagen) || by_metaflac())) {
            problems.push(format!("{name}: nobody sees {}: {after:?}, {by_mutagen:?}", keys[0]));
        }
    }
    for (tool, before, after) in [("ffprobe", before, after), ("mutagen", mutagen_values(mutagen_source), by_mutagen)] {
        for (key, old) in before.iter().filter(|(key, _)| !EDITED_KEYS.contains(&key.as_str())) {
            if !after.get(key).is_some_and(|new| is_kept(old, new)) {
                problems.push(format!("{name}: {tool} saw {key}={old:?}, and now {:?}", after.get(key)));
            }
        }
    }
    problems
}

/// The tags as mutagen reads them, several values of a key in one text.
fn mutagen_values(tags: &serde_json::Value) -> BTreeMap<String, String> {
    tags.as_object()
        .into_iter()
        .flatten()
        .map(|(key, values)| {
            let values: Vec<_> = values.as_array().into_iter().flatten().filter_map(|value| value.as_str()).collect();
            (key.clone(), values.join("\0"))
        })
        .collect()
}

/// Whether a value that was not edited is what it was. Text that claims to be Latin-1 and is not, in an ID3v1 tag, may
/// be shown otherwise once it stands in a new tag: what was not decodable, and what was UTF-8 all along.
fn is_kept(old: &str, new: &str) -> bool {
    old == new || old.contains(char::REPLACEMENT_CHARACTER) || is_repaired(old, new)
}

fn is_repaired(old: &str, new: &str) -> bool {
    let Ok(bytes) = old.chars().map(|c| u8::try_from(u32::from(c))).collect::<Result<Vec<u8>, _>>() else {
        return false;
    };
    // Fields of 30 bytes are cut within a character.
    let valid = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..valid]).is_ok_and(|text| !new.is_ascii() && text == new)
}
