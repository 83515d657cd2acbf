/// Keys of other builds that have no effect here, with advice. A section's name means all of its
/// keys.
const UNBUILT: &[(&str, &str)] =
    &[("agent.max_tool_retries", MIGRATE), ("agent.max_retry_duration_secs", MIGRATE)];

const MIGRATE: &str = "it moved to `[tools.retry]`; run `counterfoil config migrate --write`";

/// Returns the advice for a key without effect here.
pub(super) fn advice(path: &str) -> Option<&'static str> {
    UNBUILT
        .iter()
        .find(|(known, _)| {
            path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .map(|(_, advice)| *advice)
}

/// Returns every such key or section.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    UNBUILT.iter().map(|(known, _)| *known)
}
