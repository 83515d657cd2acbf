mod counts;
mod ended;
mod reports;

use std::collections::BTreeSet;

use counterfoil_model::{Claim, ClaimKind, Code, Family, Mode, Object, ObjectKind, Span};
use counterfoil_shell::{ActivityKind, summary};

use crate::facts::{Answer, Deed, Execution, Facts, Families, words_of};
use crate::findings::{Findings, Note};
use crate::grounding::{Miscounted, miscounted};
use crate::prose::{
    Action, BlockKind, Clause, Kinds, Mood, Tags, Token, TokenKind, has_file_extension,
};
use crate::rule::{Group, Meta, Rule};
use crate::values::{
    Countable, Figure, Leaf, Leaves, Phrase, SPELLED, Source, Tally, Text, Working, each_figure,
    holds, list_of, whole,
};

use counts::{Count, Former, counts, former};
use reports::Counted;

/// So many bytes of results before a message are counted through.
const REACH: usize = 32 * 1024;
/// So many, where what was counted first is looked for.
const FAR: usize = 16 * 1024 * 1024;
/// So many messages of the user are looked at.
const MOST_TOLD: usize = 6;

/// So many calls before a message are looked through for lists.
const MOST_CALLS: usize = 16;
/// Smaller numbers stand everywhere.
const LARGE: u64 = 100;
/// Smaller numbers stand in every result.
const FEW: u64 = 13;

/// CS010: a number of things that is not what the results counted.
pub(crate) struct WrongCount;

static META: Meta = Meta {
    code: Code("CS010"),
    name: "wrong-count",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent states a number of tests, files, errors or hits, but the results counted another",
    page: include_str!("../../spec/CS010.md"),
};

impl Rule for WrongCount {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            judge_kinds(facts, findings, answer);
            let numbered = |c: &&Clause| c.kinds.any(Kinds::DIGITS) || c.may_hold(SPELLED);
            for clause in answer.prose.clauses.iter().filter(numbered) {
                for count in counts(&answer.prose, clause) {
                    judge(facts, findings, answer, &count);
                }
                if let Some(change) = former(&answer.prose, clause) {
                    judge_former(facts, findings, answer, &change);
                }
                judge_phrases(facts, findings, answer, clause);
                judge_commits(facts, findings, answer, clause);
            }
        }
    }
}

/// So many of a kind, where the lists have another number of them.
fn judge_kinds(facts: &Facts<'_>, findings: &mut Findings<'_>, answer: &Answer<'_>) {
    let Some(Miscounted { clause, told, kind, held, at }) = miscounted(facts, answer) else {
        return;
    };
    let claim = answer.prose.claim(clause, ClaimKind::Count, Vec::new(), answer.turn);
    let message = format!("the agent says {told} {kind}; the results have {held}");
    let note = Note::suspected(message).evidence(facts.evidence_at(at));
    findings.contradicted(facts, &claim, note);
}

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, answer: &Answer<'_>, count: &Count<'_>) {
    let turn = answer.turn;
    let span = Span::new(count.first.start as usize, count.last.end as usize);
    let text = span.of(answer.prose.text);
    let claim = Claim {
        kind: ClaimKind::Count,
        text: text.to_owned(),
        objects: vec![Object { kind: ObjectKind::Number, text: count.number.to_string() }],
        span,
        turn,
    };
    let Some(kind) = count.kind else {
        return judge_listed(facts, findings, &claim, answer, count);
    };
    if let Some((execution, files)) = other_diffstat(facts, answer, count) {
        let message =
            format!("the change of so many lines has {files} files, not {}", count.number);
        let note = Note::suspected(message);
        let note = note.help("quote the number as the result has it");
        return findings.contradicted(facts, &claim, note.evidence([facts.evidence(execution)]));
    }
    let (evidence, numbers, least) = match reports::counted(facts, answer, count, kind) {
        Counted::Same(evidence) => return findings.supported(&claim, [evidence]),
        Counted::Unknown => return findings.not_checkable(&claim),
        Counted::Other { evidence, numbers, least } => (evidence, numbers, least),
    };
    // "`pay_00412`: 4 rows": of those of one thing.
    if kind == Countable::Hits && names_thing(answer, count) {
        return findings.not_checkable(&claim);
    }
    if lists(answer, count.number)
        || is_told(facts, turn, kind, count.number)
        || changed(facts, turn, count)
    {
        return findings.supported(&claim, []);
    }
    if may_be_else(facts, answer, count, kind, least) {
        return findings.not_checkable(&claim);
    }
    let latest = listed(&numbers);
    findings.contradicted(
        facts,
        &claim,
        Note::proven(format!("no result counts {text}; the latest has {latest}"))
            .help("quote the number as the result has it")
            // Only a test runner counts what people count in the same words.
            .provable_if(
                kind == Countable::Tests && !count.implied && facts.is_complete_before(turn),
            )
            .evidence([evidence]),
    );
}

