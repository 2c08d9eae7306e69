//! A correction tried out on a damaged file, before anybody relies on it.
//!
//! What a reader cannot make out is carried over as it is, and may be read otherwise once other bytes stand
//! before it. So a file with problems is corrected for a trial, and the result read again: if that says
//! anything else than it should, the file is served whole.

use std::io;

use crate::{Container, Editing, Edits, Facts, ReadAt, served::Served};

const TRIAL: [(&str, &str); 3] =
    [("title", "A title that is tried out"), ("albumartist", "Zw\u{f6}lf"), ("musefs trial", "one value")];

/// Makes a file with problems opaque if a correction would not come out of it as it went in.
///
/// # Errors
/// Those of the device behind `source`.
pub fn try_out(container: &dyn Container, source: &dyn ReadAt, facts: &mut Facts) -> io::Result<()> {
    if facts.problems.is_empty() || facts.editing != Editing::Possible || holds(container, source, facts)? {
        return Ok(());
    }
    facts.structure.0.clear();
    facts.editing = Editing::Opaque("its tags are damaged so that a correction would be read otherwise".to_owned());
    Ok(())
}

fn holds(container: &dyn Container, source: &dyn ReadAt, facts: &Facts) -> io::Result<bool> {
    let edits = Edits::over(facts.tags.clone(), TRIAL.map(|(key, value)| (key.to_owned(), vec![value.to_owned()])));
    let Ok(splice) = container.splice(&facts.structure, &edits) else { return Ok(false) };
    let served = container.read(&Served { splice: &splice, source })?;
    let value_holds = |key: &str| served.tags.get(key) == edits.effective().get(key);
    let same_audio = facts.properties.codec.is_empty() || served.audio.len == facts.audio.len;
    Ok(same_audio && edits.changed().all(value_holds) && untouched_hold(facts, &served))
}

/// Whether every key that the trial left alone reads as before.
fn untouched_hold(before: &Facts, after: &Facts) -> bool {
    let is_tried = |key: &str| TRIAL.iter().any(|(tried, _)| *tried == key);
    before.tags.iter().filter(|(key, _)| !is_tried(key)).all(|(key, values)| after.tags.get(key) == values)
}
