//! Where secrets lie on most machines. None of it is ever granted to a command, and people are asked
//! before an agent reads it.

use crate::blocklist::tidy;
use crate::gate::overlap::may_mean;
use crate::homes;

#[cfg(feature = "sandbox")]
pub(crate) use perhaps::{PERHAPS, holds_a_secret};

/// In the home folder.
pub(crate) const AT_HOME: &[&str] = &[
    ".ansible/vault",
    ".aws",
    ".azure",
    ".bash_history",
    ".cabal/credentials",
    ".cache/chromium",
    ".cache/google-chrome",
    ".cache/google-vscode-extension",
    ".cache/huggingface/stored_tokens",
    ".cache/huggingface/token",
    ".cache/keybase",
    ".cache/mozilla",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".composer/auth.json",
    ".conda/token",
    ".conda/tokens",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/chromium",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/heroku",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".databrickscfg",
    ".docker",
    ".dotnet/corefx",
    ".fly",
    ".gemini/oauth_creds.json",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".ivy2/.credentials",
    ".ivy2/credentials",
    ".julia/servers",
    ".kube",
    ".local/share/gem/credentials",
    ".local/share/keyrings",
    ".local/share/uv/credentials",
    ".local/state/counterfoil",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".mozilla",
    ".my.cnf",
    ".mysql_history",
    ".netrc",
    ".node_repl_history",
    ".npmrc",
    ".nuget/NuGet/NuGet.Config",
    ".oci",
    ".password-store",
    ".pgpass",
    ".psql_history",
    ".pypirc",
    ".python_history",
    ".s3cfg",
    ".sbt/.credentials",
    ".sbt/1.0/credentials",
    ".sbt/1.0/credentials.sbt",
    ".sbt/1.0/plugins/credentials.sbt",
    ".sbt/credentials",
    ".ssh",
    ".terraform.d",
    ".terraformrc",
    ".vault-token",
    ".yarnrc.yml",
    ".zsh_history",
    "Library/Keychains",
];

/// Of the system. Their modes keep them from most users, but not from one who owns them.
pub(crate) const OF_THE_SYSTEM: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/docker",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/kubernetes",
    "/etc/letsencrypt",
    "/etc/rancher",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/run/secrets",
    "/var/run/secrets",
];

/// What lies among them and is no secret.
const PUBLIC: &[&str] = &[
    ".aws/config",
    ".ssh/authorized_keys",
    ".ssh/config",
    ".ssh/known_hosts",
    "/etc/docker/daemon.json",
];

/// Those of home folders that projects never have: they are known in any folder.
const ANYWHERE: &[&str] = &[
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".password-store",
    ".pgpass",
    ".ssh",
    ".vault-token",
];

/// Whether a path, as a command or a call names it, is one of these places or lies in one.
pub(crate) fn is_secret(path: &str) -> bool {
    let path = tidy(path);
    let (place, known) = match (homes::inside(&path), elsewhere(&path)) {
        (Some(inside), _) if is_in(inside, AT_HOME) => (inside, AT_HOME),
        (_, Some(inside)) => (inside, ANYWHERE),
        (Some(inside), None) => (inside, AT_HOME),
        (None, None) => (path.as_str(), OF_THE_SYSTEM),
    };
    is_in(place, known)
        && !PUBLIC.contains(&place)
        && !(place.starts_with(".ssh/") && place.ends_with(".pub"))
}

fn is_in(place: &str, known: &[&str]) -> bool {
    let wild = place.contains(['*', '?', '[']);
    known.iter().any(|folder| {
        place.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            || wild && may_mean(place, folder)
            || wild && may_mean(place, &format!("{folder}/**"))
    })
}

/// The part of an absolute path from such a place on: a home that is nobody's on this machine, as
/// backups, mounts and test folders have it.
fn elsewhere(path: &str) -> Option<&str> {
    let mut starts =
        path.match_indices("/.").map(|(at, _)| at + 1).filter(|_| path.starts_with('/'));
    starts.find_map(|at| path.get(at..).filter(|inside| is_in(inside, ANYWHERE)))
}

#[cfg(feature = "sandbox")]
mod perhaps {
    use std::borrow::Cow;
    use std::fs::File;
    use std::io::Read as _;
    use std::path::Path;

    use counterfoil_redact::Redactor;

    /// Settings in the home folder that some people keep secrets in: denied where one is found. A folder
    /// stands for the files in it.
    pub(crate) const PERHAPS: &[&str] = &[
        ".bundle/config",
        ".cabal/config",
        ".cargo/config",
        ".cargo/config.toml",
        ".conda/.condarc",
        ".config/git/config",
        ".gitconfig",
        ".gradle/init.d",
        ".gradle/init.gradle",
        ".m2/toolchains.xml",
        ".nuget/config",
        ".stack/config.yaml",
    ];

    /// Whether the settings hold a secret. Longer files are taken for ones that do.
    pub(crate) fn holds_a_secret(file: &Path) -> bool {
        const LONGEST: u64 = 256 * 1024;
        let Ok(opened) = File::open(file) else { return false };
        let mut text = Vec::new();
        let read = opened.take(LONGEST + 1).read_to_end(&mut text);
        if read.is_err() || text.len() as u64 > LONGEST {
            return true;
        }
        // `BUNDLE_GEMS__EXAMPLE__ORG: "user:password"`
        let pair = |line: &[u8]| {
            let value = line.iter().position(|b| *b == b':').and_then(|at| line.get(at + 1..));
            line.starts_with(b"BUNDLE_") && value.is_some_and(|value| value.contains(&b':'))
        };
        matches!(Redactor::standard().redact_bytes(&text), Cow::Owned(_))
            || text.split(|b| *b == b'\n').any(pair)
    }
}
