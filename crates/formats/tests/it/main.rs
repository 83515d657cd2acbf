//! Tests of the readers on whole logs.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod exports;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod mutation;
#[cfg(test)]
mod packed;
#[cfg(test)]
mod raw_logs;
#[cfg(test)]
mod shown;
#[cfg(test)]
mod tool_lists;
