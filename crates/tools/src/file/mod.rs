//! File tools: reading, writing, listing and searching, beneath the workspace and nowhere else.

mod atomic;
mod edit_file;
mod failure;
mod find_files;
mod grep;
mod list_directory;
mod place;
mod policy;
mod read_file;
mod shown;
mod stop;
mod tool;
mod tools;
mod walk;
mod write_file;

use tool::FileTool;

pub use tool::Reach;
pub use tools::FileTools;

/// The tools, in listing order.
const TOOLS: [FileTool; 6] = [
    read_file::TOOL,
    write_file::TOOL,
    edit_file::TOOL,
    list_directory::TOOL,
    find_files::TOOL,
    grep::TOOL,
];
