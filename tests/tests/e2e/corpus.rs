//! Every audio file of the corpus is served with the bytes of its source.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    process::Command,
};

use musefs_tests::{compare, corpus::Corpus, sandbox::Sandbox, tools};

use crate::fixture;

/// Peak memory of a scan of the corpus, in MiB.
const SCAN_MEMORY_MIB_MAX: u64 = 150;

#[test]
fn every_audio_file_is_served_with_the_bytes_of_its_source() {
    let Some((scanned, sandbox, mount)) = fixture::mounted_corpus() else { return };
    assert!(matches!(scanned.scan.status.code(), Some(0 | 3)), "{:?}", scanned.scan);
    let sources: BTreeMap<u64, PathBuf> = sandbox.sources().into_iter().collect();
    let tree = compare::walk(mount.path());
    let mut served = BTreeSet::new();
    for (path, seen) in compare::files(&tree) {
        let source = sources.get(&seen.track()).unwrap_or_else(|| panic!("{path:?} belongs to no track"));
        assert_eq!(seen.size, fs::metadata(source).unwrap().len(), "size of {path:?}");
        assert!(compare::same_bytes(&mount.join(path), source).unwrap(), "{path:?} differs from {source:?}");
        assert!(served.insert(source.clone()), "{source:?} is served twice");
    }
    let missing: Vec<_> =
        scanned.corpus.rows().iter().filter(|row| !served.contains(&scanned.corpus.files().join(&row.path))).collect();
    let names: Vec<_> = missing.iter().map(|row| row.path.display().to_string()).collect();
    assert_eq!(names, NOT_AUDIO.map(|(name, _)| name), "not served");
    mount.unmount();
    assert_sources_are_unchanged(&scanned.corpus, &scanned.mtimes_ns);
}

/// Files of the corpus that are no tracks, and why.
const NOT_AUDIO: [(&str, &str); 4] = [
    ("khenriks_mp3fs/.empty", "empty, and its name has no extension"),
    (
        "lieff_minimp3/l2-nonstandard-fl1_fl2_ff.bit",
        "free-format frames with lengths that do not repeat; ffmpeg finds none either",
    ),
    (
        "lieff_minimp3/l3-nonstandard-big-iscf.bit",
        "made for a decoder: no two frames in a row; ffmpeg finds none either",
    ),
    ("lieff_minimp3/l3-nonstandard-sideinfo-size.bit", "100 bytes of a frame; ffmpeg finds none either"),
];

fn assert_sources_are_unchanged(corpus: &Corpus, mtimes_ns: &BTreeMap<PathBuf, i128>) {
    assert_eq!(&fixture::mtimes_ns(corpus), mtimes_ns);
    let folder = corpus.files().parent().unwrap().to_owned();
    let check =
        tools::succeed(tools::python().arg("facts.py").args(["check", "files", "INDEX.tsv"]).current_dir(folder));
    assert!(check.contains(" 0 failed"), "{check}");
}

#[test]
fn a_scan_of_the_corpus_needs_little_memory() {
    let Some(corpus) = Corpus::find() else { return };
    let sandbox = Sandbox::new();
    let program = "import resource, subprocess, sys\n\
                   code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n\
                   print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let scan = sandbox.command(["scan"]);
    let mut python = Command::new(tools::python().get_program());
    python.arg("-c").arg(program).arg(scan.get_program()).arg("scan").arg(corpus.files());
    sandbox.isolate(&mut python);
    let said = tools::succeed(&mut python);
    let (code, peak_kib) = said.trim().split_once(' ').unwrap();
    assert!(matches!(code, "0" | "3"), "exit code {code}");
    let peak_mib = peak_kib.parse::<u64>().unwrap() / 1024;
    assert!(peak_mib <= SCAN_MEMORY_MIB_MAX, "{peak_mib} MiB");
}

#[test]
fn a_second_scan_changes_nothing() {
    let Some((scanned, sandbox, mount)) = fixture::mounted_corpus() else { return };
    let before = compare::walk(mount.path());
    let sequence = sandbox.sql("SELECT sequence FROM catalog");
    let again = tools::run(sandbox.command(["scan"]).arg(scanned.corpus.files()));
    assert_eq!(again.status.code(), scanned.scan.status.code());
    assert_eq!(sandbox.sql("SELECT sequence FROM catalog"), sequence);
    assert_eq!(compare::walk(mount.path()), before);
    mount.unmount();
}
