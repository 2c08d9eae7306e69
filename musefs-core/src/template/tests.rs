//! What templates make of tracks.

use std::borrow::Cow;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::limits::{LEVELS_MAX, TEMPLATE_OUTPUT_BYTES_MAX, TEMPLATE_VALUE_BYTES_MAX};

const NOWHERE: &[&Path] = &[];

/// A track out of a list of tags and facts; a key may come several times.
struct Sample(Vec<(String, String)>);

impl Sample {
    fn new(tags: &[(&str, &str)]) -> Self {
        Self(tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }
}

impl Fields for Sample {
    fn tag(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    fn values(&self, key: &str, each: &mut dyn FnMut(&str)) {
        self.0.iter().filter(|(known, _)| known == key).for_each(|(_, value)| each(value));
    }

    fn fact(&self, fact: Fact) -> Option<Cow<'_, str>> {
        self.tag(&format!("{fact:?}").to_uppercase()).map(Cow::Borrowed)
    }
}

fn render_with(template: &str, tags: &[(&str, &str)], options: &RenderOptions) -> String {
    let template = Template::parse(template).unwrap_or_else(|error| panic!("{error}"));
    let mut out = String::from("kept|");
    match template.render(&Sample::new(tags), options, &mut out) {
        Rendered::Path => out.strip_prefix("kept|").expect("what was there stays").to_owned(),
        Rendered::Skipped { missing } => {
            assert_eq!(out, "kept|");
            format!("skipped: {missing}")
        }
    }
}

fn render(template: &str, tags: &[(&str, &str)]) -> String {
    render_with(template, tags, &RenderOptions::new())
}

const ABBEY_ROAD: &[(&str, &str)] = &[
    ("FILENAME", "07"),
    ("album", "Abbey Road"),
    ("albumartist", "The Beatles"),
    ("artist", "Beatles, The"),
    ("date", "1969-09-26"),
    ("genre", "Rock"),
    ("genre", "Pop"),
    ("title", "Here Comes the Sun"),
    ("tracknumber", "7/17"),
];

#[test]
fn fields_and_functions() {
    for (template, expected) in [
        ("$albumartist/$title", "The Beatles/Here Comes the Sun"),
        ("${ album }", "Abbey Road"),
        ("$ALBUM", "Abbey Road"),
        ("$track of $tracktotal", "07 of 17"),
        ("$year, $decade", "1969, 1960s"),
        ("$initial", "B"),
        ("${label|album}", "Abbey Road"),
        ("${label|\"No Label\"}", "No Label"),
        ("${label|\"a/b\"}", "a/b"),
        ("$title[ - $label]", "Here Comes the Sun"),
        ("$title[ - $genre]", "Here Comes the Sun - Rock"),
        ("[$label|]$title", "Here Comes the Sun"),
        ("x[$label [$genre]]", "x Rock"),
        ("%if{$genre,yes,no}", "yes"),
        ("x%if{$label,yes}", "x"),
        ("%if{0,yes,no}%if{False,yes,no}%if{ ,yes,no}%if{00x,yes,no}", "nononoyes"),
        ("%ifdef{genre}%ifdef{genre,+}%ifdef{label,-,?}", "Rock+?"),
        ("%first{$genre,2}|%first{$genre,1,1}", "Rock; Pop|Pop"),
        ("%left{$title,4}|%right{$title,3}", "Here|Sun"),
        ("%upper{%left{$album,5}}", "ABBEY"),
        ("%the{$albumartist}/%replace{$title, ,_}", "Beatles, The/Here_Comes_the_Sun"),
        ("%pad{$track,4}-%pad{$genre,6,.}", "0007-..Rock"),
        ("%year{Recorded 1968 or so}", "1968"),
        ("%upper{$label}", "UNKNOWN"),
        ("%if{$label,A/B,C/D}/x", "C/D/x"),
    ] {
        assert_eq!(render(template, ABBEY_ROAD), expected, "{template}");
    }
}

#[test]
fn album_artists() {
    for (tags, expected) in [
        (&[("albumartist", "A"), ("compilation", "1"), ("artist", "B")][..], "A"),
        (&[("compilation", "1"), ("artist", "B")], "Various Artists"),
        (&[("compilation", "true")], "Various Artists"),
        (&[("compilation", "0"), ("artist", "B")], "B"),
        (&[("albumartist", "  "), ("artist", "B")], "B"),
        (&[], "Unknown Artist"),
    ] {
        assert_eq!(render("$albumartist", tags), expected, "{tags:?}");
    }
}

#[test]
fn a_compilation_is_one_directory() {
    let artists = ["A", "B", "C"];
    let paths = artists
        .map(|artist| render("$albumartist/$album", &[("artist", artist), ("album", "X"), ("compilation", "1")]));
    assert_eq!(paths, ["Various Artists/X", "Various Artists/X", "Various Artists/X"]);
}

#[test]
fn numbers() {
    for (value, track, total) in [
        ("3", "03", "00"),
        ("003/0012", "03", "12"),
        (" 3 / 12 ", "03", "12"),
        ("100", "100", "00"),
        ("0", "00", "00"),
        ("A1", "A1", "00"),
        ("/12", "00", "12"),
        ("3/0", "03", "00"),
        ("99999999999999999999", "99999999999999999999", "00"),
    ] {
        assert_eq!(render("$track|$tracktotal", &[("tracknumber", value)]), format!("{track}|{total}"), "{value}");
    }
    assert_eq!(render("$disc|$disctotal", &[("discnumber", "1/3"), ("totaldiscs", "2")]), "01|02");
}

#[test]
fn initials() {
    for (artist, initial) in [
        ("The Who", "W"),
        ("Édith Piaf", "E"),
        ("2Pac", "#"),
        ("!!!", "#"),
        ("...And You", "A"),
        ("я", "Я"),
        ("A", "A"),
    ] {
        assert_eq!(render("$initial", &[("artist", artist)]), initial, "{artist}");
    }
    assert_eq!(render("$initial", &[("artist", "Bob Dylan"), ("albumartistsort", "Dylan, Bob")]), "D");
    assert_eq!(render("$initial", &[]), "U");
}

#[test]
fn default_preset() {
    let preset = find_preset("default", NOWHERE).expect("embedded");
    let render = |tags: &[(&str, &str)]| {
        let mut out = String::new();
        preset.template.render(&Sample::new(tags), &preset.options, &mut out);
        out
    };
    assert_eq!(render(ABBEY_ROAD), "The Beatles/Abbey Road (1969)/07 Here Comes the Sun");
    let disc = |number: &'static str| {
        [("album", "X"), ("artist", "A"), ("discnumber", number), ("title", "T"), ("tracknumber", "1")].to_vec()
    };
    assert_eq!(render(&disc("1/2")), "A/X/01-01 T");
    assert_eq!(render(&disc("2")), "A/X/02-01 T");
    assert_eq!(render(&disc("1")), "A/X/01 T");
    assert_eq!(render(&[("FILENAME", "take 5")]), "Unknown Artist/Unknown Album/take 5");
    let keys: Vec<&str> = preset.template.tag_keys().collect();
    assert!(keys.is_sorted() && keys.contains(&"compilation") && keys.contains(&"totaldiscs"), "{keys:?}");
    assert!(!preset.template.needs_uniqueness());
}

