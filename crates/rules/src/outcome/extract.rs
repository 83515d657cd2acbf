use countersign_model::{Claim, ClaimKind, Family, Span};

use super::verdict::{
    builds_at, check_at, clears, ends_before, is_generic, is_part, is_tick, is_wished,
    passes_everything, passing_at, reports_trouble, says_which, some_fail, sum_of_run,
};
use crate::action::objects_in;
use crate::facts::Answer;
use crate::other_language::outcome_claim_in;
use crate::prose::{
    Action, BlockKind, Clause, Language, Lexicon, Mood, Prose, Subject, Tags, Token, TokenKind,
    Voice, is_agenda, name_of_field,
};

/// A claim that a check came out well.
#[derive(Debug)]
pub(crate) struct OutcomeClaim {
    /// The claim.
    pub(crate) claim: Claim,
    /// The kind of check.
    pub(crate) family: Family,
    /// It speaks of one thing among others: "the test passes".
    pub(crate) singular: bool,
    /// The same message says that something failed.
    pub(crate) discloses: bool,
    /// It speaks of a part: "for module A".
    pub(crate) narrowed: bool,
    /// A row of a table says it: that may be a table of targets.
    pub(crate) tabular: bool,
    /// It speaks of the whole suite in so many words.
    pub(crate) whole: bool,
    /// It speaks of a run somewhere else: in CI.
    pub(crate) elsewhere: bool,
    /// It only says that the check was run.
    pub(crate) ran: bool,
    /// It names no check, and speaks of all there are: "everything's green".
    pub(crate) general: bool,
    /// It says which tests it means: "the header tests".
    pub(crate) partly: bool,
    /// How many are said to have passed, where it is not said that these were all.
    pub(crate) number: Option<u64>,
    /// The language in which it is made.
    pub(crate) language: Language,
}

impl OutcomeClaim {
    /// What is said to have passed, as a word.
    pub(crate) fn noun(&self) -> &'static str {
        match self.family {
            Family::Test => "test",
            Family::Lint => "lint",
            _ => "build",
        }
    }
}

/// The claims of this kind in one answer.
pub(crate) fn outcome_claims(answer: &Answer<'_>) -> Vec<OutcomeClaim> {
    let prose = &answer.prose;
    let mut claims = Vec::new();
    let mut discloses = false;
    for (index, clause) in prose.clauses.iter().enumerate() {
        discloses |= reports_trouble(prose, clause);
        if prose.language_of(clause) != Language::English {
            claims.extend(outcome_claim_in(prose, clause, answer.turn));
            continue;
        }
        if let Some((family, at)) =
            check_in_row(prose, clause).or_else(|| ticked_check(prose, clause))
        {
            let claim = outcome_claim(prose, clause, family, at, answer.turn);
            claims.push(OutcomeClaim { tabular: true, ..claim });
            continue;
        }
        if clause.mood != Mood::Asserted || is_tabular(prose, clause) || is_agenda(prose, clause) {
            continue;
        }
        let mut checks = checks_that_pass(prose, clause);
        if checks.is_empty() {
            checks = check_before(prose, index);
        }
        let silent = checks.is_empty();
        for (family, at) in checks {
            claims.push(outcome_claim(prose, clause, family, at, answer.turn));
        }
        if let Some(at) = everything(prose, clause).filter(|_| silent) {
            let claim = outcome_claim(prose, clause, Family::Test, at, answer.turn);
            let listed = checks_behind(prose, clause);
            if listed.is_empty() {
                claims.push(OutcomeClaim { general: true, ..claim });
            }
            for (family, at) in listed {
                claims.push(outcome_claim(prose, clause, family, at, answer.turn));
            }
        }
        if let Some((family, at)) = check_run(prose, clause) {
            let claim = outcome_claim(prose, clause, family, at, answer.turn);
            claims.push(OutcomeClaim { ran: true, ..claim });
        }
    }
    for claim in &mut claims {
        claim.discloses = discloses;
    }
    claims
}

