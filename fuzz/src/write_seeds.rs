//! Writes the seeds to `corpus/<target>/`, where cargo-fuzz looks for them.

use std::path::Path;
use std::{fs, io};

use musefs_format::Format;

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, format, bytes) in musefs_fuzz::seeds::seeds() {
        let target = match format {
            Format::Flac => "flac",
            Format::Mp4 => "mp4",
            Format::Mpeg => "mpeg",
            Format::OggVorbis | Format::OggOpus => "ogg",
            Format::Wav | Format::Aiff | Format::Dff | Format::Dsf => format.name(),
            _ => "carriers",
        };
        put(&corpus.join(target), name, &bytes)?;
        put(&corpus.join("ranges"), name, &[&[9, 0, 99, 1], &bytes[..]].concat())?;
    }
    Ok(())
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(name), bytes)
}
