use super::into::Tree;
use super::target::Change::{self, Fills, Replaces, Writes};

/// A program that changes files, with the arguments that name them.
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    /// Options that take the next word as their value.
    pub(super) valued: &'static [&'static str],
    /// It changes something only with one of these options or first words; empty means always.
    pub(super) only_with: &'static [&'static str],
    /// It changes nothing with one of these.
    pub(super) never_with: &'static [&'static str],
    pub(super) changes: &'static [Where],
}

/// Which arguments are targets.
pub(super) enum Where {
    /// The operands from this index on.
    From(usize, Change),
    /// The operand at this index.
    At(usize, Change),
    /// The operand at this index, as the prefix of names.
    Prefix(usize),
    /// The values of these options.
    Value(&'static [&'static str], Change),
    /// The values of these options, or the working directory if none is given.
    ValueOrHere(&'static [&'static str], Change),
    /// What follows this prefix: `of=FILE`.
    Assigned(&'static str),
    /// A fixed file that the program writes.
    Fixed(&'static str),
    /// The operands that are copied, moved or linked: all except the destination.
    Sources,
    /// The operands that a link points to: through another name, their files may be written.
    Linked,
    /// The destination of a copy, a move or a link.
    Into(Tree),
    /// The file names at the end of URLs, in the folder that this option names.
    Downloads(&'static str),
    /// What `chmod` makes inaccessible or opens to others.
    Mode,
}

const fn program(
    names: &'static [&'static str],
    valued: &'static [&'static str],
    changes: &'static [Where],
) -> Program {
    Program { names, valued, only_with: &[], never_with: &[], changes }
}

impl Program {
    const fn only(self, words: &'static [&'static str]) -> Self {
        Self { only_with: words, ..self }
    }

    const fn never(self, words: &'static [&'static str]) -> Self {
        Self { never_with: words, ..self }
    }
}

use Where::{
    Assigned, At, Downloads, Fixed, From, Into, Linked, Mode, Prefix, Sources, Value, ValueOrHere,
};

const TARGET: &[&str] = &["-t", "--target-directory", "-S", "--suffix"];
const EDITOR: &[&str] = &["-c", "--cmd", "-S", "-u", "-i", "-p", "-w", "-W", "-l"];
const SYNC: &[&str] = &[
    "-e",
    "--rsh",
    "--exclude",
    "--include",
    "-f",
    "--filter",
    "--files-from",
    "--exclude-from",
    "--include-from",
    "--max-size",
    "--min-size",
    "--bwlimit",
    "--timeout",
    "--log-file",
    "--partial-dir",
    "-T",
    "--temp-dir",
    "--link-dest",
    "--compare-dest",
    "--copy-dest",
    "--password-file",
    "--port",
    "--chmod",
    "--chown",
    "--out-format",
    "-B",
    "--backup-dir",
];
const READS_SETTINGS: &[&str] = &["--help", "-h"];

