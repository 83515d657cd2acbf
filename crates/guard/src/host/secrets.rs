use super::before::HostedCall;
use counterfoil_redact::Redactor;

/// Remarks upon a shell command that carries a secret. Whether one may leave the machine is a gate's
/// question.
pub(super) fn note(hosted: &HostedCall, runs_commands: bool) -> Option<String> {
    let redacted = runs_commands.then(|| found(hosted)).flatten()?;
    let shown: String = redacted.chars().take(200).collect();
    Some(format!(
        "this command holds what looks like a secret ({shown}): commands end up in histories and \
         logs; read it from a file or a variable instead"
    ))
}

/// The arguments without their secrets, where there are any.
fn found(hosted: &HostedCall) -> Option<String> {
    let redacted = Redactor::standard().redact_exact(&hosted.arguments);
    (redacted != hosted.arguments).then(|| redacted.to_string())
}