#[test]
fn original_preset() {
    let preset = find_preset("original", NOWHERE).expect("embedded");
    for (path, expected) in [(" a /b/c ", "a/b/c"), ("x", "x"), ("a//../b", "a/__/b")] {
        let mut out = String::new();
        preset.template.render(&Sample::new(&[("PATH", path)]), &preset.options, &mut out);
        assert_eq!(out, expected);
    }
    assert_eq!(preset.template.tag_keys().count(), 0);
}

#[test]
fn values_cannot_make_levels() {
    let tags =
        &[("artist", "AC/DC"), ("title", " I/O\0 "), ("album", ".."), ("genre", "Rock / Hard"), ("FILENAME", "f")];
    for (template, expected) in [
        ("$artist/$title", "AC_DC/I_O"),
        ("$album/$title", "__/I_O"),
        ("$!{genre}/x", "Rock/Hard/x"),
        ("$!{album}/x", "__/x"),
        ("%upper{$artist}/x", "AC_DC/x"),
        ("[$label]/[$mood]/$title", "I_O"),
        ("$artist/[$label]", "AC_DC/f"),
        ("[$label]", "f"),
        ("a / /b", "a/b"),
    ] {
        assert_eq!(render(template, tags), expected, "{template}");
    }
    assert_eq!(render("[$label]", &[]), "Unknown");
    assert_eq!(render("[$label]", &[("FILENAME", "..")]), "__");
}

