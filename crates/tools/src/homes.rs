//! Recognises home folders, of users and services, on any system.

/// Folders whose subfolders are homes.
const OF_MANY: [&str; 6] =
    ["/home/", "/Users/", "/export/home/", "/var/home/", "/var/lib/", "/srv/home/"];

/// Single homes, including the names that shells use.
const ONE: [&str; 7] =
    ["~", "$HOME", "${HOME}", "$USERPROFILE", "/root", "/var/root", "/private/var/root"];

/// Variables for folders with the user's settings, and their default values.
const VARIABLES: [(&str, &str); 7] = [
    ("CLAUDE_CONFIG_DIR", "~/.claude"),
    ("CODEX_HOME", "~/.codex"),
    ("COUNTERFOIL_STATE", "~/.local/state/counterfoil"),
    ("XDG_CONFIG_HOME", "~/.config"),
    ("XDG_STATE_HOME", "~/.local/state"),
    ("XDG_DATA_HOME", "~/.local/share"),
    ("ZDOTDIR", "~"),
];

/// The rest of a path after a home folder.
#[must_use]
pub fn inside(path: &str) -> Option<&str> {
    let alone = ONE.iter().find_map(|home| path.strip_prefix(home)?.strip_prefix('/'));
    alone.or_else(|| after_user(path)).or_else(|| of_windows(path))
}

fn after_user(path: &str) -> Option<&str> {
    // `~ada/x`
    let users = path
        .strip_prefix('~')
        .or_else(|| OF_MANY.iter().find_map(|many| path.strip_prefix(many)))?;
    let (user, inside) = users.split_once('/')?;
    (!user.is_empty()).then_some(inside)
}

/// The rest after a home on Windows, such as `C:/Users/ada/x`, also as named by WSL (`/mnt/c`), Git
/// (`/c`) and Cygwin.
fn of_windows(path: &str) -> Option<&str> {
    let path =
        ["/mnt/", "/cygdrive/"].iter().find_map(|mount| path.strip_prefix(mount)).unwrap_or(path);
    let path = path.trim_start_matches('/');
    let (drive, rest) = path.split_once('/')?;
    let drive = drive.trim_end_matches(':');
    let letter = drive.len() == 1 && drive.starts_with(|c: char| c.is_ascii_alphabetic());
    let (users, rest) = rest.split_once('/').filter(|_| letter)?;
    let users = users.eq_ignore_ascii_case("users") || users == "Documents and Settings";
    users.then(|| rest.split_once('/')).flatten().map(|(_, inside)| inside)
}

/// The path that a settings variable means by default, or the path of the `counterfoil` program if
/// a shell looks it up.
#[must_use]
pub fn named_by_variable(path: &str) -> Option<String> {
    const PROGRAM: [&str; 4] = [
        "$(which counterfoil)",
        "$(command -v counterfoil)",
        "`which counterfoil`",
        "$(type -p counterfoil)",
    ];
    if PROGRAM.contains(&path) {
        return Some("~/.local/bin/counterfoil".to_owned());
    }
    let rest = path.strip_prefix('$')?;
    VARIABLES.iter().find_map(|(name, folder)| {
        let bare = rest.strip_prefix(*name);
        let braced = || rest.strip_prefix('{')?.strip_prefix(*name)?.strip_prefix('}');
        let after = bare.or_else(braced)?;
        (after.is_empty() || after.starts_with('/')).then(|| format!("{folder}{after}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_on_any_system() {
        for (path, expected) in [
            ("~/.ssh/id", Some(".ssh/id")),
            ("~ada/.ssh/id", Some(".ssh/id")),
            ("$HOME/.ssh/id", Some(".ssh/id")),
            (concat!("/ro", "ot/.ssh/id"), Some(".ssh/id")),
            ("/home/ada/.ssh/id", Some(".ssh/id")),
            ("/Users/ada/.ssh/id", Some(".ssh/id")),
            ("/var/lib/jenkins/.ssh/id", Some(".ssh/id")),
            ("/mnt/c/Users/ada/.ssh/id", Some(".ssh/id")),
            ("/c/Users/ada/.ssh/id", Some(".ssh/id")),
            ("C:/Users/ada/.ssh/id", Some(".ssh/id")),
            ("/cygdrive/d/users/ada/.ssh/id", Some(".ssh/id")),
            ("/home/ada", None),
            ("/etc/passwd", None),
            ("/mnt/data/Users/x/y", None),
            ("src/main.rs", None),
        ] {
            assert_eq!(inside(path), expected, "{path}");
        }
    }

    #[test]
    fn variables_of_settings() {
        for (path, expected) in [
            ("$COUNTERFOIL_STATE", Some("~/.local/state/counterfoil")),
            ("${CLAUDE_CONFIG_DIR}/settings.json", Some("~/.claude/settings.json")),
            ("$CODEX_HOMES", None),
            ("$X/y", None),
        ] {
            assert_eq!(named_by_variable(path).as_deref(), expected, "{path}");
        }
    }
}
