//! Edits after which a check has to be run again.

/// Whether a file is read only by people, or by another machine, so that no check covers it.
pub(crate) fn is_documentation(path: &str) -> bool {
    let endings = [".md", ".txt", ".rst", ".adoc", ".log", "LICENSE", "CHANGELOG", ".gitignore"];
    let manual = |path: &str| {
        path.rsplit_once('.').is_some_and(|(_, section)| {
            section.len() == 1 && section.bytes().all(|b| (b'1'..=b'8').contains(&b))
        })
    };
    // Workflows run on another machine.
    let workflow = path.contains(".github/workflows/");
    endings.iter().any(|ending| path.ends_with(ending)) || manual(path) || workflow
}