/// The first numbers, each once.
fn listed(numbers: &[u64]) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for number in numbers.iter().map(ToString::to_string) {
        if !distinct.contains(&number) && distinct.len() < 4 {
            distinct.push(number);
        }
    }
    distinct.join(", ")
}

/// Whether the number may count something else than the results do.
fn may_be_else(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    count: &Count<'_>,
    kind: Countable,
    least: u64,
) -> bool {
    let turn = answer.turn;
    if kind == Countable::Tests && (adds_up(answer, count) || ran_earlier(facts, turn, count)) {
        return true;
    }
    // "10,482 in the copy, 9,975 in the original: a gap of 507 rows"
    let figure = i64::try_from(count.number).ok().and_then(|number| number.checked_mul(100));
    let bridges = |figure: i64| Working::new(facts, answer).bridges(Figure(figure));
    if kind != Countable::Tests && figure.is_some_and(bridges) {
        return true;
    }
    // "2,000 rows at a time", as the agent has set it; the rows of a table that another result
    // counts. Runs of tests print their own numbers.
    let common = if kind == Countable::Tests { LARGE } else { FEW };
    if count.number >= common && stands_somewhere(facts, turn, count.number) {
        return true;
    }
    // "3 new tests" may be some of those that were counted, and so may those of one file.
    printed_alone(facts, turn, count.number)
        || ((count.some || names_file(answer, count)) && count.number <= least)
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

/// Whether something is named before the count, in code or by its id.
fn names_thing(answer: &Answer<'_>, count: &Count<'_>) -> bool {
    let prose = &answer.prose;
    let at = prose.tokens.partition_point(|t| t.start < count.first.start);
    let mut before = prose.before_in_sentence(at).iter();
    before.any(|t| matches!(t.kind, TokenKind::Code | TokenKind::Id | TokenKind::Identifier))
}

/// "from 11 errors to 2": where results counted before and after, one of them has the first number.
fn judge_former(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    change: &Former<'_>,
) {
    let turn = answer.turn;
    let span = Span::new(change.first.start as usize, change.last.end as usize);
    let text = span.of(answer.prose.text).to_owned();
    let claim = Claim { kind: ClaimKind::Count, text, objects: Vec::new(), span, turn };
    let (mut was, mut is, mut evidence) = (false, false, Vec::new());
    for given in facts.given().near(turn, FAR) {
        let has = |number: u64| {
            let wanted = i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(100);
            let mut found = false;
            each_figure(given.text, |figure| found |= figure.0 == wanted);
            found
        };
        let tally = Tally::of(given.text, change.kind);
        was |= has(change.was) || tally.counted.contains(&change.was);
        if matches!(given.source, Source::Result(_)) && !tally.printed.is_empty() {
            is |= tally.printed.contains(&change.is);
            evidence.push(facts.evidence_in(given));
        }
    }
    if was {
        return findings.supported(&claim, []);
    }
    if !is || evidence.len() < 2 || !facts.is_complete_before(turn) {
        return findings.not_checkable(&claim);
    }
    let message = format!("no result counted {} before", change.was);
    let note = Note::suspected(message).help("quote the number as the result had it");
    findings.contradicted(facts, &claim, note.evidence(evidence));
}

/// "from 96 lines to": held against what results say in the same words.
fn judge_phrases<'t>(
    facts: &Facts<'t>,
    findings: &mut Findings<'_>,
    answer: &Answer<'t>,
    clause: &Clause,
) {
    if !matches!(clause.mood, Mood::Asserted | Mood::Observed) {
        return;
    }
    let (turn, prose) = (answer.turn, &answer.prose);
    for token in prose.tokens(clause.tokens.clone()) {
        if token.kind != TokenKind::Number || token.quoted {
            continue;
        }
        let span = token.span();
        let Some(phrase) = Phrase::around(prose.text, span.start, span.end) else { continue };
        let Some((given, number)) = phrase.otherwise(facts.given().near(turn, REACH)) else {
            continue;
        };
        let text = span.of(prose.text).to_owned();
        let holds_number = |text: &str, number: &str| {
            let digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
            memchr::memmem::find_iter(text.as_bytes(), number).any(|at| {
                let before = at.checked_sub(1).and_then(|i| text.as_bytes().get(i));
                !digit(before) && !digit(text.as_bytes().get(at + number.len()))
            })
        };
        if facts.given().near(turn, REACH).any(|given| holds_number(given.text, &text)) {
            continue;
        }
        let message = format!("the agent says {text}; the result has {number}");
        let claim = Claim { kind: ClaimKind::Count, text, objects: Vec::new(), span, turn };
        findings.contradicted(
            facts,
            &claim,
            Note::suspected(message)
                .help("quote the number as the result has it")
                .evidence([facts.evidence_in(given)]),
        );
    }
}

