use counterfoil_model::{Claim, ClaimKind, Code, Mode, Object, ObjectKind};
use memchr::memmem::Finder;

use crate::facts::{Answer, Facts};
use crate::findings::{Findings, Note};
use crate::prose::{Action, Clause, Mood, Prose, Tags, Token, TokenKind, is_agenda};
use crate::rule::{Group, Meta, Rule};
use crate::values::{AnyCase, Stated, StatedKind, unseen_line};

/// FK021: a source that the agent never saw.
pub(crate) struct UnseenSource;

static META: Meta = Meta {
    code: Code("FK021"),
    name: "unseen-source",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "the agent gives as its source a URL, a file or a quotation that occurs in nothing \
              it was given",
    page: include_str!("../../spec/FK021.md"),
};

impl Rule for UnseenSource {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            let mut judged: Vec<&str> = Vec::new();
            for value in facts.stated_in(answer.turn) {
                if judged.len() < MOST && !judged.contains(&value.text) {
                    judged.push(value.text);
                    judge(facts, findings, &answer.prose, value);
                }
            }
            for token in cited_lines(&answer.prose) {
                judge_line(facts, findings, answer, token);
            }
        }
    }
}

/// Fewer words between quotation marks name something, or put it in other words.
const LEAST_WORDS: usize = 8;
/// So many sources of one answer are judged.
const MOST: usize = 256;
/// And so many lines.
const MOST_LINES: usize = 32;
/// So many bytes before a message are searched for the folders of a file.
const REACH: usize = 16 * 1024 * 1024;

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, prose: &Prose<'_>, value: &Stated<'_>) {
    let Some(clause) = prose.clause_at(value.token) else { return };
    let turn = value.turn;
    let (kind, source, given) = match value.kind {
        StatedKind::Url if is_stated(prose, clause) => {
            (ObjectKind::Url, "page", facts.source_of(value.text, turn, true))
        }
        StatedKind::Path if is_stated(prose, clause) => {
            (ObjectKind::Path, "file", facts.source_of(value.text, turn, true))
        }
        StatedKind::Quote if is_attributed(prose, clause, value) => {
            (ObjectKind::Quote, "quotation", facts.quoted_from(value.text, turn))
        }
        _ => return,
    };
    let claim = Claim {
        kind: ClaimKind::Source,
        text: value.span.of(prose.text).to_owned(),
        objects: vec![Object { kind, text: value.text.to_owned() }],
        span: value.span,
        turn,
    };
    if let Some(given) = given.filter(|_| kind == ObjectKind::Path)
        && is_elsewhere(facts, claim.text.as_str(), value)
    {
        let message = format!("`{}` is in no such folder in what the agent was given", value.text);
        let note = Note::suspected(message).help("give the path as it was read");
        return findings.unsupported(facts, &claim, note.evidence([facts.evidence_in(given)]));
    }
    if kind == ObjectKind::Path && is_made(clause) {
        return;
    }
    if let Some(given) = given {
        return findings.supported(&claim, [facts.evidence_in(given)]);
    }
    if kind == ObjectKind::Url && is_composed(facts, value) {
        return findings.not_checkable(&claim);
    }
    let unread = || has_unpacked(facts, turn) || is_known_class(facts, value);
    if kind == ObjectKind::Path && (unread() || is_counted(facts, value)) {
        return findings.not_checkable(&claim);
    }
    // Without a record there is nothing that a path or a page could have come from.
    if facts.record().count_before(turn) == 0 && kind != ObjectKind::Path {
        return findings.not_checkable(&claim);
    }
    // No proof: a model knows pages and sentences, and composes addresses of what it read.
    let message = format!("nothing the agent was given contains the {source} `{}`", value.text);
    findings.unsupported(facts, &claim, Note::suspected(message).help("cite what was read"));
}

