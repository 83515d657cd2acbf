use counterfoil_redact::Redactor;

use crate::admitted::Admitted;

/// A note about a shell command that contains a secret. Whether the secret may leave the machine is
/// decided by a gate.
pub(super) fn note(call: &Admitted, runs_commands: bool) -> Option<String> {
    let redacted = runs_commands.then(|| found(call)).flatten()?;
    let shown: String = redacted.chars().take(200).collect();
    Some(format!(
        "this command contains what looks like a secret ({shown}), and commands end up in \
         histories and logs; read it from a file or a variable instead"
    ))
}

/// The redacted arguments, if they contain secrets.
fn found(call: &Admitted) -> Option<String> {
    let redacted = Redactor::standard().redact_exact(call.exact_arguments());
    (redacted != *call.exact_arguments()).then(|| redacted.to_string())
}
