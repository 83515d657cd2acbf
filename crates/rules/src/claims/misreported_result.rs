use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use counterfoil_model::{Claim, ClaimKind, Code, Mode, Object, ObjectKind, Role, Span};

use crate::facts::{Answer, Facts, words_of};
use crate::findings::{Findings, Note};
use crate::grounding::follows;
use crate::member::{contacts, members, misread, people, versions};
use crate::prose::{Mood, Prose, Tags, Token, TokenKind, Words, sets};
use crate::rule::{Group, Meta, Rule};
use crate::values::{
    Combined, Figure, Labels, Leaf, Named, Sources, Stated, StatedKind, Working, first_figure,
    is_misquoted, misquoted, numbers_of, sibling, stated, whole,
};

/// An id that differs from one of the record in so many letters is that one, misquoted.
const MISQUOTED: usize = 2;
/// So many bytes of what the user asked are looked at.
const LONGEST_REQUEST: usize = 4_000;
/// An amount may follow from so many amounts before it and behind it.
const AROUND: usize = 24;

/// FK030: an id or an amount that is not what the results hold.
pub(crate) struct MisreportedResult;

static META: Meta = Meta {
    code: Code("FK030"),
    name: "misreported-result",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent states an id or amount that the results contradict",
    page: include_str!("../../spec/FK030.md"),
};

impl Rule for MisreportedResult {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let mut known = Derived::new(facts);
        for answer in facts.answers() {
            let stated = facts.stated_in(answer.turn);
            let mut seen = BTreeSet::new();
            for value in stated.iter().filter(|s| s.kind == StatedKind::Id) {
                if seen.insert(value.text) {
                    judge_id(facts, findings, &answer.prose, value);
                }
            }
            judge_amounts(facts, findings, answer, stated, &mut known);
            judge_members(facts, findings, answer);
        }
    }
}

/// Days, times, quantities, states, held against the members of results of that name; versions and
/// people's names, against those that stand beside the same name.
fn judge_members<'t>(facts: &Facts<'t>, findings: &mut Findings<'_>, answer: &Answer<'t>) {
    let turn = answer.turn;
    let claim = |span: Span| {
        let text = span.of(answer.prose.text).to_owned();
        Claim { kind: ClaimKind::Value, text, objects: Vec::new(), span, turn }
    };
    let (mut wrong, right) = members(facts, answer);
    wrong.extend(versions(facts, answer));
    wrong.extend(people(facts, answer));
    wrong.extend(contacts(facts, answer));
    wrong.extend(misread(facts, answer));
    for span in right {
        findings.supported(&claim(span), []);
    }
    let working = Working::new(facts, answer);
    for wrong in wrong {
        if first_figure(wrong.text).is_some_and(|figure| working.gives(figure)) {
            findings.not_checkable(&claim(wrong.span));
            continue;
        }
        let message = format!("the agent says {}; the record has {}", wrong.text, wrong.held);
        // No proof: a number may be the difference of two values, or belong to another thing.
        let note = Note::suspected(message).help("quote values as the result has them");
        findings.contradicted(facts, &claim(wrong.span), note);
    }
}

/// The amounts that earlier answers worked out, and later ones may repeat.
struct Derived {
    figures: BTreeSet<Figure>,
    /// Answers that are not judged themselves have yet to be read.
    unread: bool,
}

impl Derived {
    fn new(facts: &Facts<'_>) -> Self {
        Self { figures: BTreeSet::new(), unread: facts.first() > 0 }
    }

    /// Reads the answers that are not judged themselves, if that is still to be done.
    fn read(&mut self, facts: &Facts<'_>) {
        if std::mem::take(&mut self.unread) {
            let (mut found, mut judged) = (Vec::new(), Vec::new());
            let mut unheard = Findings::new(&META, Mode::Off, &mut found, &mut judged);
            for answer in facts.earlier_answers() {
                judge_amounts(facts, &mut unheard, answer, &stated(answer), self);
            }
        }
    }
}

