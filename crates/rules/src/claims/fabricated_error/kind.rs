//! Kinds of trouble that a failure is put down to, told in words and not quoted: "the push was
//! rejected as non-fast-forward", "it hit a rate limit".

use std::ops::Range;

use counterfoil_model::{Claim, ClaimKind, Object, ObjectKind};

use crate::facts::{Answer, Facts};
use crate::prose::{BlockKind, Mood, Prose, Tags, Token, TokenKind, Words};

/// A kind of trouble.
struct Kind {
    /// What it is called, each as words behind each other.
    said: &'static [&'static [&'static str]],
    /// What a record has where it came up, whatever else it says.
    traces: &'static [&'static str],
}

const KINDS: [Kind; 12] = [
    Kind {
        said: &[&["rate", "limit"], &["rate", "limited"], &["rate-limit"], &["rate-limited"]],
        traces: &["limit", "429", "throttl", "quota", "too many"],
    },
    Kind {
        said: &[&["timed", "out"], &["timeout"], &["time", "limit"]],
        traces: &["timed", "time-out", "time out", "timeout", "deadline", "time limit", "exceed"],
    },
    Kind {
        said: &[&["non-fast-forward"], &["not", "a", "fast-forward"]],
        traces: &["fast-forward", "fetch first", "diverge", "behind", "non-ff"],
    },
    Kind {
        said: &[&["is", "locked"], &["was", "locked"], &["lock", "file"], &["state", "lock"]],
        traces: &["locked", "lock ", "lock:", "lock\"", ".lock", "_lock", "acquir", "held by"],
    },
    Kind {
        said: &[&["out", "of", "memory"], &["out-of-memory"], &["oom"]],
        traces: &["memory", "oom", "killed", "137", "heap"],
    },
    Kind {
        said: &[&["disk", "full"], &["disk", "is", "full"], &["disk", "space"], &["no", "space"]],
        traces: &["space", "disk", "enospc"],
    },
    Kind { said: &[&["merge", "conflict"], &["merge", "conflicts"]], traces: &["conflict"] },
    Kind {
        said: &[
            &["network", "error"],
            &["network", "issue"],
            &["network", "problem"],
            &["network", "issues"],
            &["network", "problems"],
            &["connection", "was", "reset"],
            &["network", "outage"],
            &["no", "network"],
            &["connection", "refused"],
            &["connection", "was", "refused"],
            &["connection", "reset"],
        ],
        traces: &[
            "network",
            "connect",
            "resolve",
            "dns",
            "unreach",
            "offline",
            "econn",
            "enotfound",
            "proxy",
            "socket",
            "fetch",
            "download",
        ],
    },
    Kind {
        said: &[&["certificate", "error"], &["expired", "certificate"], &["tls", "error"]],
        traces: &["certificate", "tls", "ssl", "x509"],
    },
    Kind {
        said: &[
            &["protected", "branch"],
            &["branch", "protection"],
            &["branch", "is", "protected"],
        ],
        traces: &["protect"],
    },
    Kind {
        said: &[&["segmentation", "fault"], &["segfault"], &["segfaulted"]],
        traces: &["segmentation", "segfault", "signal 11", "sigsegv", "139", "core dumped"],
    },
    Kind {
        said: &[&["insufficient", "funds"], &["insufficient", "balance"]],
        traces: &["insufficient", "fund", "balance", "not enough", "exceed"],
    },
];

/// Words without which none of the kinds is named.
const TELLING: &Words = words![
    "limit",
    "limited",
    "rate-limit",
    "rate-limited",
    "timed",
    "timeout",
    "non-fast-forward",
    "fast-forward",
    "locked",
    "lock",
    "memory",
    "out-of-memory",
    "oom",
    "disk",
    "space",
    "conflict",
    "conflicts",
    "network",
    "connection",
    "certificate",
    "tls",
    "protected",
    "protection",
    "segmentation",
    "segfault",
    "segfaulted",
    "insufficient",
];

