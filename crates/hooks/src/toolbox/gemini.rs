use super::{Does, Own};

/// The built-in tools in its documentation.
pub(super) const TOOLS: &[Own] = &[
    Own { name: "run_shell_command", does: Does::Shell("/command", Some("/dir_path")) },
    Own { name: "read_file", does: Does::Reads },
    Own { name: "read_many_files", does: Does::Reads },
    Own { name: "list_directory", does: Does::Reads },
    Own { name: "glob", does: Does::Reads },
    Own { name: "grep_search", does: Does::Reads },
    Own { name: "search_file_content", does: Does::Reads },
    Own { name: "write_file", does: Does::Writes },
    Own { name: "replace", does: Does::Writes },
    Own { name: "web_fetch", does: Does::Fetches },
    Own { name: "google_web_search", does: Does::Fetches },
    Own { name: "invoke_agent", does: Does::Delegates },
    Own { name: "activate_skill", does: Does::Delegates },
    Own { name: "complete_task", does: Does::Notes },
    Own { name: "ask_user", does: Does::Notes },
    Own { name: "enter_plan_mode", does: Does::Notes },
    Own { name: "exit_plan_mode", does: Does::Notes },
    Own { name: "get_internal_docs", does: Does::Reads },
    Own { name: "save_memory", does: Does::Notes },
    Own { name: "write_todos", does: Does::Notes },
];
