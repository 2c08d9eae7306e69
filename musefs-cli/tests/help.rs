//! What the program says of itself: help, manual pages, completions, exit codes.

use assert_cmd::Command;

fn musefs() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_musefs"));
    command.env_clear();
    command
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).expect("text")
}

/// The commands that `--help` lists, in its order.
fn commands() -> Vec<String> {
    let help = stdout(musefs().arg("--help"));
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    // Continued lines are indented deeper.
    let names = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    names.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
}

#[test]
fn every_command_teaches_with_two_examples() {
    let commands = commands();
    assert!(commands.contains(&"mount".to_owned()), "{commands:?}");
    for command in commands.iter().filter(|command| *command != "help") {
        let help = stdout(musefs().args([command, "--help"]));
        let (_, examples) = help.split_once("Examples:").unwrap_or_else(|| panic!("{command}: no examples"));
        assert!(examples.matches("musefs ").count() >= 2, "{command}: {examples}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    musefs().arg("man").arg(directory.path()).assert().success();
    for command in commands().iter().filter(|command| *command != "help") {
        let page = std::fs::read_to_string(directory.path().join(format!("musefs-{command}.1"))).expect(command);
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
    let page = std::fs::read_to_string(directory.path().join("musefs.1")).expect("the page of the program");
    assert!(page.contains("Exit codes"));
}

#[test]
fn shells_complete_commands_and_options() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(musefs().args(["completions", shell]));
        assert!(script.contains("mount") && script.contains("template"), "{shell}");
    }
}

#[test]
fn a_wrong_command_line_is_told_on_stderr_with_code_2() {
    let output = musefs().args(["mount", "/nowhere", "--mode", "upside-down"]).assert().code(2).get_output().clone();
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("structure-only"));
}

#[test]
fn a_missing_catalogue_is_told_with_code_4_and_what_to_do() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output =
        musefs().arg("--db").arg(directory.path().join("none.db")).args(["mount", "/nowhere"]).assert().code(4);
    let stderr = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(stderr.contains("none.db") && stderr.contains("hint: ") && stderr.contains("musefs scan"), "{stderr}");
}
