//! Archives: the command does not show the names of the files that it extracts.

use counterfoil_shell::{Command, Word};

use super::arguments::Arguments;
use super::target::{Add, Change};

/// A program that extracts files from an archive.
struct Unpacker {
    names: &'static [&'static str],
    valued: &'static [&'static str],
    /// It extracts files only with one of these; empty means always.
    only_with: &'static [&'static str],
    /// With one of these, it only lists or prints.
    never_with: &'static [&'static str],
    /// The options that name the target folder.
    folder: &'static [&'static str],
    /// The index of the operand that names the target folder.
    operand: Option<usize>,
}

const UNPACKERS: &[Unpacker] = &[
    Unpacker {
        names: &["unzip"],
        valued: &["-d", "-x", "-P"],
        only_with: &[],
        never_with: &["-l", "-p", "-t", "-v", "-Z", "-c"],
        folder: &["-d"],
        operand: None,
    },
    Unpacker {
        names: &["7z", "7za", "7zz", "7zr"],
        valued: &["-o"],
        only_with: &["x", "e"],
        never_with: &[],
        folder: &["-o"],
        operand: None,
    },
    Unpacker {
        names: &["unrar", "rar", "unar"],
        valued: &["-o"],
        only_with: &["x", "e"],
        never_with: &[],
        folder: &["-o"],
        operand: Some(2),
    },
    Unpacker {
        names: &["cpio", "pax"],
        valued: &["-D", "--directory", "-E", "-F", "-I", "-f"],
        only_with: &["-i", "--extract", "-p", "-r"],
        never_with: &["-t"],
        folder: &["-D", "--directory"],
        operand: None,
    },
    Unpacker {
        names: &["dpkg", "dpkg-deb"],
        valued: &[],
        only_with: &["-x", "-X", "--extract", "--vextract"],
        never_with: &[],
        folder: &[],
        operand: Some(1),
    },
    Unpacker {
        names: &["jar"],
        valued: &["-C", "--dir"],
        only_with: &["xf", "-x", "--extract", "xvf"],
        never_with: &[],
        folder: &["-C", "--dir"],
        operand: None,
    },
];

/// Compressors that replace a file with another, or remove it.
const COMPRESSORS: [&str; 10] =
    ["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress"];

pub(super) fn targets(name: &str, command: &Command, add: &mut Add<'_>) {
    match name {
        "tar" | "bsdtar" | "gtar" => tar(&command.args, add),
        "zip" => {
            let arguments = Arguments::new(&command.args, &["-x", "-i", "-P", "-b", "-t"]);
            let moves = arguments.has("-m") || arguments.has("--move");
            for (at, word) in
                arguments.operands.iter().enumerate().take(if moves { usize::MAX } else { 1 })
            {
                add((*word).clone(), if at == 0 { Change::Writes } else { Change::Replaces });
            }
        }
        name if COMPRESSORS.contains(&name) => {
            let arguments = Arguments::new(&command.args, &["-S", "--suffix", "-o", "-T"]);
            let shows = ["-c", "--stdout", "-l", "--list", "-t", "--test"];
            if !shows.iter().any(|option| arguments.has(option)) {
                arguments.operands.iter().for_each(|word| add((*word).clone(), Change::Replaces));
            }
        }
        name => unpacked(name, command, add),
    }
}

fn unpacked(name: &str, command: &Command, add: &mut Add<'_>) {
    let Some(unpacker) = UNPACKERS.iter().find(|unpacker| unpacker.names.contains(&name)) else {
        return;
    };
    let arguments = Arguments::new(&command.args, unpacker.valued);
    let any = |words: &[&str]| words.iter().any(|word| arguments.has(word));
    if any(unpacker.never_with) || !unpacker.only_with.is_empty() && !any(unpacker.only_with) {
        return;
    }
    let operand =
        unpacker.operand.and_then(|at| arguments.operands.get(at)).map(|word| (*word).clone());
    let folder = arguments.values(unpacker.folder).pop().or(operand);
    add(folder.unwrap_or_else(|| Word::fixed(".")), Change::Fills);
}

/// `tar xf a.tar -C folder`. Without a dash, the letters come first and their values follow.
fn tar(args: &[Word], add: &mut Add<'_>) {
    const VALUED: &[&str] = &[
        "-C",
        "--directory",
        "-f",
        "--file",
        "-T",
        "--files-from",
        "-X",
        "--exclude-from",
        "--exclude",
        "-b",
        "-I",
        "--use-compress-program",
        "--transform",
        "--strip-components",
        "--owner",
        "--group",
        "-g",
        "--listed-incremental",
        "-L",
        "-N",
        "-V",
        "--index-file",
    ];
    let mut dashed: Vec<Word> = args.to_vec();
    if let Some(first) = dashed.first_mut().filter(|word| !word.text.starts_with('-')) {
        // Except in unusual cases, only one of the letters takes a value.
        let (valued, plain): (Vec<char>, Vec<char>) =
            first.text.chars().partition(|c| "fCbXT".contains(*c));
        first.text = std::iter::once('-').chain(plain).chain(valued).collect();
    }
    let arguments = Arguments::new(&dashed, VALUED);
    let folder = arguments.values(&["-C", "--directory"]).pop();
    let within = |word: &Word| match &folder {
        Some(folder) if !word.text.starts_with(['/', '~', '$']) => {
            Word { text: format!("{}/{}", folder.text, word.text), kind: word.kind }
        }
        _ => word.clone(),
    };
    let any = |words: &[&str]| words.iter().any(|word| arguments.has(word));
    if any(&["-x", "--extract", "--get"]) {
        if !any(&["-O", "--to-stdout"]) {
            add(folder.clone().unwrap_or_else(|| Word::fixed(".")), Change::Fills);
        }
    } else if !any(&["-t", "--list", "-d", "--diff"]) {
        arguments.values(&["-f", "--file"]).into_iter().for_each(|word| add(word, Change::Writes));
        if any(&["--remove-files"]) {
            arguments.operands.iter().for_each(|word| add(within(word), Change::Replaces));
        }
    }
}
