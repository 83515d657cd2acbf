//! Lists of changes that name a file nobody wrote: "- `a.rs`: …" among files that were changed.

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind};

use super::objects::objects_in;
use super::writing::{is_unheard_file, may_be_written, shows_files};
use crate::facts::{Answer, Facts};
use crate::prose::{Action, BlockKind, Prose, Sentence, Tags, Token, TokenKind, Words};

/// An item of a list that begins with the name of a file.
struct Row {
    file: Object,
    /// The sentence that begins with it.
    sentence: usize,
    /// It speaks of no trouble, and of nothing that was left as it is.
    plain: bool,
}

/// The claims, each with the file as its object.
pub(crate) fn listed_files(facts: &Facts<'_>) -> Vec<Claim> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let mut lists = lists(&answer.prose);
        lists.retain(|(_, rows)| rows.len() > 1);
        if lists.is_empty() || !shows_files(facts, answer.turn) {
            continue;
        }
        for (announced, rows) in lists {
            let written: Vec<bool> =
                rows.iter().map(|row| may_be_written(facts, answer.turn, &row.file)).collect();
            let changed = written.iter().filter(|written| **written).count();
            let others = rows.len() - changed;
            if changed < others || changed == 0 {
                continue;
            }
            // One file that was written makes a list of changes only where it is said to be one.
            let changes = announced || changed > 1;
            let strange = rows.iter().zip(&written).filter(|(row, written)| {
                let unknown = || is_unheard_file(facts, answer.turn, &row.file);
                row.plain && !**written && (changes || unknown())
            });
            found.extend(strange.filter_map(|(row, _)| claim(answer, row)));
        }
    }
    found
}

/// The lists of a message of which items begin with a file, and whether they are announced as what
/// was changed.
fn lists(prose: &Prose<'_>) -> Vec<(bool, Vec<Row>)> {
    let mut found: Vec<(bool, Vec<Row>)> = vec![(false, headed(prose))];
    let mut listing = false;
    let mut announced = false;
    let mut block = usize::MAX;
    for (at, sentence) in prose.sentences.iter().enumerate() {
        let item = matches!(
            prose.blocks.get(sentence.block).map(|block| block.kind),
            Some(BlockKind::Item { ticked: None | Some(true) })
        );
        if !item {
            announced = tells_change(prose, sentence);
            listing = false;
            continue;
        }
        if !std::mem::replace(&mut listing, true) {
            found.push((announced, Vec::new()));
        }
        let Some((_, rows)) = found.last_mut() else { continue };
        if std::mem::replace(&mut block, sentence.block) == sentence.block {
            // The rest of an item.
            if let Some(row) = rows.last_mut().filter(|row| is_in(prose, row, sentence.block)) {
                row.plain &= is_plain(prose, sentence);
            }
            continue;
        }
        rows.extend(labelled(prose, sentence).map(|file| Row {
            file,
            sentence: at,
            plain: is_plain(prose, sentence) && !sentence.foreign,
        }));
    }
    found
}

/// "### 1. `a.rs`" or "1. `a.rs` (done):", and below it "Added two methods": the files that head what
/// was changed in them.
fn headed(prose: &Prose<'_>) -> Vec<Row> {
    let heads = prose.sentences.iter().enumerate().filter_map(|(at, sentence)| {
        let tokens = prose.tokens(sentence.tokens.clone());
        let heading = match prose.block_of(sentence)?.kind {
            BlockKind::Heading => true,
            BlockKind::Item { .. } => tokens.last().is_some_and(|t| t.is(':')),
            _ => false,
        };
        let bracket = tokens.iter().position(|t| t.is('(')).unwrap_or(tokens.len());
        let mut words = (sentence.tokens.start..sentence.tokens.start + bracket).filter(|at| {
            let small = |t: &Token| matches!(t.kind, TokenKind::Symbol(_) | TokenKind::Number);
            prose.tokens.get(*at).is_some_and(|t| !small(t))
        });
        let from = words.next().filter(|_| heading && !sentence.foreign)?;
        let file = objects_in(prose, from..from + 1).pop().filter(|_| words.next().is_none())?;
        let below = prose.sentences.get(at + 1)?;
        let named = file.kind == ObjectKind::Path && file.text.contains('.');
        let plain = begins_with_change(prose, below) && is_plain(prose, below);
        named.then_some(Row { file, sentence: at, plain })
    });
    heads.collect()
}

