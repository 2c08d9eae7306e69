//! Dates, which ID3v2.2 and 2.3 keep in parts: year, day and month, time (ID3v2.3 section 4.2.1).
//!
//! A date that the parts cannot hold exactly is written whole besides: in ID3v2.3 in the frame of ID3v2.4,
//! which current readers know, in ID3v2.2 as the user's own text.

use super::Version;
use super::write::Style;

/// Joins parts: "2003", "0405" (day, month) and "1230" (hour, minute) are "2003-05-04T12:30".
pub(super) fn join(year: &str, day: Option<&str>, time: Option<&str>) -> String {
    let four = |text: &&str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(day) = day.filter(four).filter(|day| *day != "0000").filter(|_| four(&year)) else {
        return year.to_owned();
    };
    let date = format!("{year}-{}-{}", &day[2..], &day[..2]);
    match time.filter(four) {
        Some(time) => format!("{date}T{}:{}", &time[..2], &time[2..]),
        None => date,
    }
}

/// The parts of a date, as far as there are any; [`join`] may give less than `date`.
fn split(date: &str) -> Vec<String> {
    let digits = |from: usize, to: usize| {
        date.get(from..to).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())).map(str::to_owned)
    };
    let pair = |a: Option<String>, b: Option<String>| Some(format!("{}{}", a?, b?));
    let Some(year) = digits(0, 4) else { return Vec::new() };
    let Some(day) = pair(digits(8, 10), digits(5, 7)) else { return vec![year] };
    let time = pair(digits(11, 13), digits(14, 16));
    [year, day].into_iter().chain(time).collect()
}

/// Names and payloads of the frames that hold the dates of a key; `None` where one frame holds them whole.
pub(super) fn frames(style: Style, key: &str, dates: &[&str]) -> Option<Vec<(String, Vec<u8>)>> {
    let names: &[&str] = match (style.version, key) {
        (Version::V23, "date") => &["TYER", "TDAT", "TIME"],
        (Version::V23, "originaldate") => &["TORY"],
        (Version::V22, "date") => &["TYE", "TDA", "TIM"],
        (Version::V22, "originaldate") => &["TOR"],
        _ => return None,
    };
    let mut parts = dates.first().map_or(Vec::new(), |date| split(date));
    parts.truncate(names.len());
    let part = |at: usize| parts.get(at).map(String::as_str);
    let is_exact = dates.len() == 1 && part(0).is_some_and(|year| join(year, part(1), part(2)) == dates[0]);
    let mut frames: Vec<_> =
        names.iter().zip(&parts).map(|(name, part)| ((*name).to_owned(), style.texts(&[part]))).collect();
    if !is_exact {
        frames.push(match (style.version, key) {
            (Version::V22, _) => ("TXX".to_owned(), style.detailed(None, key, dates)),
            (_, "date") => ("TDRC".to_owned(), style.texts(dates)),
            _ => ("TDOR".to_owned(), style.texts(dates)),
        });
    }
    Some(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_as_far_as_they_make_sense() {
        for (parts, date) in [
            (("2003", None, None), "2003"),
            (("2003", Some("0405"), None), "2003-05-04"),
            (("2003", Some("0405"), Some("1230")), "2003-05-04T12:30"),
            (("2003", None, Some("1230")), "2003"),
            (("2003", Some("0000"), None), "2003"),
            (("c. 1999", Some("0405"), None), "c. 1999"),
            (("2003", Some("04/05"), None), "2003"),
        ] {
            assert_eq!(join(parts.0, parts.1, parts.2), date);
        }
    }

    fn style(version: Version) -> Style {
        Style { version, is_copy: false }
    }

    #[test]
    fn only_what_the_parts_cannot_hold_is_written_whole() {
        for (version, key, date, names) in [
            (Version::V23, "date", "2003", &["TYER"][..]),
            (Version::V23, "date", "2003-05-04", &["TYER", "TDAT"]),
            (Version::V23, "date", "2003-05-04T12:30", &["TYER", "TDAT", "TIME"]),
            (Version::V23, "date", "2003-05", &["TYER", "TDRC"]),
            (Version::V23, "date", "soon", &["TDRC"]),
            (Version::V23, "originaldate", "2003-05-04", &["TORY", "TDOR"]),
            (Version::V22, "date", "2003-05", &["TYE", "TXX"]),
        ] {
            let frames = frames(style(version), key, &[date]).unwrap_or_default();
            assert_eq!(frames.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names, "{date}");
        }
        assert_eq!(frames(style(Version::V24), "date", &["2003"]), None);
    }
}
