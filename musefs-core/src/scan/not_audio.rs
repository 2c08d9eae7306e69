//! Extensions that say well enough that a file is no audio, so that it is not opened.

use std::{collections::HashSet, sync::LazyLock};

/// Lower-case, sorted. Names that are not here and promise no audio are looked into once.
const EXTENSIONS: &str = "\
    7z accurip ai ass asx avi avif azw3 bak bat bmp bz2 c cbr cbz cer cfg conf crc css csv ctl cue db db-journal \
    db-shm db-wal deb dll dmg doc docx epub exe ffp fpl gif gp3 gp4 gp5 gpx gz h heic htm html icns ico idx ini iso jar \
    jpe jpeg jpg js json key lnk lock log lrc m3u m3u8 m4v md md5 mk3d mkv mobi mov mpeg mpg mpls mscz msi musicxml \
    mxl nfo nzb odt opf par2 part pdf pl plist pls png ppt pptx psd py rar rtf sfv sh sha1 sha256 sha512 sqlite \
    sqlite3 srt st5 sub svg tar tex tgz tif tiff tmp toml torrent ttf txt url vtt webp wmv wpl xls xlsx xml yaml yml \
    zip";

static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| EXTENSIONS.split(' ').collect());

/// Whether a lower-case extension tells of something else than audio.
pub(super) fn is_known(extension: &str) -> bool {
    KNOWN.contains(extension)
}

#[cfg(test)]
mod tests {
    use musefs_format::extension_format;

    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_no_audio() {
        assert!(EXTENSIONS.split(' ').is_sorted());
        assert_eq!(EXTENSIONS.split(' ').find(|extension| extension_format(extension).is_some()), None);
        for sidecar in ["cue", "lrc", "jpg", "log", "m3u8", "txt"] {
            assert!(is_known(sidecar));
        }
        assert!(!is_known("mp3") && !is_known("bit"));
    }
}