#[test]
fn fallbacks() {
    let mut options = RenderOptions::new();
    options.set_fallback("Genre", "Other").expect("known");
    options.set_fallback("catalognum", "none").expect("known");
    let tags = &[("FILENAME", "f")];
    for (template, expected) in [
        ("$genre/$title", "Other/f"),
        ("$catalognumber", "none"),
        ("${label|genre}", "Unknown"),
        ("${genre|label}", "Other"),
        ("${genre|\"here\"}", "here"),
        ("$title[ $genre]", "f"),
        ("%if{$genre,a,b}", "b"),
        ("%upper{$genre}", "OTHER"),
        ("$album $year $decade $track $disc $mood", "Unknown Album 0000 0000s 00 01 Unknown"),
    ] {
        assert_eq!(render_with(template, tags, &options), expected, "{template}");
    }
    options.set_default_fallback(Some("-".to_owned()));
    assert_eq!(render_with("$genre/$album/$title", tags, &options), "Other/-/f");
    assert!(options.set_fallback("gnre", "x").is_err());
}

#[test]
fn skipping() {
    let mut options = RenderOptions::new();
    options.set_skip_on_missing(true);
    options.set_fallback("genre", "Other").expect("known");
    for (template, expected) in [
        ("$artist/$title", "skipped: artist"),
        ("$genre/x", "Other/x"),
        ("[$artist]${artist|\"y\"}/x", "y/x"),
        ("$title", "skipped: title"),
        ("%upper{$label}", "skipped: label"),
    ] {
        assert_eq!(render_with(template, &[("FILENAME", "f")], &options), expected, "{template}");
    }
}

#[test]
fn lengths_have_limits() {
    for (len, expected) in
        [(TEMPLATE_VALUE_BYTES_MAX, TEMPLATE_VALUE_BYTES_MAX), (TEMPLATE_VALUE_BYTES_MAX + 1, TEMPLATE_VALUE_BYTES_MAX)]
    {
        assert_eq!(render("$title", &[("title", &"x".repeat(len))]).len(), expected);
    }
    for (len, expected) in [
        (TEMPLATE_OUTPUT_BYTES_MAX, TEMPLATE_OUTPUT_BYTES_MAX),
        (TEMPLATE_OUTPUT_BYTES_MAX + 1, TEMPLATE_OUTPUT_BYTES_MAX),
    ] {
        assert_eq!(render("$!{title}", &[("title", &"x".repeat(len))]).len(), expected);
    }
    for (levels, expected) in [(LEVELS_MAX, LEVELS_MAX), (LEVELS_MAX + 1, LEVELS_MAX)] {
        let deep = vec!["x"; levels].join("/");
        assert_eq!(render("$!{title}", &[("title", &deep)]).split('/').count(), expected);
    }
}