/// `flaky.12`, where a command wrote `flaky.$i`.
fn is_counted(facts: &Facts<'_>, value: &Stated<'_>) -> bool {
    let stem = value.text.trim_end_matches(|c: char| c.is_ascii_digit());
    let filled = |mark: &str| facts.source_of(&format!("{stem}{mark}"), value.turn, true).is_some();
    stem.len() < value.text.len() && stem.len() > 2 && ["$", "{", "%"].into_iter().any(filled)
}

/// The tokens that cite a line of a file, where something is said to be there.
fn cited_lines<'p>(prose: &'p Prose<'_>) -> impl Iterator<Item = &'p Token> {
    let cites = |t: &Token| {
        matches!(t.kind, TokenKind::Path | TokenKind::Code)
            && prose
                .word(t)
                .rsplit_once(':')
                .is_some_and(|(_, line)| line.starts_with(|c: char| c.is_ascii_digit()))
    };
    let cited = prose.tokens.iter().enumerate().filter(move |(_, token)| cites(token));
    let stated = |at: usize| prose.clause_at(at).is_some_and(|clause| is_stated(prose, clause));
    cited.filter(move |(at, _)| stated(*at)).map(|(_, token)| token).take(MOST_LINES)
}

/// A line that is cited of a file of which results showed others only.
fn judge_line(facts: &Facts<'_>, findings: &mut Findings<'_>, answer: &Answer<'_>, token: &Token) {
    let text = answer.prose.word(token);
    let Some(shown) = unseen_line(facts, answer.turn, text) else { return };
    let claim = Claim {
        kind: ClaimKind::Source,
        text: text.to_owned(),
        objects: vec![Object { kind: ObjectKind::Path, text: text.to_owned() }],
        span: token.span(),
        turn: answer.turn,
    };
    let note = Note::suspected(format!("no result showed this line; those shown are {shown}"));
    findings.unsupported(facts, &claim, note.help("cite lines that were read"));
}

/// Whether a file of that name is known by its path only, and by none that may be the one stated,
/// while nothing was moved.
fn is_elsewhere(facts: &Facts<'_>, path: &str, value: &Stated<'_>) -> bool {
    let folders = path.split(':').next().unwrap_or(path);
    let Some((folders, _)) = folders.rsplit_once('/') else { return false };
    if folders.trim_matches(['.', '/', '~']).is_empty()
        || path.contains(['*', '…', '<', '{', '$'])
        || path.contains("...")
    {
        return false;
    }
    let moved = facts.deeds_before(value.turn).any(|(_, deed)| {
        deed.shell
            .as_ref()
            .is_some_and(|work| work.deletes || work.unpacks || work.writes_unnamed || work.opaque)
    });
    let mut known = false;
    let name = Finder::new(value.text);
    for given in facts.given().near(value.turn, REACH) {
        for at in name.find_iter(given.text.as_bytes()) {
            match path_ending_at(given.text, at, value.text.len()) {
                Found::Part => {}
                Found::Path(other) if !may_be_same(other, folders) => known = true,
                Found::Path(_) | Found::Name => return false,
            }
        }
    }
    known && !moved
}

/// How a name stands in a text.
enum Found<'t> {
    /// Within a longer name.
    Part,
    /// Without a folder.
    Name,
    /// Behind these folders.
    Path(&'t str),
}

fn path_ending_at(text: &str, at: usize, len: usize) -> Found<'_> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let behind = text.get(at + len..).unwrap_or_default().chars().next();
    let before = text.get(..at).unwrap_or_default();
    if behind.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) {
        return Found::Part;
    }
    match before.strip_suffix('/') {
        None if before.ends_with(part) && !before.ends_with("\\n") => Found::Part,
        None => Found::Name,
        Some(rest) => {
            let from = rest.rfind(|c: char| !(part(c) || c == '/')).map_or(0, |n| {
                n + rest.get(n..).and_then(|r| r.chars().next()).map_or(1, char::len_utf8)
            });
            // `\n` in raw JSON ends a line, and in a path it begins a name.
            let escaped = rest.get(..from).is_some_and(|r| r.ends_with('\\'))
                && rest.get(from..).is_some_and(|r| r.starts_with(['n', 't', 'r']));
            if escaped {
                return Found::Name;
            }
            match rest.get(from..).filter(|folders| !folders.trim_matches(['.', '/']).is_empty()) {
                Some(folders) => Found::Path(folders),
                None => Found::Name,
            }
        }
    }
}

