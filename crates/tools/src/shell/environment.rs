use std::collections::BTreeMap;

use globset::GlobSet;

/// The environment variables passed to commands, besides those that the configuration adds.
const PASSED: [&str; 26] = [
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CI",
    "COLUMNS",
    "GOPATH",
    "GOROOT",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOGNAME",
    "NO_COLOR",
    "NVM_DIR",
    "PATH",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "SKILL_DIR",
    "SKILL_NAME",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
];

/// Names of secrets, in upper case: matched as a whole, at the beginning, at the end, or anywhere.
const SECRET_NAMES: [&str; 8] = [
    "TOKEN",
    "PASSPHRASE",
    "PGPASSFILE",
    "NETRC",
    "KUBECONFIG",
    "DOCKER_CONFIG",
    "COUNTERFOIL_LEDGER",
    "COUNTERFOIL_LEDGER_URL",
];
const SECRET_STARTS: [&str; 16] = [
    "AWS_",
    "AZURE_",
    "ARM_",
    "GOOGLE_",
    "GCP_",
    "GCLOUD_",
    "CLOUDSDK_",
    "ALIYUN_",
    "ALIBABA_",
    "OCI_",
    "IBMCLOUD_",
    "DIGITALOCEAN_",
    "CLOUDFLARE_",
    "HEROKU_",
    "LINODE_",
    "VAULT_",
];
const SECRET_ENDS: [&str; 6] = ["_TOKEN", "_KEY", "_PAT", "_PASS", "_PWD", "_AUTH"];
const SECRET_PARTS: [&str; 6] =
    ["SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "APIKEY", "PRIVATE_KEY"];

/// Variables that make a shell or the loader run something before or instead of the judged command.
const CODE_NAMES: [&str; 18] = [
    "BASH_ENV",
    "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD",
    "BASHOPTS",
    "CDPATH",
    "ENV",
    "FPATH",
    "GCONV_PATH",
    "GLOBIGNORE",
    "IFS",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS4",
    "RUBYOPT",
    "SHELLOPTS",
];
const CODE_STARTS: [&str; 3] = ["LD_", "DYLD_", "BASH_FUNC_"];

/// Variables that lead to unconfined programs: key agents, containers, a session bus.
const DOORS: [&str; 6] = [
    "CONTAINER_HOST",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DOCKER_HOST",
    "GPG_AGENT_INFO",
    "SSH_AUTH_SOCK",
];

/// The default `PATH`.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The environment of a command: the allow-list and what `added` matches, but never a secret or a
/// way out of the sandbox, whatever the configuration says.
pub(super) fn environment(
    given: &BTreeMap<String, String>,
    added: &GlobSet,
) -> BTreeMap<String, String> {
    let mut passed: BTreeMap<String, String> = given
        .iter()
        .filter(|(name, value)| {
            let usual = PASSED.contains(&name.as_str()) || name.starts_with("LC_");
            (usual || added.is_match(name)) && may_pass(name) && !value.contains('\0')
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let path = passed.get("PATH").map(String::as_str).unwrap_or(USUAL_PATH);
    // A relative folder would let programs of the project shadow those that were judged.
    let path: Vec<&str> = path.split(':').filter(|folder| folder.starts_with('/')).collect();
    let path = if path.is_empty() { USUAL_PATH.to_owned() } else { path.join(":") };
    passed.insert("PATH".to_owned(), path);
    passed
}

/// Whether a variable of this name may ever be passed on.
fn may_pass(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let starts = |list: &[&str]| list.iter().any(|start| upper.starts_with(start));
    let valid = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let secret = SECRET_NAMES.contains(&upper.as_str())
        || starts(&SECRET_STARTS)
        || SECRET_ENDS.iter().any(|end| upper.ends_with(end))
        || SECRET_PARTS.iter().any(|part| upper.contains(part));
    let code = CODE_NAMES.contains(&upper.as_str()) || starts(&CODE_STARTS);
    valid && !secret && !code && !DOORS.contains(&upper.as_str())
}

#[cfg(test)]
mod tests {
    use globset::{Glob, GlobSetBuilder};

    use super::*;

    fn passed(names: &[&str], added: &[&str]) -> Vec<String> {
        let given = names.iter().map(|name| ((*name).to_owned(), "/x".to_owned())).collect();
        let mut set = GlobSetBuilder::new();
        for glob in added {
            set.add(Glob::new(glob).unwrap());
        }
        environment(&given, &set.build().unwrap()).into_keys().filter(|n| n != "PATH").collect()
    }

    #[test]
    fn only_what_is_listed_passes() {
        let given = ["HOME", "LC_ALL", "EDITOR", "MAKEFLAGS", "SKILL_NAME", "SKILL_DIR", "SKILL_X"];
        let usual = ["HOME", "LC_ALL", "SKILL_DIR", "SKILL_NAME"];
        assert_eq!(passed(&given, &[]), usual);
        let more = ["HOME", "LC_ALL", "MAKEFLAGS", "SKILL_DIR", "SKILL_NAME"];
        assert_eq!(passed(&given, &["MAKE*"]), more);
    }

    #[test]
    fn secrets_never_pass_whatever_the_configuration() {
        let secrets = [
            "GITHUB_TOKEN",
            "github_token",
            "TOKEN",
            "NPM_TOKEN",
            "OPENAI_API_KEY",
            "SSH_PRIVATE_KEY_FILE",
            "MY_SECRET",
            "SECRET_SAUCE",
            "clientSecret",
            "DB_PASSWORD",
            "PASSWORD",
            "PGPASSWORD",
            "MYSQL_PASSWD",
            "AWS_PROFILE",
            "AWS_SESSION_TOKEN",
            "AZURE_CLIENT_ID",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GCP_PROJECT",
            "KUBECONFIG",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "BASH_ENV",
            "ENV",
            "BASH_FUNC_ls%%",
            "SHELLOPTS",
            "IFS",
            "PERL5OPT",
            "SSH_AUTH_SOCK",
            "DOCKER_HOST",
            "1X",
            "A B",
            "",
        ];
        assert_eq!(passed(&secrets, &["*"]), Vec::<String>::new());
    }

    #[test]
    fn programs_are_found_in_absolute_folders_only() {
        let cases = [
            (None, USUAL_PATH),
            (Some("/usr/bin:/bin"), "/usr/bin:/bin"),
            (Some(".:/bin::bin:/opt/bin"), "/bin:/opt/bin"),
            (Some("."), USUAL_PATH),
        ];
        for (given, expected) in cases {
            let given = given.map(|path| ("PATH".to_owned(), path.to_owned()));
            let path = environment(&given.into_iter().collect(), &GlobSet::empty());
            assert_eq!(path.get("PATH").map(String::as_str), Some(expected));
        }
    }
}
