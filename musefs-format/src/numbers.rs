//! "3/12": a number and its total in one place, as ID3 and APE tags keep them.

/// The sides of "number/total", where either may be missing; anything else is a number that has no total: "A/B".
pub(crate) fn split(value: &str) -> (&str, &str) {
    match value.split_once('/') {
        Some((number, total)) if is_total(number, total.trim()) => (number.trim(), total.trim()),
        _ => (value, ""),
    }
}

fn is_total(number: &str, total: &str) -> bool {
    !(number.is_empty() && total.is_empty()) && total.bytes().all(|byte| byte.is_ascii_digit())
}

/// The inverse, for several numbers and totals.
pub(crate) fn join(numbers: &[String], totals: &[String]) -> Vec<String> {
    let joined = |at: usize| match (numbers.get(at), totals.get(at)) {
        (number, None) => number.cloned().unwrap_or_default(),
        (number, Some(total)) => format!("{}/{total}", number.map_or("", String::as_str)),
    };
    (0..numbers.len().max(totals.len())).map(joined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_told() {
        for (value, sides) in [
            ("3/12", ("3", "12")),
            ("03 / 12", ("03", "12")),
            ("A/2", ("A", "2")),
            ("3/", ("3", "")),
            ("/12", ("", "12")),
            ("3", ("3", "")),
            ("A/B", ("A/B", "")),
            ("3/4/5", ("3/4/5", "")),
            ("/", ("/", "")),
            ("", ("", "")),
        ] {
            assert_eq!(split(value), sides, "{value}");
        }
    }

    #[test]
    fn sides_are_joined() {
        let strings = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(join(&strings(&["3", "4"]), &strings(&["12"])), ["3/12", "4"]);
        assert_eq!(join(&[], &strings(&["12"])), ["/12"]);
    }
}
