//! Whether a deed of the right kind is about what is claimed at all.

use counterfoil_model::{Family, Object, ObjectKind};

use super::extract::ActionClaim;
use super::judge::args;
use super::objects::mentions;
use super::state::{holds_state, records, state_stem};
use super::tie::stem;
use crate::facts::{Deed, Execution, Facts, Families, ToolName};
use crate::prose::Lexicon;
use crate::values::{AnyCase, Figure, Leaf, each_figure, holds};

/// So many bytes of results are searched for a payment.
const REACH: usize = 32 * 1024;

/// Whether a plain update speaks neither of the verb nor of the thing that is said to be
/// cancelled or deleted: a profile that was updated is no sign that an order was cancelled.
pub(super) fn is_other_matter(
    said: &ActionClaim,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
    has_unused_tool: bool,
) -> bool {
    if said.family == Family::Deploy && !deed.written.is_empty() {
        return true;
    }
    // An edit merges no branch.
    if said.verb == "merged" && said.family == Family::Commit && !deed.opaque {
        let merges = deed.tool.to_ascii_lowercase().contains("merge");
        return !merges && !deed.families.has(Family::Commit);
    }
    // What was cancelled is not refunded yet, where there is a tool for that.
    if said.family == Family::Refund && has_unused_tool && deed.shell.is_none() && !deed.opaque {
        let refund = AnyCase::new("refund");
        let texts = [deed.tool.as_ref(), args(execution), execution.text()];
        return !texts.iter().any(|text| holds_state(text, &refund));
    }
    if said.family == Family::Pay && has_unused_tool && deed.shell.is_none() && !deed.opaque {
        return !speaks_of_payment(said, execution, deed);
    }
    let ends = matches!(said.family, Family::Cancel | Family::Delete) || has_unused_tool;
    let updates = deed.families == Families::NONE.with(Family::Update) && deed.written.is_empty();
    if !ends || !updates || deed.shell.is_some() || deed.opaque {
        return false;
    }
    let text = format!("{} {} {}", deed.tool, args(execution), execution.text());
    let text = text.to_ascii_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let about = words.any(|word| {
        said.things.iter().any(|thing| thing.len() > 3 && word.starts_with(thing.as_str()))
    });
    let objects = said.claim.objects.iter().any(|object| mentions(&text, object))
        || said.claim.objects.iter().any(|object| mentions(execution.text(), object))
        || said.claim.objects.iter().any(|object| mentions(args(execution), object));
    let state = state_stem(said.family).is_some_and(|stem| text.contains(stem))
        || records(said).iter().any(|word| text.contains(word));
    !objects && !about && !state && !text.contains(stem(&said.verb)) && !text.contains(&said.verb)
}

/// Whether a deed changed files, and none of the kind that is said to have been changed: documents,
/// tests; or nothing that changing files brings about: a branch.
pub(super) fn is_other_file(
    said: &ActionClaim,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
) -> bool {
    let edits = deed.shell.is_none() && !deed.written.is_empty() && !deed.opaque;
    // "tests covering the edge cases", "docs accordingly"
    let nouns = said.things.iter().take_while(|thing| !thing.ends_with("ing"));
    let nouns: Vec<&str> =
        nouns.map(String::as_str).filter(|thing| !thing.ends_with("ly")).collect();
    let head = nouns.last().copied().unwrap_or_default();
    // Of version control: "added an `else` branch" is code.
    let branch = matches!(nouns[..], ["branch" | "tag"]) && said.verb == "created";
    if !edits || (said.names_file() && !branch) {
        return false;
    }
    // "I closed issue #12", "I tagged v0.4.3": nothing that is kept in a file.
    const KEPT: [&str; 6] = ["closed", "reopened", "assigned", "tagged", "labelled", "approved"];
    let tracked = |thing: &&str| ["issue", "ticket", "pr", "request", "release"].contains(thing);
    let numbered = |o: &Object| {
        let number = o.text.trim_start_matches(['#', 'v']);
        number.len() < o.text.len() && number.starts_with(|c: char| c.is_ascii_digit())
    };
    if KEPT.contains(&said.verb.as_str())
        && (nouns.iter().any(tracked) || said.claim.objects.iter().any(numbered))
    {
        return true;
    }
    let path =
        |known: &[&str]| deed.written.iter().any(|path| known.iter().any(|word| holds(path, word)));
    let text = |known: &[&str]| known.iter().any(|word| holds(args(execution), word));
    match head {
        "readme" | "changelog" => !path(&[head]) && !text(&[head]),
        "doc" | "documentation" => {
            let comments = ["\"\"\"", "///", "/**", "//!", "#"];
            !path(&["doc", ".md", ".rst", ".txt", ".adoc", "readme"]) && !text(&comments)
        }
        "test" | "spec" => !path(&["test", "spec"]) && !text(&["test", "spec", "it("]),
        "snapshot" => !path(&["snap"]) && !text(&["snap"]),
        "migration" if said.verb == "applied" => true,
        "migration" => {
            let kinds = ["migrat", "alembic", "schema", ".sql"];
            !path(&kinds) && !text(&["migrat", "alter table"])
        }
        _ if branch => !text(&[head]),
        _ => false,
    }
}

