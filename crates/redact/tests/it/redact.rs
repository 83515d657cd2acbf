//! What is replaced and what stays. Values that look like secrets are assembled here, so that no
//! source scanner reports them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::path::Path;

use counterfoil_redact::{Redactor, SecretCategory};
use proptest::prelude::*;
use serde_json::{Value, json};

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS: &str = "0123456789";

/// Characters that look random, but are the same in every run.
fn drawn(count: usize, from: &str) -> String {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(state >> 40).unwrap()
    };
    (0..count).map(|_| char::from(from.as_bytes()[next() % from.len()])).collect()
}

fn key(start: &str, count: usize, from: &str) -> String {
    format!("{start}{}", drawn(count, from))
}

fn jwt() -> String {
    use base64::Engine as _;
    let part = |json: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json);
    format!(
        "{}.{}.{}",
        part(r#"{"alg":"HS256","typ":"JWT"}"#),
        part(r#"{"sub":"1234567890","name":"Ada"}"#),
        drawn(43, ALNUM)
    )
}

fn pem(kind: &str, lines: usize, line_break: &str) -> String {
    let mut text = format!("-----BEGIN {kind}PRIVATE KEY-----{line_break}");
    for _ in 0..lines {
        text += &drawn(64, BASE64);
        text += line_break;
    }
    format!("{text}{}=={line_break}-----END {kind}PRIVATE KEY-----", drawn(22, BASE64))
}

/// The name of the pattern, the text before the secret, the secret, and the text after it.
fn secrets() -> Vec<(&'static str, &'static str, String, &'static str)> {
    vec![
        ("aws-access-key-id", "id ", key("AKIA", 16, UPPER), " of the deploy user"),
        ("aws-access-key-id", "{\"AccessKeyId\":\"", key("ASIA", 16, UPPER), "\"}"),
        ("aws-access-key-id", r"line\n", key("AKIA", 16, UPPER), r"\nline"),
        ("google-api-key", "https://maps.example/?key=", key("AIza", 35, ALNUM), "&x=1"),
        ("model-provider-key", "OPENAI_KEY is ", key("sk-", 48, ALNUM), "."),
        ("model-provider-key", "", key("sk-proj-", 60, ALNUM), ""),
        ("model-provider-key", "'", key("sk-ant-api03-", 93, ALNUM), "'"),
        ("model-provider-key", "key%3D", key("sk-or-v1-", 64, HEX), "%26"),
        ("stripe-key", "stripe.api_key: ", key("sk_live_", 24, ALNUM), ""),
        ("stripe-key", "(", key("rk_test_", 24, ALNUM), ")"),
        ("stripe-key", "hook ", key("whsec_", 32, ALNUM), " set"),
        ("github-token", "remote: ", key("ghp_", 36, ALNUM), " accepted"),
        ("github-token", "", key("ghs_", 40, ALNUM), ""),
        ("github-token", "é", key("github_pat_", 82, ALNUM), "é"),
        ("gitlab-token", "CI ", key("glpat-", 20, ALNUM), ", more"),
        ("gitlab-token", "runner ", key("glrt-", 20, ALNUM), ""),
        ("slack-token", "", key("xoxb-", 50, ALNUM), "\n"),
        ("slack-token", "app ", key("xapp-1-A", 60, ALNUM), ""),
        ("slack-token", "https://hooks.slack.com/services/", key("T0", 40, ALNUM), " posted"),
        ("registry-token", "//registry/:_auth ", key("npm_", 36, ALNUM), ""),
        ("registry-token", "upload ", key("pypi-AgEIcHlwaS5vcmc", 80, ALNUM), ""),
        ("registry-token", "login ", key("dckr_pat_", 27, ALNUM), ""),
        ("registry-token", "HF ", key("hf_", 34, ALNUM), ""),
        ("authorization-header", "Authorization: Bearer ", drawn(30, ALNUM), "\r\nHost: a"),
        ("authorization-header", "-H \"authorization: basic ", drawn(20, BASE64), "\""),
        ("authorization-header", "sent with bearer ", drawn(40, ALNUM), ""),
        ("authorization-header", "{\"Authorization\":\"token ", drawn(24, HEX), "\"}"),
        ("json-web-token", "cookie ", jwt(), "; path=/"),
        ("private-key", "", pem("", 3, "\n"), "\n"),
        ("private-key", "cat id_rsa:\n", pem("RSA ", 25, "\n"), "\ndone"),
        ("private-key", "", pem("OPENSSH ", 6, "\r\n"), "\r\n"),
        ("private-key", "{\"key\":\"", pem("EC ", 2, "\\n"), "\\n\"}"),
        ("private-key", "Private-Lines: 2\n", drawn(64, BASE64), "\nPrivate-MAC: 00"),
        ("password-assignment", "password=", "hunter2".into(), ""),
        ("password-assignment", "password: \"", "correct-horse".into(), "\""),
        ("password-assignment", "\"password\": \"", "pässwört1".into(), "\", \"n\": 1"),
        ("password-assignment", "{\\\"password\\\":\\\"", "s3cr3t-word".into(), "\\\"}"),
        ("password-assignment", "DB_PASSWORD=", "letmeinplease".into(), "\nDB_USER=ada"),
        ("password-assignment", "export DB_PASSWORD='", "correct horse battery".into(), "'"),
        ("password-assignment", "config['db_password'] = '", "Tr0ub4dor&3".into(), "'"),
        ("password-assignment", "mysql --password ", "Tr0ub4dor3".into(), " -u root"),
        ("password-assignment", "<password>", "Tr0ub4dor3".into(), "</password>"),
        ("password-assignment", "key=\"dbPassword\" value=\"", "Tr0ub4dor3".into(), "\"/>"),
        ("password-assignment", "api_key = \"", drawn(32, ALNUM), "\""),
        ("password-assignment", "CLIENT_SECRET=", drawn(32, ALNUM), ""),
        ("password-assignment", "https://x.example/?access_token=", drawn(40, HEX), "&a=b"),
        ("password-assignment", "passphrase: '", "four words with blanks".into(), "'"),
        ("password-assignment", "password = \"", "correct horse battery staple".into(), "\"\n"),
        ("password-assignment", "password='", "correct horse battery staple".into(), "'; x"),
        ("password-assignment", "--password '", "my secret phrase".into(), "' --user ada"),
        ("password-assignment", "--db-password=\"", "my secret phrase".into(), "\""),
        (
            "password-assignment",
            "{\"password\": \"",
            "correct horse battery".into(),
            "\", \"n\": 1}",
        ),
        ("password-assignment", "{\\\"password\\\":\\\"", "correct horse battery".into(), "\\\"}"),
        ("password-assignment", "db:\n  password: '", "correct horse battery".into(), "'\n"),
        ("password-assignment", "'db_password' => '", "correct horse battery".into(), "',"),
        ("password-assignment", "password := \"", "correct horse battery".into(), "\""),
        ("password-assignment", "kennwort: \"", "vier kleine graue hunde".into(), "\""),
        ("command-password", "sshpass -p '", "correct horse battery".into(), "' ssh host"),
        ("command-password", "mysql -u root -p\"", "correct horse battery".into(), "\" db"),
        ("command-password", "curl -u \"ada:", "correct horse battery".into(), "\" https://x"),
        ("password-assignment", "Server=db;Uid=sa;Pwd=", "Str0ngOne!".into(), ";Encrypt=yes"),
        ("vendor-key", "SENDGRID is ", key("SG.", 22, ALNUM) + "." + &drawn(43, ALNUM), "\n"),
        ("vendor-key", "vault login ", key("hvs.", 90, ALNUM), ""),
        ("vendor-key", "echo ", key("dop_v1_", 64, HEX), ""),
        ("vendor-token", "ready, using ", key("cfut_", 45, ALNUM), " for this run"),
        ("vendor-token", "printf '", key("sb_secret_", 31, ALNUM), "' | vercel env add KEY"),
        ("vendor-token", "token ", key("syt_YWRh_", 20, ALNUM) + "_1x2Y3z", "\n"),
        ("vendor-token", "LlamaParse(", key("llx-", 48, ALNUM), ")"),
        ("password-assignment", "KIS_APP_SECRET_LIVE=", drawn(60, BASE64), "\nX=1"),
        ("password-assignment", "GH_TOKEN_CI=", drawn(40, ALNUM), ""),
        ("password-assignment", "PASSWORD2=", "letmeinplease".into(), "\n"),
        ("password-assignment", "dbPasswordProd: \"", "correct-horse".into(), "\""),
        ("password-assignment", "billing_secret_frankfurt = ", drawn(32, ALNUM), "\n"),
        ("password-assignment", "npm config set //r.example/:_authToken ", drawn(32, ALNUM), ""),
        ("password-assignment", "accountSid AC1 authToken ", drawn(32, HEX), ""),
        ("password-assignment", "Driver={ODBC 18};pwd={", "Som;mer7!".into(), "};uid=sa;"),
        ("key-setting", "KIS_APP_KEY_LIVE=", drawn(36, ALNUM), "\n"),
        ("url-password", "https://ada:", "p@ss@w0rd".into(), "@example.org/x"),
        ("database-url", "mysql://root:", "q@gaOz@Z1".into(), "@localhost/db"),
        ("database-url", "redis://:", "6LEr@d4zew".into(), "@cache.internal:6379/0"),
        ("telephony-key", "sid ", key("SK", 32, HEX), "."),
        ("bot-token", "bot812345678:", key("AA", 33, ALNUM), "/getMe"),
        ("cookie", "Cookie: ", key("session=", 40, HEX), "; theme=dark"),
        ("cookie", "set-cookie: ", key("theme=dark; sid=", 32, ALNUM), "; Path=/"),
        ("encoded-credentials", "{\"auth\":\"", "YWRhOmh1bnRlcjI=".into(), "\"}"),
        ("encoded-credentials", "_auth=", "YWRhOmh1bnRlcjI=".into(), "\n"),
        ("command-password", "mysql -u root -p", "hunter2".into(), " db"),
        ("command-password", "curl -s -u ada:", "hunter2".into(), " https://x.example"),
        ("password-hash", "ada:", "$6$saltsalt$".to_owned() + &drawn(86, ALNUM), ":19000:0"),
        ("password-hash", "hash ", "$2b$12$".to_owned() + &drawn(53, ALNUM), ""),
        ("key-setting", "STRIPE_KEY=", drawn(32, ALNUM), "\n"),
        ("key-setting", "https://x.example/?key=", drawn(32, HEX), "&a=b"),
        ("url-password", "https://", drawn(40, HEX), "@git.example/x"),
        ("url-password", "https://ada:", "hunter2".into(), "@example.org/x"),
        ("url-password", "git clone https://oauth2:", drawn(20, ALNUM), "@git.example/x.git"),
        ("database-url", "postgres://app:", "s3cr3t%40x".into(), "@db:5432/app"),
        ("database-url", "mongodb+srv://u:", "pw".into(), "@cluster0.example/test"),
        ("database-url", "redis://:", "onlypassword".into(), "@cache:6379/0"),
        ("azure-key", "AccountName=a;AccountKey=", key("", 86, BASE64) + "==", ";Suffix=b"),
        ("azure-key", "Endpoint=sb://a/;SharedAccessKey=", key("", 43, BASE64) + "=", ""),
        ("azure-key", "https://a.example/c?sv=2022&sig=", key("", 43, ALNUM) + "%3D", "&se=1"),
        ("aws-secret-key", "aws_secret_access_key = ", drawn(40, BASE64), "\n"),
        ("aws-secret-key", "\"SecretAccessKey\" : \"", drawn(40, BASE64), "\","),
        ("aws-secret-key", "export AWS_SESSION_TOKEN=\"", drawn(300, BASE64), "\""),
        ("aws-secret-key", "?X-Amz-Security-Token=", drawn(300, ALNUM), "&X-Amz-Date=1"),
        ("instance-metadata", "\"Token\" : \"", drawn(400, BASE64), "\","),
        ("instance-metadata", "{\"access_token\":\"", key("ya29.c.", 120, ALNUM), "\"}"),
        ("instance-metadata", "-H \"X-aws-ec2-metadata-token: ", drawn(54, ALNUM) + "==", "\""),
    ]
}

/// The name of the pattern that must not match, and a text that stays.
fn ordinary() -> Vec<(&'static str, String)> {
    let plain = |name, text: &str| (name, text.to_owned());
    vec![
        ("aws-access-key-id", key("id AKIA", 15, UPPER)),
        ("aws-access-key-id", key("id AKIA", 17, UPPER)),
        ("aws-access-key-id", key("XAKIA", 16, UPPER)),
        plain("aws-access-key-id", "AKIAAAAAAAAAAAAAAAAA"),
        plain("aws-access-key-id", "EURASIA and ASIAPACIFIC"),
        ("google-api-key", key("AIza", 34, ALNUM)),
        plain("google-api-key", "AIza-keys begin with these four letters"),
        plain("model-provider-key", "task-550e8400-e29b-41d4-a716-446655440000"),
        plain("model-provider-key", "sk-learn-compatible-estimator-container-id-12"),
        plain("model-provider-key", "sk-your-key-here, sk-xxxxxxxxxxxxxxxxxxxxxxxx1"),
        plain("stripe-key", "sk_test_configurationHelpers, sk_live_..."),
        ("stripe-key", key("pk_live_", 24, ALNUM)),
        ("github-token", key("ghp_", 20, ALNUM)),
        ("github-token", key("highp_", 36, HEX)),
        plain("github-token", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        plain("gitlab-token", "glpat-your-token-goes-here-please"),
        plain("gitlab-token", "glrt-short"),
        plain("slack-token", "xoxb-your-token, xoxo-love-and-kisses-to-all-of-you"),
        plain("slack-token", "https://hooks.slack.com/services/ is the address"),
        plain("registry-token", "npm_config_registry=https://packages.example/"),
        plain("registry-token", "npm_package_dependencies_left_pad_version"),
        plain("registry-token", "hf_hub_download, pypi-publish, dckr_pat_short"),
        plain("authorization-header", "the bearer of bad news was Bearer authentication"),
        plain("authorization-header", "Authorization: Bearer $TOKEN"),
        plain("authorization-header", "Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}"),
        plain("authorization-header", "Authorization: Bearer <your token>"),
        plain("authorization-header", "WWW-Authenticate: Bearer realm=\"example\""),
        plain("json-web-token", "eyJhbGciOi is how one begins"),
        plain("json-web-token", "eyJmb28iOiJiYXIifQ.eyJmb28iOiJiYXIifQ.c2ln"),
        plain("private-key", "grep -r 'BEGIN RSA PRIVATE KEY' ."),
        plain(
            "private-key",
            "if s.startswith(\"-----BEGIN PRIVATE KEY-----\"):\n    return parse(s)",
        ),
        plain("private-key", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"),
        ("private-key", format!("-----BEGIN CERTIFICATE-----\n{}", drawn(64, BASE64))),
        plain("password-assignment", "password = os.environ[\"X\"]"),
        plain("password-assignment", "password = os.environ.get(\"DB_PASSWORD\", default)"),
        plain("password-assignment", "password=password, api_key=api_key, token=self.token"),
        plain("password-assignment", "password: str, secret: Option<String>, token: u64"),
        plain("password-assignment", "password: string; passwordHash: string"),
        plain("password-assignment", "if password == expected: return password != other"),
        plain("password-assignment", "password = getpass.getpass(\"Password: \")"),
        plain("password-assignment", "password: z.string().min(8).max(128)"),
        plain("password-assignment", "password: \"must have eight letters\""),
        plain("password-assignment", "PASSWORD=$DB_PASSWORD SECRET=\"${SECRET}\""),
        plain("password-assignment", "password: \"{{ vault_password }}\", password: <password>"),
        plain("password-assignment", "password: \"must be at least 8 characters\""),
        plain(
            "password-assignment",
            "password: \"is too short\", password: 'Forgot your password?'",
        ),
        plain("password-assignment", "{\"password\": \"Enter a password, then log in\"}"),
        plain(
            "password-assignment",
            "the password \"is wrong\", he said; the password is 'too short'",
        ),
        plain("password-assignment", "',\"pwd\":' + (ConvertTo-Json (Get-Location)) + ',\"x\":'"),
        plain(
            "password-assignment",
            "wrong password 'for the second time', \"password\" \"and more\"",
        ),
        plain("password-assignment", "password: ********, password=xxxxxxxx"),
        plain("password-assignment", "Enter password: \nForgot your password?"),
        plain("password-assignment", "PWD=/srv/app1/build OLDPWD=/srv/app1"),
        plain("password-assignment", "max_tokens=4096 token_count: 12 tokenizer: \"gpt2\""),
        plain("password-assignment", "tokens: 1200, token: 5, \"token\": \"Hello\""),
        plain("password-assignment", "next_page_token: CAUQAA12345678901234, token_type: bearer"),
        plain("password-assignment", "secret: my-application-secret-2, secretName: db-1"),
        plain("password-assignment", "password_file: /run/secrets/db1, api_key_id: key12345678"),
        plain("password-assignment", "--password-stdin, --token-file /tmp/x1, a token abc12345"),
        plain("vendor-key", "key-value, SG.x, dapi, pul-request, tskey-name"),
        plain("vendor-token", "cfut_ begins them; re_export_of_names, pa-ssenger, fw_update_17_03"),
        plain(
            "password-assignment",
            "password_file_prod=/etc/x1, TOKEN_TTL_2=86400s0000000000000000",
        ),
        plain("password-assignment", "passwordHash: string, secretName2: db-1, tokenTypes: 12"),
        plain(
            "password-assignment",
            "f\"Server=x;Pwd={password};\", pwd={0}; the token was 12 long",
        ),
        plain("key-setting", "SORT_KEY_ID=a1b2c3d4e5f6a7b8c9, PUBLIC_KEY_LIVE=a1b2c3d4e5f6a7b8c9"),
        plain("database-url", "postgres://db.example/shop?application_name=svc@prod"),
        plain("telephony-key", "SKIPPED, SK12, TASK0123456789abcdef0123456789abcdef"),
        plain("bot-token", "12:AAA, note 123456:AA"),
        plain("cookie", "Cookie: consent=yes; lang=en, cookies: 12, cookie = jar.get(name)"),
        plain("encoded-credentials", "\"auth\": \"required\", _auth=basic, auth\": true"),
        plain("command-password", "echo \"mysql -p\"; echo \"a few words\""),
        plain("command-password", "mysql -p -u root db, docker run -p 8080:80 x, curl -u $A:$B y"),
        plain("password-hash", "$1$2, $6$HOME, $argon2, $2a$10"),
        plain(
            "key-setting",
            "CACHE_KEY=node-modules-a1b2c3d4e5, sort_key=created_at_2, ?key=title",
        ),
        plain("url-password", "https://example.org:8080/a@b, ssh://git@host:22/x.git"),
        plain("url-password", "https://user:${PASS}@host/, https://user:<password>@host"),
        plain("url-password", "f\"https://{user}:{password}@{host}\""),
        plain("url-password", "http://a:8080/x and me@example.org"),
        plain("database-url", "postgres://localhost:5432/app, redis://cache:6379/0"),
        plain("database-url", "postgres://app@db/app, postgresql://user:****@db/app"),
        plain("azure-key", "AccountKey=<key>;SharedAccessKeyName=RootManage"),
        ("azure-key", key("https://a.example/?design=", 50, ALNUM)),
        plain("aws-secret-key", "aws_secret_access_key = os.environ[\"AWS_SECRET\"]"),
        plain("aws-secret-key", "session_token = create_session_token_for_the_user(user)"),
        plain("instance-metadata", "X-aws-ec2-metadata-token-ttl-seconds: 21600"),
        plain("instance-metadata", "\"token\": \"a word\", ya29.short"),
        plain("", "550e8400-e29b-41d4-a716-446655440000"),
        ("", format!("commit {}", drawn(40, HEX))),
        ("", format!("sha256:{} sha512-{}==", drawn(64, HEX), drawn(86, BASE64))),
        plain("", "tool_1735999999123_9f3a01bc (execution_id: get_token_1735999999123_9f3a01bc)"),
        plain("", "/home/ada/.ssh/id_rsa /srv/secrets/password.txt C:\\Users\\ada\\token.rs"),
        plain("", "src/password/token.rs:12: pub struct Secret;"),
        plain("", "2026-11-02T12:00:00.000Z 192.168.1.10 ada@example.org +49 30 123456"),
        ("", format!("data:image/png;base64,{}", drawn(400, BASE64))),
        ("", drawn(20, DIGITS)),
    ]
}

#[test]
fn secrets_are_replaced_and_nothing_else() {
    let redactor = Redactor::standard();
    let categories: Vec<_> = Redactor::patterns().collect();
    let mut wrong = Vec::new();
    for (name, before, secret, after) in secrets() {
        let (_, category) = categories.iter().find(|(known, _)| *known == name).unwrap();
        let text = format!("{before}{secret}{after}");
        let expected = format!("{before}{}{after}", category.marker());
        let redacted = redactor.redact(&text);
        if redacted != expected {
            wrong.push(format!("{name}: {text}\n  is     {redacted}\n  not {expected}"));
        }
        assert_eq!(redactor.redact(&redacted), redacted, "twice: {text}");
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn ordinary_text_stays() {
    let redactor = Redactor::standard();
    let mut wrong = Vec::new();
    for (name, text) in ordinary() {
        let redacted = redactor.redact(&text);
        if redacted != text {
            wrong.push(format!("{name}: {text}\n  became {redacted}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_pattern_has_both_kinds_of_cases() {
    let names: BTreeSet<&str> = Redactor::patterns().map(|(name, _)| name).collect();
    let categories: BTreeSet<_> = Redactor::patterns().map(|(_, category)| category).collect();
    assert_eq!(categories, BTreeSet::from(SecretCategory::ALL));
    let found: BTreeSet<&str> = secrets().iter().map(|(name, ..)| *name).collect();
    let near: BTreeSet<&str> = ordinary().iter().map(|(name, _)| *name).collect();
    assert_eq!(found, names);
    assert!(near.is_superset(&names), "{:?}", names.difference(&near));
}

#[test]
fn json_values_lose_secrets_by_name_and_by_form() {
    let marker = |category: SecretCategory| category.marker();
    let password = marker(SecretCategory::Password);
    let token = key("ghp_", 36, ALNUM);
    let cases: Vec<(Value, Value)> = vec![
        (json!({"password": "x", "user": "ada"}), json!({"password": password, "user": "ada"})),
        (json!({"dbPassword": 12345, "n": 12345}), json!({"dbPassword": password, "n": 12345})),
        (
            json!({"password": {"value": "hunter2", "length": 7}, "size": {"value": "big"}}),
            json!({"password": {"value": password, "length": 7}, "size": {"value": "big"}}),
        ),
        (json!({"client_secret": ["a", "b"]}), json!({"client_secret": [password, password]})),
        (
            json!({"headers": {"Authorization": "anything"}}),
            json!({"headers": {"Authorization": password}}),
        ),
        (
            json!({"env": [{"name": "API_KEY", "value": "abc"}, {"name": "A", "value": "b"}]}),
            json!({"env": [{"name": "API_KEY", "value": password}, {"name": "A", "value": "b"}]}),
        ),
        (
            json!({"argv": ["mysql", "--password", "hunter2", "--table", "t"]}),
            json!({"argv": ["mysql", "--password", password, "--table", "t"]}),
        ),
        (
            json!({"text": format!("token is {token}.")}),
            json!({"text": format!("token is {}.", marker(SecretCategory::AuthToken))}),
        ),
        (json!({&token: 1}), json!({marker(SecretCategory::AuthToken): 1})),
        (
            json!({"command": "curl -H 'Authorization: Bearer abc123def456ghi789'"}),
            json!({"command": format!(
                "curl -H 'Authorization: Bearer {}'", marker(SecretCategory::AuthToken)
            )}),
        ),
    ];
    let unchanged = [
        json!({"token": "Hello", "tokens": 5, "max_tokens": 4096, "PWD": "/srv/app"}),
        json!({"password": "", "secret": null, "has_password": true}),
        json!({"next_page_token": "CAUQAA1234567890abcd", "token_type": "bearer"}),
        json!({"id": "tool_1735999999123_9f3a01bc", "sha": drawn(40, HEX), "n": [1.5, -3]}),
    ];
    let redactor = Redactor::standard();
    for (value, expected) in cases.into_iter().chain(unchanged.map(|v| (v.clone(), v))) {
        let redacted = redactor.redact_value(&value);
        assert_eq!(redacted, expected);
        assert_eq!(redactor.redact_value(&redacted), expected, "twice");
    }
}

#[test]
fn two_secret_names_stay_two_members() {
    let value = json!({key("ghp_", 36, ALNUM): 1, key("ghp_", 37, ALNUM): 2});
    let redacted = Redactor::standard().redact_value(&value);
    assert_eq!(redacted, json!({"[REDACTED:auth_token]": 1, "[REDACTED:auth_token]'": 2}));
}

#[test]
fn a_key_whose_end_is_missing_is_a_key() {
    let whole = pem("RSA ", 4, "\n");
    let cut = whole.split("-----END").next().unwrap();
    let redactor = Redactor::standard();
    assert_eq!(redactor.redact(cut), "[REDACTED:private_key]");
    let text = format!("{cut}\nThe file was cut here.");
    assert_eq!(redactor.redact(&text), "[REDACTED:private_key]\nThe file was cut here.");
    let two = format!("{cut}{whole}");
    assert_eq!(redactor.redact(&two), "[REDACTED:private_key][REDACTED:private_key]");
}

#[test]
fn secrets_longer_than_any_buffer_are_replaced_whole() {
    let long = format!("token=\"{}\" end", drawn(100_000, ALNUM));
    let redactor = Redactor::standard();
    assert_eq!(redactor.redact(&long), "token=\"[REDACTED:password]\" end");
    let key = format!("a {} b", pem("", 500, "\n"));
    assert_eq!(redactor.redact(&key), "a [REDACTED:private_key] b");
}

#[test]
fn bytes_that_are_no_text_stay_where_they_are() {
    let token = key("ghp_", 36, ALNUM);
    let bytes = [b"\xff\x00 ", token.as_bytes(), b" \xfe \xc3(end"].concat();
    let redacted = Redactor::standard().redact_bytes(&bytes).into_owned();
    assert_eq!(redacted, b"\xff\x00 [REDACTED:auth_token] \xfe \xc3(end");
    let plain = b"\xff nothing \xfe".as_slice();
    assert_eq!(Redactor::standard().redact_bytes(plain), plain);
}

#[test]
fn a_home_folder_becomes_a_tilde() {
    let redactor = Redactor::standard().hiding_home(Path::new("/home/ada/"));
    for (text, expected) in [
        ("/home/ada", "~"),
        ("open /home/ada/x.rs: no such file", "open ~/x.rs: no such file"),
        ("in /home/ada. Then", "in ~. Then"),
        ("A=/home/ada:/home/ada/bin", "A=~:~/bin"),
        ("/home/adam /home/ada.bak /home/ada-2", "/home/adam /home/ada.bak /home/ada-2"),
        ("/mnt/home/ada", "/mnt/home/ada"),
    ] {
        assert_eq!(redactor.redact(text), expected);
        assert_eq!(redactor.redact(expected), expected, "twice");
    }
    let nothing = Redactor::standard().hiding_home(Path::new("/"));
    assert_eq!(nothing.redact("/a/b"), "/a/b");
}

/// Lines kept outside the repository: secrets are redacted, and everything else stays.
#[test]
#[expect(clippy::disallowed_methods, reason = "rows that are not in the repository")]
fn lines_beside_the_repository() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/third/redact.jsonl");
    let Ok(rows) = std::fs::read_to_string(place) else { return };
    let redactor = Redactor::standard();
    let mut wrong = Vec::new();
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let redacted = redactor.redact(row["line"].as_str().unwrap());
        let leaks = row["secret"].as_str().is_some_and(|secret| redacted.contains(secret));
        let lost = row["keep"].as_str().is_some_and(|keep| !redacted.contains(keep));
        if leaks || lost {
            wrong.push(format!("{}: {redacted}", row["id"]));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Fragments of what patterns match, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let secrets: Vec<String> = secrets().into_iter().map(|(.., secret, _)| secret).collect();
    const WORDS: [&str; 32] = [
        "password",
        "=",
        ": ",
        "\"",
        "'",
        "\\n",
        "\n",
        " ",
        "[REDACTED:password]",
        "[REDACTED:",
        "]",
        "token",
        "api_key",
        "sk-",
        "ghp_",
        "://",
        "@",
        "u:",
        "é",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "eyJ",
        ".",
        "a1b2c3d4e5f6g7h8",
        "bearer ",
        "--",
        ">",
        "<",
        "\\",
        "AKIA",
        "x",
        "auth_token",
    ];
    let piece = prop_oneof![
        3 => proptest::sample::select(&WORDS[..]).prop_map(str::to_owned),
        1 => proptest::sample::select(secrets),
        1 => "\\PC{0,6}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in pieces()) {
        let redactor = Redactor::standard();
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.as_str());
        let damaged = once.contains('\u{fffd}') && !text.contains('\u{fffd}');
        prop_assert!(!damaged);
    }

    #[test]
    fn bytes_and_text_are_redacted_alike(text in pieces(), tail in any::<Vec<u8>>()) {
        let redactor = Redactor::standard();
        let redacted = redactor.redact(&text).into_owned();
        prop_assert_eq!(&*redactor.redact_bytes(text.as_bytes()), redacted.as_bytes());
        let bytes = [text.as_bytes(), tail.as_slice()].concat();
        let once = redactor.redact_bytes(&bytes).into_owned();
        prop_assert_eq!(&*redactor.redact_bytes(&once), once.as_slice());
    }
}