fn outcome_claim(
    prose: &Prose<'_>,
    clause: &Clause,
    family: Family,
    at: usize,
    turn: usize,
) -> OutcomeClaim {
    let words = clause.span.of(prose.text);
    let trimmed = words.trim_start_matches([',', ';', '(', ' ', '\n', ':', '-', '—', '–', ')']);
    let span = Span::new(clause.span.end - trimmed.len(), clause.span.end);
    let noun = prose.tokens.get(at).map(|t| prose.word(t).to_ascii_lowercase());
    let plain = prose.tokens(clause.tokens.clone());
    let all = plain.iter().any(|t| {
        matches!(
            prose.word(t),
            "all" | "All" | "every" | "full" | "whole" | "entire" | "both" | "Both"
        )
    });
    let sentence = prose.sentences.get(clause.sentence).map(|s| s.tokens.clone());
    let sentence = prose.tokens(sentence.unwrap_or_default());
    let place = at.saturating_sub(clause.tokens.start);
    let inside = clause.tokens.contains(&at);
    let number = plain.windows(2).find_map(|pair| {
        let [number, word] = pair else { return None };
        let counted = word.noun == Some(Family::Test) || word.has(Tags::PASSING);
        prose.word(number).parse().ok().filter(|_| counted && number.kind == TokenKind::Number)
    });
    let singular =
        family == Family::Test && !all && noun.is_some_and(|n| n == "test" || n == "spec");
    OutcomeClaim {
        claim: Claim {
            kind: ClaimKind::Outcome(family),
            text: span.of(prose.text).to_owned(),
            objects: objects_in(prose, clause.tokens.clone()),
            span,
            turn,
        },
        family,
        singular,
        discloses: false,
        narrowed: is_narrowed(prose, plain),
        tabular: false,
        whole: family == Family::Test && speaks_of_whole(prose, sentence),
        elsewhere: plain.iter().any(|t| {
            matches!(prose.word(t), "CI" | "pipeline" | "Actions" | "upstream" | "remote" | "badge")
        }),
        ran: false,
        general: false,
        partly: family == Family::Test && inside && says_which(prose, plain, place),
        number: number.filter(|_| !all),
        language: Language::English,
    }
}

/// `| Tests | passed |`: a cell that says no more than that it came out well, behind one that names
/// a check.
fn check_in_row(prose: &Prose<'_>, clause: &Clause) -> Option<(Family, usize)> {
    let place = |index: usize| {
        let sentence = prose.sentences.get(index)?;
        match prose.block_of(sentence)?.kind {
            BlockKind::Cell { row, column } => Some((row, column)),
            _ => None,
        }
    };
    if let Some(found) = check_in_field(prose, clause) {
        return Some(found);
    }
    let (row, column) = place(clause.sentence).filter(|&(_, column)| column > 0)?;
    let said = prose.tokens(clause.tokens.clone());
    let plain = Tags::PASSING.or(Tags::ADVERB).or(Tags::DETERMINER).or(Tags::THING);
    let passed = said.iter().any(|t| t.has(Tags::PASSING) || is_tick(t));
    let mut words = said.iter().filter(|t| t.kind == TokenKind::Word);
    if !passed || !words.all(|t| t.has(plain)) || some_fail(prose, clause) {
        return None;
    }
    let before = clause.sentence.checked_sub(1)?;
    if place(before) != Some((row, column - 1)) {
        return None;
    }
    let named = prose.sentences.get(before)?.tokens.clone();
    if named.len() > 4 {
        return None;
    }
    let tokens = prose.tokens(named.clone());
    (0..tokens.len()).find_map(|at| Some((check_at(prose, tokens, at)?, named.start + at)))
}

/// "✅ Tests (211)": a ticked item that names a check and nothing else.
fn ticked_check(prose: &Prose<'_>, clause: &Clause) -> Option<(Family, usize)> {
    let sentence = prose.sentences.get(clause.sentence)?;
    let block = prose.block_of(sentence)?;
    let whole = prose.tokens(sentence.tokens.clone());
    let first = clause.tokens.start == sentence.tokens.start;
    if block.kind != (BlockKind::Item { ticked: Some(true) }) || !first || whole.len() > 5 {
        return None;
    }
    let alone = whole.iter().skip(1).all(|t| t.kind != TokenKind::Word);
    let family = check_at(prose, whole, 0).filter(|_| alone)?;
    Some((family, clause.tokens.start))
}