/// Whether a command only commits or pushes what is there.
pub(super) fn only_keeps(deed: &Deed<'_>) -> bool {
    const CHANGES: [&str; 9] = [
        "git mv",
        "git rm",
        "cherry-pick",
        "revert",
        "merge",
        "rebase",
        "apply",
        "stash",
        "checkout",
    ];
    deed.written.is_empty()
        && deed.families.meets(Families::of(&[Family::Commit, Family::Push]))
        && deed.shell.as_ref().is_some_and(|work| {
            let writes = work.writes_unnamed || work.opaque || work.deletes || work.restores;
            !writes
                && work.manifests.is_empty()
                && !CHANGES.iter().any(|word| work.command.contains(word))
        })
}

/// Whether a claim is about version control.
pub(super) fn speaks_of_commit(said: &ActionClaim) -> bool {
    const WORDS: [&str; 9] =
        ["commit", "branch", "tag", "push", "merge", "pull", "repo", "histor", "upstream"];
    WORDS.iter().any(|word| holds(&said.claim.text, word))
}

/// Whether a deed has the amount that is said to have been paid, or speaks of paying.
pub(super) fn speaks_of_payment(
    said: &ActionClaim,
    execution: &Execution<'_>,
    deed: &Deed<'_>,
) -> bool {
    let texts = [deed.tool.as_ref(), args(execution), execution.text()];
    let amounts = said.claim.objects.iter().filter(|o| o.kind == ObjectKind::Money);
    let mut amounts = amounts.filter_map(|o| Figure::parse(&o.text)).peekable();
    let paid = ["pay", "paid", "charge", "bill", "amount", "cost", "price", "fee", "total"];
    match amounts.peek() {
        Some(_) => amounts.any(|amount| {
            let mut found = false;
            each_figure(execution.text(), |figure| found |= figure == amount);
            each_figure(args(execution), |figure| found |= figure == amount);
            found
        }),
        None => texts.iter().any(|text| paid.iter().any(|word| holds(text, word))),
    }
}

/// Whether the agent had a tool for exactly what is claimed, and called none of that kind: then a
/// plain update of something else does not vouch.
pub(super) fn has_unused_tool(facts: &Facts<'_>, said: &ActionClaim) -> bool {
    use Family as F;
    let catalog = &facts.transcript().catalog;
    let exact = matches!(
        said.family,
        F::Book | F::Refund | F::Return | F::Exchange | F::Pay | F::Cancel | F::Delete
    );
    let state = said.state && said.family != F::Refund;
    if !exact || state || !catalog.is_known() {
        return false;
    }
    let count = facts.record().count_before(said.claim.turn);
    let (offered, first) = facts.index().kind(said.family, || tools_of(facts, said.family));
    offered && first.is_none_or(|first| first >= count)
}

/// Whether the agent had a tool for exactly such acts, and the first execution that did one.
fn tools_of(facts: &Facts<'_>, family: Family) -> (bool, Option<usize>) {
    // `cancel_order`, `payment_create`
    let exact = |words: &[String], families: Families| {
        let noun = |word: &String| {
            Lexicon::english().get(word).is_some_and(|entry| entry.noun == Some(family))
        };
        families == Families::NONE.with(family)
            || (families.meets(Families::changing()) && words.iter().any(noun))
    };
    let does = |deed: &Deed<'_>| deed.families.has(family) || exact(deed.words(), deed.families);
    let offered = facts.tool_names().iter().any(|tool| exact(&tool.words, tool.families));
    let mut used = facts.first_uses().iter().copied();
    (offered, used.find(|at| facts.deed(*at).is_some_and(|(_, deed)| does(deed))))
}

