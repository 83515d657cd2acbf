//! The dashboard and the API, as seen by browsers and programs.

mod access;
mod api;
mod approvals;
mod desk;
mod pages;
mod size;
mod stream;