#[test]
fn albums_of_one_name() {
    let template = Template::parse("$albumartist/$album%aunique{}/$title").expect("good");
    assert!(template.needs_uniqueness());
    let album = |year: &'static str, label: &'static str| {
        Sample::new(&[("album", "X"), ("artist", "A"), ("date", year), ("label", label), ("title", "T")])
    };
    let paths = |albums: &[Sample]| -> Vec<String> {
        let (options, mut index) = (RenderOptions::new(), UniqueIndex::new());
        albums.iter().chain(albums).for_each(|album| template.observe(album, &options, &mut index));
        let path = |album: &Sample| {
            let mut out = String::new();
            template.render_unique(album, &options, &index, &mut out);
            out
        };
        albums.iter().map(path).collect()
    };
    assert_eq!(paths(&[album("1999", "L"), album("1999", "L")]), ["A/X/T", "A/X/T"]);
    assert_eq!(paths(&[album("1999", "L"), album("2009", "L")]), ["A/X [1999]/T", "A/X [2009]/T"]);
    assert_eq!(paths(&[album("1999", "L"), album("1999", "M")]), ["A/X [L]/T", "A/X [M]/T"]);
    assert_eq!(paths(&[album("", "L"), album("2009", "L")]), ["A/X/T", "A/X [2009]/T"]);
    assert_eq!(
        paths(&[album("1999", "L"), album("1999", "M"), album("2009", "L")]),
        ["A/X [1999, L]/T", "A/X [1999, M]/T", "A/X [2009, L]/T"]
    );
    let mut out = String::new();
    template.render(&album("1999", "L"), &RenderOptions::new(), &mut out);
    assert_eq!(out, "A/X/T");
}

#[test]
fn brackets_of_aunique() {
    for (template, expected) in
        [("$album%aunique{album,year,()}", "X (1)"), ("$album%aunique{album,label year,}", "X 1")]
    {
        let template = Template::parse(template).expect("good");
        let (options, mut index) = (RenderOptions::new(), UniqueIndex::new());
        let first = Sample::new(&[("album", "X"), ("date", "0001"), ("label", "1")]);
        let second = Sample::new(&[("album", "X"), ("date", "0002"), ("label", "2")]);
        for track in [&first, &second] {
            template.observe(track, &options, &mut index);
        }
        let mut out = String::new();
        template.render_unique(&first, &options, &index, &mut out);
        assert_eq!(out.replace("000", ""), expected);
    }
}

#[test]
fn aunique_tells_so_many_apart() {
    use crate::limits::TEMPLATE_UNIQUE_ALBUMS_MAX;
    let template = Template::parse("$album%aunique{album,label}").expect("good");
    let (options, mut index) = (RenderOptions::new(), UniqueIndex::new());
    let label = |at: usize| Sample(vec![("album".into(), "X".into()), ("label".into(), at.to_string())]);
    (0..TEMPLATE_UNIQUE_ALBUMS_MAX * 2).for_each(|at| template.observe(&label(at), &options, &mut index));
    let mut out = String::new();
    template.render_unique(&label(TEMPLATE_UNIQUE_ALBUMS_MAX * 2), &options, &index, &mut out);
    assert_eq!(out, format!("X [{}]", TEMPLATE_UNIQUE_ALBUMS_MAX * 2));
}

/// The documentation, whose examples are run.
const DOCUMENT: &str = include_str!("../../../docs/TEMPLATES.md");

/// A block between fences: its kind and its lines.
fn blocks() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    DOCUMENT.split("```").skip(1).step_by(2).map(|block| {
        let mut lines = block.lines();
        (lines.next().unwrap_or_default(), lines.collect())
    })
}

fn documented_track(lines: &[&str]) -> Sample {
    let tag = |line: &&str| {
        let (key, value) = line.split_once(" = ").unwrap_or_else(|| panic!("not KEY = VALUE: {line}"));
        let key = key.strip_prefix('$').map_or(key.to_owned(), str::to_uppercase);
        (key, value.to_owned())
    };
    Sample(lines.iter().map(tag).collect())
}