/// The thing of a claim for which the agent had a tool of its own that it never called: then a
/// deed that is not about it does not vouch. "A bag has been added", with `add_bags` at hand.
pub(super) fn special_tool<'s>(
    facts: &Facts<'_>,
    said: &'s ActionClaim,
    turn: usize,
) -> Option<&'s str> {
    let mut things = said.things.iter().map(String::as_str);
    things.find(|thing| has_uncalled_tool(facts, thing, Families::changing(), turn))
}

/// Whether the agent had a tool that is named after a thing, for acts of some kinds, and never
/// called it.
fn has_uncalled_tool(facts: &Facts<'_>, thing: &str, kinds: Families, turn: usize) -> bool {
    facts.transcript().catalog.is_known()
        && facts.tool_names().iter().any(|tool| {
            tool.words.iter().any(|word| word.starts_with(thing))
                && tool.families.meets(kinds)
                && !facts.has_called(tool.name, turn)
        })
}

/// "All items have been shipped": what those do who send goods, where no tool of the agent's does.
pub(super) fn is_act_of_sender(facts: &Facts<'_>, said: &ActionClaim) -> bool {
    const ACTS: [&str; 3] = ["shipped", "dispatched", "delivered"];
    let does = |tool: &ToolName<'_>| tool.families.has(Family::Deploy);
    ACTS.contains(&said.verb.as_str())
        && !said.is_own()
        && facts.transcript().catalog.is_known()
        && !facts.runs_shell_before(said.claim.turn)
        && !facts.tool_names().iter().any(does)
}

/// Whether somebody is said to have been told, and the tool that posts or files something tells
/// nobody.
pub(super) fn tells_nobody(said: &ActionClaim, deed: &Deed<'_>) -> bool {
    let told = ["informed", "notified", "told", "texted", "emailed", "messaged", "alerted"];
    let posts = |word: &String| ["post", "upload", "share"].contains(&word.as_str());
    let tells = |word: &String| {
        let means = ["mail", "email", "sms", "text", "message", "notice", "letter", "comment"];
        means.iter().any(|known| word.starts_with(known))
    };
    told.contains(&said.verb.as_str())
        && deed.shell.is_none()
        && !deed.opaque
        && deed.words().iter().any(posts)
        && !deed.words().iter().any(tells)
}

/// "$1,250 has been paid", "the rent has been paid": a list of payments has one of this amount that
/// went through, or one for it.
pub(super) fn is_recorded_payment(facts: &Facts<'_>, said: &ActionClaim) -> bool {
    let amounts = said.patients.iter().filter(|object| object.kind == ObjectKind::Money);
    let amounts: Vec<Figure> = amounts.filter_map(|o| Figure::parse(&o.text)).collect();
    // Who says "I've paid" has to have paid.
    let own = said.is_own();
    let things: Vec<&str> = said.things.iter().map(String::as_str).filter(|_| !own).collect();
    let is = |leaf: Leaf<'_>, words: &[&str]| match leaf {
        Leaf::Text(text) => words.iter().any(|word| text.eq_ignore_ascii_case(word)),
        _ => false,
    };
    let amount_of = |name: &str| AMOUNTS.iter().any(|word| holds(name, word));
    facts.given().results(said.claim.turn, REACH).any(|leaves| {
        let nodes = leaves.nodes();
        let says = |object: usize, words: &[&str]| {
            nodes.iter().any(|node| node.parent == object && is(node.leaf, words))
        };
        nodes.iter().any(|node| {
            let Leaf::Number(number) = node.leaf else { return false };
            let same = Figure::parse(number).is_some_and(|figure| amounts.contains(&figure));
            (same && says(node.parent, &["completed", "paid", "settled"]))
                || (amount_of(node.name) && says(node.parent, &things))
        })
    })
}

/// Parts of the names of members that are amounts of money.
const AMOUNTS: [&str; 6] = ["amount", "price", "cost", "total", "fee", "rent"];
