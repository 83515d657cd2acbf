use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use counterfoil_formats::{Options, Reading, read};

/// The folder of large sets of real logs, which may exist next to the repository.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/raw")
}

/// The format of the logs in a folder of this name.
fn expected(folder: &str) -> Option<&'static str> {
    Some(match folder.trim_end_matches("_lines") {
        "claude_code" => "claude-code",
        "codex_rollout" => "codex",
        "gemini_cli" => "gemini-cli",
        "mini_swe_agent_traj" => "mini-swe-agent",
        "openhands_events" => "openhands",
        "specstory_md" => "specstory",
        "swe_agent_traj" => "swe-agent",
        _ => return None,
    })
}

#[test]
fn every_real_log_is_recognised_and_read() {
    let Ok(folders) = std::fs::read_dir(folder()) else {
        println!("skipped: the real logs are not here");
        return;
    };
    let mut files = 0;
    for folder in folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let Some(format) = expected(name) else { continue };
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            check(&file, format);
            files += 1;
        }
    }
    assert!(files > 0);
}

fn check(file: &Path, format: &str) {
    let name = file.file_name().unwrap().to_str().unwrap();
    let input = BufReader::new(File::open(file).unwrap());
    let mut readings: Vec<Reading> = Vec::new();
    let summary = read(input, &Options::new(name), &mut |r| readings.push(r)).unwrap();
    assert_eq!(summary.format.name(), format, "{name}");
    assert_eq!(summary.problems, [], "{name}");
    assert!(!readings.is_empty(), "{name}");
    for reading in readings {
        let known = [
            "a result refers to an unrecorded call",
            "a line is not an object",
            "a content block is not an object",
            "the message has no `content`",
            "the line has no `message` object",
        ];
        for problem in &reading.problems {
            assert!(known.iter().any(|k| problem.message.starts_with(k)), "{name}: {problem:?}");
        }
        let kept = reading.transcript.messages.len() as u64;
        let counted: u64 = reading.transcript.skipped.values().sum();
        assert!(kept + counted + reading.problems.len() as u64 > 0, "{name}");
    }
}
