//! The commands in the documentation and in `script/` do what is said of them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use musefs_tests::{
    mount::{Mount, MountCommand, is_mount_point},
    program,
    sandbox::Sandbox,
    tools,
};

/// A fenced block of a page: what stands behind the fence, and its lines.
type Block = (String, String);

fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(program::workspace().join(page)).unwrap();
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let body: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push((kind.to_owned(), body.join("\n")));
    }
    blocks
}

/// A sandbox whose home has the demo library as `~/Music`, and a `PATH` with the program.
fn with_demo() -> Option<Sandbox> {
    if !tools::have_fuse() || !tools::have(&["bash", "ffmpeg", "sqlite3"]) {
        return None;
    }
    let sandbox = Sandbox::new();
    let demo = sandbox.root().join("demo");
    let script = ". script/lib/common.sh; . script/lib/demo.sh; make_demo_library \"$1\"";
    tools::succeed(
        tools::command("bash", &[&"-euo", &"pipefail", &"-c", &script, &"bash", &demo])
            .current_dir(program::workspace()),
    );
    fs::rename(demo.join("music"), sandbox.root().join("home/Music")).unwrap();
    Some(sandbox)
}

fn in_home(sandbox: &Sandbox, command: &mut Command) {
    sandbox.isolate(command);
    let bin = program::binary().parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).unwrap();
    command.env("PATH", path).env_remove("MUSEFS_DB").current_dir(sandbox.root().join("home"));
}

#[test]
fn the_commands_of_the_guide_work() {
    let Some(sandbox) = with_demo() else { return };
    let mut mount = None;
    for (kind, body) in blocks("docs/guide.md") {
        match kind.as_str() {
            "sh" => {
                let mut bash = Command::new("bash");
                bash.args(["-euo", "pipefail", "-c", &body]);
                in_home(&sandbox, &mut bash);
                tools::succeed(&mut bash);
            }
            "sh background" => mount = Some(start(&sandbox, &body)),
            _ => {}
        }
    }
    mount.expect("the guide mounts something").unmount();
}

/// Starts a `musefs mount ~/clean OPTION…` of a page.
fn start(sandbox: &Sandbox, line: &str) -> Mount {
    let options = line.strip_prefix("musefs mount ~/clean").expect("the guide mounts on ~/clean");
    let catalog = sandbox.root().join("home/.local/share/musefs/catalog.db");
    MountCommand::new(sandbox, "home/clean").env("MUSEFS_DB", catalog).args(options.split_whitespace()).start()
}

/// Messages that the guide quotes are in the program, word for word.
#[test]
fn messages_in_the_guide_are_those_of_the_program() {
    let guide = fs::read_to_string(program::workspace().join("docs/guide.md")).unwrap();
    let rows = guide.lines().filter(|line| line.starts_with("| `"));
    let quotes: Vec<_> = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2)).collect();
    let sources = ["musefs-fuse/src/error.rs", "musefs-db/src/error.rs"];
    let code: String = sources.map(|path| fs::read_to_string(program::workspace().join(path)).unwrap()).concat();
    assert!(quotes.len() > 10);
    for quote in quotes {
        assert!(code.contains(quote), "no message says {quote:?}");
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    let root = program::workspace();
    let mut pages: Vec<PathBuf> = vec!["README.md".into(), "CONTRIBUTING.md".into()];
    pages.extend(
        fs::read_dir(root.join("docs")).unwrap().map(|entry| Path::new("docs").join(entry.unwrap().file_name())),
    );
    for page in pages.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        let text = fs::read_to_string(root.join(page)).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let target = link.split_once('#').map_or(link, |(target, _)| target);
            if !target.is_empty() && !target.contains("://") {
                let path = root.join(page).parent().unwrap().join(target);
                assert!(path.exists(), "{page:?} links to {link}");
            }
        }
    }
}

#[test]
fn script_run_makes_mounts_and_tries_a_demo() {
    if !tools::have_fuse() || !tools::have(&["bash", "ffmpeg", "mountpoint"]) {
        return;
    }
    let world = Sandbox::new();
    let mut run = Command::new("bash");
    run.args(["script/run", "--once"]).current_dir(program::workspace());
    run.env("MUSEFS_RUN_PROFILE", "dev").env("XDG_STATE_HOME", world.root()).env("XDG_RUNTIME_DIR", world.root());
    let output = tools::run(&mut run);
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    for text in ["Pure Tones (2024)/", "01 A Deeper Note.flac", "# TYPE musefs_", "what to try next", "unmounting"] {
        assert!(said.contains(text), "no {text:?} in {said}");
    }
    assert!(!is_mount_point(&program::workspace().join("target/demo/mount")));
}

#[test]
fn scripts_parse_and_explain_themselves() {
    for script in ["script/run", "script/test", "script/bench"] {
        let path = program::workspace().join(script);
        tools::succeed(Command::new("bash").arg("-n").arg(&path));
        let help = tools::succeed(Command::new("bash").arg(&path).arg("--help"));
        assert!(help.contains(script), "{help}");
        let wrong = tools::run(Command::new("bash").arg(&path).arg("--no-such-option"));
        assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("hint"), "{script}");
    }
}
