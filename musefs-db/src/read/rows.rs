//! Columns as paths and as text.

use std::{
    ffi::OsStr,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use rusqlite::{Row, types::ValueRef};

/// The text of a column. Other programs can write text that is not UTF-8: what cannot be read is replaced.
pub(crate) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => row.get(column),
    }
}

/// [`text`] of a column that may be NULL.
pub(crate) fn text_or_null(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    if row.get_ref(column)? == ValueRef::Null { Ok(None) } else { text(row, column).map(Some) }
}

/// The text of a column without a copy; empty where it is not UTF-8, which only scan's own columns never are.
pub(crate) fn borrowed<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(column)?.as_str().unwrap_or_default())
}

/// The path of a file in a directory; an empty directory stands for none.
pub(crate) fn path_from(dir: &[u8], name: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(dir.len() + 1 + name.len());
    bytes.extend_from_slice(dir);
    if !dir.is_empty() && !dir.ends_with(b"/") {
        bytes.push(b'/');
    }
    bytes.extend_from_slice(name);
    std::ffi::OsString::from_vec(bytes).into()
}

/// Directory and file name of an absolute path.
pub(crate) fn path_parts(path: &Path) -> Option<(&[u8], &[u8])> {
    let name = path.file_name()?;
    Some((path.parent()?.as_os_str().as_bytes(), OsStr::as_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_apart_and_together() {
        for path in ["/a", "/a/b", "/music/AC DC/x.flac"] {
            let (dir, name) = path_parts(Path::new(path)).expect("it has a file name");
            assert_eq!(path_from(dir, name), Path::new(path));
        }
        assert_eq!(path_parts(Path::new("/")), None);
    }
}
