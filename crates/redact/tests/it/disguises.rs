//! Secrets as they occur in commands, files and logs, plain and disguised: counts those that are
//! missed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_redact::Redactor;

const MIXED: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
const HEX: &str = "0123456789abcdef";

fn drawn(count: usize, from: &str) -> String {
    let mut state: u64 = 0x1234_5678_9abc_def1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(state >> 40).unwrap()
    };
    let letters: Vec<char> = from.chars().collect();
    (0..count).map(|_| letters.get(next() % letters.len()).copied().unwrap()).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect()
}

/// The name, the text, and what must be redacted from it. Forms that cannot be found are at the
/// end.
fn forms() -> Vec<(&'static str, String, String)> {
    let pw = "Kr4ken-and-2boats";
    let token = format!("ghp_{}", drawn(36, MIXED));
    let (first, rest) = token.split_at(18);
    let id = drawn(32, HEX);
    let aws = drawn(38, MIXED) + "/+";
    let body = drawn(64, MIXED);
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n{body}\n-----END PRIVATE KEY-----");
    let pair = STANDARD.encode(format!("ada:{pw}"));
    let mut all = Vec::new();
    let mut add = |name, text: String, secret: &str| all.push((name, text, secret.to_owned()));
    for (name, before, after) in [
        ("assigned", "password=", ""),
        ("in YAML", "password: ", "\nuser: ada"),
        ("in a block of YAML", "password: |\n  ", "\nuser: ada"),
        ("folded in YAML", "password: >-\n  ", "\n"),
        ("on the next line", "password:\n  ", "\n"),
        ("a flag", "psql --password ", " -h db"),
        ("mysql -p", "mysql -u root -p", " db"),
        ("mysql -p, the user glued", "mysql -uroot -p", " db"),
        ("sshpass", "sshpass -p ", " ssh host"),
        ("docker login", "docker login -u ada -p ", " registry"),
        ("redis-cli", "redis-cli -a ", " ping"),
        ("curl -u", "curl -u admin:", " https://x.example"),
        ("curl --user", "curl --user admin:", " https://x.example"),
        ("openssl", "openssl enc -pass pass:", ""),
        ("PGPASSWORD", "PGPASSWORD=", " psql"),
        ("DB_PASS", "DB_PASS=", "\n"),
        ("SECRET_KEY", "SECRET_KEY=", "\n"),
        ("MY_KEY", "MY_KEY=", "\n"),
        ("pass", "pass: ", "\n"),
        ("German", "Passwort: ", ""),
        ("Spanish", "contraseña: ", ""),
        ("French", "mot de passe : ", ""),
        ("Portuguese", "senha: ", ""),
        ("Dutch", "wachtwoord=", ""),
        ("Russian", "пароль: ", ""),
        ("Japanese", "パスワード: ", ""),
        ("Chinese", "密码：", ""),
        ("Korean", "비밀번호: ", ""),
        ("netrc", "machine x.example login ada password ", "\n"),
        ("told", "The password is ", "."),
        ("told in short", "My password's ", ""),
        ("in a table", "| password | ", " |"),
        ("in XML", "<password>", "</password>"),
        ("an attribute", "<x password=\"", "\"/>"),
        ("two attributes", "<add key=\"Password\" value=\"", "\"/>"),
        ("properties", "spring.datasource.password=", "\n"),
        ("blanks around", "password     =     ", "\n"),
        ("a tab", "password\t", "\n"),
        ("TOML", "password = \"", "\""),
        ("Ruby", ":password => \"", "\""),
        ("in an address", "postgres://u:", "@h/db"),
        ("in a parameter", "jdbc:mysql://h/db?user=u&password=", ""),
        ("in a list of pairs", "host=h user=u password='", "'"),
        ("JSON", "{\"password\":\"", "\"}"),
        ("JSON in JSON", "{\\\"password\\\":\\\"", "\\\"}"),
        ("credentials", "{\"credentials\":{\"pass\":\"", "\"}}"),
        ("a column", "name,password\nada,", "\n"),
        ("a column of a table", "| name | password |\n|---|---|\n| ada | ", " |\n"),
    ] {
        add(name, format!("{before}{pw}{after}"), pw);
    }
    for (name, before, after) in [
        ("a cookie", "Cookie: session=", "; theme=dark"),
        ("a cookie that is set", "Set-Cookie: sid=", "; HttpOnly"),
        ("curl -b", "curl -b 'sessionid=", "' x"),
        ("a header for keys", "X-Api-Key: ", ""),
        ("a header for tokens", "PRIVATE-TOKEN: ", ""),
        ("authorization without a scheme", "-H 'Authorization: ", "' x"),
        ("a parameter", "GET /x?access_token=", ""),
        ("a parameter called key", "https://x.example/?key=", ""),
        ("alone in an address", "git clone https://", "@github.com/a/b"),
        ("npm, a token", "//registry.example/:_authToken=", ""),
        ("a client's secret", "client_secret: ", ""),
        ("telephony", "sid SK", ""),
    ] {
        add(name, format!("{before}{id}{after}"), &id);
    }
    for (name, before, after) in [
        ("an AWS key", "aws_secret_access_key = ", ""),
        ("aws configure", "aws configure set aws_secret_access_key ", ""),
        ("an AWS column", "Access key ID,Secret access key\nAKIAQ2W3E4R5T6Y7U2I3,", "\n"),
    ] {
        add(name, format!("{before}{aws}{after}"), &aws);
    }
    add("basic", format!("Authorization: Basic {pair}"), &pair);
    add("docker", format!("{{\"auths\":{{\"x\":{{\"auth\":\"{pair}\"}}}}}}"), &pair);
    add("npm", format!("_auth={pair}"), &pair);
    let assigned = STANDARD.encode(format!("password={pw}"));
    add("in base64", assigned.clone(), &assigned);
    for start in [
        "dop_v1_", "gsk_", "xai-", "GOCSPX-", "lin_api_", "ntn_", "hvs.", "shpat_", "glsa_",
        "nvapi-",
    ] {
        let secret = match start {
            "dop_v1_" => drawn(64, HEX),
            "shpat_" => drawn(32, HEX),
            _ => drawn(60, MIXED),
        };
        add(start, format!("echo {start}{secret}"), &secret);
    }
    add("SG.", format!("SG.{}.{}", drawn(22, MIXED), drawn(43, MIXED)), &drawn(43, MIXED));
    let age = drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L");
    add("age", format!("AGE-SECRET-KEY-1{age}"), &age);
    let bot = format!("AA{}", drawn(33, MIXED));
    add("a bot", format!("bot823456719:{bot}/getMe"), &bot);
    let hash = drawn(43, MIXED);
    add("a hash", format!("root:$6$abcdefgh${hash}:19000:0:::"), &hash);
    add("glued", format!("x{token}"), &token);
    add("cut", token.chars().take(30).collect(), &token.chars().take(30).collect::<String>());
    add("over two lines", format!("{first}\n{rest}"), rest);
    add("coloured", format!("\u{1b}[31m{token}\u{1b}[0m"), &token);
    add("colour within", format!("{first}\u{1b}[0m{rest}"), rest);
    add(
        "colour in its beginning",
        format!("\u{1b}[31mghp\u{1b}[0m{}", token.get(3..).unwrap()),
        token.get(4..).unwrap(),
    );
    add("no width", format!("{first}\u{200b}{rest}"), rest);
    add("an escape", format!("\"\\u0067{}\"", token.get(1..).unwrap()), token.get(4..).unwrap());
    let percent: String = token.bytes().map(|b| format!("%{b:02x}")).collect();
    add("percent", percent.clone(), &percent);
    add("hexadecimal", hex(&token), &hex(&token));
    for shift in ["", "x", "xy"] {
        let text = STANDARD.encode(format!("{shift}{token}"));
        add("base64", text.clone(), text.get(12..40).unwrap());
    }
    let packed = STANDARD.encode(&pem);
    add("a key in base64", packed.clone(), packed.get(40..80).unwrap());
    for (name, line) in [("plain", ""), ("indented", "    "), ("in a diff", "+")] {
        let text: Vec<String> = pem.lines().map(|l| format!("{line}{l}")).collect();
        add(name, text.join("\n"), &body);
    }
    let numbered = pem.lines().enumerate().map(|(i, l)| format!("     {i}\t{l}\n"));
    add("numbered", numbered.collect(), &body);
    add("an @ in it", "postgres://u:p@ss/w0rdXq@h/db".to_owned(), "p@ss/w0rdXq");
    // Not found, as documented.
    add("reversed", token.chars().rev().collect(), &token.chars().rev().collect::<String>());
    add("a key without its first line", format!("{body}\n{body}"), &body);
    add("a lone AWS key", aws.clone(), &aws);
    let spaced: String = token.chars().flat_map(|c| [c, ' ']).collect();
    add("with blanks between", spaced.clone(), &spaced);
    all
}

