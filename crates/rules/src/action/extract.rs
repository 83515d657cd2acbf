use std::ops::Range;

use countersign_model::{Claim, ClaimKind, Family, Object, ObjectKind, Span};

use super::objects::objects_in;
use crate::facts::Answer;
use crate::prose::{Action, BlockKind, Clause, Mood, Predicate, Prose, Subject, Tags, Voice};

/// A claim that something was done.
#[derive(Debug)]
pub(crate) struct ActionClaim {
    /// The claim.
    pub(crate) claim: Claim,
    /// What kind of action.
    pub(crate) family: Family,
    /// The verb as written, lower case.
    pub(crate) verb: String,
    /// What was acted on, as far as it can be told from what else is named.
    pub(crate) patients: Vec<Object>,
    /// The speaker plainly reports an act of their own.
    pub(crate) direct: bool,
    /// A report of the past that may be history: only a failure on record speaks against it.
    pub(crate) weak: bool,
    /// The message itself may be what was made: "I've drafted a summary".
    pub(crate) textual: bool,
}

impl ActionClaim {
    /// Whether it says which file was changed.
    pub(crate) fn names_file(&self) -> bool {
        self.patients.iter().any(|o| o.kind == ObjectKind::Path)
    }
}

/// The claims of completed side effects in one answer.
pub(crate) fn action_claims(answer: &Answer<'_>) -> Vec<ActionClaim> {
    let prose = &answer.prose;
    let mut claims = Vec::new();
    for clause in &prose.clauses {
        if clause.mood != Mood::Asserted {
            continue;
        }
        for predicate in &clause.predicates {
            if let Some(claim) = action_claim(prose, clause, predicate, answer.turn) {
                claims.push(claim);
            }
        }
    }
    claims
}

fn action_claim(
    prose: &Prose<'_>,
    clause: &Clause,
    predicate: &Predicate,
    turn: usize,
) -> Option<ActionClaim> {
    let sentence = prose.sentences.get(clause.sentence)?;
    let listed = prose.block_of(sentence).is_some_and(|block| block.kind.is_listed());
    let quoted = prose.block_of(sentence).is_some_and(|block| block.kind == BlockKind::Quote);
    if predicate.negated || predicate.earlier || quoted {
        return None;
    }
    let direct = is_own(predicate, listed, opens_with_done(prose))?;
    let family = family_of(prose, predicate)?;
    if !family.changes_state() || is_by_another(prose, predicate) {
        return None;
    }
    let verb = prose.tokens.get(predicate.verb).map(|t| prose.word(t).to_ascii_lowercase())?;
    let patient_range = match predicate.voice {
        Voice::Active | Voice::Bare => direct_object(prose, &predicate.object_tokens),
        _ => predicate.subject_tokens.clone(),
    };
    let mut patients = objects_in(prose, patient_range);
    if predicate.voice == Voice::Bare && !predicate.subject_tokens.is_empty() {
        // "`src/a.rs` - Added a check": the label says where.
        let label = objects_in(prose, predicate.subject_tokens.clone());
        let files: Vec<Object> = label.into_iter().filter(|o| o.kind == ObjectKind::Path).collect();
        if !files.is_empty() {
            patients = files;
        }
    }
    let files = patients.iter().any(|o| o.kind == ObjectKind::Path);
    if sentence.introduces && !files {
        return None;
    }
    let start = prose.tokens.get(clause.tokens.start)?.start as usize;
    let end = predicate.object_tokens.end.max(clause.tokens.end);
    let end = end.checked_sub(1).and_then(|i| prose.tokens.get(i))?.end as usize;
    let span = trim_marks(prose.text, Span::new(start, end));
    let mut objects = objects_in(prose, clause.tokens.start..predicate.object_tokens.end);
    objects.dedup();
    Some(ActionClaim {
        claim: Claim {
            kind: ClaimKind::Action(family),
            text: span.of(prose.text).to_owned(),
            objects,
            span,
            turn,
        },
        family,
        weak: predicate.voice == Voice::PastPassive && !predicate.emphatic,
        textual: is_textual(prose, predicate, family, &verb),
        verb,
        patients,
        direct,
    })
}