/// `"tests": "passed"`: a member named after a check, that says no more than that it passed.
fn check_in_field(prose: &Prose<'_>, clause: &Clause) -> Option<(Family, usize)> {
    let block = prose.block_of(prose.sentences.get(clause.sentence)?)?;
    let name = name_of_field(prose.text, block.span).filter(|_| block.kind == BlockKind::Field)?;
    let family = Lexicon::english().get(name)?.noun?;
    let check = matches!(family, Family::Test | Family::Build | Family::Lint);
    let said = prose.tokens(clause.tokens.clone());
    let passes = said.len() <= 3 && said.iter().any(|t| t.has(Tags::PASSING) || is_tick(t));
    let plain = said.iter().all(|t| !t.has(Tags::NEGATION.or(Tags::FAILURE)));
    (check && passes && plain).then_some((family, clause.tokens.start))
}

/// "the full test suite", "the entire suite", "across all packages"
fn speaks_of_whole(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let word = |t: &Token| prose.word(t).to_ascii_lowercase();
    let whole = |t: &Token| matches!(word(t).as_str(), "full" | "entire" | "whole" | "complete");
    let suite = |t: &Token| matches!(word(t).as_str(), "suite" | "suites" | "tests");
    let place = |t: &Token| {
        let word = word(t);
        let places = ["package", "crate", "workspace", "project", "codebase", "repository", "repo"];
        places.contains(&word.strip_suffix('s').unwrap_or(&word))
    };
    let everywhere = tokens.windows(2).any(|pair| {
        let [all, of] = pair else { return false };
        matches!(word(all).as_str(), "all" | "every" | "entire" | "whole") && place(of)
    });
    // "every test in the repository"
    let all = tokens.iter().position(|t| matches!(word(t).as_str(), "all" | "every"));
    let inside = tokens.windows(2).position(|pair| {
        let [the, of] = pair else { return false };
        matches!(word(the).as_str(), "the" | "this") && place(of)
    });
    let everywhere = everywhere || matches!((all, inside), (Some(all), Some(at)) if all < at);
    if everywhere {
        return true;
    }
    let Some(at) = tokens.iter().position(whole) else { return false };
    let behind = tokens.get(at + 1..).unwrap_or_default();
    let mut described = behind.iter().take(3);
    described.any(suite) && !behind.iter().take(2).any(|t| word(t) == "short")
}

/// The checks that the clause says came out well, each with the token that names it.
fn checks_that_pass(prose: &Prose<'_>, clause: &Clause) -> Vec<(Family, usize)> {
    let tokens = prose.tokens(clause.tokens.clone());
    let own = |t: &Token| !t.quoted && t.kind == TokenKind::Word;
    let clear = clears(prose, tokens);
    let sum = sum_of_run(prose, clause).map(|at| (Family::Test, clause.tokens.start + at));
    let verdict = passing_at(prose, tokens).or(clear);
    let built = || builds_at(prose, tokens).map(|at| (Family::Build, clause.tokens.start + at));
    let built = if verdict.is_none() && sum.is_none() { built() } else { None };
    if verdict.is_none() && sum.is_none() && built.is_none() {
        return Vec::new();
    }
    if tokens.iter().any(|t| t.has(Tags::MODAL.or(Tags::EARLIER).or(Tags::HEDGE))) {
        return Vec::new();
    }
    if is_fraction(prose, tokens) || excepts(prose, clause) || some_fail(prose, clause) {
        return Vec::new();
    }
    let negated =
        tokens.iter().any(|t| t.has(Tags::NEGATION.or(Tags::FAILURE)) && !t.has(Tags::TROUBLE));
    let troubled = tokens.iter().any(|t| t.has(Tags::TROUBLE.or(Tags::FAILURE)));
    if (negated || troubled) && clear.is_none() {
        return Vec::new();
    }
    let Some(verdict) = verdict else {
        return sum.or(built.filter(|_| !negated && !troubled)).into_iter().collect();
    };
    if ends_before(prose, clause.tokens.start + verdict) {
        return Vec::new();
    }
    let mut found: Vec<(Family, usize)> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let Some(family) = check_at(prose, tokens, i) else { continue };
        if !(own(token) || token.kind == TokenKind::Code)
            || found.iter().any(|&(known, _)| known == family)
        {
            continue;
        }
        let verbal = token.noun.is_none();
        let ticked = tokens.get(i + 1).is_some_and(is_tick);
        let in_place = i < verdict || (verbal && i <= verdict) || clear.is_some() || ticked;
        if in_place
            && !is_wished(prose, tokens, i)
            && !is_part(prose, tokens, i)
            && !is_generic(prose, tokens, i)
        {
            found.push((family, clause.tokens.start + i));
        }
    }
    if found.is_empty() {
        found.extend(sum);
    }
    // A run that passes is one check, also when the noun is made of two: "build tests".
    if found.iter().any(|&(f, _)| f == Family::Test) && tokens.len() < 5 {
        found.retain(|&(f, _)| f == Family::Test || found_joined(prose, tokens));
    }
    found
}