#[test]
fn no_more_than_these_stay_in_clear() {
    let redactor = Redactor::standard();
    let stay: Vec<&str> = forms()
        .into_iter()
        .filter(|(_, text, secret)| redactor.redact(text).contains(secret.as_str()))
        .map(|(name, ..)| name)
        .collect();
    let known =
        ["reversed", "a key without its first line", "a lone AWS key", "with blanks between"];
    assert_eq!(stay, known);
}

#[test]
fn redacting_twice_is_redacting_once_for_each() {
    let redactor = Redactor::standard();
    for (name, text, _) in forms() {
        let once = redactor.redact(&text).into_owned();
        assert_eq!(redactor.redact(&once), once, "{name}");
    }
}

/// Lines of logs, sources and prose that contain the keywords but no secrets.
const ORDINARY: [&str; 44] = [
    "PASS: tests/unit/test_parser2.rs (0.12 s)",
    "PASS src/components/__tests__/Button2.test.tsx",
    "pass: 12 fail: 0 skip: 3",
    "PASS=12 FAIL=0 TOTAL=12",
    "{\"pass\": 12, \"fail\": 0}",
    "{\"pass\": true, \"password\": null}",
    "bypass=1234567 compass: north-2 trespass",
    "Cookie: consent=yes; lang=en-GB",
    "Set-Cookie: theme=dark; Path=/; Max-Age=31536000",
    "curl -u \"$USER:$PASS\" https://x.example",
    "curl -sS https://x.example/a/b?c=d -o out2.json",
    "docker run -p 8080:80 nginx",
    "docker login -u ada --password-stdin",
    "mysql -p -u root db",
    "mysql --protocol=tcp -P 3306",
    "ssh -p 2222 host",
    "redis-cli -h cache -p 6379 ping",
    "The password is required.",
    "The password is hashed with a salt of 16 bytes.",
    "the token is 12 characters long",
    "My password's length is eight",
    "name,token,count\nfoo,bar,3\n",
    "| password | string | yes |",
    "| field | type |\n|---|---|\n| password | string |\n",
    "Authorization: required",
    "Authorization: Bearer $TOKEN",
    "\"authorization\": \"./modules/authorization2\"",
    "CACHE_KEY=node-modules-linux-a1b2c3d4e5f6a7b8",
    "primary_key=customer_id_2024_1234567",
    "https://example.org/search?key=title&sort=asc",
    "https://maps.example/?q=a%20b%3Dc",
    "git clone https://ada@example.org/repo.git",
    "https://example.org/a@b/c",
    "\u{1b}[32mok\u{1b}[0m 42 passed",
    "tests/test_auth.py::test_pass PASSED [ 50%]",
    "assert response.json()['token'] == expected_token",
    "ASK0123456789abcdef0123456789abcdef0",
    "for i in $1$2; do echo $i; done",
    "password\tstring\trequired",
    "echo $6$HOME",
    "key-value-store-implementation-with-32-shards",
    "12:34:56.789 :AAA: started",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "commit 6768705f612b3c4d5e6f708192a3b4c5d6e7f809",
];

