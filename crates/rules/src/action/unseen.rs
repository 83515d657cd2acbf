//! Finds claimed actions on things that the record mentions nowhere.

use std::collections::{BTreeMap, BTreeSet};

use counterfoil_model::{Family, Object, ObjectKind, Role};

use super::extract::ActionClaim;
use super::objects::without_lines;
use crate::facts::{Deed, Execution, Facts, Run};
use crate::prose::has_file_extension;
use crate::values::{Leaf, Leaves, WordSearch, each_figure};

/// Where the record first mentions the objects of the latest claims, found in one pass.
pub(super) struct Mentioned {
    /// The message that first mentions a spelling, in small letters; `None` if none does.
    first: BTreeMap<String, Option<usize>>,
}

impl Mentioned {
    pub(super) fn new(facts: &Facts<'_>, claims: &[ActionClaim]) -> Self {
        /// The maximum number of spellings: preparing to search for many takes long.
        const MOST: usize = 300;
        let objects = claims.iter().rev().flat_map(|claimed| &claimed.claim.objects);
        let all = objects.flat_map(|object| spellings(object).into_iter().chain(kinds_of(object)));
        let first: BTreeMap<String, Option<usize>> = all.take(MOST).map(|it| (it, None)).collect();
        let mut mentioned = Self { first };
        let all: Vec<String> = mentioned.first.keys().cloned().collect();
        if let Some(search) = WordSearch::new(&all, true).filter(|_| !all.is_empty()) {
            for (turn, text) in texts(facts) {
                search.each(text, |at| {
                    let known = all.get(at).and_then(|word| mentioned.first.get_mut(word));
                    if let Some(known) = known {
                        *known = Some(known.map_or(turn, |first| first.min(turn)));
                    }
                });
            }
        }
        mentioned
    }

    /// Whether a call, a result or an instruction before a message contains the spelling. `None` if
    /// it was not searched for.
    fn has(&self, spelling: &str, turn: usize) -> Option<bool> {
        self.first.get(spelling).map(|first| first.is_some_and(|first| first < turn))
    }

    /// Whether nothing before a message mentions the object in any spelling. Of ids, one of the
    /// same kind has to occur: others may be known from elsewhere, such as `RFC-7519`.
    fn lacks(&self, object: &Object, turn: usize) -> bool {
        let names = spellings(object);
        let kinds = kinds_of(object);
        let has = |kind: &String| self.has(kind, turn) == Some(true);
        let lacks = |name: &String| self.has(name, turn) == Some(false);
        !names.is_empty() && (kinds.is_empty() || kinds.iter().any(has)) && names.iter().all(lacks)
    }
}

/// The index of the file, id, address or amount among the objects of a claim that a record of all
/// the agent's work does not mention.
pub(super) fn unseen_object(
    facts: &Facts<'_>,
    claimed: &ActionClaim,
    mentioned: &Mentioned,
) -> Option<usize> {
    let turn = claimed.claim.turn;
    let acts = !matches!(claimed.family, Family::Read | Family::Search | Family::Compute);
    if !acts || !claimed.direct {
        return None;
    }
    let unseen = |object: &Object| match object.kind {
        ObjectKind::Money => is_other_amount(facts, claimed, object),
        ObjectKind::Path => {
            mentioned.lacks(object, turn) && !was_generated(facts, &object.text, turn)
        }
        _ => mentioned.lacks(object, turn),
    };
    let at = claimed.claim.objects.iter().position(unseen)?;
    let whole = facts.shows_all_before(turn)
        && facts.record().count_before(turn) > 0
        && !facts.delegates_before(turn)
        && !facts.called_unknown_tool_before(turn);
    whole.then_some(at)
}

/// "I refunded $25", where the only refund was of 10: whether no number of the record is the amount,
/// nor the sum or the difference of two of them.
fn is_other_amount(facts: &Facts<'_>, claimed: &ActionClaim, amount: &Object) -> bool {
    /// With more numbers, some two of them add up to anything.
    const MOST: usize = 100;
    let turn = claimed.claim.turn;
    let own = |(_, deed): &(&Execution<'_>, &Deed<'_>)| {
        deed.families.has(claimed.family) && deed.is_plain_call()
    };
    let mut deeds = facts.deeds_before(turn).filter(own);
    let (Some((execution, deed)), None) = (deeds.next(), deeds.next()) else { return false };
    let states =
        |leaves: Leaves<'_>| leaves.nodes().iter().any(|node| matches!(node.leaf, Leaf::Number(_)));
    let stated = Leaves::parse(execution.arguments()).is_some_and(states);
    if !stated || !deed.status().succeeded() || !claimed.patients.contains(amount) {
        return false;
    }
    let mut known = BTreeSet::new();
    for (_, text) in texts(facts).filter(|(at, _)| *at < turn) {
        each_figure(text, |figure| {
            known.insert(figure.0);
        });
        if known.len() > MOST {
            return false;
        }
    }
    let mut number = None;
    each_figure(&amount.text, |figure| number = Some(figure.0));
    let Some(number) = number else { return false };
    let adds_up = |one: &i64| known.contains(&(number - one)) || known.contains(&(number + one));
    // In cents, too.
    !known.contains(&number) && !known.contains(&(number * 100)) && !known.iter().any(adds_up)
}

