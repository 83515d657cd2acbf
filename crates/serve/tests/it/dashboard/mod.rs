//! The dashboard and the API, as browsers and programs see them.

mod access;
mod api;
mod approvals;
mod desk;
mod pages;
mod size;
mod stream;
