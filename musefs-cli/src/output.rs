//! Text for terminals and JSON for scripts.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use serde::Serialize;

/// Prints one JSON value and a newline on stdout.
///
/// # Errors
/// Those of stdout.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    // As an error of I/O, so that a closed pipe is known for what it is.
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Prints text on stdout as it is.
///
/// # Errors
/// Those of stdout.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Text from a file made safe for a terminal: control characters become escapes, bad UTF-8 becomes U+FFFD.
pub(crate) fn safe(text: impl AsRef<[u8]>) -> String {
    let mut safe = String::new();
    for c in String::from_utf8_lossy(text.as_ref()).chars() {
        // Bidirectional overrides can make a name read as another one.
        if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            // Writing to a string cannot fail.
            let _ = write!(safe, "{}", c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_drive_the_terminal() {
        let table: [(&[u8], &str); 4] = [
            (b"plain \xc3\xa9", "plain \u{e9}"),
            (b"\x1b[31mred", "\\u{1b}[31mred"),
            (b"line\nbreak", "line\\nbreak"),
            (b"bad \xff byte", "bad \u{fffd} byte"),
        ];
        for (raw, expected) in table {
            assert_eq!(safe(raw), expected);
        }
    }
}
