//! Named templates in files: embedded ones, and those of directories that the caller names.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{RenderOptions, Template, TemplateError, UnknownField, nearest};
use crate::limits::PRESET_BYTES_MAX;

/// The presets that every musefs has, by name.
const EMBEDDED: &[(&str, &str)] = &[
    ("default", include_str!("../../../templates/default.toml")),
    ("original", include_str!("../../../templates/original.toml")),
];
const EXTENSION: &str = "toml";

/// Where a preset comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Part of the program.
    Embedded,
    /// A file, which goes before an embedded preset of the same name.
    File(PathBuf),
}

/// A template with a name and what it needs.
#[derive(Clone, Debug)]
pub struct Preset {
    /// The file's name without `.toml`.
    pub name: String,
    /// For people, in one line.
    pub description: String,
    /// Its parsed template.
    pub template: Template,
    /// What it says of tracks without values.
    pub options: RenderOptions,
}

/// A preset that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PresetError {
    /// No preset of that name.
    #[error("no preset \"{name}\"")]
    NotFound {
        /// As it was asked for.
        name: String,
        /// Those that there are, for a hint.
        known: Vec<String>,
    },
    /// A file or directory of presets could not be read.
    #[error("reading {path}: {source}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no preset.
    #[error("{origin}: {source}")]
    Syntax {
        /// Which file.
        origin: String,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// Its template is wrong.
    #[error("{origin}: {source}")]
    Template {
        /// Which file.
        origin: String,
        /// Where and why.
        source: TemplateError,
    },
    /// It has a fallback for a field that does not exist.
    #[error("{origin}: {source}")]
    Fallback {
        /// Which file.
        origin: String,
        /// Which field.
        source: UnknownField,
    },
}

impl PresetError {
    /// What to do now.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { name, known } => Some(match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the presets are {}", known.join(", ")),
            }),
            Self::Fallback { source, .. } => Some(source.hint()),
            Self::Template { source, .. } => source.hint().map(str::to_owned),
            Self::Read { .. } | Self::Syntax { .. } => None,
        }
    }
}

/// A name that presets are listed under.
#[derive(Debug)]
pub struct Listed {
    /// The file's name without `.toml`.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The preset, or why it cannot be used.
    pub preset: Result<Preset, PresetError>,
}

/// A preset as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PresetFile {
    description: String,
    view: View,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct View {
    template: String,
    #[serde(default)]
    fallbacks: BTreeMap<String, String>,
}

/// All presets in order of their names. Directories go before the embedded ones, earlier before later ones; those that
/// do not exist are passed over. Presets that cannot be used are told by name.
pub fn list(directories: &[impl AsRef<Path>]) -> Result<Vec<Listed>, PresetError> {
    let mut origins: BTreeMap<String, Origin> = BTreeMap::new();
    for directory in directories {
        let directory = directory.as_ref();
        for path in files(directory).map_err(|source| PresetError::Read { path: directory.to_owned(), source })? {
            if let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) {
                origins.entry(name.to_owned()).or_insert(Origin::File(path.clone()));
            }
        }
    }
    for (name, _) in EMBEDDED {
        origins.entry((*name).to_owned()).or_insert(Origin::Embedded);
    }
    Ok(origins.into_iter().map(|(name, origin)| Listed { preset: load(&name, &origin), name, origin }).collect())
}

/// The preset of a name; directories as for [`list`].
pub fn find(name: &str, directories: &[impl AsRef<Path>]) -> Result<Preset, PresetError> {
    let mut presets = list(directories)?;
    match presets.iter().position(|listed| listed.name == name) {
        Some(at) => presets.swap_remove(at).preset,
        None => {
            let known = presets.into_iter().map(|listed| listed.name).collect();
            Err(PresetError::NotFound { name: name.to_owned(), known })
        }
    }
}

fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match directory.read_dir() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| entry.path()))
            .filter(|path| path.as_ref().map_or(true, |path| path.extension().is_some_and(|e| e == EXTENSION)))
            .collect(),
    }
}