/// One row per program; a program with two kinds of targets has two. Each has a case in `tests.rs`.
pub(super) const PROGRAMS: &[Program] = &[
    // Removing.
    program(
        &["rm", "unlink", "rmdir", "srm", "trash", "trash-put", "rimraf", "del-cli", "wipe"],
        &[],
        &[From(0, Replaces)],
    ),
    program(
        &["shred"],
        &["-n", "--iterations", "-s", "--size", "--random-source"],
        &[From(0, Replaces)],
    ),
    program(&["gio"], &[], &[From(1, Replaces)]).only(&["trash", "remove", "move", "rename"]),
    program(&["rename", "prename", "file-rename", "mmv", "zmv"], &["-e"], &[From(0, Replaces)]),
    program(&["umount"], &["-t", "-O"], &[From(0, Replaces)]),
    // Moving, copying, linking.
    program(&["mv"], TARGET, &[Sources, Into(Tree::Always)]),
    program(
        &["cp", "gcp"],
        TARGET,
        &[Into(Tree::With(&["-r", "-R", "-a", "--recursive", "--archive"]))],
    ),
    program(&["ln", "gln"], TARGET, &[Linked, Into(Tree::Always)]),
    program(&["link"], &[], &[Linked]),
    program(&["cp", "gcp"], TARGET, &[Linked]).only(&["-l", "--link", "-s", "--symbolic-link"]),
    program(&["ditto", "bindfs"], &[], &[Into(Tree::Always)]),
    program(&["mount"], &["-t", "--types", "-o", "--options"], &[At(1, Replaces)]),
    program(
        &["install", "ginstall"],
        &["-t", "--target-directory", "-m", "--mode", "-o", "--owner", "-g", "--group", "-S"],
        &[Into(Tree::Never)],
    )
    .never(&["-d", "--directory"]),
    program(
        &["install", "ginstall"],
        &["-m", "--mode", "-o", "--owner", "-g", "--group"],
        &[From(0, Writes)],
    )
    .only(&["-d", "--directory"]),
    program(&["rsync"], SYNC, &[Into(Tree::Always), Value(&["--log-file"], Writes)]),
    program(&["rsync"], SYNC, &[Sources]).only(&["--remove-source-files", "--remove-sent-files"]),
    program(
        &["scp", "sftp"],
        &["-P", "-i", "-o", "-F", "-c", "-l", "-J", "-S", "-D", "-X"],
        &[Into(Tree::With(&["-r"]))],
    ),
    program(&["rclone"], &[], &[At(2, Fills)]).only(&["copy", "sync", "move", "copyto", "moveto"]),
    // Creating and filling files.
    program(&["touch"], &["-d", "--date", "-r", "--reference", "-t"], &[From(0, Writes)]),
    program(&["mkdir", "mkfifo", "mknod"], &["-m", "--mode"], &[From(0, Writes)]),
    program(&["mktemp"], &["-p", "--suffix"], &[From(0, Writes)]),
    program(
        &["flock"],
        &["-w", "--wait", "--timeout", "-E", "--conflict-exit-code"],
        &[At(0, Writes)],
    ),
    program(&["lockfile", "setlock", "dotlockfile"], &["-r", "-s", "-l"], &[From(0, Writes)]),
    program(&["tee", "sponge", "pee"], &[], &[From(0, Writes)]),
    program(&["truncate"], &["-s", "--size", "-r", "--reference"], &[From(0, Writes)]),
    program(&["fallocate"], &["-l", "--length", "-o", "--offset"], &[From(0, Writes)]),
    program(&["dd"], &[], &[Assigned("of=")]),
    program(
        &["sort", "gsort"],
        &["-o", "--output", "-k", "--key", "-t", "-S", "-T", "--field-separator", "--buffer-size"],
        &[Value(&["-o", "--output"], Writes)],
    ),
    program(&["uniq"], &["-f", "-s", "-w"], &[At(1, Writes)]),
    program(&["split"], &["-a", "-b", "-C", "-l", "-n", "-t"], &[Prefix(1)]),
    program(&["csplit"], &["-f", "--prefix", "-b", "-n"], &[Value(&["-f", "--prefix"], Replaces)]),
    program(&["tree"], &["-o", "-L", "-P", "-I"], &[Value(&["-o"], Writes)]),
    program(
        &["script"],
        &["-c", "-O", "-B", "-T"],
        &[From(0, Writes), Value(&["-O", "-B"], Writes)],
    ),
    program(&["iconv"], &["-f", "-t", "-o", "--output"], &[Value(&["-o", "--output"], Writes)]),
    program(
        &["openssl", "gpg", "gpg2", "age", "pandoc", "jq", "gcc", "cc", "ld"],
        &["-out", "-o", "--output"],
        &[Value(&["-out", "-o", "--output"], Writes)],
    ),
    // Editing.
    program(&["sed", "gsed"], &["-e", "--expression", "-f", "--file", "-l"], &[From(0, Writes)])
        .only(&["-i", "-I", "--in-place"]),
    program(&["perl", "ruby"], &["-e", "-E", "-I", "-M", "-r"], &[From(0, Writes)]).only(&["-i"]),
    program(&["gawk", "awk"], &["-i", "-f", "-v", "-F"], &[From(0, Writes)])
        .only(&["-i", "--include"]),
    program(
        &[
            "ed", "red", "ex", "vi", "vim", "nvim", "gvim", "emacs", "nano", "pico", "joe",
            "micro", "hx",
        ],
        EDITOR,
        &[From(0, Writes)],
    )
    .never(&["-R"]),
    program(
        &["patch"],
        &["-p", "-i", "-d", "--directory", "-o", "--output", "-r", "-B", "-F", "--input"],
        &[At(0, Writes), Value(&["-o", "--output"], Writes), Value(&["-d", "--directory"], Fills)],
    ),
    program(&["yq", "jaq", "dasel"], &[], &[From(0, Writes)]).only(&[
        "-i",
        "--inplace",
        "--in-place",
    ]),
    program(
        &["crudini", "toml", "dos2unix", "unix2dos", "plutil", "defaults"],
        &[],
        &[From(0, Writes)],
    ),
    program(&["gofmt", "goimports"], &["-r"], &[From(0, Writes)]).only(&["-w"]),
    program(&["prettier"], &["--config", "--parser"], &[From(0, Writes)]).only(&["--write", "-w"]),
    program(&["sqlite3"], &["-cmd", "-init"], &[At(0, Writes)]),
    // Changing permissions and owners.
    program(&["chmod", "gchmod"], &["--reference"], &[Mode]),
    program(
        &["chown", "chgrp", "chattr", "chflags"],
        &["--reference", "--from"],
        &[From(1, Replaces)],
    ),
    program(&["setfacl"], &["-m", "-x", "-M", "-X"], &[From(0, Replaces)]),
    // Downloading.
    program(
        &["curl"],
        CURL,
        &[Value(
            &[
                "-o",
                "--output",
                "-c",
                "--cookie-jar",
                "-D",
                "--dump-header",
                "--trace",
                "--trace-ascii",
                "--stderr",
                "--etag-save",
                "--hsts",
                "--alt-svc",
                "--libcurl",
            ],
            Writes,
        )],
    ),
    program(&["curl"], CURL, &[Downloads("--output-dir")]).only(&[
        "-O",
        "--remote-name",
        "--remote-name-all",
    ]),
    program(
        &["wget"],
        WGET,
        &[Value(
            &["-O", "--output-document", "-o", "--output-file", "-a", "--append-output"],
            Writes,
        )],
    ),
    program(&["wget"], WGET, &[Downloads("-P")]).never(&["-O", "--output-document"]),
    program(&["wget"], WGET, &[ValueOrHere(&["-P", "--directory-prefix"], Fills)]).only(&[
        "-r",
        "--recursive",
        "-m",
        "--mirror",
        "--content-disposition",
    ]),
    program(
        &["aria2c"],
        &["-o", "--out", "-d", "--dir"],
        &[Value(&["-o", "--out"], Writes), Value(&["-d", "--dir"], Fills)],
    ),
    program(&["http", "https", "xh"], &["-o", "--output"], &[Value(&["-o", "--output"], Writes)]),
    // Agents that change their own settings.
    program(
        &["claude"],
        &["-s", "--scope", "-t", "--transport", "-e", "--env"],
        &[Fixed("~/.claude.json")],
    )
    .only(&["config", "mcp", "plugin", "plugins"])
    .never(READS_SETTINGS),
    program(&["codex"], &["--env"], &[Fixed("~/.codex/config.toml")])
        .only(&["mcp", "features"])
        .never(READS_SETTINGS),
    program(&["gemini"], &["-s", "--scope", "-e", "--env"], &[Fixed("~/.gemini/settings.json")])
        .only(&["mcp", "extensions", "hooks"])
        .never(READS_SETTINGS),
];

