//! What must not compile: a way past the gates.

#[test]
fn no_permit_but_from_the_guard() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
