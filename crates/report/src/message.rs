use counterfoil_model::{Finding, Subject};

use crate::visible::shorten;

/// The maximum length of a quoted claim, in characters.
const QUOTED: usize = 160;

/// The message of a finding followed by the claim in quotation marks, for formats that do not show
/// the agent's text beside it.
pub(crate) fn quoting(finding: &Finding) -> String {
    let message = &finding.message;
    let Subject::Claim { claim, .. } = &finding.subject else { return message.clone() };
    let words = claim.text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.as_str() {
        "" => message.clone(),
        words => format!("{message}: \u{201c}{}\u{201d}", shorten(words, QUOTED)),
    }
}
