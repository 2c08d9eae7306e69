//! `musefs undo`: put back what was before a change.

use std::path::PathBuf;

use clap::Args;
use musefs_db::{Access, Author, Catalog, ChangeId, Override, TrackEdit};
use serde_json::{Value, json};

use crate::{
    author, catalog,
    cli::Globals,
    exit::Exit,
    output::{self, safe},
    target, tell,
};

/// Put back what was before changes of tags
///
/// Undoing is a change of its own, which can be undone too. A change whose keys were changed again since is refused:
/// undo the later one first, or both together.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  musefs undo 12 13
  musefs undo --track /mnt/music/Miles/*.flac

`musefs log` shows changes with their numbers.")]
pub(crate) struct Undo {
    /// Numbers of changes
    #[arg(value_name = "CHANGE", required_unless_present = "track", conflicts_with = "track")]
    changes: Vec<i64>,
    /// Take back all edits of tracks: they are served as their sources are
    #[arg(long, value_name = "TRACK|PATH", num_args = 1..)]
    track: Vec<PathBuf>,
    /// The reason, for the log
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    /// Show what would be put back, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// An override that is put back.
struct Step {
    edit: TrackEdit,
    before: Override,
}

impl Undo {
    pub(crate) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        let access = if self.dry_run { Access::ReadOnly } else { Access::ReadWrite };
        let who = author::name();
        let why = self.why.clone().unwrap_or_else(|| self.reason());
        let author = Author { who: &who, why: Some(&why) };
        let (steps, change) = if self.track.is_empty() {
            self.undo(&catalog::open(globals, access)?, author)?
        } else {
            self.clear(globals, access, author)?
        };
        if self.json {
            output::json(&as_json(change, self.dry_run, &steps))?;
        } else if !globals.quiet {
            output::text(&as_text(change, self.dry_run, &steps))?;
        }
        Ok(Exit::Success)
    }

    fn reason(&self) -> String {
        let numbers: Vec<_> = self.changes.iter().map(i64::to_string).collect();
        let mut reason = if numbers.is_empty() { "undo all".to_owned() } else { format!("undo {}", numbers.join(" ")) };
        // Numbers are ASCII: any place is between characters.
        reason.truncate(musefs_db::limits::WHY_BYTES_MAX);
        reason
    }

    fn undo(&self, catalog: &Catalog, author: Author<'_>) -> anyhow::Result<(Vec<Step>, Option<ChangeId>)> {
        let changes: Vec<ChangeId> = self.changes.iter().map(|&change| ChangeId(change)).collect();
        let steps = catalog.read(|reader| {
            let plan = reader.plan_undo(&changes)?.into_iter();
            plan.map(|edit| Ok(Step { before: reader.override_now(edit.track, &edit.key)?, edit })).collect()
        })?;
        let change = if self.dry_run { None } else { catalog.writer("musefs undo")?.undo(&changes, author)? };
        Ok((steps, change))
    }

    fn clear(
        &self,
        globals: &Globals,
        access: Access,
        author: Author<'_>,
    ) -> anyhow::Result<(Vec<Step>, Option<ChangeId>)> {
        let targets = target::resolve(globals, &self.track, access)?;
        let mut steps = Vec::new();
        for &track in &targets.tracks {
            let detail = targets.catalog.read(|reader| reader.track(track))?;
            for (key, values) in detail.map(|detail| detail.overrides()).unwrap_or_default() {
                steps.push(Step { edit: TrackEdit { track, key, values: None }, before: Some(values) });
            }
        }
        let change =
            if self.dry_run { None } else { targets.catalog.writer("musefs undo")?.clear(&targets.tracks, author)? };
        Ok((steps, change))
    }
}

fn as_text(change: Option<ChangeId>, dry_run: bool, steps: &[Step]) -> String {
    let mut text = String::new();
    for Step { edit, before } in steps.iter().filter(|step| step.before != step.edit.values) {
        let (before, after) = (tell::overridden(before), tell::overridden(&edit.values));
        text += &format!("track {}  {}: {before} → {after}\n", edit.track.0, safe(&edit.key));
    }
    text += &match change {
        Some(change) => format!("change {0}: `musefs undo {0}` takes it back\n", change.0),
        None if dry_run && !text.is_empty() => "nothing was changed: this was a rehearsal\n".into(),
        None => "nothing to undo: everything is so already\n".into(),
    };
    text
}

fn as_json(change: Option<ChangeId>, dry_run: bool, steps: &[Step]) -> Value {
    let step = |step: &Step| {
        json!({
            "track": step.edit.track.0,
            "key": step.edit.key,
            "before": step.before,
            "after": step.edit.values,
        })
    };
    json!({
        "change": change.map(|change| change.0),
        "dry_run": dry_run,
        "keys": steps.iter().map(step).collect::<Vec<_>>(),
    })
}