#[test]
fn ordinary_lines_stay_as_they_are() {
    let redactor = Redactor::standard();
    let touched: Vec<_> = ORDINARY
        .iter()
        .map(|line| (redactor.redact(line), line))
        .filter(|(r, l)| r != **l)
        .collect();
    assert!(touched.is_empty(), "{touched:#?}");
}

/// Beginnings of secrets repeated, with nothing after them.
#[test]
fn beginnings_without_an_end_cost_no_more_than_their_length() {
    let redactor = Redactor::standard();
    // The faster of two runs, in case the machine is busy.
    let took = |piece: &str, length: usize| {
        let text = piece.repeat(length / piece.len());
        let run = || {
            let before = std::time::Instant::now();
            let _ = redactor.redact(&text);
            before.elapsed().as_secs_f64()
        };
        run().min(run())
    };
    for piece in [
        "-----BEGIN PRIVATE KEY-----\n",
        "password=",
        "curl ",
        "mysql -p",
        "eyJ",
        "Cookie: a=",
        "name,password\n",
        "Z2hwX",
        "6768705f",
        "%41",
        "\u{1b}[0m",
        "\\u0041",
        "://a:",
        "$6$",
        "sshpass -p aB3aB3aB3 ",
        "password is ",
        "login a ",
    ] {
        let (short, long) = (took(piece, 40_000), took(piece, 160_000));
        // At four times the length, linear cost grows by 4, quadratic cost by 16.
        assert!(long < 10.0 * short.max(0.01), "{piece:?}: {short} s, {long} s");
    }
}
