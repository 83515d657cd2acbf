mod work;

use counterfoil_model::{Claim, ClaimKind, Code, Message, Mode, Object, ObjectKind, Role};
use memchr::memmem::Finder;

use crate::facts::{Answer, Execution, Facts};
use crate::findings::{Findings, Note};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, has_file_extension};
use crate::rule::{Group, Meta, Rule};

use work::{is_blank, undone_work};

/// CS018: findings reported by somebody who looked at nothing.
pub(crate) struct EmptyHandedReport;

static META: Meta = Meta {
    code: Code("CS018"),
    name: "empty-handed-report",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent reports files, lines or names, but made no tool call",
    page: include_str!("../../spec/CS018.md"),
};

impl Rule for EmptyHandedReport {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let executions = facts.record().executions();
        let empty: Vec<&Execution<'_>> = executions
            .iter()
            .filter(|e| e.outcome.is_some_and(|o| o.subagent_calls == Some(0)))
            .collect();
        for answer in facts.answers() {
            for report in &empty {
                passed_on(facts, findings, answer, report);
            }
            for (clause, report) in undone_work(facts, answer) {
                findings.unsupported(
                    facts,
                    &claim(answer, clause, report.tool()),
                    Note::suspected(match is_blank(report.text()) {
                        true => "the agent that was asked to look reported nothing",
                        false => "the agent that was asked to look made no tool call",
                    })
                    .help("look at it yourself, or say that nobody has looked")
                    .evidence([facts.evidence(report)]),
                );
            }
            own(facts, findings, answer);
        }
    }
}

/// A name or a place that the agent took from a report behind which stands no call.
fn passed_on<'t>(
    facts: &Facts<'t>,
    findings: &mut Findings<'_>,
    answer: &Answer<'t>,
    report: &Execution<'t>,
) {
    let Some(reported_at) = report.answered_at.filter(|&at| at < answer.turn) else { return };
    let prose = &answer.prose;
    let taken = prose.clauses.iter().find_map(|clause| {
        let tokens = prose.tokens(clause.tokens.clone());
        let (_, token) = tokens.iter().enumerate().find(|(at, token)| {
            let word = bare(prose.word(token));
            let specific = is_specific(token, word) && holds(report.text(), word);
            specific && !is_denied(prose, tokens, *at) && {
                let messages = facts.transcript().messages.get(..answer.turn).unwrap_or_default();
                !messages
                    .iter()
                    .enumerate()
                    .any(|(at, m)| grounds(m, word, at == reported_at, report.text()))
            }
        })?;
        Some((clause, token))
    });
    let Some((clause, token)) = taken else { return };
    let word = prose.word(token);
    findings.unsupported(
        facts,
        &claim(answer, clause, word),
        Note::suspected(format!("`{word}` comes from a report made without a single tool call"))
            .help("look at it yourself, or ask again and see that something is read")
            .evidence([facts.evidence(report)]),
    );
}

/// Whether the clause says that the thing is not there: "there is no `a.rs`", "`a.rs` does not
/// exist". Whoever says so passes nothing on.
fn is_denied(prose: &Prose<'_>, tokens: &[Token], at: usize) -> bool {
    let negates = |token: &Token| token.has(Tags::NEGATION) || prose.is(token, words!["no"]);
    let before = tokens.get(at.saturating_sub(3)..at).unwrap_or_default();
    let no = before.iter().rposition(negates);
    let no = no.is_some_and(|no| {
        let between = before.get(no + 1..).unwrap_or_default();
        between.iter().all(|token| token.verb.is_none() && !token.is(','))
    });
    let behind = tokens.get(at + 1..).unwrap_or_default();
    let not = behind.iter().take(3).position(negates);
    no || not.is_some_and(|not| {
        let denied = behind.get(not + 1..).unwrap_or_default().first();
        denied.is_some_and(|t| prose.is(t, words!["exist", "there", "present", "found"]))
    })
}

