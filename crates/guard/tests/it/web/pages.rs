//! Web pages as Markdown.

use insta::assert_snapshot;

use super::*;

fn scrape(html: impl Into<Vec<u8>>) -> ToolOutput {
    scrape_within(60, html)
}

fn scrape_within(timeout_secs: u64, html: impl Into<Vec<u8>>) -> ToolOutput {
    let html = html.into();
    let server = Server::start(move |_| answer("200 OK", "Content-Type: text/html\r\n", &html));
    let options = WebOptions { timeout_secs, ..opened(&server) };
    call_web(&executor(options, &Book::default()), "scrape", &server.url("/"))
}

#[test]
fn a_page_is_what_it_says() {
    let output = scrape(
        "<!doctype html><html><head><title>Lamps &amp; shades</title><style>p{}</style>\
         <script>alert('x')</script></head><body><nav><a href=/>Home</a></nav>\
         <h1>Lamps</h1><p>All <b>good</b> ones, see <a href=\"/list\">the list</a>.</p>\
         <ul><li>one<li>two</ul><pre><code>let x = 1;\n</code></pre>\
         <table><tr><th>a<th>b<tr><td>1<td>2</table>\
         <!-- a comment --><noscript>none</noscript><footer>imprint</footer></body></html>",
    );
    assert_eq!((output.failure, output.truncated), (None, false));
    assert_snapshot!(output.text.replace(&output.egress[0].host, "page.test"), @r"
    # Lamps & shades

    # Lamps

    All **good** ones, see [the list](http://page.test/list).

    *   one
    *   two

    ```
    let x = 1;
    ```

    | a | b |
    | - | - |
    | 1 | 2 |
    ");
}

#[test]
fn the_main_part_is_chosen_where_there_is_one() {
    let output =
        scrape("<title>T</title><p>around<main><header><h1>M</h1></header><p>inside</main>");
    assert_snapshot!(output.text, @r"
    # T

    # M

    inside
    ");
    let output = scrape("<article>one</article><article>two</article>");
    assert_snapshot!(output.text, @r"
    one

    two
    ");
    assert_eq!(scrape("").text, "");
    assert_eq!(scrape("plain text, no tags").text, "plain text, no tags");
}

/// A response that is not a page is returned unchanged.
#[test]
fn other_text_is_not_converted() {
    let server = Server::start(|_| {
        answer("200 OK", "Content-Type: application/json\r\n", "{\"a\": \"<b>\"}")
    });
    let web = executor(opened(&server), &Book::default());
    assert_eq!(call_web(&web, "scrape", &server.url("/")).text, "{\"a\": \"<b>\"}");
}

/// Pages that try to break readers: deep, wide, with thousands of attributes. Reading each of them
/// ends.
#[test]
fn hostile_pages_end() {
    let many = |piece: &str, count: usize| piece.repeat(count);
    let attributes: String = (0..10_000).map(|n| format!(" a{n}")).collect();
    let pages = [
        ("deep", many("<div>", 5_000) + "bottom"),
        ("deep inline", many("<b><i>", 5_000) + "bottom"),
        ("deep lists", many("<ul><li>", 2_000) + "bottom"),
        ("deep quotes", many("<blockquote>", 5_000) + "bottom"),
        ("deep tables", many("<table><td>", 2_000) + "bottom"),
        ("neighbours", many("<b>x</b>", 50_000)),
        ("attributes", format!("<p{attributes}>end")),
        ("unclosed", many("<a href=x>", 10_000)),
        ("misnested", many("<b><p></b>", 5_000)),
        ("comment", format!("<!--{}", many("-", 100_000))),
        ("no end", many("<", 100_000)),
        ("entities", many("&lt;&#x26;", 50_000)),
    ];
    for (name, page) in pages {
        let begun = std::time::Instant::now();
        let output = scrape(page);
        println!("{name}: {:?}, {:?}", begun.elapsed(), output.failure);
        assert!(matches!(output.failure, None | Some(Timeout)), "{name}: {}", output.text);
    }
    // A reader that takes forever is given up and stops: the runtime of the test ends only after it
    // has.
    let attributes: String = (0..300_000).map(|n| format!(" a{n}")).collect();
    let begun = std::time::Instant::now();
    let output = scrape_within(1, format!("<p{attributes}>end"));
    assert_eq!(failure(&output).0, Timeout);
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    let output = scrape(many("<div>", 2_000) + "bottom");
    assert!(output.truncated && !output.text.contains("bottom"), "{}", output.text);
    assert!(output.text.contains("[the page is too large: parts of it are left out]"));
}