/// Whether the message opens with "Done!" or "All set.": what follows reports the work.
fn opens_with_done(prose: &Prose<'_>) -> bool {
    prose.sentences.first().is_some_and(|s| {
        let tokens = prose.tokens(s.tokens.clone());
        tokens.len() <= 3 && tokens.iter().any(|t| t.has(Tags::DONE))
    })
}

/// Whether the predicate reports an act of the speaker's; `Some(true)` when plainly so.
fn is_own(predicate: &Predicate, listed: bool, done: bool) -> Option<bool> {
    match (predicate.voice, predicate.subject) {
        (Voice::Active, Subject::Agent) => Some(true),
        (Voice::Active, _) => None,
        (Voice::PerfectPassive, _) => Some(true),
        (Voice::State | Voice::PastPassive, Subject::Agent) => None,
        (Voice::PastPassive, _) => Some(true),
        (Voice::State, _) => (predicate.emphatic || done).then_some(true),
        (Voice::Bare | Voice::BareResult, _) => Some(!listed),
    }
}

/// The family of the verb; for a verb without one, that of the thing it is done to.
fn family_of(prose: &Prose<'_>, predicate: &Predicate) -> Option<Family> {
    match predicate.action {
        Action::Of(family) => Some(family),
        Action::Generic | Action::Any => {
            let range = match predicate.voice {
                Voice::Active | Voice::Bare => predicate.object_tokens.clone(),
                _ => predicate.subject_tokens.clone(),
            };
            let named = prose
                .tokens(range)
                .iter()
                .take_while(|t| !t.has(Tags::PREPOSITION))
                .filter(|t| !t.quoted)
                .find_map(|t| t.noun);
            named.or((predicate.action == Action::Any).then_some(Family::Update))
        }
    }
}

/// "cancelled by the airline"
fn is_by_another(prose: &Prose<'_>, predicate: &Predicate) -> bool {
    let mut after = prose.tokens(predicate.object_tokens.clone()).iter();
    let by = after.by_ref().take(3).any(|t| prose.word(t).eq_ignore_ascii_case("by"));
    by && after.next().is_some_and(|t| !t.has(Tags::AGENT) && !t.has(Tags::GERUND))
}

/// The tokens behind an active verb up to a preposition that leads elsewhere.
fn direct_object(prose: &Prose<'_>, range: &Range<usize>) -> Range<usize> {
    let stop = prose
        .tokens(range.clone())
        .iter()
        .position(|t| {
            matches!(
                prose.word(t),
                "to" | "into" | "from" | "with" | "using" | "via" | "by" | "so" | "because"
            )
        })
        .map_or(range.end, |n| range.start + n);
    // "to" may lead to the patient: "sent an e-mail to a@b.c", "added a line to x.rs".
    if objects_in(prose, range.start..stop).is_empty() { range.clone() } else { range.start..stop }
}

/// Whether what was made may be the message itself: "I've drafted a summary", "wrote the plan".
fn is_textual(prose: &Prose<'_>, predicate: &Predicate, family: Family, verb: &str) -> bool {
    if !matches!(family, Family::Create | Family::Update) {
        return false;
    }
    let range = match predicate.voice {
        Voice::Active | Voice::Bare => predicate.object_tokens.clone(),
        _ => predicate.subject_tokens.clone(),
    };
    let of_text = prose
        .tokens(range)
        .iter()
        .take(8)
        .take_while(|t| !t.has(Tags::PREPOSITION))
        .any(|t| t.has(Tags::TEXT_NOUN));
    let writes = ["draft", "compos", "writ", "wrote", "generat", "produc", "outlin", "creat"]
        .iter()
        .any(|stem| verb.starts_with(stem));
    of_text || (writes && matches!(predicate.voice, Voice::Active | Voice::Bare))
}

fn trim_marks(text: &str, span: Span) -> Span {
    let words = span.of(text);
    let trimmed = words.trim_start_matches([',', ';', ':', '(', ')', '—', '–', '-', ' ', '\n']);
    let start = span.start + words.len() - trimmed.len();
    let trimmed = trimmed.trim_end_matches([' ', ',', '\n', '*', ';', '(']);
    Span::new(start, start + trimmed.len())
}