/// Whether two folders may be one, seen from different places or shortened: the parts of one stand
/// in the other in their order.
fn may_be_same(one: &str, other: &str) -> bool {
    let parts = |path: &'_ str| -> Vec<String> {
        let parts =
            path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".." | "a" | "b"));
        parts.map(str::to_ascii_lowercase).collect()
    };
    let (one, other) = (parts(one), parts(other));
    let within = |few: &[String], many: &[String]| {
        let mut many = many.iter();
        few.iter().all(|part| many.any(|known| known == part))
    };
    within(&one, &other) || within(&other, &one)
}

/// `InvoiceTest.php`, where a runner speaks of an `InvoiceTest`: files are named after classes of
/// tests.
fn is_known_class(facts: &Facts<'_>, value: &Stated<'_>) -> bool {
    let stem = value.text.split('.').next().unwrap_or_default();
    let tests = ["Test", "Tests", "Spec"].iter().any(|end| stem.ends_with(end));
    stem.len() >= 6 && tests && facts.source_of(stem, value.turn, true).is_some()
}

/// Whether a command since the user's latest request brought files along that nothing lists.
fn has_unpacked(facts: &Facts<'_>, turn: usize) -> bool {
    let since = facts.request_before(turn);
    let deeds = facts.deeds_before(turn).take_while(|(e, _)| e.called_at >= since);
    deeds.into_iter().any(|(_, deed)| deed.shell.as_ref().is_some_and(|work| work.unpacks))
}

/// Whether the clause says that something is so, not that it is to be.
fn is_stated(prose: &Prose<'_>, clause: &Clause) -> bool {
    let words = prose.tokens(clause.tokens.clone());
    let open = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::INTEND).or(Tags::REQUEST);
    // "belongs in `a.rs`", "has to include it": where it should be.
    let due = words.iter().any(|t| matches!(prose.word(t), "belongs" | "belong"))
        || words.windows(2).any(|pair| {
            let [has, to] = pair else { return false };
            has.has(Tags::HAVE) && prose.word(to) == "to"
        });
    matches!(clause.mood, Mood::Asserted | Mood::Observed)
        && !words.iter().any(|t| t.has(open))
        && !due
        && !is_agenda(prose, clause)
}

/// Whether the clause says that a file was made or changed, which FK010 judges.
fn is_made(clause: &Clause) -> bool {
    let changes = |action| match action {
        Action::Of(family) => family.changes_state(),
        Action::Generic | Action::Any => true,
    };
    clause.predicates.iter().any(|predicate| changes(predicate.action))
}

/// "The manual says …", "according to …": words in somebody's mouth, enough of them to be quoted.
fn is_attributed(prose: &Prose<'_>, clause: &Clause, value: &Stated<'_>) -> bool {
    let marked = prose.tokens.get(value.token).is_some_and(|t| t.kind != TokenKind::Code);
    if !marked || value.text.split_whitespace().count() < LEAST_WORDS {
        return false;
    }
    let words = prose.before_in_sentence(value.token);
    let reports = |t: &Token| t.has(Tags::REPORT);
    let open = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::AGENT).or(Tags::INTEND);
    matches!(clause.mood, Mood::Asserted | Mood::Observed | Mood::Attributed)
        && words.iter().any(reports)
        && !words.iter().any(|t| t.has(open))
}

/// Whether every part of an address was given: the agent put it together.
fn is_composed(facts: &Facts<'_>, value: &Stated<'_>) -> bool {
    let mut parts = value.text.split(['/', '?', '=', '&']).filter(|part| part.len() > 2);
    parts.all(|part| {
        let part = AnyCase::new(part);
        facts.given().near(value.turn, 64 * 1024).any(|text| part.stands_in(text.text))
    })
}