/// The kinds that an answer puts failures down to, and of which the record has no trace.
pub(super) fn untraced(facts: &Facts<'_>, answer: &Answer<'_>) -> Vec<Claim> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let mut found = Vec::new();
    for sentence in &prose.sentences {
        let tokens = prose.tokens(sentence.tokens.clone());
        if !tokens.iter().any(|t| prose.is(t, TELLING)) {
            continue;
        }
        let quote = prose.block_of(sentence).is_some_and(|block| block.kind == BlockKind::Quote);
        if quote || sentence.foreign || sentence.question {
            continue;
        }
        for kind in &KINDS {
            let Some(said) = said_at(prose, tokens, kind) else { continue };
            let token = sentence.tokens.start + said.start;
            let Some(clause) = prose.clause_at(token).filter(|c| c.mood != Mood::Conditional)
            else {
                continue;
            };
            // What is told up to there; behind it may stand what to do about it.
            let upto = sentence.tokens.end.min(token + 3);
            let upto = prose.tokens(sentence.tokens.start..upto);
            if clause.tags.any(Tags::HEDGE.or(Tags::NOW)) || !tells_failure(prose, upto) {
                continue;
            }
            let trace = |known: &&str| facts.source_of(known, turn, true).is_some();
            let known = facts.record().count_before(turn) > 0 && facts.shows_all_before(turn);
            if !known || kind.traces.iter().any(trace) {
                continue;
            }
            let words = tokens.get(said).unwrap_or_default().iter().map(|t| prose.word(t));
            let text = words.collect::<Vec<_>>().join(" ");
            let object = Object { kind: ObjectKind::Quote, text };
            found.push(prose.claim(clause, ClaimKind::Error, vec![object], turn));
        }
    }
    found
}

/// "timed out", "is locked": what went wrong, and no name of it.
fn tells_itself(prose: &Prose<'_>, words: &[Token]) -> bool {
    words.iter().any(|t| prose.is(t, words!["timed", "is", "was", "segfaulted", "rate-limited"]))
}

/// "because of a", "rejected as", "with an": what leads to the reason of something, which is not
/// denied. "calls that hit a …" are others.
fn is_led(prose: &Prose<'_>, before: &[Token]) -> bool {
    let leads = words![
        "because", "due", "as", "with", "by", "hit", "since", "to", "out", "ran", "got", "from",
        "into", "reported", "returned", "of",
    ];
    let denials = words!["not", "no", "never", "without", "n't"];
    let small = |t: &&Token| t.has(Tags::DETERMINER) && !prose.is(t, denials);
    let near = || before.iter().rev().take(4);
    let led = near().find(|t| !small(t)).is_some_and(|t| prose.is(t, leads));
    led && !near().any(|t| prose.is(t, denials) || prose.is(t, words!["that", "which"]))
}

/// Whether it is told that something went wrong, and not that it may.
fn tells_failure(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let wrong = words![
        "timed",
        "rejected",
        "refused",
        "aborted",
        "stopped",
        "declined",
        "bounced",
        "crashed",
        "died",
        "blocked",
        "interrupted",
        "hit",
        "ran",
        "gave",
    ];
    let doubt = Tags::CONDITIONAL.or(Tags::HEDGE).or(Tags::INTEND);
    let told = |t: &Token| t.has(Tags::FAILURE) || prose.is(t, wrong);
    let due = |t: &Token| prose.is(t, words!["due"]);
    // "couldn't" is told; "could", "would" and "may" are not.
    let open = |(at, t): (usize, &Token)| {
        let denied = tokens.get(at + 1).is_some_and(|t| t.has(Tags::NEGATION));
        t.has(Tags::MODAL) && !(denied && prose.is(t, words!["could"]))
    };
    let could_not = tokens.windows(2).any(|pair| {
        let [could, not] = pair else { return false };
        prose.is(could, words!["could"]) && not.has(Tags::NEGATION)
    });
    (tokens.iter().any(told) || could_not)
        && !tokens.iter().any(|t| t.has(doubt) && !t.has(Tags::FAILURE) && !due(t))
        && !tokens.iter().enumerate().any(open)
}

/// Where one of the names of the kind stands, outside code and quotation marks, and not denied.
fn said_at(prose: &Prose<'_>, tokens: &[Token], kind: &Kind) -> Option<Range<usize>> {
    let plain = |t: &Token| t.kind == TokenKind::Word && !t.quoted;
    (0..tokens.len()).find_map(|at| {
        let words = kind.said.iter().find(|words| {
            let here = tokens.get(at..at + words.len()).unwrap_or_default();
            here.len() == words.len()
                && here.iter().zip(**words).all(|(t, word)| plain(t) && prose.is_word(t, word))
                && (tells_itself(prose, here)
                    || is_led(prose, tokens.get(..at).unwrap_or_default()))
        })?;
        Some(at..at + words.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_telling_word() {
        for words in KINDS.iter().flat_map(|kind| kind.said) {
            assert!(words.iter().any(|word| TELLING.hold(word.as_bytes())), "{words:?}");
        }
    }
}
