//! What a shell command line does: command positions at any depth, redirect targets,
//! substitutions, wrappers, known runners and what their output says.
//!
//! Pure. Deliberately not here: I/O, execution, policy.
