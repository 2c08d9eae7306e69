//! Foreign readers of audio files: what they see is the truth that the tests go by.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Output},
};

use crate::tools;

/// MD5 of the audio packets of a file as ffmpeg demuxes them, or none when it cannot read any.
pub fn packet_md5(path: &Path) -> Option<String> {
    audio_md5(path, &["-c", "copy"])
}

/// MD5 of the audio of a file as ffmpeg decodes it, or none when it cannot. For files with bytes behind their audio
/// that ffmpeg takes for packets: an APE tag behind an MP3.
pub fn decoded_md5(path: &Path) -> Option<String> {
    audio_md5(path, &["-c:a", "pcm_s16le"])
}

/// What MD5 gives for no bytes at all.
pub const MD5_OF_NOTHING: &str = "d41d8cd98f00b204e9800998ecf8427e";

fn audio_md5(path: &Path, codec: &[&str]) -> Option<String> {
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "error", "-i"]).arg(path).args(["-map", "0:a:0"]).args(codec);
    let output = tools::run(command.args(["-f", "md5", "-"]));
    let text = String::from_utf8_lossy(&output.stdout);
    let md5 = text.trim().strip_prefix("MD5=")?;
    (output.status.success() && md5 != MD5_OF_NOTHING).then(|| md5.to_owned())
}

/// The tags that ffprobe sees, of the container and of its first audio stream, keys in lower case.
pub fn ffprobe_tags(path: &Path) -> BTreeMap<String, String> {
    let output = tools::run(
        Command::new("ffprobe")
            .args(["-v", "error", "-of", "json", "-show_format", "-show_streams", "-select_streams", "a:0"])
            .arg(path),
    );
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let mut tags = BTreeMap::new();
    for holder in [&said["streams"][0]["tags"], &said["format"]["tags"]] {
        for (key, value) in holder.as_object().into_iter().flatten() {
            tags.insert(key.to_lowercase(), value.as_str().unwrap_or_default().to_owned());
        }
    }
    tags
}

/// Whether `flac -t` decodes the file without an error.
pub fn flac_test(path: &Path) -> bool {
    tools::run(Command::new("flac").args(["--silent", "--test"]).arg(path)).status.success()
}

/// The values of a Vorbis comment as metaflac sees them, or none when it cannot read the file.
pub fn metaflac_tag(path: &Path, key: &str) -> Option<Vec<String>> {
    let output = tools::run(Command::new("metaflac").arg(format!("--show-tag={key}")).arg(path));
    let value = |line: &str| line.split_once('=').map_or_else(String::new, |(_, value)| value.to_owned());
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).lines().map(value).collect())
}

/// All tags of the files at `paths` as mutagen reads them, in the order of `paths`: a line of JSON each, as the
/// program below prints it, or `null` where mutagen reads nothing.
///
/// # Panics
/// When Python fails as a whole.
pub fn mutagen_tags<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<serde_json::Value> {
    let program = r#"
import json, sys
import mutagen
def text(value):
    return value if isinstance(value, str) else repr(value)
def read(path):
    try:
        file = mutagen.File(path)
        if file is None:
            return None
        tags = {}
        for key, value in (file.tags or {}).items() if hasattr(file.tags or {}, 'items') else []:
            values = getattr(value, 'text', value)
            values = values if isinstance(values, list) else [values]
            tags.setdefault(str(key).lower(), []).extend(text(v) if isinstance(v, str) else str(v) for v in values)
        pictures = [p.data for p in getattr(file, 'pictures', [])]
        pictures += [v.data for k, v in (file.tags or {}).items() if str(k).startswith('APIC')]
        import hashlib
        tags[' pictures'] = sorted(hashlib.sha256(p).hexdigest() for p in pictures)
        return tags
    except Exception as e:
        return None
for path in sys.argv[1:]:
    print(json.dumps(read(path)))
"#;
    let output = tools::succeed(tools::python().arg("-c").arg(program).args(paths));
    output.lines().map(|line| serde_json::from_str(line).expect("the program prints JSON")).collect()
}

/// Runs `promtool check metrics` on a text.
///
/// # Panics
/// When it cannot be started.
pub fn promtool(text: &Path) -> Output {
    let input = std::fs::File::open(text).expect("the metrics file can be opened");
    Command::new("promtool").args(["check", "metrics"]).stdin(input).output().expect("promtool can be started")
}