fn claim(value: &Stated<'_>, kind: ObjectKind) -> Claim {
    Claim {
        kind: ClaimKind::Value,
        text: value.text.to_owned(),
        objects: vec![Object { kind, text: value.text.to_owned() }],
        span: value.span,
        turn: value.turn,
    }
}

fn judge_id(facts: &Facts<'_>, findings: &mut Findings<'_>, prose: &Prose<'_>, value: &Stated<'_>) {
    let claim = claim(value, ObjectKind::Id);
    let turn = value.turn;
    if let Some(text) = facts.source_of(value.text, turn, true) {
        return findings.supported(&claim, [facts.evidence_in(text)]);
    }
    if spelled_by_user(facts, value) || is_denied(prose, value) {
        return findings.supported(&claim, []);
    }
    let provable = facts.shows_all_before(turn);
    let like = if provable { sibling } else { misquoted };
    let Some(sibling) = like(facts.given(), value.text, turn) else {
        return findings.not_checkable(&claim);
    };
    let misquoted = sibling.distance <= MISQUOTED;
    // Of digits and a dash are also telephone numbers, which nobody has to look up.
    let plain = value.text.contains('-') && !value.text.contains(|c: char| c.is_alphabetic());
    if plain && !misquoted {
        return findings.not_checkable(&claim);
    }
    let message = match misquoted {
        true => {
            format!("`{}` is nowhere in the record, which has `{}`", value.text, sibling.text)
        }
        false => format!("`{}` is nowhere in what the agent was given", value.text),
    };
    findings.contradicted(
        facts,
        &claim,
        Note::proven(message)
            .help("quote ids as the result has them")
            .provable_if(
                provable
                    && misquoted
                    && sibling.source.text.trim_start().starts_with(['{', '['])
                    && !facts.acts_freely_before(turn),
            )
            .evidence([facts.evidence_in(sibling.source)]),
    );
}

/// "I don't see an order X": no result has to hold an id of which the answer says that it is nowhere.
fn is_denied(prose: &Prose<'_>, value: &Stated<'_>) -> bool {
    let at = prose.clauses.partition_point(|clause| clause.tokens.end <= value.token);
    let words =
        || prose.clauses.get(at).map(|c| prose.tokens(c.tokens.clone())).unwrap_or_default();
    let exists = |t: &Token| prose.is(t, &sets::EXISTS);
    words().iter().any(|t| t.has(Tags::NEGATION)) && words().iter().any(exists)
}

/// Whether the user wrote the id in parts: "W 22-10".
fn spelled_by_user(facts: &Facts<'_>, value: &Stated<'_>) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let wanted = plain(value.text);
    let messages = facts.transcript().messages.get(..value.turn).unwrap_or_default();
    messages
        .iter()
        .rev()
        .filter(|m| m.role == Role::User)
        .take(20)
        .any(|m| m.text.len() <= LONGEST_REQUEST && plain(&m.text).contains(&wanted))
}