/// "Added two methods", "`take()`: Removed the counter"
fn begins_with_change(prose: &Prose<'_>, sentence: &Sentence) -> bool {
    let first = prose.tokens(sentence.tokens.clone()).iter().find(|t| t.kind == TokenKind::Word);
    first.is_some_and(|t| t.tags.any(Tags::COMPLETED) && is_change(t))
}

/// Whether a word is a verb by which files are changed.
fn is_change(token: &Token) -> bool {
    let changes = [Family::Update, Family::Create, Family::Delete, Family::Move];
    matches!(token.verb, Some(Action::Of(family)) if changes.contains(&family))
}

fn is_in(prose: &Prose<'_>, row: &Row, block: usize) -> bool {
    prose.sentences.get(row.sentence).is_some_and(|sentence| sentence.block == block)
}

/// "`a.rs`: …", "**a.rs** – …"
fn labelled(prose: &Prose<'_>, sentence: &Sentence) -> Option<Object> {
    let tokens = prose.tokens(sentence.tokens.clone());
    let ticks = |t: &Token| matches!(t.kind, TokenKind::Symbol(mark) if !mark.is_ascii());
    let at = tokens.iter().position(|t| !ticks(t))?;
    let mark = tokens.get(at + 1)?;
    if !matches!(mark.kind, TokenKind::Symbol(':' | '–' | '—' | '-')) || at + 2 >= tokens.len()
    {
        return None;
    }
    let from = sentence.tokens.start + at;
    let file = objects_in(prose, from..from + 1).pop()?;
    // `load.py:9` is where something was found, unless something was changed there.
    let changed = tokens.get(at + 2).is_some_and(|t| t.tags.any(Tags::COMPLETED) && is_change(t));
    let place = !changed && prose.word(prose.tokens.get(from)?).contains(':');
    let named = file.kind == ObjectKind::Path && file.text.contains('.') && !place;
    (named && !file.text.contains(['*', '{', '<']) && !file.text.ends_with('/')).then_some(file)
}

/// Whether what is said of a file can only be a change.
fn is_plain(prose: &Prose<'_>, sentence: &Sentence) -> bool {
    // "Split it in two: kept `A`, added `B`" is a change all the same.
    const KEPT: &Words = words!["same", "still", "already", "left", "existing", "kept"];
    const LEFT: &Words = words![
        "unchanged",
        "untouched",
        "remains",
        "stays",
        "todo",
        "pending",
        "missing",
        "next",
        "formatted",
        "see",
        "read",
        "needs",
        "generated",
        "unrelated",
    ];
    let doubt = Tags::NEGATION.or(Tags::USER);
    let tokens = prose.tokens(sentence.tokens.clone());
    let changed = tokens.iter().any(|t| t.has(Tags::COMPLETED) && is_change(t));
    // "Changed the loop to start at `0`": what stands behind the change tells of it.
    let led = begins_with_change(prose, sentence);
    let open = if led { doubt } else { doubt.or(Tags::MODAL).or(Tags::HEDGE).or(Tags::INTEND) };
    !tokens.iter().any(|t| t.has(open) || prose.is(t, LEFT) || (!changed && prose.is(t, KEPT)))
}

/// "Changes", "What I changed:", "Done, with these edits:"
fn tells_change(prose: &Prose<'_>, sentence: &Sentence) -> bool {
    let edits = [Family::Update, Family::Create];
    let tokens = prose.tokens(sentence.tokens.clone());
    let tells = |t: &Token| {
        let done = matches!(t.verb, Some(Action::Of(f)) if edits.contains(&f));
        let noun = prose.is(t, words!["changes", "edits", "changed", "files"]);
        (done && t.tags.any(Tags::COMPLETED)) || noun
    };
    let open = Tags::NEGATION.or(Tags::MODAL).or(Tags::INTEND).or(Tags::USER);
    tokens.iter().any(tells) && !tokens.iter().any(|t| t.has(open))
}

fn claim(answer: &Answer<'_>, row: &Row) -> Option<Claim> {
    let prose = &answer.prose;
    let sentence = prose.sentences.get(row.sentence)?;
    let clause = prose.clause_at(sentence.tokens.start)?;
    let kind = ClaimKind::Action(Family::Update);
    Some(prose.claim(clause, kind, vec![row.file.clone()], answer.turn))
}
