/// The latest protocol revision with sessions, and the one without.
pub(super) const SESSIONS: &str = "2025-11-25";
pub(crate) const ALONE: &str = "2026-07-28";