/// Whether a command may have written the file without naming it: a package manager, a build, a
/// formatter, a merge, a script of the project, or a run of tests, which writes lock files and
/// snapshots.
fn was_generated(facts: &Facts<'_>, path: &str, turn: usize) -> bool {
    let writes = families![Install, Build, Deploy, Update, Create, Run];
    let of_tests = path.ends_with(".lock") || path.ends_with(".snap");
    facts.latest_deeds(0..facts.record().count_before(turn)).any(|(_, deed)| {
        deed.shell.as_ref().is_some_and(|work| {
            let script = |word: &str| word.starts_with("./") || word.ends_with(".sh");
            let merges = |run: &Run<'_>| run.family == Family::Commit && run.names != "git commit";
            let unnamed = |run: &Run<'_>| writes.has(run.family) || merges(run);
            work.writes_unnamed
                || work.restores
                || work.runs.iter().any(unnamed)
                || work.command.split_whitespace().any(script)
                || of_tests && work.runs.iter().any(|run| run.family == Family::Test)
        })
    })
}

/// Every call, result and instruction, with the message that has it.
fn texts<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = (usize, &'f str)> {
    let calls = facts.record().executions().iter().flat_map(|execution| {
        let answered = execution.answered_at.unwrap_or(execution.called_at);
        [(execution.called_at, execution.arguments()), (answered, execution.text())]
    });
    let messages = facts.transcript().messages.iter().enumerate();
    let instructions = messages.filter(|(_, message)| message.role != Role::Assistant);
    calls.chain(instructions.map(|(at, message)| (at, message.text.as_str())))
}

/// The texts of which one has to occur wherever the object is mentioned, in small letters: the name
/// of a file without its extension, an address, an id with and without its separators. Empty if
/// other words may mean the same thing.
fn spellings(object: &Object) -> Vec<String> {
    /// Shorter names occur within other words.
    const SHORTEST: usize = 3;
    let text = object.text.to_ascii_lowercase();
    let spelled = match object.kind {
        ObjectKind::Path => {
            let path = without_lines(&text);
            let name = path.rsplit('/').next().unwrap_or(path);
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            if has_file_extension(path) { vec![stem.to_owned()] } else { Vec::new() }
        }
        ObjectKind::Email => vec![text],
        ObjectKind::Id if is_id(&object.text) => {
            let id = text.trim_start_matches('#');
            ["-", "", " ", "_"].iter().map(|by| id.replace(['-', '_'], by)).collect()
        }
        _ => Vec::new(),
    };
    if spelled.iter().any(|name| name.len() < SHORTEST) { Vec::new() } else { spelled }
}

/// The beginnings of ids of the same kind, up to the first digit: `tsk-0` to `tsk-9`. Empty for what
/// is no such id.
fn kinds_of(object: &Object) -> Vec<String> {
    let id = object.kind == ObjectKind::Id && is_id(&object.text) && !is_hash(&object.text);
    let kind = object.text.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    (0..10).filter(|_| id).map(|digit| format!("{kind}{digit}")).collect()
}

/// `TSK-9038`, `#8810`, `a1b2c3d`: whether it is an id, and no version or amount.
fn is_id(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"#-_".contains(&b));
    let labelled = text.starts_with(|c: char| c.is_ascii_uppercase() || c == '#')
        && text.contains(['#', '-', '_']);
    plain && digits >= 2 && (labelled || is_hash(text))
}

/// `a1b2c3d`: whether it may be the hash of a commit.
fn is_hash(text: &str) -> bool {
    const SHORTEST: usize = 7;
    let hexadecimal = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let mixed = |of: fn(&u8) -> bool| text.bytes().any(|b| of(&b));
    text.len() >= SHORTEST
        && text.bytes().all(hexadecimal)
        && mixed(u8::is_ascii_digit)
        && mixed(u8::is_ascii_alphabetic)
}
