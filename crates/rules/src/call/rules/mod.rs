//! One file a rule. What each finds is decided once for all calls, in `recorded`; a rule file says
//! what the rule is and which of those issues are its own.

pub(crate) mod invalid_format;
pub(crate) mod invalid_value;
pub(crate) mod malformed_arguments;
pub(crate) mod missing_required;
pub(crate) mod placeholder_value;
pub(crate) mod repeated_call;
pub(crate) mod suspicious_length;
pub(crate) mod ungrounded_path;
pub(crate) mod ungrounded_value;
pub(crate) mod unknown_param;
pub(crate) mod unknown_tool;
pub(crate) mod wrong_type;
