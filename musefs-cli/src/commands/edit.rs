//! `musefs edit`: correct tags in the catalogue.

use std::path::PathBuf;

use clap::Args;
use musefs_core::correct::{self, Plan, Served, Wish};
use musefs_db::{Access, Author, ChangeId, TrackEdit};
use serde_json::{Value, json};

use crate::{
    author,
    cli::Globals,
    exit::{Exit, Failure},
    output::{self, safe},
    target::{self, Targets},
    tell,
};

/// Correct tags in the catalogue; the source is never written
///
/// Mounts show the change at once. Keys are MusicBrainz Picard's names: title, artist, albumartist, album, date,
/// tracknumber, discnumber, genre, …, or any other. Nothing is changed when anything is refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  musefs edit 16 --set title='So What' --set date=1959
  musefs edit /mnt/music/Miles/*.flac --add genre=Jazz --remove comment --why 'sorting the shelf'

--set replaces all values of a key; given several times for one key it sets several values. `musefs undo` takes a
change back.")]
pub(crate) struct Edit {
    /// Numbers of tracks, or paths of sources or of files in a mount
    #[arg(required = true, value_name = "TRACK|PATH")]
    tracks: Vec<PathBuf>,
    /// Replace all values of a key
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Add a value behind those that a key has
    #[arg(long, value_name = "KEY=VALUE")]
    add: Vec<String>,
    /// Remove a key
    #[arg(long, value_name = "KEY")]
    remove: Vec<String>,
    /// The reason, for the log
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Edit {
    pub(crate) fn run(&self, globals: &Globals) -> anyhow::Result<Exit> {
        let wishes = self.wishes()?;
        let access = if self.dry_run { Access::ReadOnly } else { Access::ReadWrite };
        let targets = target::resolve(globals, &self.tracks, access)?;
        let plans = plans(&targets, &wishes)?;
        let change = if self.dry_run { None } else { self.make(&targets, &plans)? };
        if self.json {
            output::json(&as_json(change, self.dry_run, &plans))?;
        } else if !globals.quiet {
            output::text(&as_text(change, self.dry_run, &plans))?;
        }
        Ok(Exit::Success)
    }

    fn wishes(&self) -> anyhow::Result<Vec<(String, Wish)>> {
        let mut wishes: Vec<(String, Wish)> = Vec::new();
        for (option, words) in [("--set", &self.set), ("--add", &self.add)] {
            for word in words {
                let (key, value) = word.split_once('=').ok_or_else(|| {
                    Failure::new(Exit::Usage, format!("{option} {}: not of the form KEY=VALUE", safe(word)))
                })?;
                gather(&mut wishes, option, key, value);
            }
        }
        for key in &self.remove {
            refuse_second(&wishes, key)?;
            wishes.push((key.clone(), Wish::Remove));
        }
        if wishes.is_empty() {
            let failure = Failure::new(Exit::Usage, "nothing to change");
            return Err(failure.hint("give --set KEY=VALUE, --add KEY=VALUE or --remove KEY").into());
        }
        Ok(wishes)
    }

    fn make(&self, targets: &Targets, plans: &[Plan]) -> anyhow::Result<Option<ChangeId>> {
        let edits: Vec<TrackEdit> = plans.iter().flat_map(Plan::edits).collect();
        if edits.is_empty() {
            return Ok(None);
        }
        let who = author::name();
        let author = Author { who: &who, why: self.why.as_deref() };
        Ok(targets.catalog.writer("musefs edit")?.edit(&edits, author)?)
    }
}

/// Puts one more value to those of its key.
fn gather(wishes: &mut Vec<(String, Wish)>, option: &str, key: &str, value: &str) {
    let same = wishes.iter_mut().find(|(it, _)| it.to_lowercase() == key.to_lowercase());
    match (option, same) {
        ("--set", Some((_, Wish::Set(values)))) | ("--add", Some((_, Wish::Set(values) | Wish::Add(values)))) => {
            values.push(value.to_owned());
        }
        ("--set", _) => wishes.push((key.to_owned(), Wish::Set(vec![value.to_owned()]))),
        _ => wishes.push((key.to_owned(), Wish::Add(vec![value.to_owned()]))),
    }
}

fn refuse_second(wishes: &[(String, Wish)], key: &str) -> anyhow::Result<()> {
    if wishes.iter().any(|(it, _)| it.to_lowercase() == key.to_lowercase()) {
        return Err(Failure::new(Exit::Usage, format!("{} is both given and removed", safe(key))).into());
    }
    Ok(())
}

fn plans(targets: &Targets, wishes: &[(String, Wish)]) -> anyhow::Result<Vec<Plan>> {
    let mut plans = Vec::new();
    for &track in &targets.tracks {
        let detail = targets.catalog.read(|reader| reader.track(track))?;
        let detail = detail.ok_or(musefs_db::Error::NoSuchTrack(track))?;
        let plan = correct::plan(&detail, wishes).map_err(|refused| {
            let path = safe(detail.path.as_os_str().as_encoded_bytes());
            Failure::new(Exit::Refused, format!("track {}, {path}: {refused}", track.0)).hint("nothing was changed")
        })?;
        plans.push(plan);
    }
    Ok(plans)
}

fn as_text(change: Option<ChangeId>, dry_run: bool, plans: &[Plan]) -> String {
    let mut text = String::new();
    for plan in plans.iter().filter(|plan| !plan.keys.is_empty()) {
        text += &format!("track {}  {}\n", plan.track.0, safe(plan.path.as_os_str().as_encoded_bytes()));
        for key in &plan.keys {
            text += &format!("  {}: {} → {}\n", safe(&key.key), tell::values(&key.before), tell::values(&key.after));
        }
        if let Served::Whole(reason) = &plan.served {
            text += &format!("  its file is served as the source is: {}\n", safe(reason));
        }
    }
    text += &match change {
        Some(change) => format!("change {0}: `musefs undo {0}` takes it back\n", change.0),
        None if dry_run && !text.is_empty() => "nothing was changed: this was a rehearsal\n".into(),
        None => "nothing to change: everything is so already\n".into(),
    };
    text
}

fn as_json(change: Option<ChangeId>, dry_run: bool, plans: &[Plan]) -> Value {
    let plan = |plan: &Plan| {
        let key = |it: &correct::KeyChange| json!({ "key": it.key, "before": it.before, "after": it.after });
        json!({
            "track": plan.track.0,
            "path": tell::path_json(&plan.path),
            "keys": plan.keys.iter().map(key).collect::<Vec<_>>(),
            "served": tell::served_json(&plan.served),
        })
    };
    json!({
        "change": change.map(|change| change.0),
        "dry_run": dry_run,
        "tracks": plans.iter().map(plan).collect::<Vec<_>>(),
    })
}
