use super::{Does, Own};

/// Shell-like tools reach a hook as `Bash`, whatever the model called.
pub(super) const TOOLS: &[Own] = &[
    Own { name: "Bash", does: Does::Shell("/command", Some("/workdir")) },
    Own { name: "write_stdin", does: Does::Types("/chars") },
    Own { name: "apply_patch", does: Does::Writes },
    Own { name: "view_image", does: Does::Reads },
    Own { name: "web_search", does: Does::Fetches },
    Own { name: "update_plan", does: Does::Notes },
    Own { name: "spawn_agent", does: Does::Delegates },
    Own { name: "collaborationspawn_agent", does: Does::Delegates },
    Own { name: "send_input", does: Does::Delegates },
    Own { name: "wait_agent", does: Does::Reads },
    Own { name: "close_agent", does: Does::Notes },
    Own { name: "request_user_input", does: Does::Notes },
];
