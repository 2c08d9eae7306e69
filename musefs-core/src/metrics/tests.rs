//! The text as a whole, its documentation, and what Prometheus' own checker says.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use definitions::{Definition, Kind, Presence, Stability};

use super::*;

fn with_allocator() -> Metrics {
    let metrics = Metrics::new();
    metrics.watch_allocator(|| AllocatorStats { allocated: 1, active: 2, resident: 3, retained: 4 });
    metrics
}

fn is_expected(definition: &Definition) -> bool {
    match definition.presence {
        Presence::Always | Presence::Allocator => true,
        Presence::IoCounters => cfg!(feature = "metrics"),
    }
}

#[test]
fn the_text_has_what_is_defined_and_nothing_else() {
    let text = with_allocator().render(Readings::default());
    let types: BTreeSet<&str> = text.lines().filter(|line| line.starts_with("# ")).collect();
    let expected: Vec<String> = definitions::ALL
        .iter()
        .filter(|definition| is_expected(definition))
        .flat_map(|d| [format!("# HELP {} {}", d.name, d.help), format!("# TYPE {} {}", d.name, d.kind.name())])
        .collect();
    assert_eq!(types, expected.iter().map(String::as_str).collect());
    let names: BTreeSet<&str> = definitions::ALL.iter().map(|definition| definition.name).collect();
    assert_eq!(names.len(), definitions::ALL.len());
}

#[test]
fn names_say_what_they_are() {
    for definition in definitions::ALL {
        assert!(definition.name.starts_with("musefs_"), "{}", definition.name);
        assert_eq!(definition.name.ends_with("_total"), definition.kind == Kind::Counter, "{}", definition.name);
        assert!(!definition.help.ends_with('.') && !definition.help.is_empty(), "{}", definition.name);
    }
}

#[test]
fn without_an_allocator_its_metrics_are_absent() {
    assert!(!Metrics::new().render(Readings::default()).contains("musefs_alloc_"));
}

#[test]
fn counts_arrive() {
    let metrics = with_allocator();
    metrics.watch_workers(|| workers::Stats { idle: 5, busy: 2, stuck: 1, queued: 9 });
    metrics.request(Op::Read, Outcome::Ok, Duration::from_micros(70));
    metrics.request(Op::Read, Outcome::Late, Duration::from_secs(31));
    metrics.request(Op::Other, Outcome::Refused, Duration::ZERO);
    metrics.read_bytes(From::Source, 4096);
    metrics.refreshed(Refresh::Changed, Duration::from_millis(3));
    for _ in 0..13 {
        metrics.warn(Warning::Source, format_args!("reading failed"));
    }
    let readings = Readings { tracks: [7, 0, 0, 3], header_hits: 11, catalog_sequence: 42, ..Readings::default() };
    metrics.render(readings);
    let text = metrics.render(readings);
    for line in [
        "musefs_requests_total{op=\"read\",outcome=\"ok\"} 1",
        "musefs_requests_total{op=\"read\",outcome=\"late\"} 1",
        "musefs_requests_total{op=\"other\",outcome=\"refused\"} 1",
        "musefs_requests_total{op=\"lookup\",outcome=\"ok\"} 0",
        "musefs_request_seconds_bucket{op=\"read\",le=\"0.0001\"} 1",
        "musefs_request_seconds_bucket{op=\"read\",le=\"30\"} 1",
        "musefs_request_seconds_count{op=\"read\"} 2",
        "musefs_read_bytes_total{from=\"source\"} 4096",
        "musefs_refresh_total{outcome=\"changed\"} 1",
        "musefs_refresh_seconds_count 1",
        "musefs_serve_warns_suppressed_total 3",
        "musefs_tracks{state=\"ok\"} 7",
        "musefs_tracks{state=\"unreadable\"} 3",
        "musefs_workers{state=\"stuck\"} 1",
        "musefs_workers_queued 9",
        "musefs_cache_header_hits_total 11",
        "musefs_catalog_sequence 42",
        "musefs_alloc_retained_bytes 4",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

#[test]
fn errors_have_outcomes() {
    use crate::Error;
    for (error, outcome) in [
        (Error::NotFound, Outcome::Absent),
        (Error::Stale, Outcome::Stale),
        (Error::NotADirectory, Outcome::Refused),
        (Error::Deadline, Outcome::Late),
        (Error::Source { path: "x".into(), source: std::io::ErrorKind::Other.into() }, Outcome::Failed),
    ] {
        assert_eq!(Outcome::of(&error), outcome, "{error}");
    }
}

#[test]
fn promtool_accepts_the_text() {
    let mut command = Command::new("promtool");
    let spawned = command.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            assert!(env::var_os("CI").is_none(), "promtool (Debian package prometheus) is needed: {error}");
            println!("skipped: promtool (Debian package prometheus) is not here: {error}");
            return;
        }
    };
    let text = with_allocator().render(Readings::default());
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("promtool reads");
    let output = child.wait_with_output().expect("promtool ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// docs/METRICS.md as the definitions have it.
fn document() -> String {
    let mut text = String::from(include_str!("METRICS.head.md"));
    for definition in definitions::ALL {
        let labels: Vec<String> =
            definition.labels.iter().map(|label| format!("`{}`: {}", label.name, label.values.join(", "))).collect();
        let mut meaning = definition.help.to_owned();
        meaning.push_str(match definition.presence {
            Presence::Always => "",
            Presence::Allocator => " ¹",
            Presence::IoCounters => " ²",
        });
        let stability = match definition.stability {
            Stability::Stable => "stable",
            Stability::Experimental => "experimental",
        };
        let Definition { name, unit, kind, .. } = definition;
        let (labels, kind) = (labels.join("; "), kind.name());
        writeln!(text, "| `{name}` | {kind} | {unit} | {labels} | {meaning} | {stability} |").expect("a string");
    }
    text.push_str("\n¹ In programs built with the feature `jemalloc`, which is the default.\n");
    text.push_str("² In programs built with the feature `metrics`: `cargo build --release --features metrics`.\n");
    text
}

#[test]
fn the_documentation_is_of_today() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/METRICS.md"));
    if env::var_os("UPDATE").is_some() {
        fs::write(path, document()).expect("docs/METRICS.md can be written");
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(found == document(), "docs/METRICS.md differs from the definitions: run this test with UPDATE=1");
}
