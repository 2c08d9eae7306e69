//! Measures the catalogue: `cargo run --release -p musefs-db --example measure [TRACKS]`.
//!
//! Times are those on a processor, so that a busy machine does not count.

use std::{fs, path::Path};

use musefs_db::{Access, Catalog, Found, Keys, Properties, SourceState, Stamp, TrackId, Which};

const TAGS: [&str; 12] = [
    "album",
    "albumartist",
    "artist",
    "date",
    "discnumber",
    "genre",
    "musicbrainz_albumid",
    "musicbrainz_trackid",
    "title",
    "totaltracks",
    "tracknumber",
    "label",
];

fn main() -> musefs_db::Result<()> {
    let tracks: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let catalog = Catalog::open(&folder.path().join("catalog.db"), Access::Create)?;
    let per_track = |started: f64| (busy_us() - started) / tracks as f64;

    let started = busy_us();
    scan(&catalog, tracks)?;
    println!("put, new:        {:6.2} µs a track", per_track(started));
    let started = busy_us();
    scan(&catalog, tracks)?;
    println!("put, the same:   {:6.2} µs a track", per_track(started));

    for (what, keys) in [("all keys", Keys::All), ("3 keys", Keys::Only(&["title", "album", "albumartist"]))] {
        let started = busy_us();
        let mut bytes = 0;
        let before = musefs_db::memory_used_bytes();
        let mut most = 0;
        catalog.read(|reader| {
            reader.visit_tracks(Which::All, &keys, &mut |row| {
                bytes += row.tags.iter().map(|tag| tag.value.len()).sum::<usize>();
                most = most.max(musefs_db::memory_used_bytes());
                Ok(())
            })
        })?;
        println!(
            "visit, {what}: {:6.2} µs a track, {} bytes of tags, SQLite {} KiB",
            per_track(started),
            bytes,
            most.saturating_sub(before) / 1024
        );
    }
    let started = busy_us();
    for track in 0..tracks.min(1000) as i64 {
        catalog.read(|reader| reader.visit_tracks(Which::One(TrackId(16 + track)), &Keys::All, &mut |_| Ok(())))?;
    }
    println!("visit one:       {:6.2} µs", (busy_us() - started) / tracks.min(1000) as f64);
    let size = fs::metadata(catalog.path()).map_or(0, |file| file.len());
    println!("catalogue:       {:6} bytes a track", size / tracks);
    Ok(())
}

fn scan(catalog: &Catalog, tracks: u64) -> musefs_db::Result<()> {
    let mut writer = catalog.writer("measure")?;
    let root = writer.root(Path::new("/music"))?;
    let properties =
        Properties { format: "flac".into(), codec: "flac".into(), audio_len: 30_000_000, ..Default::default() };
    let structure = [7; 200];
    for first in (0..tracks).step_by(1000) {
        let mut batch = writer.batch()?;
        for number in first..tracks.min(first + 1000) {
            let values: Vec<[String; 1]> = TAGS.iter().map(|key| [format!("{key} of {number}, some text")]).collect();
            let tags: Vec<(&str, &[String])> =
                TAGS.iter().zip(&values).map(|(key, value)| (*key, &value[..])).collect();
            batch.put(&Found {
                root,
                dir: format!("/music/artist {}/album {}", number / 120, number / 12).as_bytes(),
                name: format!("{number} - a title of usual length.flac").as_bytes(),
                stamp: Stamp { size: 30_000_000, mtime_ns: 1_600_000_000_000_000_000, ctime_ns: 1 },
                state: SourceState::Ok,
                reason: None,
                properties: &properties,
                audio_hash: Some([(number % 251) as u8; 16]),
                structure: &structure,
                tags: &tags,
                pictures: &[],
            })?;
        }
        batch.commit()?;
    }
    Ok(())
}

/// Time of this thread on a processor, in microseconds: the first field of `/proc/thread-self/schedstat`.
fn busy_us() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e3
}
