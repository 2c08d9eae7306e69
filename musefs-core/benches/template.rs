//! How long the path of a track takes: a library of a million is rendered at each start.

use std::borrow::Cow;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use musefs_core::template::{Fact, Fields, RenderOptions, Template, find_preset};

/// Sorted keys with values, as rows of the catalogue have them.
struct Track(&'static [(&'static str, &'static str)]);

impl Fields for Track {
    fn tag(&self, key: &str) -> Option<&str> {
        let at = self.0.partition_point(|(known, _)| *known < key);
        self.0.get(at).filter(|(known, _)| *known == key).map(|(_, value)| *value)
    }

    fn values(&self, key: &str, each: &mut dyn FnMut(&str)) {
        self.0.iter().filter(|(known, _)| *known == key).for_each(|(_, value)| each(value));
    }

    fn fact(&self, fact: Fact) -> Option<Cow<'_, str>> {
        (fact == Fact::Filename).then_some(Cow::Borrowed("03 - name of the source"))
    }
}

const TAGGED: Track = Track(&[
    ("album", "An Album with a Name"),
    ("albumartist", "The Artist of the Album"),
    ("artist", "The Artist of the Track"),
    ("date", "1999-05-31"),
    ("discnumber", "1"),
    ("title", "A Title of Some Length"),
    ("totaldiscs", "2"),
    ("tracknumber", "3/12"),
]);
const UNTAGGED: Track = Track(&[]);

const ROUNDS: u32 = 200_000;

fn main() {
    let preset = find_preset("default", &[] as &[&Path]).expect("embedded");
    let functions = "%upper{%left{%the{$albumartist},1}}/%the{$albumartist}/%title{$album}/%replace{$title, ,_}";
    let functions = Template::parse(functions).expect("it is right");
    for (name, template, track) in [
        ("default", &preset.template, TAGGED),
        ("untagged", &preset.template, UNTAGGED),
        ("functions", &functions, TAGGED),
    ] {
        // The best of some passes: other programs only ever make one slower.
        let best = (0..10).map(|_| pass(template, &track)).min().expect("there are passes");
        println!("{name}: {} ns a path", best.as_nanos() / u128::from(ROUNDS));
    }
}

fn pass(template: &Template, track: &Track) -> Duration {
    let options = RenderOptions::new();
    let mut out = String::new();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        out.clear();
        black_box(template.render(black_box(track), &options, &mut out));
    }
    start.elapsed()
}
