//! Programs with a single purpose.

use super::ActivityKind::{Fetch, Format, Install, Lint};
use super::call::{Call, Found, whole};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        "shellcheck" => Some(whole(Lint, "shellcheck")),
        "hadolint" | "yamllint" | "actionlint" | "codespell" | "vale" | "staticcheck"
        | "revive" | "errcheck" | "gosec" | "govulncheck" | "cppcheck" | "clang-tidy"
        | "tflint" | "ansible-lint" | "semgrep" | "luacheck" | "selene" | "swiftlint"
        | "spectral" | "typos" | "cargo-deny" | "commitlint" | "gitleaks" | "trivy" | "zizmor" => {
            Some(whole(Lint, "linter"))
        }
        "buf" | "sqlfluff" if call.arg(0) == "lint" => Some(whole(Lint, "linter")),
        "shfmt" | "stylua" | "nixfmt" | "alejandra" | "taplo" | "dprint" | "swiftformat"
        | "clang-format" | "treefmt" => {
            let checks = [
                "--check",
                "-d",
                "-l",
                "--diff",
                "--lint",
                "check",
                "--dry-run",
                "-n",
                "--fail-on-change",
                "lint",
            ];
            Some(if call.has(&checks) {
                whole(Lint, "format check")
            } else {
                whole(Format, "formatter")
            })
        }
        "curl" | "wget" | "aria2c" | "http" | "https" | "xh" => Some(whole(Fetch, "curl")),
        "apt" | "apt-get" | "brew" | "yum" | "dnf" | "apk" | "pacman" | "zypper" | "snap"
        | "choco" | "winget" | "nvm" | "rustup" | "asdf" | "opam" | "gvm" | "sdk" => {
            let installs = [
                "install",
                "add",
                "-S",
                "-Sy",
                "-Syu",
                "upgrade",
                "update",
                "tap",
                "remove",
                "uninstall",
            ];
            Some(if call.texts().take(4).any(|text| installs.contains(&text)) {
                whole(Install, "package manager")
            } else {
                Vec::new()
            })
        }
        _ => None,
    }
}
