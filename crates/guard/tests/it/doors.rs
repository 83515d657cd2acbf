//! Programs that must not compile because they would bypass the gates.
//!
//! Each program in `tests/ui` is compiled against the library that this test was built with. Its
//! `//~ …` lines list exactly the errors that the compiler must report.
#![expect(clippy::disallowed_methods, reason = "a compiler is started on the files of a folder")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

#[test]
fn permits_come_only_from_the_guard() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let library = library();
    let mut programs: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    assert!(programs.len() >= 17, "{programs:?}");
    for program in programs {
        let text = std::fs::read_to_string(&program).unwrap();
        let expected: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("//~ ")).collect();
        assert_eq!(errors(&program, &library), expected, "{}", program.display());
    }
}

/// The newest build of the library next to this test that includes the tools. Builds with fewer
/// features may be newer.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = |path: &PathBuf| -> SystemTime { path.metadata().unwrap().modified().unwrap() };
    let mut libraries: Vec<PathBuf> = std::fs::read_dir(test.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("libcounterfoil_guard-") && name.ends_with(".rlib")
        })
        .collect();
    libraries.sort_by_key(|library| std::cmp::Reverse(built(library)));
    let folder = tempfile::tempdir().unwrap();
    let probe = folder.path().join("probe.rs");
    std::fs::write(&probe, "use counterfoil_guard::{FileExecutor, ShellExecutor};\nfn main() {}\n")
        .unwrap();
    libraries.into_iter().find(|library| errors(&probe, library).is_empty()).unwrap()
}

/// The errors that the compiler reports, without its closing lines.
fn errors(program: &Path, library: &Path) -> Vec<String> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let out = tempfile::tempdir().unwrap();
    let ran = Command::new(compiler)
        .args(["--edition=2024", "--crate-type=bin", "--emit=metadata", "--color=never"])
        .arg("--extern")
        .arg(format!("counterfoil_guard={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", library.parent().unwrap().display()))
        .arg("--out-dir")
        .arg(out.path())
        .arg(program)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
    let errors: Vec<String> = stderr
        .lines()
        .filter(|line| line.starts_with("error") && !line.starts_with("error: aborting"))
        .map(str::to_owned)
        .collect();
    assert_eq!(ran.status.success(), errors.is_empty(), "{stderr}");
    errors
}
