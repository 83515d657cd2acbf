//! How findings, verdicts and receipts are shown.
//!
//! Pure. Deliberately not here: decisions, printing.