const CURL: &[&str] = &[
    "-o",
    "--output",
    "--output-dir",
    "-c",
    "--cookie-jar",
    "-D",
    "--dump-header",
    "--trace",
    "--trace-ascii",
    "--stderr",
    "--etag-save",
    "--hsts",
    "--alt-svc",
    "--libcurl",
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-H",
    "--header",
    "-X",
    "--request",
    "-u",
    "--user",
    "-F",
    "--form",
    "-b",
    "--cookie",
    "-w",
    "--write-out",
    "-A",
    "--user-agent",
    "-e",
    "--referer",
    "-T",
    "--upload-file",
    "-x",
    "--proxy",
    "-m",
    "--max-time",
    "-K",
    "--config",
    "--connect-timeout",
    "--retry",
    "-E",
    "--cert",
    "--key",
    "--cacert",
    "-r",
    "--range",
];
const WGET: &[&str] = &[
    "-O",
    "--output-document",
    "-o",
    "--output-file",
    "-a",
    "--append-output",
    "-P",
    "--directory-prefix",
    "-U",
    "--user-agent",
    "--header",
    "--post-data",
    "-t",
    "--tries",
    "-T",
    "--timeout",
    "-i",
    "--input-file",
    "-e",
    "--execute",
    "-A",
    "-R",
    "-D",
    "-l",
    "--level",
];
