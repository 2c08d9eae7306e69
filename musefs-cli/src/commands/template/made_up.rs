//! A track that exists on the command line only.

use std::borrow::Cow;

use musefs_core::template::{Fact, Fields};
use musefs_format::table::canonical_key;

use crate::exit::{Exit, Failure};

/// Tags and facts in the order in which they were given.
pub(super) struct MadeUp {
    tags: Vec<(String, String)>,
    facts: Vec<(Fact, String)>,
}

impl MadeUp {
    /// Reads KEY=VALUE settings.
    pub(super) fn new(settings: &[String]) -> anyhow::Result<Self> {
        let mut track = Self { tags: Vec::new(), facts: Vec::new() };
        for setting in settings {
            let (key, value) = setting
                .split_once('=')
                .filter(|(key, _)| !key.is_empty())
                .ok_or_else(|| Failure::new(Exit::Usage, format!("--set {setting}: not of the form KEY=VALUE")))?;
            match Fact::named(key) {
                Some(fact) => track.facts.push((fact, value.to_owned())),
                None => track.tags.push((canonical_key(key).into_owned(), value.to_owned())),
            }
        }
        Ok(track)
    }
}

impl Fields for MadeUp {
    fn tag(&self, key: &str) -> Option<&str> {
        self.tags.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    fn values(&self, key: &str, each: &mut dyn FnMut(&str)) {
        self.tags.iter().filter(|(known, _)| known == key).for_each(|(_, value)| each(value));
    }

    fn fact(&self, fact: Fact) -> Option<Cow<'_, str>> {
        self.facts.iter().find(|(known, _)| *known == fact).map(|(_, value)| Cow::Borrowed(value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_tags_or_facts() {
        let settings = ["Year=1999", "genre=a", "genre=b=c", "filename=x"].map(str::to_owned);
        let track = MadeUp::new(&settings).expect("settings");
        assert_eq!(track.tag("date"), Some("1999"));
        let mut genres = Vec::new();
        track.values("genre", &mut |value| genres.push(value.to_owned()));
        assert_eq!(genres, ["a", "b=c"]);
        assert_eq!(track.fact(Fact::Filename).as_deref(), Some("x"));
        assert!(MadeUp::new(&["x".to_owned()]).is_err() && MadeUp::new(&["=x".to_owned()]).is_err());
    }
}
