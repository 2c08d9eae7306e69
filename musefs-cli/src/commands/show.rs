//! `musefs show`: everything about a track.

use std::path::{Path, PathBuf};

use clap::Args;
use musefs_core::correct::{self, Served};
use musefs_db::{Access, EditRow, Picture, TrackDetail};
use serde_json::{Value, json};

use crate::{
    cli::Globals,
    exit::Exit,
    output::{self, safe},
    places,
    target::{self, Targets},
    tell,
};

/// Show everything about tracks: tags, edits, pictures, how they are served, where they appear
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  musefs show 16
  musefs show --json /mnt/music/Miles/*.flac | jq '.[].tags'")]
pub(crate) struct Show {
    /// Numbers of tracks, or paths of sources or of files in a mount
    #[arg(required = true, value_name = "TRACK|PATH")]
    tracks: Vec<PathBuf>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// The picture type that ID3v2.4 section 4.14 gives it.
const FRONT_COVER: u8 = 3;

/// What is shown of a track.
struct Shown {
    detail: TrackDetail,
    served: Served,
    places: Vec<PathBuf>,
}

impl Show {
    pub(crate) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        let Targets { catalog, tracks } = target::resolve(globals, &self.tracks, Access::ReadOnly)?;
        let mut shown = Vec::new();
        for track in tracks {
            let detail = catalog.read(|reader| reader.track(track))?.ok_or(musefs_db::Error::NoSuchTrack(track))?;
            shown.push(Shown { served: correct::served(&detail), places: places::of(&catalog, track), detail });
        }
        if self.json {
            output::json(&shown.iter().map(as_json).collect::<Vec<_>>())?;
        } else {
            output::text(&shown.iter().map(as_text).collect::<Vec<_>>().join("\n"))?;
        }
        Ok(Exit::Success)
    }
}

fn as_text(shown: &Shown) -> String {
    let detail = &shown.detail;
    let mut text = format!("track {}\n", detail.id.0);
    let mut line = |name: &str, value: String| text += &format!("  {name:<9} {value}\n");
    line("source", show_path(&detail.path));
    line("state", tell::author(detail.state.as_str(), detail.reason.as_deref()));
    line("audio", audio(detail));
    line("size", format!("{} bytes", detail.stamp.size));
    line("added", tell::time(detail.added_at_ms));
    line("revision", revision(detail));
    line("served", tell::served(&shown.served));
    if let (Served::Unedited, Some(reason)) = (&shown.served, correct::unreachable(detail)) {
        line("edits", format!("would not reach its bytes: {}", safe(reason)));
    }
    for place in &shown.places {
        line("appears", show_path(place));
    }
    text + &tags(detail) + &detail.pictures.iter().map(picture).collect::<String>()
}

fn show_path(path: &Path) -> String {
    safe(path.as_os_str().as_encoded_bytes())
}

fn revision(detail: &TrackDetail) -> String {
    match detail.changed_at_ms {
        Some(ms) => format!("{}, changed {}", detail.revision, tell::time(ms)),
        None => detail.revision.to_string(),
    }
}

fn audio(detail: &TrackDetail) -> String {
    let properties = &detail.properties;
    let mut parts = vec![safe(&properties.format)];
    if properties.codec != properties.format && !properties.codec.is_empty() {
        parts.push(safe(&properties.codec));
    }
    let mut part = |value: Option<i64>, say: &dyn Fn(i64) -> String| parts.extend(value.map(say));
    part(properties.duration_ms, &|ms| format!("{}:{:02}.{:03}", ms / 60_000, ms / 1000 % 60, ms % 1000));
    part(properties.sample_rate_hz, &|hz| format!("{hz} Hz"));
    part(properties.channels, &|count| format!("{count} channels"));
    part(properties.bits, &|bits| format!("{bits} bits"));
    part(properties.bitrate_bps, &|bps| format!("{} kbit/s", bps / 1000));
    parts.join(", ")
}

/// A line for each key, with what the source has where that differs, and who edited it.
fn tags(detail: &TrackDetail) -> String {
    let effective = detail.effective_tags();
    let mut keys: Vec<&String> = effective.keys().chain(detail.edits.iter().map(|edit| &edit.key)).collect();
    keys.sort_unstable();
    keys.dedup();
    let width = keys.iter().map(|key| key.chars().count()).max().unwrap_or(0).min(30);
    let none = Vec::new();
    let mut text = String::from("tags\n");
    for key in keys {
        text += &format!("  {:<width$}  {}\n", safe(key), tell::values(effective.get(key).unwrap_or(&none)));
        if let Some(edit) = detail.edits.iter().find(|edit| edit.key == *key) {
            let source = tell::values(detail.source_tags.get(key).unwrap_or(&none));
            let author = tell::author(&edit.who, edit.why.as_deref());
            text += &format!("  {:<width$}    edited by {author}; the source has {source}\n", "");
        }
    }
    text
}

fn picture(picture: &Picture) -> String {
    let kind =
        if picture.kind == FRONT_COVER { "front cover".into() } else { format!("picture of kind {}", picture.kind) };
    let place = if picture.len == 0 { "not in one piece".into() } else { format!("at byte {}", picture.offset) };
    let mime = safe(&picture.mime);
    let mut text = format!("{kind}: {mime}, {}×{}, {} bytes {place}", picture.width, picture.height, picture.len);
    if !picture.description.is_empty() {
        text += &format!(", {}", safe(&picture.description));
    }
    text + "\n"
}

fn as_json(shown: &Shown) -> Value {
    let detail = &shown.detail;
    let properties = &detail.properties;
    json!({
        "track": detail.id.0,
        "path": tell::path_json(&detail.path),
        "state": detail.state.as_str(),
        "reason": detail.reason,
        "format": properties.format,
        "codec": properties.codec,
        "duration_ms": properties.duration_ms,
        "sample_rate_hz": properties.sample_rate_hz,
        "channels": properties.channels,
        "bits": properties.bits,
        "bitrate_bps": properties.bitrate_bps,
        "audio": { "offset": properties.audio_offset, "bytes": properties.audio_len },
        "size": detail.stamp.size,
        "mtime_ns": detail.stamp.mtime_ns,
        "added": tell::time(detail.added_at_ms),
        "revision": detail.revision,
        "changed": detail.changed_at_ms.map(tell::time),
        "served": tell::served_json(&shown.served),
        "appears": shown.places.iter().map(|place| tell::path_json(place)).collect::<Vec<_>>(),
        "tags": detail.effective_tags(),
        "source_tags": detail.source_tags,
        "edits": detail.edits.iter().map(edit_json).collect::<Vec<_>>(),
        "pictures": detail.pictures.iter().map(picture_json).collect::<Vec<_>>(),
    })
}

fn edit_json(edit: &EditRow) -> Value {
    json!({
        "key": edit.key,
        "position": edit.position,
        "value": edit.value,
        "who": edit.who,
        "why": edit.why,
    })
}

fn picture_json(picture: &Picture) -> Value {
    json!({
        "kind": picture.kind,
        "mime": picture.mime,
        "width": picture.width,
        "height": picture.height,
        "description": picture.description,
        "offset": picture.offset,
        "bytes": picture.len,
    })
}
