//! What answers say of the members of results: "it departs at 14:35", "Status: shipped", held
//! against the members of that name.

mod judge;
mod near;
mod quantity;
mod said;
mod state;
mod state_of_id;
mod strange;
mod subject;

pub(crate) use judge::members;
