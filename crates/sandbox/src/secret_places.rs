//! Where most machines keep secrets. Commands are never granted any of it, and a person is asked
//! before an agent reads it.

#[cfg(feature = "kernel")]
pub(crate) use perhaps::{PERHAPS, holds_a_secret};

/// Paths in the home folder.
pub const AT_HOME: &[&str] = &[
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

/// System paths. Their modes protect them from most users, but not from their owner.
pub const OF_THE_SYSTEM: &[&str] = &[
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

#[cfg(feature = "kernel")]
mod perhaps {
    use std::borrow::Cow;
    use std::fs::File;
    use std::io::Read as _;
    use std::path::Path;

    use counterfoil_redact::Redactor;

    /// Settings in the home folder that may contain secrets: denied if one is found. A folder means
    /// the files in it.
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

    /// Whether the settings contain a secret. Longer files are assumed to.
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