/// The amounts of one answer, judged against what it names and what stands beside them.
fn judge_amounts(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    stated: &[Stated<'_>],
    known: &mut Derived,
) {
    let turn = answer.turn;
    let amounts = money(answer, stated);
    if amounts.is_empty() {
        return;
    }
    if facts.runs_shell_before(turn) || facts.record().count_before(turn) == 0 {
        for (value, _) in &amounts {
            findings.not_checkable(&claim(value, ObjectKind::Money));
        }
        return;
    }
    let (recorded, all) = recorded(facts, turn, &amounts);
    if !all {
        known.read(facts);
    }
    let amounts = amounts_rightly_named(facts, findings, answer, amounts);
    let is_given = |f: &Figure| known.figures.contains(f) || recorded.binary_search(f).is_ok();
    let (given, open): (Vec<_>, Vec<_>) = amounts.iter().partition(|(_, f)| is_given(f));
    for (value, _) in &given {
        findings.supported(&claim(value, ObjectKind::Money), []);
    }
    if open.is_empty() {
        return;
    }
    let mut sums = Sums {
        facts,
        answer,
        stated,
        amounts: &amounts,
        recorded: &recorded,
        known: &known.figures,
        asked: asked(facts, turn).to_vec(),
        shares: shares(answer),
        named: None,
        few: None,
        nothing_named: !stated.iter().any(|value| value.kind == StatedKind::Id),
        derived: BTreeSet::new(),
    };
    let mut left = judge_derived(findings, &mut sums, &open);
    let combined = by_chance(facts, findings, answer, &mut left);
    let mut accused: Vec<Figure> = Vec::new();
    for (value, figure) in left {
        if !accused.contains(figure) {
            accused.push(*figure);
            let misread = combined.misread(*figure);
            accuse(facts, findings, answer, sums.named(), value, *figure, misread);
        }
    }
    let derived = sums.derived;
    known.figures.extend(derived);
}

/// Supports the amounts that follow from others; gives those that do not.
fn judge_derived<'o, 's>(
    findings: &mut Findings<'_>,
    sums: &mut Sums<'_, '_, '_>,
    open: &'o [(&'s Stated<'s>, Figure)],
) -> Vec<&'o (&'s Stated<'s>, Figure)> {
    let mut left: Vec<_> = open.iter().collect();
    // What follows from amounts may itself be what others follow from: a total of differences.
    for pass in 0..2 {
        if pass > 0 && sums.derived.is_empty() {
            break;
        }
        left.retain(|(value, figure)| {
            let follows = sums.follow(value, *figure);
            if follows {
                findings.supported(&claim(value, ObjectKind::Money), []);
            }
            !follows
        });
    }
    left
}

/// The amounts of money that an answer states, but for those that begin a range.
fn money<'s, 't>(answer: &Answer<'_>, stated: &'s [Stated<'t>]) -> Vec<(&'s Stated<'t>, Figure)> {
    let amount = |value: &'s Stated<'t>| match value.kind {
        StatedKind::Money(figure) if !begins_range(&answer.prose, value) => Some((value, figure)),
        _ => None,
    };
    stated.iter().filter_map(amount).collect()
}

/// The figures among the amounts that the agent was given, sorted, and whether all were.
fn recorded(
    facts: &Facts<'_>,
    turn: usize,
    amounts: &[(&Stated<'_>, Figure)],
) -> (Vec<Figure>, bool) {
    let stands = |f: Figure| facts.given().figure(f).is_some_and(|first| first < turn);
    // Some services count cents.
    let in_cents =
        |f: &Figure| f.0 >= 100 && f.0.checked_mul(100).is_some_and(|c| stands(Figure(c)));
    // "48,50", as much of the world writes it.
    let with_comma = |f: &Figure| {
        let written = f.to_string().replace('.', ",");
        written.contains(',') && facts.given().is_near(&written, turn)
    };
    let mut figures: Vec<Figure> = amounts.iter().map(|(_, figure)| *figure).collect();
    figures.sort_unstable();
    figures.dedup();
    let all = figures.len();
    figures.retain(|f| stands(*f) || in_cents(f) || with_comma(f));
    let every = figures.len() == all;
    (figures, every)
}

/// What an amount of an answer may follow from.
struct Sums<'a, 't, 'n> {
    facts: &'a Facts<'t>,
    answer: &'a Answer<'n>,
    stated: &'a [Stated<'a>],
    amounts: &'a [(&'a Stated<'a>, Figure)],
    /// Sorted.
    recorded: &'a [Figure],
    known: &'a BTreeSet<Figure>,
    asked: Vec<Figure>,
    shares: Vec<Figure>,
    named: Option<Named>,
    few: Option<Sources>,
    /// The answer names no id.
    nothing_named: bool,
    /// What was found to follow.
    derived: BTreeSet<Figure>,
}

impl Sums<'_, '_, '_> {
    fn named(&mut self) -> &mut Named {
        let (facts, stated) = (self.facts, self.stated);
        self.named.get_or_insert_with(|| Named::of(facts.given(), stated))
    }

    /// Whether an amount follows from those beside it, from what the answer names, or from the few
    /// numbers there are.
    fn follow(&mut self, value: &Stated<'_>, figure: Figure) -> bool {
        let recorded = |f: &Figure| self.recorded.binary_search(f).is_ok();
        let at = self.amounts.partition_point(|(other, _)| other.token < value.token);
        let around = at.saturating_sub(AROUND)..self.amounts.len().min(at + AROUND);
        let near = self.amounts.get(around).unwrap_or_default().iter();
        let is_given = |f: &Figure| self.known.contains(f) || recorded(f);
        let beside: Vec<Figure> = near
            .map(|(_, other)| *other)
            .filter(|f| *f != figure && (is_given(f) || self.derived.contains(f)))
            .collect();
        let mut worked_out: Vec<Figure> = beside.iter().copied().filter(|f| !recorded(f)).collect();
        worked_out.dedup();
        let rows = vec![beside, worked_out, self.asked.clone()];
        let here = Sources { rows, shares: self.shares.clone() };
        let (facts, answer) = (self.facts, self.answer);
        let follows = here.give(figure)
            || self.named().add_to(here).give(figure)
            || (self.nothing_named
                && self.few.get_or_insert_with(|| of_few_numbers(facts, answer)).give(figure));
        if follows {
            self.derived.insert(figure);
        }
        follows
    }
}