/// A check named just before in the sentence: "Tests: 12/12 passing", "I ran the tests and
/// everything passed", "the suite was run and has passed".
fn check_before(prose: &Prose<'_>, index: usize) -> Vec<(Family, usize)> {
    let Some((clause, before)) =
        index.checked_sub(1).and_then(|i| Some((prose.clauses.get(index)?, prose.clauses.get(i)?)))
    else {
        return Vec::new();
    };
    let tokens = prose.tokens(clause.tokens.clone());
    let mark = |t: &Token| t.is(':') || t.is('→') || t.is('—') || t.is('–') || t.is(';');
    let labelled = tokens.first().is_some_and(mark);
    let everything =
        tokens.iter().take(3).any(|t| prose.is(t, &["everything", "all", "they", "it", "both"]));
    // "… and has passed": the subject is that of the clause before.
    let goes_on =
        tokens.first().is_some_and(|t| t.has(Tags::COORDINATE) && !t.has(Tags::ADVERSATIVE))
            && tokens.iter().skip(1).take_while(|t| !t.has(Tags::PASSING)).all(|t| {
                t.has(Tags::HAVE.or(Tags::BE).or(Tags::ADVERB).or(Tags::NOW)) && !t.has(Tags::THING)
            });
    if before.sentence != clause.sentence || !(labelled || everything || goes_on) {
        return Vec::new();
    }
    let clear = clears(prose, tokens);
    let verdict = passing_at(prose, tokens).or(clear);
    let denied = Tags::NEGATION.or(Tags::FAILURE);
    let plain = tokens.iter().all(|t| {
        !t.has(Tags::MODAL) && (clear.is_some() || !t.has(denied) || said_without(prose, t))
    });
    if !plain
        || is_fraction(prose, tokens)
        || some_fail(prose, clause)
        || verdict.is_none_or(|at| ends_before(prose, clause.tokens.start + at))
        || before.mood != Mood::Asserted
        || excepts(prose, clause)
    {
        return Vec::new();
    }
    let named = prose.tokens(before.tokens.clone());
    let doubt = Tags::NEGATION.or(Tags::FAILURE).or(Tags::MODAL).or(Tags::INTEND);
    if named.iter().any(|t| t.has(doubt)) {
        return Vec::new();
    }
    let types = |at: usize| {
        let alone = named.len() <= 2 && matches!(prose.word(named.get(at)?), "Types" | "types");
        (alone && labelled).then_some(Family::Lint)
    };
    let found = (0..named.len()).find_map(|at| {
        let family = check_at(prose, named, at).or_else(|| types(at))?;
        (!is_part(prose, named, at) && !is_wished(prose, named, at))
            .then_some((family, before.tokens.start + at))
    });
    found.into_iter().collect()
}

/// "without": what it denies is no check.
fn said_without(prose: &Prose<'_>, token: &Token) -> bool {
    prose.word(token) == "without"
}

/// "All green: vet, tests.": the checks that a verdict on everything lists behind it.
fn checks_behind(prose: &Prose<'_>, clause: &Clause) -> Vec<(Family, usize)> {
    let end = prose.sentences.get(clause.sentence).map_or(clause.tokens.end, |s| s.tokens.end);
    let behind = prose.tokens(clause.tokens.end..end);
    let plain = |t: &Token| {
        matches!(t.kind, TokenKind::Symbol(_))
            || t.noun.is_some()
            || t.tags.is_empty()
            || t.has(Tags::COORDINATE)
    };
    if !behind.first().is_some_and(|t| t.is(':')) || !behind.iter().all(plain) {
        return Vec::new();
    }
    let mut found: Vec<(Family, usize)> = Vec::new();
    for at in 0..behind.len() {
        if let Some(family) = check_at(prose, behind, at)
            && !found.iter().any(|&(known, _)| known == family)
        {
            found.push((family, clause.tokens.end + at));
        }
    }
    found
}