#[test]
fn documented_examples() {
    let (mut track, mut examples) = (Sample(Vec::new()), 0);
    for (kind, lines) in blocks() {
        match kind {
            "tags" => track = documented_track(&lines),
            "examples" => {
                for line in lines {
                    let (text, expected) = line.split_once(" → ").unwrap_or_else(|| panic!("not A → B: {line}"));
                    let template = Template::parse(text).unwrap_or_else(|error| panic!("{error}"));
                    let mut out = String::new();
                    template.render(&track, &RenderOptions::new(), &mut out);
                    assert_eq!(out, expected, "{text}");
                    examples += 1;
                }
            }
            "error" => {
                let error = Template::parse(lines[0]).expect_err(lines[0]);
                let hint = error.hint().unwrap_or_default();
                assert_eq!(format!("{error}\nhint: {hint}"), lines[1..].join("\n"));
            }
            _ => {}
        }
    }
    assert!(examples > 30);
}

#[test]
fn everything_is_documented() {
    let document = DOCUMENT.split_whitespace().collect::<Vec<_>>().join(" ");
    let number = |limit: usize| format!("{},{:03}", limit / 1000, limit % 1000);
    let limits = [crate::limits::TEMPLATE_BYTES_MAX, TEMPLATE_VALUE_BYTES_MAX, TEMPLATE_OUTPUT_BYTES_MAX];
    let presets = list_presets(NOWHERE).expect("embedded");
    let wanted = field_names()
        .map(|name| format!("`{name}`"))
        .chain(beets_names().map(|(beets, ours)| format!("`{beets}` (`{ours}`)")))
        .chain(functions::FUNCTIONS.iter().map(|function| function.usage.to_owned()))
        .chain(render::DEFAULTS.iter().map(|(_, text)| format!("`{text}`")))
        .chain(presets.into_iter().map(|listed| format!("| `{}` |", listed.name)))
        .chain(limits.map(number));
    let plain = document.replace('`', "");
    for wanted in wanted {
        assert!(document.contains(&wanted) || plain.contains(&wanted), "{wanted} is not in docs/TEMPLATES.md");
    }
}

/// Pieces that make most random templates valid.
fn template_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("$title".to_owned()),
        Just("$!{album}".to_owned()),
        Just("${label|artist|\"x/y\"}".to_owned()),
        Just("[ ($label)]".to_owned()),
        Just("[$artist/]".to_owned()),
        Just("%upper{$artist}".to_owned()),
        Just("%left{$!{album},3}".to_owned()),
        Just("%replace{$artist,a,/}".to_owned()),
        Just("%if{$title,a/b, / }".to_owned()),
        Just("%first{$artist,2}".to_owned()),
        Just("/".to_owned()),
        Just(" . ".to_owned()),
        "[a-z .]{0,3}",
    ];
    proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn parsing_never_panics(text in "\\PC{0,60}") {
        let _ = Template::parse(&text).map_err(|error| error.to_string());
    }

    #[test]
    fn parsing_signs_never_panics(text in "[$%{}\\[\\],|\"!a-z/é ]{0,40}") {
        let _ = Template::parse(&text).map_err(|error| error.to_string());
    }

    #[test]
    fn paths_have_good_levels(
        text in template_text(),
        tags in proptest::collection::vec(
            (prop_oneof![Just("title"), Just("album"), Just("artist"), Just("label"), Just("FILENAME")], "[a./ \\x00é]{0,12}|\\PC{0,20}"), 0..6),
    ) {
        let Ok(template) = Template::parse(&text) else { return Ok(()) };
        let sample = Sample(tags.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        let mut out = String::new();
        template.render(&sample, &RenderOptions::new(), &mut out);
        prop_assert!(out.len() <= 2 * TEMPLATE_OUTPUT_BYTES_MAX);
        prop_assert!(out.split('/').count() <= LEVELS_MAX);
        for level in out.split('/') {
            prop_assert!(!level.is_empty() && level != "." && level != ".." && !level.contains('\0'), "{:?}", out);
            prop_assert_eq!(level.trim_matches(' '), level);
        }
    }
}