/// Takes out what follows from recorded amounts in ways that may be chance, or is said roughly:
/// nobody can tell.
fn by_chance(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    left: &mut Vec<&(&Stated<'_>, Figure)>,
) -> Combined {
    if left.is_empty() {
        return Combined::default();
    }
    let combined = Combined::of(facts.given(), answer.turn, &numbers_of(answer, AROUND));
    let mut given: BTreeMap<Figure, bool> = BTreeMap::new();
    let working = Working::new(facts, answer);
    left.retain(|(value, figure)| {
        // A recorded amount with two digits swapped hardly follows from others by chance.
        let misread = || combined.misread(*figure).is_some();
        let mut gives =
            || *given.entry(*figure).or_insert_with(|| !misread() && combined.give(*figure));
        let follows = (is_rough(answer, value) && !misread()) || gives() || working.gives(*figure);
        if follows {
            findings.not_checkable(&claim(value, ObjectKind::Money));
        }
        !follows
    });
    combined
}

/// The amounts but for those that are said under the name of a member of which the results have
/// only others: "the freeze fee is €9", with a `freeze_fee` of 7.
fn amounts_rightly_named<'s, 't>(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    mut amounts: Vec<(&'s Stated<'t>, Figure)>,
) -> Vec<(&'s Stated<'t>, Figure)> {
    let prose = &answer.prose;
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::NEGATION).or(Tags::EARLIER).or(Tags::USER);
    let mut labels: Option<Rc<Labels>> = None;
    let working = Working::new(facts, answer);
    let small = Tags::PREPOSITION.or(Tags::BE).or(Tags::HAVE).or(Tags::DETERMINER);
    let small = small.or(Tags::ADVERB).or(Tags::COORDINATE).or(Tags::USER_OWN).or(Tags::AGENT);
    let small = small.or(Tags::THIRD_PERSON).or(Tags::COMPLETED).or(Tags::GERUND);
    amounts.retain(|(value, figure)| {
        let Some(clause) = prose.clause_at(value.token) else { return true };
        let before = prose.tokens(clause.tokens.start..value.token);
        let plain = |t: &&Token| {
            let noun = !t.has(small) || t.noun.is_some();
            t.kind == TokenKind::Word && noun && !t.quoted && !prose.is(t, words!["up", "down"])
        };
        let mut words: Vec<&str> =
            before.iter().rev().take(8).filter(plain).map(|t| prose.word(t)).collect();
        words.reverse();
        let told = clause.mood == Mood::Asserted && !clause.tags.any(doubt);
        if !told || is_rough(answer, value) {
            return true;
        }
        let labels = labels.get_or_insert_with(|| facts.given().labels(answer.turn));
        let Some((name, held)) = labels.otherwise(&words, *figure) else { return true };
        if asked(facts, value.turn).contains(figure) || working.gives(*figure) {
            return true;
        }
        let message = format!("the agent says {}; the record has `{name}` {held}", value.text);
        let note = Note::suspected(message).help("quote amounts as the result has them");
        findings.contradicted(facts, &claim(value, ObjectKind::Money), note);
        false
    });
    amounts
}

