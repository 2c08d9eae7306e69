//! `musefs log`: who changed what, when and why.

use std::path::PathBuf;

use clap::Args;
use musefs_db::{Access, Catalog, KeyChange, LogQuery, limits::LOG_ENTRIES_MAX};
use serde_json::{Value, json};

use crate::{
    catalog,
    cli::Globals,
    exit::Exit,
    output::{self, safe},
    target, tell,
};

/// Show changes of tags, newest first: when, who and why, before and after
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  musefs log
  musefs log --limit 100 --json /music/a.flac")]
pub(crate) struct Log {
    /// Only changes of these: numbers of tracks, or paths of sources or of files in a mount
    #[arg(value_name = "TRACK|PATH")]
    tracks: Vec<PathBuf>,
    /// Most changed keys to show
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: usize,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl Log {
    pub(crate) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        let changes = self.changes(globals)?;
        if self.json {
            output::json(&changes.iter().map(as_json).collect::<Vec<_>>())?;
            return Ok(Exit::Success);
        }
        output::text(&as_text(&changes))?;
        if changes.is_empty() && !globals.quiet {
            eprintln!("no changes");
        }
        Ok(Exit::Success)
    }

    fn changes(&self, globals: &Globals) -> anyhow::Result<Vec<KeyChange>> {
        let query = LogQuery { count_max: Some(self.limit.min(LOG_ENTRIES_MAX)), ..LogQuery::default() };
        if self.tracks.is_empty() {
            return ask(&catalog::open(globals, Access::ReadOnly)?, &query);
        }
        let targets = target::resolve(globals, &self.tracks, Access::ReadOnly)?;
        let mut changes = Vec::new();
        for &track in &targets.tracks {
            changes.extend(ask(&targets.catalog, &LogQuery { track: Some(track), ..query.clone() })?);
        }
        changes.sort_by_key(|change| std::cmp::Reverse(change.change));
        changes.truncate(self.limit);
        Ok(changes)
    }
}

fn ask(catalog: &Catalog, query: &LogQuery) -> anyhow::Result<Vec<KeyChange>> {
    Ok(catalog.read(|reader| reader.changes(query))?)
}

fn as_text(changes: &[KeyChange]) -> String {
    let mut text = String::new();
    let mut last = None;
    for it in changes {
        if last.replace(it.change) != Some(it.change) {
            let author = tell::author(&it.who, it.why.as_deref());
            text += &format!("change {}  {}  {author}\n", it.change.0, tell::time(it.at_ms));
        }
        let (before, after) = (tell::overridden(&it.before), tell::overridden(&it.after));
        text += &format!("  track {}  {}: {before} → {after}\n", it.track.0, safe(&it.key));
    }
    text
}

fn as_json(it: &KeyChange) -> Value {
    json!({
        "change": it.change.0,
        "at": tell::time(it.at_ms),
        "who": it.who,
        "why": it.why,
        "track": it.track.0,
        "key": it.key,
        "before": it.before,
        "after": it.after,
    })
}