/// "I found 5 mails": held against the lists that tools of that name gave.
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
    let (mut most, mut sum) = (None, 0_u64);
    for (execution, deed) in facts.deeds_before(claim.turn).take(MOST_CALLS) {
        if !holds(&deed.tool, stem) || !deed.words().iter().any(|w| w.starts_with(stem)) {
            continue;
        }
        let Some(length) = list_of(execution.text()) else { return };
        sum = sum.saturating_add(length);
        if most.is_none_or(|(known, _)| known < length) {
            most = Some((length, execution));
        }
    }
    // Of an empty list nothing can be counted; the number is of something else.
    let Some((length, execution)) = most.filter(|(length, _)| *length > 0) else { return };
    let evidence = facts.evidence(execution);
    if is_list_of(facts, claim.turn, stem, count.number) {
        return findings.supported(claim, []);
    }
    // A list may be cut off, and its whole length stand beside it.
    if is_total(execution.text(), count.number) {
        return findings.supported(claim, [evidence]);
    }
    if count.number <= sum {
        return match count.number == length {
            true => findings.supported(claim, [evidence]),
            false => findings.not_checkable(claim),
        };
    }
    findings.contradicted(
        facts,
        claim,
        Note::proven(format!("the results list {length} {noun}, not {}", count.number))
            .help("quote the number as the result has it")
            .provable_if(
                facts.is_complete_before(claim.turn) && !facts.acts_freely_before(claim.turn),
            )
            .evidence([evidence]),
    );
}

/// Whether a result has the number as how many there are in all.
fn is_total(text: &str, number: u64) -> bool {
    const NAMES: [&str; 5] = ["total", "count", "found", "hits", "size"];
    let wanted = number.to_string();
    Leaves::of(text).is_some_and(|leaves| {
        leaves.nodes().iter().any(|node| {
            node.leaf == Leaf::Number(&wanted)
                && words_of(node.name).iter().any(|word| NAMES.contains(&word.as_str()))
        })
    })
}

/// Whether a result has a list of that name and length, whatever tool gave it.
fn is_list_of(facts: &Facts<'_>, turn: usize, stem: &str, number: u64) -> bool {
    let documents = facts.given().documents(stem, turn, REACH);
    documents.iter().flat_map(|document| document.nodes()).any(|node| match node.leaf {
        Leaf::List(length) => node.name.starts_with(stem) && length as u64 == number,
        _ => false,
    })
}

/// Whether a result reports on something, rather than showing what a file holds.
fn is_report(deed: &Deed<'_>) -> bool {
    let content = Families::of(&[Family::Read, Family::Update, Family::Create]);
    deed.shell.is_some()
        || deed.delegates
        || deed.families.has(Family::Search)
        || !deed.families.meets(content)
}

/// A summary of a change is no longer than this.
const LONGEST_DIFFSTAT: usize = 200;

/// "3 files, +320/−25": the result that counts other files for a change of these lines.
fn other_diffstat<'f, 't>(
    facts: &'f Facts<'t>,
    answer: &Answer<'_>,
    count: &Count<'_>,
) -> Option<(&'f Execution<'t>, u64)> {
    if count.kind != Some(Countable::Files) {
        return None;
    }
    let behind = answer.prose.text.get(count.last.end as usize..)?;
    let line = behind.get(..behind.floor_char_boundary(LONGEST_DIFFSTAT))?.lines().next()?;
    let (_, lines) = line.split_once('+').filter(|(between, _)| between.len() <= 3)?;
    let digits = |text: &str| -> Option<u64> {
        let len = text.bytes().take_while(u8::is_ascii_digit).count();
        text.get(..len)?.parse().ok()
    };
    let added = digits(lines)?;
    let (_, removed) = lines.split_once(['-', '−', '–'])?;
    let wanted = [added, digits(removed)?];
    let mut other = None;
    for given in facts.given().near(answer.turn, REACH) {
        let Source::Result(at) = given.source else { continue };
        for line in given.text.lines().filter(|line| line.contains(" changed, ")) {
            let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(digits);
            let Some(files) = numbers.next() else { continue };
            if !numbers.eq(wanted) {
                continue;
            }
            if files == count.number {
                return None;
            }
            other = other.or_else(|| Some((facts.record().executions().get(at)?, files)));
        }
    }
    other
}

/// Whether a line of a report speaks of files and has the number: "Test Files  2 passed (2)".
fn has_line_of_files(text: &str, number: u64) -> bool {
    text.lines().filter(|line| line.len() < 200).any(|line| {
        let rest = line.trim_start().strip_prefix("Test ").unwrap_or(line).trim_start();
        let counts = rest.strip_prefix("Files").or_else(|| rest.strip_prefix("Suites"));
        let mut words = counts.unwrap_or_default().split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| whole(word) == Some(number))
    })
}