/// "€72–78k": the unit stands behind the second number only.
fn begins_range(prose: &Prose<'_>, value: &Stated<'_>) -> bool {
    let behind = prose.text.get(value.span.end..).unwrap_or_default();
    let rest = behind.strip_prefix(['–', '-']).unwrap_or_default();
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    digits.len() < rest.len() && digits.starts_with(['k', 'K', 'm', 'M'])
}

/// "about $134", "~$30", "it would be $90": rounded or supposed, and said to be.
fn is_rough(answer: &Answer<'_>, value: &Stated<'_>) -> bool {
    const BOUNDS: &Words = words!["some", "over", "under"];
    let before = answer.prose.tokens(value.token.saturating_sub(3)..value.token);
    let supposed = answer.prose.clause_at(value.token).is_some_and(|clause| {
        answer
            .prose
            .tokens(clause.tokens.clone())
            .iter()
            .any(|t| answer.prose.is(t, words!["would"]))
    });
    // "1.85 million"
    let scaled = answer
        .prose
        .tokens
        .get(value.token + 1)
        .is_some_and(|t| answer.prose.is(t, words!["thousand", "million", "billion"]));
    supposed
        || scaled
        || before.iter().any(|t| {
            t.is('~') || t.is('≈') || answer.prose.is_rough(t) || answer.prose.is(t, BOUNDS)
        })
}

fn accuse(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    named: &Named,
    value: &Stated<'_>,
    figure: Figure,
    misread: Option<Figure>,
) {
    let claim = claim(value, ObjectKind::Money);
    let label = label(answer, value);
    let held = named.before(value.token).and_then(|thing| {
        let mut members = thing.own.iter();
        let (name, figures) = members.find(|(name, _)| is_called(name, &label))?;
        Some((name.clone(), *figures.first()?))
    });
    let like = || named.figures().find(|held| is_misquoted(figure, *held));
    let text = value.text;
    // In more steps than one.
    if held.is_none() && like().is_none() && misread.is_none() && follows(facts, answer, text) {
        return findings.not_checkable(&claim);
    }
    // No proof: amounts are summed and split in more ways than are known here.
    let note = Note::suspected(match (held, like().or(misread)) {
        (Some((name, held)), _) => format!("no result has {text}; the record has `{name}` {held}"),
        (None, Some(held)) => format!("no result has {text}; the record has {held}"),
        (None, None) => {
            format!("no result has {text}, and it does not follow from the amounts there")
        }
    });
    findings.contradicted(facts, &claim, note.help("quote amounts as the result has them"));
}

/// The word that says what an amount is: "price" in "Price: $5", "priced at $5".
fn label(answer: &Answer<'_>, value: &Stated<'_>) -> String {
    let before = answer.prose.tokens(value.token.saturating_sub(4)..value.token);
    let small = Tags::PREPOSITION.or(Tags::BE).or(Tags::DETERMINER).or(Tags::ADVERB);
    let word = before.iter().rev().find(|t| t.kind == TokenKind::Word && !t.has(small));
    word.map(|t| answer.prose.word(t).to_ascii_lowercase()).unwrap_or_default()
}

/// Whether a member's name holds the word: `total_price` and "priced".
fn is_called(name: &str, label: &str) -> bool {
    let stem = label.get(..label.len().min(5)).unwrap_or(label).trim_end_matches('s');
    stem.len() >= 4 && words_of(name).iter().any(|word| word.starts_with(stem))
}

