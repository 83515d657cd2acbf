//! Compares the redaction of ordinary text with copying it and with searching for one byte: `cargo
//! bench -p counterfoil-redact --bench redact`. Divide the rates.

use counterfoil_redact::Redactor;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

const BYTES: usize = 8_000_000;

fn main() {
    divan::main();
}

/// Typical tool output: listings, code, logs, tests, addresses. No secrets.
fn ordinary() -> String {
    const LINES: [&str; 12] = [
        "drwxr-xr-x 2 ada ada 4096 Nov  2 12:00 src/parser/tokens\n",
        "    pub fn next_token(&mut self) -> Option<Token> { self.tokens.pop() }\n",
        "test parser::keeps_spans ... ok\ntest parser::reads_nothing ... ok\n",
        "2026-11-02T12:00:01.123Z INFO request served in 12 ms path=/api/v1/orders status=200\n",
        "commit 5f2c1d0a9b8e7f6d5c4b3a29181706f5e4d3c2b1\nAuthor: Ada <ada@example.org>\n",
        "    password = os.environ[\"DB_PASSWORD\"]\n",
        "Compiling counterfoil-model v0.1.0 (/home/ada/counterfoil/crates/model)\n",
        "error[E0308]: mismatched types: expected `&str`, found `String`\n",
        "see https://example.org/docs/guide?page=3#install for more, or ask on the list\n",
        "{\"id\":17,\"name\":\"Grace\",\"tags\":[\"a\",\"b\"],\"total\":1299.5}\n",
        "The order was shipped on Monday and should be there by the end of the week.\n",
        "+        let secret = settings.secret()?; // task-550e8400-e29b-41d4-a716-446655440000\n",
    ];
    LINES
        .iter()
        .copied()
        .cycle()
        .scan(0, |size, line| {
            *size += line.len();
            (*size <= BYTES).then_some(line)
        })
        .collect()
}

/// Ordinary text without any keyword that could begin a secret.
#[divan::bench]
fn redacted_without_a_keyword(bencher: Bencher<'_, '_>) {
    let text = "The order was shipped on Monday and should be there by Friday, 17:30.\n";
    let text = text.repeat(BYTES / text.len());
    let redactor = Redactor::standard();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| redactor.redact(black_box(&text)).len());
}

#[divan::bench]
fn copied(bencher: Bencher<'_, '_>) {
    let text = ordinary();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| black_box(&text).clone());
}

#[divan::bench]
fn searched_for_one_byte(bencher: Bencher<'_, '_>) {
    let text = ordinary();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| memchr::memchr_iter(0, black_box(text.as_bytes())).count());
}

#[divan::bench]
fn redacted(bencher: Bencher<'_, '_>) {
    let text = ordinary();
    let redactor = Redactor::standard();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| redactor.redact(black_box(&text)).len());
}