fn load(name: &str, origin: &Origin) -> Result<Preset, PresetError> {
    match origin {
        Origin::File(path) => {
            let text = read(path).map_err(|source| PresetError::Read { path: path.clone(), source })?;
            parse(name, &text, origin)
        }
        Origin::Embedded => {
            let text = EMBEDDED.iter().find(|(embedded, _)| *embedded == name).map_or("", |(_, text)| text);
            parse(name, text, origin)
        }
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(PRESET_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > PRESET_BYTES_MAX {
        let message = format!("the file is longer than {PRESET_BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

fn parse(name: &str, text: &str, origin: &Origin) -> Result<Preset, PresetError> {
    let place = || match origin {
        Origin::Embedded => format!("preset {name}"),
        Origin::File(path) => path.display().to_string(),
    };
    let file: PresetFile =
        toml::from_str(text).map_err(|source| PresetError::Syntax { origin: place(), source: Box::new(source) })?;
    let template = Template::parse(file.view.template.trim_end_matches('\n'))
        .map_err(|source| PresetError::Template { origin: place(), source })?;
    let mut options = RenderOptions::new();
    for (field, text) in &file.view.fallbacks {
        options.set_fallback(field, text).map_err(|source| PresetError::Fallback { origin: place(), source })?;
    }
    Ok(Preset { name: name.to_owned(), description: file.description, template, options })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NOWHERE: &[&Path] = &[];

    fn preset(template: &str) -> String {
        format!("description = 'x'\n[view]\ntemplate = '{template}'\n[view.fallbacks]\ngenre = 'Other'\n")
    }

    #[test]
    fn embedded_presets_are_good() {
        let presets = list(NOWHERE).expect("nothing is read from disk");
        let names: Vec<&str> = presets.iter().map(|listed| listed.name.as_str()).collect();
        assert_eq!(names, ["default", "original"]);
        for Listed { name, origin, preset } in presets {
            assert_eq!(origin, Origin::Embedded);
            let preset = preset.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!preset.description.is_empty());
        }
    }

    #[test]
    fn files_go_before_embedded_presets() {
        let (first, second) = (tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir"));
        fs::write(second.path().join("default.toml"), preset("$title")).expect("write");
        fs::write(second.path().join("mine.toml"), preset("$genre/$title")).expect("write");
        fs::write(second.path().join("mine.txt"), "no preset").expect("write");
        fs::write(first.path().join("mine.toml"), preset("$album/$title")).expect("write");
        let absent = first.path().join("absent");
        let directories = [absent.as_path(), first.path(), second.path()];
        assert_eq!(find("default", &directories).expect("found").template.text(), "$title");
        assert_eq!(find("mine", &directories).expect("found").template.text(), "$album/$title");
        assert_eq!(list(&directories).expect("list").len(), 3);
        assert_eq!(
            find("default", NOWHERE).expect("found").description,
            "album artist / album (year) / disc-track title"
        );
    }

    #[test]
    fn wrong_presets_are_told() {
        let directory = tempfile::tempdir().expect("dir");
        let error = |text: &str| {
            fs::write(directory.path().join("x.toml"), text).expect("write");
            find("x", &[directory.path()]).expect_err(text)
        };
        assert!(error("description = 'x'").to_string().contains("missing field `view`"));
        assert!(error(&preset("$titel")).to_string().contains("unknown field \"titel\""));
        assert!(error(&preset("$title").replace("genre", "gnre")).to_string().contains("unknown field \"gnre\""));
        let padded =
            |len: u64| format!("{}#{}", preset("$title"), "x".repeat(len as usize - preset("$title").len() - 1));
        fs::write(directory.path().join("y.toml"), padded(PRESET_BYTES_MAX)).expect("write");
        find("y", &[directory.path()]).expect("at the limit");
        assert!(error(&padded(PRESET_BYTES_MAX + 1)).to_string().contains("longer than"));
        let unknown = find("orignal", NOWHERE).expect_err("no such preset");
        assert_eq!(unknown.hint().as_deref(), Some("did you mean \"original\"?"));
        let unknown = find("zzz", NOWHERE).expect_err("no such preset");
        assert_eq!(unknown.hint().as_deref(), Some("the presets are default, original"));
    }
}
