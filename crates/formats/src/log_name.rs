use std::ffi::OsStr;
use std::path::Path;

/// File extensions of logs, before compression.
const ENDINGS: [&str; 9] =
    ["json", "jsonl", "ndjson", "md", "traj", "trajectory", "log", "txt", "eval"];
/// File extensions of other data, which may be logs in a form that is not read: in a folder, such a
/// file is tried and counted.
const OTHER_DATA: [&str; 11] =
    ["csv", "tsv", "yaml", "yml", "xml", "html", "htm", "parquet", "arrow", "sqlite", "db"];
/// File extensions of compressed files.
const PACKED: [&str; 4] = ["gz", "zst", "gzip", "zstd"];

/// Whether a file in a folder is read as a log, judging by its name.
#[must_use]
pub fn looks_like_a_log(path: &Path) -> bool {
    let ending =
        |path: &Path| path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    let Some(last) = ending(path) else {
        // Hidden files without an extension are settings.
        return !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    };
    let is_data = |ending: &str| ENDINGS.contains(&ending) || OTHER_DATA.contains(&ending);
    if !PACKED.contains(&last.as_str()) {
        return is_data(&last);
    }
    match path.file_stem().map(Path::new).and_then(ending) {
        Some(inner) => is_data(&inner),
        None => true,
    }
}

/// The name of a session without an id: its file name without folder and extensions.
#[must_use]
pub fn log_name(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    let name = path.file_name().unwrap_or(path.as_os_str());
    let mut name = name.to_string_lossy().into_owned();
    for ending in PACKED.iter().chain(&ENDINGS) {
        if let Some(stem) = name.strip_suffix(&format!(".{ending}")).filter(|s| !s.is_empty()) {
            name = stem.to_owned();
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_by_their_ending() {
        for (path, expected) in [
            ("a.json", true),
            ("a.JSONL", true),
            ("b/a.traj", true),
            ("a.jsonl.gz", true),
            ("a.zst", true),
            ("a.tar.gz", false),
            ("a.py", false),
            ("a.csv", true),
            ("a.yaml.gz", true),
            // Logs may lack an extension; hidden files are settings.
            ("session", true),
            ("a.txt", true),
            ("a.eval", true),
            (".gitignore", false),
        ] {
            assert_eq!(looks_like_a_log(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_session_is_named_after_its_file() {
        for (path, expected) in [
            ("logs/a.jsonl.gz", "a"),
            ("b.json", "b"),
            ("c", "c"),
            (".json", ".json"),
            ("run.2026-11-27.jsonl", "run.2026-11-27"),
        ] {
            assert_eq!(log_name(path), expected);
        }
    }
}
