//! Decides which requests are passed on to a server, by method and path. A server may read a path
//! differently than we do, so where it matters, only unambiguous paths are passed on.

use hyper::{Method, StatusCode};

use crate::keys::VirtualKey;
use crate::options::ProxySettings;
use crate::path_rule::{PathRule, matches, parts};
use crate::wire::Wire;

/// Who may make requests that are not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// All clients, including those with a proxy key.
    Keys,
    /// Clients with a key of the provider.
    Owners,
    /// The same, but not below a server's own prefix.
    OwnersAtRoot,
}

/// Requests that are passed on in `correct` and `block` without being judged, because they return
/// no answer of an agent. Paths follow the server's own prefix, such as `/v1`.
const UNJUDGED: &[(&[&str], &str, Reach)] = &[
    (&["GET", "HEAD"], "models", Reach::Keys),
    (&["GET", "HEAD"], "models/*", Reach::Keys),
    (&["GET", "HEAD"], "models/**", Reach::Owners),
    (&["POST"], "messages/count_tokens", Reach::Keys),
    (&["POST"], "responses/input_tokens", Reach::Keys),
    (&["GET", "HEAD"], "", Reach::OwnersAtRoot),
    (&["GET", "HEAD"], "health", Reach::OwnersAtRoot),
    (&["GET", "HEAD"], "version", Reach::OwnersAtRoot),
    (&["POST"], "embeddings", Reach::Owners),
    (&["POST"], "moderations", Reach::Owners),
    (&["POST"], "rerank", Reach::Owners),
    (&["POST"], "tokenize", Reach::Owners),
    (&["POST"], "images/*", Reach::Owners),
    (&["POST"], "audio/*", Reach::Owners),
    (&["GET", "POST"], "files", Reach::Owners),
    (&["GET", "DELETE"], "files/*", Reach::Owners),
    (&["POST"], "uploads", Reach::Owners),
    (&["POST"], "uploads/*/*", Reach::Owners),
    (&["GET", "POST"], "vector_stores", Reach::Owners),
    (&["GET", "POST", "DELETE"], "vector_stores/*", Reach::Owners),
    (&["POST"], "vector_stores/*/search", Reach::Owners),
    (&["GET", "POST"], "vector_stores/*/files", Reach::Owners),
    (&["GET", "POST", "DELETE"], "vector_stores/*/files/*", Reach::Owners),
    (&["POST"], "vector_stores/*/file_batches", Reach::Owners),
    (&["GET"], "vector_stores/*/file_batches/*", Reach::Owners),
    (&["POST"], "vector_stores/*/file_batches/*/cancel", Reach::Owners),
    (&["GET"], "vector_stores/*/file_batches/*/files", Reach::Owners),
    (&["POST"], "conversations", Reach::Owners),
    (&["GET", "POST", "DELETE"], "conversations/*", Reach::Owners),
    (&["DELETE"], "responses/*", Reach::Owners),
    (&["DELETE"], "chat/completions/*", Reach::Owners),
    (&["GET"], "api/tags", Reach::Owners),
    (&["GET"], "api/ps", Reach::Owners),
    (&["GET"], "api/version", Reach::Owners),
    (&["POST"], "api/show", Reach::Owners),
    (&["POST"], "api/embed", Reach::Owners),
    (&["POST"], "api/embeddings", Reach::Owners),
];

/// Words below which a path that looks like one of those is a different one: an answer may have the
/// id `models`.
const RESOURCES: [&str; 10] = [
    "chat",
    "completions",
    "responses",
    "messages",
    "conversations",
    "threads",
    "batches",
    "files",
    "models",
    "vector_stores",
];

/// The prefixes of paths that a proxy key reaches. Below another one, a provider may keep things of
/// its administration.
const PREFIXES_OF_KEYS: [&[&str]; 2] = [&[], &["v1"]];

/// Who may make this request without it being judged.
fn unjudged(method: &Method, path: &[&str]) -> Option<Reach> {
    let may = |reach: Reach| {
        UNJUDGED.iter().any(|(methods, rule, own)| {
            let rule: Vec<&str> = rule.split('/').filter(|part| !part.is_empty()).collect();
            let at_root = reach == Reach::Keys || *own == Reach::OwnersAtRoot;
            let after = |at: usize| {
                let (before, own) = path.split_at(at);
                let reached = match at_root {
                    true => PREFIXES_OF_KEYS.contains(&before),
                    false => !before.iter().any(|part| RESOURCES.contains(part)),
                };
                reached && matches(&rule, own)
            };
            (reach == Reach::Owners || *own == reach)
                && methods.contains(&method.as_str())
                && (0..=path.len()).any(after)
        })
    };
    [Reach::Keys, Reach::Owners].into_iter().find(|reach| may(*reach))
}