/// A verdict on everything, where nothing in the sentence speaks against it.
fn everything(prose: &Prose<'_>, clause: &Clause) -> Option<usize> {
    let tokens = prose.tokens(clause.tokens.clone());
    let at = passes_everything(prose, tokens)?;
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::NEGATION).or(Tags::EARLIER);
    if tokens.iter().any(|t| t.has(doubt)) || excepts(prose, clause) || some_fail(prose, clause) {
        return None;
    }
    (!ends_before(prose, clause.tokens.start + at)).then_some(clause.tokens.start + at)
}

/// "I ran the test suite", "the suite was executed", "verified it with the unit tests": the check
/// and its noun.
fn check_run(prose: &Prose<'_>, clause: &Clause) -> Option<(Family, usize)> {
    clause.predicates.iter().filter(|p| !p.negated && !p.earlier).find_map(|p| {
        let runs = p.action == Action::Of(Family::Run);
        let checks = matches!(p.action, Action::Of(Family::Read | Family::Test));
        let named = |at: usize| {
            let token = prose.tokens.get(at)?;
            if token.kind == TokenKind::Code {
                return check_at(prose, prose.tokens(at..at + 1), 0).map(|family| (family, at));
            }
            let family = token.noun.filter(|f| matches!(f, Family::Test | Family::Lint))?;
            (!is_part(prose, &prose.tokens, at)).then_some((family, at))
        };
        match (p.voice, p.subject) {
            (Voice::Active, Subject::Agent) if runs => {
                p.object_tokens.clone().take(5).find_map(named)
            }
            (Voice::Active, Subject::Agent) if checks => {
                let tool = p.object_tokens.clone().find(|&at| {
                    prose.tokens.get(at).is_some_and(|t| {
                        matches!(prose.word(t), "with" | "using" | "through" | "via")
                    })
                })?;
                (tool + 1..p.object_tokens.end).take(4).find_map(named)
            }
            (Voice::PerfectPassive | Voice::PastPassive, Subject::Thing) if runs => {
                p.subject_tokens.clone().find_map(named)
            }
            _ => None,
        }
    })
}

/// "9 of 10", "3/5": not all of them.
fn is_fraction(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    tokens.windows(3).any(|w| {
        let [a, of, b] = w else { return false };
        let numbers = a.kind == TokenKind::Number && b.kind == TokenKind::Number;
        numbers
            && (prose.word(of) == "of" || prose.word(of) == "out")
            && prose.word(a) != prose.word(b)
    }) || tokens.iter().any(|t| {
        let word = prose.word(t);
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.split_once('/').is_some_and(|(a, b)| {
                let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
                digits(a) && digits(b) && a != b
            })
    })
}

/// "all tests pass except …"
fn excepts(prose: &Prose<'_>, clause: &Clause) -> bool {
    let end = prose.sentences.get(clause.sentence).map_or(clause.tokens.end, |s| s.tokens.end);
    prose.tokens(clause.tokens.start..end).iter().any(|t| {
        matches!(prose.word(t), "except" | "apart" | "besides" | "excluding" | "aside" | "but")
    })
}

/// "tests pass for module A": a part is named behind the verdict.
fn is_narrowed(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    passing_at(prose, tokens)
        .and_then(|at| tokens.get(at + 1))
        .is_some_and(|t| matches!(prose.word(t), "for" | "in" | "on" | "under"))
}

/// Whether the tokens join two nouns: "linting and tests".
fn found_joined(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    tokens.iter().any(|t| matches!(prose.word(t), "and" | "&" | "/" | ","))
}

fn is_tabular(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s)).is_some_and(|b| {
        matches!(b.kind, BlockKind::Cell { .. } | BlockKind::Quote | BlockKind::Field)
    })
}