/// Whether the user gave the number: pasted from a run of their own.
fn is_told(facts: &Facts<'_>, turn: usize, kind: Countable, number: u64) -> bool {
    let told = facts.given().near(turn, REACH).filter(|given| matches!(given.source, Source::Told));
    told.take(MOST_TOLD).any(|given| Tally::of(given.text, kind).printed.contains(&number))
}

/// Whether any run before had the number, however long ago.
fn ran_earlier(facts: &Facts<'_>, turn: usize, count: &Count<'_>) -> bool {
    facts.deeds_before(turn).filter(|(_, deed)| deed.shell.is_some()).any(|(execution, _)| {
        let ran = summary(execution.text(), ActivityKind::Test);
        [ran.passed, ran.failed, ran.errors, ran.skipped].contains(&Some(count.number))
    })
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

/// Whether the agent itself has put the number somewhere, or a result has it.
fn stands_somewhere(facts: &Facts<'_>, turn: usize, number: u64) -> bool {
    let shown = |given: &&Text<'_>| !matches!(given.source, Source::Told);
    let wanted = i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(100);
    facts.given().near(turn, REACH).filter(shown).any(|given| {
        let mut found = false;
        each_figure(given.text, |figure| found |= figure.0 == wanted);
        found
    })
}

/// Whether the answer itself lists so many things.
fn lists(answer: &Answer<'_>, wanted: u64) -> bool {
    let listed = answer.lists.get_or_init(|| {
        let items = answer.prose.blocks.iter().filter(|b| matches!(b.kind, BlockKind::Item { .. }));
        let paths = answer.prose.tokens.iter().filter(|t| t.kind == TokenKind::Path);
        let paths: BTreeSet<&str> = paths.map(|t| answer.prose.word(t)).collect();
        [items.count(), paths.len()]
    });
    listed.iter().any(|n| u64::try_from(*n) == Ok(wanted))
}

/// "The work is in two commits": where fewer were made.
fn judge_commits(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) {
    let (prose, turn) = (&answer.prose, answer.turn);
    let tokens = prose.tokens(clause.tokens.clone());
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::THIRD).or(Tags::EARLIER);
    let named = tokens.windows(3).find_map(|words| {
        let [made, number, commits] = words else { return None };
        let own = made.verb == Some(Action::Of(Family::Commit))
            || prose.is(made, words!["made", "created", "in", "into", "as"]);
        let number = whole(prose.word(number)).filter(|n| (2..=20).contains(n))?;
        (own && prose.is(commits, words!["commits"])).then_some((number, commits))
    });
    let Some((number, last)) = named.filter(|_| clause.mood == Mood::Asserted) else { return };
    let shown = facts.is_complete_before(turn)
        && facts.runs_shell_before(turn)
        && !facts.delegates_before(turn)
        && !facts.is_opaque_before(turn);
    let commits = Families::of(&[Family::Commit]);
    let made = facts.deeds_before(turn).filter(|(_, deed)| {
        deed.families.has(Family::Commit) && deed.status_for(commits).succeeded()
    });
    let runs = |deed: &Deed<'_>| {
        let runs = deed.shell.iter().flat_map(|work| &work.runs);
        runs.filter(|run| run.family == Family::Commit).count().max(1)
    };
    let count: usize = made.map(|(_, deed)| runs(deed)).sum();
    if !shown || clause.tags.any(doubt) || u64::try_from(count).is_ok_and(|count| count >= number) {
        return;
    }
    let span = Span::new(clause.span.start, last.end as usize);
    let claim = Claim {
        kind: ClaimKind::Count,
        text: span.of(prose.text).to_owned(),
        objects: vec![Object { kind: ObjectKind::Number, text: number.to_string() }],
        span,
        turn,
    };
    let note = Note::suspected(format!("the record shows {count}, not {number}"));
    findings.contradicted(facts, &claim, note.help("count them again"));
}

/// Whether the agent wrote so many tests.
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

/// Whether the agent changed so many files.
fn changed(facts: &Facts<'_>, turn: usize, count: &Count<'_>) -> bool {
    if count.kind == Some(Countable::Tests) {
        return wrote_tests(facts, turn, count.number);
    }
    if count.kind != Some(Countable::Files) {
        return false;
    }
    let mut files = BTreeSet::new();
    for (_, deed) in
        facts.deeds_before(turn).filter(|(_, deed)| deed.status().succeeded()).take(256)
    {
        files.extend(deed.written.iter().map(String::as_str));
        if u64::try_from(files.len()) == Ok(count.number) {
            return true;
        }
    }
    false
}