/// Checks whether a request may be passed on.
///
/// # Errors
/// When it may not, with advice.
pub(crate) fn check(
    settings: &ProxySettings,
    key: Option<&VirtualKey>,
    wire: Option<Wire>,
    (method, path): (&Method, &str),
) -> Result<(), (StatusCode, String)> {
    let holds = settings.mode.holds();
    if key.is_none() && !holds {
        return Ok(());
    }
    let forbidden = |why: String| Err((StatusCode::FORBIDDEN, why));
    let Some(parts) = parts(path) else {
        return forbidden(
            "servers disagree on this path's meaning: write it without `.`, `..`, `%`, `;` and `\\`"
                .to_owned(),
        );
    };
    let reach = unjudged(method, &parts);
    let named = |rules: &[PathRule]| rules.iter().any(|rule| rule.allows(method, &parts));
    if let Some(key) = key
        && wire.is_none()
        && reach != Some(Reach::Keys)
        && !named(&key.paths)
    {
        return forbidden(format!(
            "the key `{}` may not use this path: to allow more than answers and models, add \
             `paths` to its [[proxy.keys]] entry, as in \"POST /v1/embeddings\"",
            key.name
        ));
    }
    if holds && wire.is_none() && reach.is_none() && !named(&settings.paths) {
        return forbidden(format!(
            "answers on this path are not judged, so mode `{}` rejects the request: ask for a new \
             answer, or add the path to `proxy.paths`, as in \"GET /v1/batches/*\"",
            settings.mode.name()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_paths_are_unjudged() {
        let (owners, keys) = (Some(Reach::Owners), Some(Reach::Keys));
        for (method, path, expected) in [
            ("GET", "/v1/models", keys),
            ("GET", "/v1/models/m-1", keys),
            ("GET", "/openai/v1/models/m-1", owners),
            ("GET", "/v1/models/meta-llama/Llama-3:8b", owners),
            ("GET", "/v1/organization/models", owners),
            ("GET", "/organization/v1/admin_api_keys/models/x", owners),
            ("POST", "/v1/organization/messages/count_tokens", owners),
            ("GET", "/v1/vector_stores/v1/files/f1", owners),
            ("GET", "/v1/vector_stores/v1/files/f1/content", None),
            ("POST", "/v1/messages/count_tokens", keys),
            ("POST", "/v1/embeddings", owners),
            ("POST", "/openai/deployments/m/embeddings", owners),
            ("HEAD", "/", owners),
            ("GET", "/v1", owners),
            ("GET", "/health", owners),
            ("GET", "/v1/foo", None),
            ("GET", "/v1/assistants/version", None),
            ("GET", "/x/y/health", None),
            ("GET", "/v1/organization/admin_api_keys", None),
            ("DELETE", "/v1/responses/r1", owners),
            ("GET", "/v1/responses/r1", None),
            ("GET", "/v1/responses/models", None),
            ("POST", "/v1/responses/r1/cancel", None),
            ("GET", "/v1/chat/completions", None),
            ("POST", "/v1/chat/completions/x", None),
            ("GET", "/v1/conversations/c1/items", None),
            ("POST", "/v1/batches", None),
            ("GET", "/v1/files/f1/content", None),
            ("POST", "/api/chat", None),
            ("POST", "/v1/completions", None),
            ("PUT", "/v1/models", None),
        ] {
            let method: Method = method.parse().unwrap();
            assert_eq!(unjudged(&method, &parts(path).unwrap()), expected, "{method} {path}");
        }
    }

    #[test]
    fn paths_are_plain_or_none() {
        for path in [
            "/v1/./models",
            "/v1/x/../models",
            "/v1/models;x",
            "/v1/%6dodels",
            "/v1%252Fmodels",
            "/v1/models%20",
            "/v1\\models",
            "/v1/möbel",
        ] {
            assert_eq!(parts(path), None, "{path}");
        }
    }

    #[test]
    fn operators_name_paths() {
        for (rule, method, path, expected) in [
            ("GET /v1/files/*", Method::GET, "/v1/files/f1", true),
            ("GET /v1/files/*", Method::GET, "/v1/files/f1/content", false),
            ("GET /v1/files/**", Method::GET, "/v1/files/f1/content", true),
            ("GET /v1/files/*", Method::POST, "/v1/files/f1", false),
        ] {
            let rule = PathRule::read(rule).unwrap();
            assert_eq!(rule.allows(&method, &parts(path).unwrap()), expected, "{rule:?} {path}");
        }
        for wrong in ["", "/v1/files", "get /v1/files", "GET v1", "GET /v1/../x"] {
            assert_eq!(PathRule::read(wrong), None, "{wrong}");
        }
    }
}
