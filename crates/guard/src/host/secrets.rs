use counterfoil_redact::Redactor;

use crate::admitted::Admitted;

/// Remarks upon a shell command that carries a secret. Whether one may leave the machine is a gate's
/// question.
pub(super) fn note(call: &Admitted, runs_commands: bool) -> Option<String> {
    let redacted = runs_commands.then(|| found(call)).flatten()?;
    let shown: String = redacted.chars().take(200).collect();
    Some(format!(
        "this command holds what looks like a secret ({shown}): commands end up in histories and \
         logs; read it from a file or a variable instead"
    ))
}

/// The arguments without their secrets, where there are any.
fn found(call: &Admitted) -> Option<String> {
    let redacted = Redactor::standard().redact_exact(call.exact_arguments());
    (redacted != *call.exact_arguments()).then(|| redacted.to_string())
}
