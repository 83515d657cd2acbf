mod counts;
mod ended;
mod reports;

use counterfoil_model::{Claim, ClaimKind, Code, Mode, Object, ObjectKind, Span};

use crate::facts::{Answer, Facts, words_of};
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::prose::{Clause, Kinds, Token, TokenKind, has_file_extension, sets};
use crate::rule::Rule;
use crate::values::{Leaf, Leaves, Source, Tally, Text, each_figure, holds, list_of};

use counts::{Count, counts};
use reports::{Counted, REACH};

/// The maximum number of user messages that are searched.
const MOST_MESSAGES: usize = 6;

/// The maximum number of calls before a message that are searched for lists.
const MOST_CALLS: usize = 16;
/// Numbers below this are too common to be recognised.
const LARGE: u64 = 100;

/// CS010: the agent states a number of things that differs from the counts in the results.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("CS010"),
    "wrong-count",
    Mode::Block,
    "the agent gives a count of tests or listed items that differs from the count in the results",
    include_str!("../../spec/CS010.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for answer in facts.answers() {
        let numbered =
            |c: &&Clause| c.kinds.any(Kinds::DIGITS) || c.may_hold(&sets::SPELLED_NUMBERS);
        for clause in answer.prose.clauses.iter().filter(numbered) {
            for count in counts(&answer.prose, clause) {
                judge(facts, findings, answer, &count);
            }
        }
    }
}

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, answer: &Answer<'_>, count: &Count<'_>) {
    let turn = answer.turn;
    let span = Span::new(count.first.start as usize, count.last.end as usize);
    let text = span.slice(answer.prose.text);
    let object = Object { kind: ObjectKind::Number, text: count.number.to_string() };
    let claim = answer.prose.claim_at(span, ClaimKind::Count, vec![object], turn);
    if !count.is_tests {
        return judge_listed(facts, findings, &claim, answer, count);
    }
    let (evidence, numbers, least) = match reports::counted(facts, answer, count) {
        Counted::Same(evidence) => return findings.supported(&claim, [evidence]),
        Counted::Unknown => return findings.not_checkable(&claim, "no test run shows a count"),
        Counted::Other { evidence, numbers, least } => (evidence, numbers, least),
    };
    if is_given(facts, turn, count.number) || wrote_tests(facts, turn, count.number) {
        return findings.supported(&claim, []);
    }
    if may_be_else(facts, answer, count, least) {
        return findings.not_checkable(&claim, "the number may count something else");
    }
    let latest = listed(&numbers);
    findings.contradicted(
        facts,
        &claim,
        Note::proven(format!("no result shows {text}; counts in the latest result: {latest}"))
            .help("quote the number from the result")
            .provable_if(facts.is_complete_before(turn))
            .evidence([evidence]),
    );
}

/// The first distinct numbers.
fn listed(numbers: &[u64]) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for number in numbers.iter().map(ToString::to_string) {
        if !distinct.contains(&number) && distinct.len() < 4 {
            distinct.push(number);
        }
    }
    distinct.join(", ")
}

/// Whether the number may count something other than what the test runs count.
fn may_be_else(facts: &Facts<'_>, answer: &Answer<'_>, count: &Count<'_>, least: u64) -> bool {
    let turn = answer.turn;
    // "3 new tests" may be some of those that were counted, as may the tests of one file.
    let some = (count.some || names_file(answer, count)) && count.number <= least;
    some || adds_up(answer, count)
        || (count.number >= LARGE && occurs_somewhere(facts, turn, count.number))
        || printed_alone(facts, turn, count.number)
}

/// `grep -c FAIL`, `wc -l`: whether a command that counts printed the number on a line of its own.
fn printed_alone(facts: &Facts<'_>, turn: usize, number: u64) -> bool {
    const COUNT: [&str; 4] = ["grep -c", "wc -l", "--count", "rg -c"];
    let number = number.to_string();
    facts.deeds_before(turn).take(MOST_CALLS).any(|(execution, deed)| {
        let counts = |command: &str| COUNT.iter().any(|count| command.contains(count));
        deed.shell.as_ref().is_some_and(|work| counts(&work.command))
            && execution.text().lines().any(|line| line.trim() == number)
    })
}

