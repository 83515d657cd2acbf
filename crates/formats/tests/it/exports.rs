//! What frameworks and agents export: who said what, what was called, and how it ended.

use counterfoil_formats::Options;
use counterfoil_model::Format;

use crate::shown::{fixture, shown};

fn check(format: Format) -> String {
    shown(fixture(format).as_bytes(), &Options::new("fixture"))
}

#[test]
fn strands() {
    insta::assert_snapshot!(check(Format::Strands), @r##"
    strands fixture, tools unknown
    0 :1 User @1769940000000 "Close ticket 7."
    1 :2 Assistant @1769940001000 "Closing."
        call `c1` close_ticket {"id": 7}
        call `c2` list_tickets {}
    2 :3 Tool @1769940002000 ""
        result `c1` "no such ticket" error true
        result `c2` "{\"open\": 0}" error false
    3 :4 Assistant @1769940003000 "There is no ticket 7."
    "##);
}
