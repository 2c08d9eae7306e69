//! Tags, edits and times in words and in JSON, the same in every command.

use musefs_core::correct::Served;
use musefs_db::Override;
use musefs_format::Origin;
use serde_json::{Value, json};

use crate::output::safe;

/// Most characters of values that people are shown; scripts get all.
const VALUES_SHOWN_MAX: usize = 300;

/// Values of a key for people.
pub(crate) fn values(values: &[String]) -> String {
    if values.is_empty() {
        return "(none)".into();
    }
    let all = safe(values.join("; "));
    match all.char_indices().nth(VALUES_SHOWN_MAX) {
        Some((cut, _)) => format!("{}… ({} bytes)", &all[..cut], values.iter().map(String::len).sum::<usize>()),
        None => all,
    }
}

/// The override of a key for people.
pub(crate) fn overridden(values: &Override) -> String {
    match values {
        None => "(as in the source)".into(),
        Some(values) if values.is_empty() => "(removed)".into(),
        Some(values) => self::values(values),
    }
}

/// A moment for people and scripts, in UTC.
pub(crate) fn time(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map_or_else(|_| format!("{ms} ms"), |time| time.strftime("%FT%TZ").to_string())
}

/// Who did something and why, for people.
pub(crate) fn author(who: &str, why: Option<&str>) -> String {
    why.map_or_else(|| safe(who), |why| format!("{}: {}", safe(who), safe(why)))
}

/// How a track is served, for people.
pub(crate) fn served(served: &Served) -> String {
    match served {
        Served::Unedited => "as the source, byte for byte: nothing is edited".into(),
        Served::Whole(reason) => format!("as the source, byte for byte: {}", safe(reason)),
        Served::Spliced(splice) => format!(
            "with its edits: {} bytes, of which {} are new and the rest the source's, in {} parts",
            splice.len(),
            splice.segments().iter().filter(|it| !matches!(it.origin, Origin::Source(_))).map(|it| it.len).sum::<u64>(),
            splice.segments().len()
        ),
    }
}

/// How a track is served, for scripts.
pub(crate) fn served_json(served: &Served) -> Value {
    match served {
        Served::Unedited => json!({ "how": "whole", "reason": null }),
        Served::Whole(reason) => json!({ "how": "whole", "reason": reason }),
        Served::Spliced(splice) => {
            let part = |it: &musefs_format::Segment| match it.origin {
                Origin::Made(_) | Origin::OggChecksum(_) => json!({ "from": "musefs", "bytes": it.len }),
                Origin::Offsets(_) | Origin::OggPages(_) => json!({ "from": "source, mended", "bytes": it.len }),
                Origin::Source(offset) => json!({ "from": "source", "offset": offset, "bytes": it.len }),
            };
            let parts: Vec<_> = splice.segments().iter().map(part).collect();
            json!({ "how": "spliced", "size": splice.len(), "parts": parts })
        }
    }
}

/// A path for scripts: bytes that are not UTF-8 as `\xNN`, as in the catalogue's views.
pub(crate) fn path_json(path: &std::path::Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02X}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_values() {
        assert_eq!(values(&[]), "(none)");
        assert_eq!(values(&["a\u{1b}".into(), "b".into()]), "a\\u{1b}; b");
        assert_eq!(values(&["é".repeat(VALUES_SHOWN_MAX)]), "é".repeat(VALUES_SHOWN_MAX));
        assert!(values(&["é".repeat(VALUES_SHOWN_MAX + 1)]).ends_with("é… (602 bytes)"));
        assert_eq!(overridden(&None), "(as in the source)");
        assert_eq!(overridden(&Some(vec![])), "(removed)");
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(i64::MAX), "9223372036854775807 ms");
        assert_eq!(author("me", Some("so")), "me: so");
    }
}