/// "I found 5 mails": compares the number with the lists that tools of that name returned.
fn judge_listed(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    claim: &Claim,
    answer: &Answer<'_>,
    count: &Count<'_>,
) {
    let noun = answer.prose.word(count.last).to_ascii_lowercase();
    let stem = noun.strip_suffix('s').unwrap_or(&noun);
    if stem.len() < 3 {
        return;
    }
    let (mut most, mut sum, mut counts_more) = (None, 0_u64, false);
    for (execution, deed) in facts.deeds_before(claim.turn).take(MOST_CALLS) {
        if !holds(&deed.tool, stem) || !deed.words().iter().any(|w| w.starts_with(stem)) {
            continue;
        }
        let Some(length) = list_of(execution.text()) else { return };
        sum = sum.saturating_add(length);
        counts_more |= has_quantities(execution.text());
        if most.is_none_or(|(known, _)| known < length) {
            most = Some((length, execution));
        }
    }
    // An empty list means that the number counts something else.
    let Some((length, execution)) = most.filter(|(length, _)| *length > 0) else { return };
    let evidence = facts.evidence(execution);
    if is_list_of(facts, claim.turn, stem, count.number) {
        return findings.supported(claim, []);
    }
    // A list may be cut, with its full length next to it.
    if is_total(execution.text(), count.number) {
        return findings.supported(claim, [evidence]);
    }
    // `{"revoked": 6, "devices": [...]}`, `[{"day": "Mon", "orders": 14}, …]`: it is not clear
    // what the number counts.
    if counts_more || count.number <= sum {
        return match count.number == length {
            true => findings.supported(claim, [evidence]),
            false => findings.not_checkable(claim, "the number may count something else"),
        };
    }
    findings.contradicted(
        facts,
        claim,
        Note::proven(format!("the results list {length} {noun}, not {}", count.number))
            .help("quote the number from the result")
            .provable_if(
                facts.is_complete_before(claim.turn) && !facts.acts_freely_before(claim.turn),
            )
            .evidence([evidence]),
    );
}

/// Whether a result has numbers that may be added up: any that are not ids.
fn has_quantities(text: &str) -> bool {
    Leaves::any(text, |node| {
        let names_one = words_of(node.name).last().is_some_and(|word| word == "id");
        matches!(node.leaf, Leaf::Number(_)) && !names_one
    })
}

/// Whether a result gives the number as a total.
fn is_total(text: &str, number: u64) -> bool {
    const NAMES: [&str; 5] = ["total", "count", "found", "hits", "size"];
    let wanted = number.to_string();
    Leaves::any(text, |node| {
        node.leaf == Leaf::Number(&wanted)
            && words_of(node.name).iter().any(|word| NAMES.contains(&word.as_str()))
    })
}

/// Whether any tool's result has a list of that name and length.
fn is_list_of(facts: &Facts<'_>, turn: usize, stem: &str, number: u64) -> bool {
    let documents = facts.given().documents(stem, turn, REACH);
    documents.iter().flat_map(|document| document.nodes()).any(|node| match node.leaf {
        Leaf::List(length) => node.name.starts_with(stem) && length as u64 == number,
        _ => false,
    })
}

/// Whether the user gave the number, for example from a run of their own.
fn is_given(facts: &Facts<'_>, turn: usize, number: u64) -> bool {
    let messages =
        facts.given().near(turn, REACH).filter(|given| matches!(given.source, Source::Message));
    messages.take(MOST_MESSAGES).any(|given| Tally::parse(given.text).printed.contains(&number))
}

/// "30 tests in all: 26 passed, 3 skipped, 1 flaky": whether the numbers after it add up to it.
fn adds_up(answer: &Answer<'_>, count: &Count<'_>) -> bool {
    let prose = &answer.prose;
    let from = prose.tokens.partition_point(|t| t.start < count.last.end);
    let at = prose.sentences.partition_point(|sentence| sentence.tokens.end <= from);
    let end = prose.sentences.get(at).map_or(from, |sentence| sentence.tokens.end);
    let numbers = prose.tokens(from..end).iter().filter(|t| t.kind == TokenKind::Number);
    let parts: Vec<u64> = numbers.filter_map(|t| prose.word(t).parse().ok()).collect();
    parts.len() > 1 && parts.iter().fold(0_u64, |sum, n| sum.saturating_add(*n)) == count.number
}

/// Whether the number occurs in a result or in the agent's own arguments.
fn occurs_somewhere(facts: &Facts<'_>, turn: usize, number: u64) -> bool {
    let shown = |given: &&Text<'_>| !matches!(given.source, Source::Message);
    let wanted = i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(100);
    facts.given().near(turn, REACH).filter(shown).any(|given| {
        let mut found = false;
        each_figure(given.text, |figure| found |= figure.0 == wanted);
        found
    })
}

/// Whether the agent wrote this number of tests.
fn wrote_tests(facts: &Facts<'_>, turn: usize, number: u64) -> bool {
    const BEGINS: [&str; 10] = [
        "it \\\"",
        "it '",
        "it(",
        "test(",
        "test \\\"",
        "def test_",
        "#[test]",
        "func Test",
        "@Test",
        "[Fact]",
    ];
    let wrote = facts.deeds_before(turn).filter(|(_, deed)| !deed.written.is_empty()).take(64);
    let mut sum = 0;
    for (execution, _) in wrote {
        let text = execution.arguments();
        let counts = BEGINS.iter().map(|mark| text.matches(mark).count());
        let own = counts.fold(0, usize::saturating_add);
        sum += own;
        if [own, sum].iter().any(|n| u64::try_from(*n) == Ok(number)) {
            return true;
        }
    }
    false
}

/// "- `tests/test_slug.py` (new): 3 tests": whether the sentence is about one file.
fn names_file(answer: &Answer<'_>, count: &Count<'_>) -> bool {
    let prose = &answer.prose;
    let at = prose.tokens.partition_point(|t| t.start < count.first.start);
    let path = |t: &Token| {
        t.kind == TokenKind::Path
            || (t.kind == TokenKind::Code && has_file_extension(prose.word(t)))
    };
    prose.before_in_sentence(at).iter().any(path)
}