/// A place in a file that the agent itself reports, having looked at nothing.
fn own(facts: &Facts<'_>, findings: &mut Findings<'_>, answer: &Answer<'_>) {
    let turn = answer.turn;
    let messages = facts.transcript().messages.get(..turn).unwrap_or_default();
    let speaker = facts.transcript().messages.get(turn).and_then(|m| m.agent.as_deref());
    let looked = facts.record().before(turn).any(|e| speaker.is_none() || e.agent == speaker);
    if looked || !facts.is_complete_before(turn) {
        return;
    }
    let prose = &answer.prose;
    let stated = prose.clauses.iter().filter(|c| matches!(c.mood, Mood::Asserted | Mood::Observed));
    for clause in stated {
        let Some(word) = place(prose, prose.tokens(clause.tokens.clone())) else { continue };
        let file = word.split(':').next().unwrap_or(word);
        if messages.iter().any(|m| grounds(m, file, false, "")) {
            continue;
        }
        findings.unsupported(
            facts,
            &claim(answer, clause, word),
            Note::suspected(format!("the agent reports `{word}`, but read nothing"))
                .help("read the file first, or say that this is a guess"),
        );
        return;
    }
}

fn claim(answer: &Answer<'_>, clause: &Clause, word: &str) -> Claim {
    answer.prose.claim(
        clause,
        ClaimKind::Source,
        vec![Object { kind: ObjectKind::Path, text: word.to_owned() }],
        answer.turn,
    )
}

/// Whether a token is a name or a place that nobody guesses: code, a path, an identifier.
fn is_specific(token: &Token, word: &str) -> bool {
    let coded = matches!(token.kind, TokenKind::Code | TokenKind::Path | TokenKind::Identifier);
    let made_up = word.contains(['_', '.', ':', '/'])
        || word.bytes().skip(1).any(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    coded && word.len() >= 5 && made_up && !word.contains(char::is_whitespace)
}

/// The first place in a file that a clause cites: `a.rs:12`, "a.rs line 12", "line 12 of a.rs".
fn place<'t>(prose: &Prose<'t>, tokens: &[Token]) -> Option<&'t str> {
    let line = |at: usize| {
        tokens.get(at).is_some_and(|t| prose.is(t, words!["line", "lines"]))
            && tokens.get(at + 1).is_some_and(|t| t.kind == TokenKind::Number)
    };
    tokens.iter().enumerate().find_map(|(at, token)| {
        let word = prose.word(token);
        let comma = usize::from(tokens.get(at + 1).is_some_and(|t| t.is(',') || t.is('(')));
        let behind = || line(at + 1 + comma);
        let before = || at.checked_sub(3).is_some_and(line);
        let file = has_file_extension(word) && (behind() || before());
        (is_place(word) || file).then_some(word)
    })
}

/// `a.rs:12`: a file and a line.
fn is_place(word: &str) -> bool {
    word.split_once(':').is_some_and(|(file, line)| {
        file.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty() && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        }) && file.bytes().any(|b| b.is_ascii_alphabetic())
            && line.bytes().next().is_some_and(|b| b.is_ascii_digit())
    })
}

/// Whether a message gave the word, or the agent wrote it in a call of its own. What the report
/// itself says does not count.
fn grounds(message: &Message, word: &str, reported: bool, report: &str) -> bool {
    let given = message.role != Role::Assistant && holds(&message.text, word);
    let written = message.calls.iter().any(|call| holds(call.arguments.as_str(), word));
    let results = message.outcomes.iter().any(|o| {
        let same = reported && o.text == report;
        !same && o.subagent_calls != Some(0) && holds(&o.text, word)
    });
    given || written || results
}

fn holds(text: &str, word: &str) -> bool {
    !word.is_empty() && Finder::new(word).find(text.as_bytes()).is_some()
}

/// A name without call brackets.
fn bare(word: &str) -> &str {
    word.trim_end_matches("()")
}