/// What may be worked out from results that hold few numbers, where the answer names nothing by its
/// id: the amounts of each column, and each as often as the answer says.
fn of_few_numbers(facts: &Facts<'_>, answer: &Answer<'_>) -> Sources {
    let sheets = facts.given().sheets(answer.turn, LONGEST_REQUEST);
    let columns = || sheets.iter().flat_map(|sheet| sheet.columns());
    let figure = |leaf: &Leaf<'_>| match leaf {
        Leaf::Number(number) => Figure::parse(number),
        Leaf::Text(text) => Figure::of_money(text),
        _ => None,
    };
    let mut by_name: BTreeMap<&str, Vec<Figure>> = BTreeMap::new();
    for column in columns() {
        let figures = column.cells.iter().filter_map(|(_, leaf)| figure(leaf));
        by_name.entry(column.name).or_default().extend(figures);
    }
    let mut rows: Vec<Vec<Figure>> = by_name.values().cloned().collect();
    let all = rows.iter().map(Vec::len).sum::<usize>();
    if all > AROUND {
        return Sources::default();
    }
    let words = answer.prose.tokens.iter().map(|token| answer.prose.word(token));
    let mut times: Vec<i64> =
        words.filter_map(whole).filter_map(|n| i64::try_from(n).ok()).collect();
    times.extend(rows.iter().flatten().map(|figure| figure.0 / 100));
    times.retain(|n| (2..=60).contains(n));
    times.sort_unstable();
    times.dedup();
    let amounts: BTreeSet<&str> =
        columns().filter(|column| column.is_amount()).map(|column| column.name).collect();
    by_name.retain(|name, _| amounts.contains(name));
    rows = by_name.into_values().filter(|row| !row.is_empty()).collect();
    let singles: Vec<Figure> = rows.iter().flatten().copied().collect();
    for n in times.iter().take(AROUND) {
        let often = singles.iter().filter_map(|figure| figure.0.checked_mul(*n).map(Figure));
        rows.extend(often.map(|figure| vec![figure]));
        rows.extend(singles.iter().map(|figure| vec![Figure(figure.0 / n)]));
    }
    let sums = rows.iter().filter(|row| row.len() > 1);
    let mean = |row: &Vec<Figure>| {
        let sum = row.iter().fold(0_i64, |sum, figure| sum.saturating_add(figure.0));
        Some(vec![Figure(sum / i64::try_from(row.len()).ok()?)])
    };
    let means: Vec<_> = sums.filter_map(mean).collect();
    rows.extend(means);
    Sources { rows, shares: shares(answer) }
}

/// The figures that the user named last, but for numbers of things: "12 bags".
fn asked(facts: &Facts<'_>, turn: usize) -> Rc<Vec<Figure>> {
    facts.figures_asked(turn, || read_asked(facts, turn))
}

fn read_asked(facts: &Facts<'_>, turn: usize) -> Vec<Figure> {
    let before = facts.transcript().messages.get(..turn).unwrap_or_default();
    let Some(message) = before.iter().rev().find(|m| m.role == Role::User) else {
        return Vec::new();
    };
    let end = message.text.floor_char_boundary(LONGEST_REQUEST);
    let prose = Prose::read(message.text.get(..end).unwrap_or_default());
    let noun = |t: &Token| {
        let plain = t.tags.is_empty() && t.verb.is_none() && prose.word(t).len() > 3;
        t.kind == TokenKind::Word && plain && !prose.is(t, &sets::CURRENCIES)
    };
    let counts = |at: usize| {
        let whole = prose.tokens.get(at).is_some_and(|t| !prose.word(t).contains('.'));
        whole && prose.tokens.get(at + 1).is_some_and(noun)
    };
    let numbers = prose.tokens.iter().enumerate().filter(|(at, t)| match t.kind {
        TokenKind::Money => true,
        TokenKind::Number => !counts(*at),
        _ => false,
    });
    numbers.filter_map(|(_, t)| Figure::parse(prose.word(t))).take(AROUND).collect()
}

/// The percentages of an answer.
fn shares(answer: &Answer<'_>) -> Vec<Figure> {
    let percents = answer.prose.tokens.iter().filter(|t| t.kind == TokenKind::Number);
    percents
        .map(|t| answer.prose.word(t))
        .filter(|word| word.ends_with('%'))
        .filter_map(Figure::parse)
        .collect()
}
