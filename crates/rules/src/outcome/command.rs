//! Commands that the agent names and says succeeded: "`terraform plan` ran through".

use counterfoil_model::{Object, ObjectKind};
use counterfoil_shell::{Script, Status};

use super::extract::OutcomeClaim;
use crate::facts::{Facts, LOOK_BACK, ShellWork};

/// "Smoke test: `python -c 'import app'` ✅": the latest command that contains the quoted one, if it
/// succeeded. The output of known checks is judged elsewhere.
pub(super) fn named_command(
    facts: &Facts<'_>,
    claimed: &OutcomeClaim,
    count: usize,
) -> Option<usize> {
    let quoted = |o: &&Object| o.kind == ObjectKind::Quote && o.text.contains(' ');
    let named = || claimed.claim.objects.iter().filter(quoted);
    // "`swift build` completes and `swift test` passes": prefers the quotation that names the
    // check.
    let check =
        |o: &&Object| claimed.check.as_deref().is_some_and(|c| o.text.eq_ignore_ascii_case(c));
    let command = named().find(check).or_else(|| named().next())?;
    let holds = |work: &ShellWork<'_>| work.command.contains(&command.text);
    let at = (0..count).rev().take(LOOK_BACK).find(|at| {
        let deed = facts.deed(*at).map(|(_, deed)| deed);
        deed.and_then(|deed| deed.shell.as_ref()).is_some_and(holds)
    })?;
    let (_, deed) = facts.deed(at)?;
    let work = deed.shell.as_ref()?;
    let known = work.runs.iter().any(|run| run.family == claimed.family);
    let script = Script::parse(&work.command).ok()?;
    // A pipeline or a forgiven failure succeeds whatever happened.
    let decides = script.commands().iter().all(|command| command.status == Status::Decides);
    (!known && decides && deed.status().succeeded()).then_some(at)
}
