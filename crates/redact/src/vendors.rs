//! Tokens recognised by their vendor's prefix.
//!
//! A row is a vendor, the prefix of its tokens, their alphabet, and the minimum number of
//! characters after the prefix, according to the vendor's documentation. A new row needs nothing
//! else.

use super::accept::is_random;
use super::pattern::Hit;

/// The alphabet of the rest of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// `0-9a-f`.
    Hex,
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Also `+`, `/`, `=` and `.`.
    Any,
}

impl Of {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Any => Self::Url.has(byte) || matches!(byte, b'+' | b'/' | b'=' | b'.'),
        }
    }
}

/// One kind of token.
pub(super) struct Vendor {
    #[cfg_attr(not(test), expect(dead_code, reason = "says where to look the row up"))]
    name: &'static str,
    prefix: &'static str,
    of: Of,
    least: usize,
}

const fn row(name: &'static str, prefix: &'static str, of: Of, least: usize) -> Vendor {
    Vendor { name, prefix, of, least }
}

const COUNT: usize = 95;

const VENDORS: [Vendor; COUNT] = [
    row("Apify", "apify_api_", Of::Alnum, 30),
    row("Atlassian", "ATCTT3", Of::Any, 60),
    row("Atlassian", "ATBB", Of::Alnum, 28),
    row("Alibaba Cloud", "LTAI", Of::Alnum, 16),
    row("Brevo", "xkeysib-", Of::Url, 64),
    row("Brevo", "xsmtpsib-", Of::Url, 64),
    row("Browserbase", "bb_live_", Of::Url, 20),
    row("Buildkite", "bkua_", Of::Hex, 32),
    row("Buildkite", "bkct_", Of::Alnum, 32),
    row("CircleCI", "CCIPAT_", Of::Any, 40),
    row("CircleCI", "CCIPRJ_", Of::Any, 40),
    row("Clojars", "CLOJARS_", Of::Hex, 60),
    row("Cloudflare", "cfut_", Of::Alnum, 40),
    row("Cloudflare", "cfat_", Of::Alnum, 40),
    row("Cloudflare", "cfk_", Of::Alnum, 40),
    row("Contentful", "CFPAT-", Of::Url, 43),
    row("Cargo registries", "cio", Of::Alnum, 32),
    row("Daytona", "dtn_", Of::Hex, 48),
    row("Docker", "dckr_jwt_", Of::Any, 40),
    row("Doppler", "dp.st.", Of::Any, 40),
    row("Doppler", "dp.ct.", Of::Any, 40),
    row("Doppler", "dp.sa.", Of::Any, 40),
    row("Doppler", "dp.scim.", Of::Any, 40),
    row("Duffel", "duffel_live_", Of::Any, 40),
    row("Duffel", "duffel_test_", Of::Any, 40),
    row("Dynatrace", "dt0c01.", Of::Any, 80),
    row("Dynatrace", "dt0s16.", Of::Any, 60),
    row("E2B", "e2b_", Of::Hex, 40),
    row("EasyPost", "EZAK", Of::Alnum, 54),
    row("EasyPost", "EZTK", Of::Alnum, 54),
    row("Firecrawl", "fc-", Of::Hex, 32),
    row("Fireworks", "fw_", Of::Alnum, 22),
    row("Fly.io", "fm2_", Of::Any, 60),
    row("Fly.io", "fo1_", Of::Url, 40),
    row("Flutterwave", "FLWSECK-", Of::Url, 32),
    row("Frame.io", "fio-u-", Of::Url, 60),
    row("GitLab", "glffct-", Of::Url, 20),
    row("GitLab", "glwt-", Of::Url, 20),
    row("Heroku", "HRKU-", Of::Url, 36),
    row("Hugging Face", "api_org_", Of::Alnum, 30),
    row("Inngest", "signkey-prod-", Of::Hex, 32),
    row("Jina", "jina_", Of::Url, 40),
    row("LangSmith", "lsv2_pt_", Of::Url, 36),
    row("LangSmith", "lsv2_sk_", Of::Url, 36),
    row("LlamaCloud", "llx-", Of::Alnum, 40),
    row("Mapbox", "sk.eyJ", Of::Any, 60),
    row("Matrix", "mat_", Of::Url, 30),
    row("Matrix", "mct_", Of::Url, 30),
    row("Matrix", "mar_", Of::Url, 30),
    row("Matrix", "syt_", Of::Any, 30),
    row("Matrix", "syr_", Of::Any, 20),
    row("Neon", "napi_", Of::Alnum, 40),
    row("Netlify", "nfp_", Of::Alnum, 36),
    row("Netlify", "nfc_", Of::Alnum, 36),
    row("New Relic", "NRII-", Of::Url, 32),
    row("New Relic", "NRRA-", Of::Hex, 42),
    row("NuGet", "oy2", Of::Alnum, 43),
    row("1Password", "ops_eyJ", Of::Any, 80),
    row("Pinecone", "pcsk_", Of::Url, 40),
    row("Plaid", "access-production-", Of::Url, 36),
    row("Plaid", "access-sandbox-", Of::Url, 36),
    row("PlanetScale", "pscale_tkn_", Of::Any, 32),
    row("PlanetScale", "pscale_pw_", Of::Any, 32),
    row("PlanetScale", "pscale_oauth_", Of::Any, 32),
    row("PostHog", "phx_", Of::Alnum, 40),
    row("Prefect", "pnu_", Of::Alnum, 36),
    row("Prefect", "pnb_", Of::Alnum, 36),
    row("ReadMe", "rdme_", Of::Alnum, 60),
    row("Render", "rnd_", Of::Alnum, 28),
    row("Resend", "re_", Of::Url, 30),
    row("Segment", "sgp_", Of::Any, 40),
    row("Shippo", "shippo_live_", Of::Hex, 40),
    row("Shippo", "shippo_test_", Of::Hex, 40),
    row("SonarQube", "sqp_", Of::Hex, 40),
    row("SonarQube", "squ_", Of::Hex, 40),
    row("SonarQube", "sqa_", Of::Hex, 40),
    row("Square", "EAAA", Of::Url, 56),
    row("Stytch", "secret-live-", Of::Any, 32),
    row("Stytch", "secret-test-", Of::Any, 32),
    row("Supabase", "sb_secret_", Of::Url, 24),
    row("Supabase", "sbp_oauth_", Of::Hex, 40),
    row("Tencent Cloud", "AKID", Of::Alnum, 32),
    row("Together", "tgp_v1_", Of::Url, 40),
    row("Trigger.dev", "tr_prod_", Of::Alnum, 20),
    row("Trigger.dev", "tr_dev_", Of::Alnum, 20),
    row("Typeform", "tfp_", Of::Any, 44),
    row("Vercel", "vcp_", Of::Alnum, 24),
    row("Vercel", "vca_", Of::Alnum, 24),
    row("Vercel", "vci_", Of::Alnum, 24),
    row("Vercel", "vcr_", Of::Alnum, 24),
    row("Vercel", "vck_", Of::Alnum, 24),
    row("Voyage", "pa-", Of::Url, 40),
    row("Weights & Biases", "wandb_v1_", Of::Url, 40),
    row("Yandex Cloud", "AQVN", Of::Url, 35),
    row("Yandex Cloud", "t1.9eu", Of::Any, 60),
];

/// The prefixes of the tokens.
pub(super) const PREFIXES: [&str; COUNT] = {
    let mut all = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        #[expect(clippy::indexing_slicing, reason = "at compile time, below the length of both")]
        {
            all[at] = VENDORS[at].prefix;
        }
        at += 1;
    }
    all
};

/// The length of the vendor's token that begins here, if there is one.
pub(super) fn token(hit: &Hit<'_>) -> Option<usize> {
    let rows = VENDORS.iter().filter(|row| hit.rest.starts_with(row.prefix));
    let lengths = rows.filter_map(|row| {
        let rest = hit.rest.as_bytes().get(row.prefix.len()..)?;
        let length = rest.iter().take_while(|byte| row.of.has(**byte)).count();
        let rest = hit.rest.get(row.prefix.len()..)?.get(..length)?;
        // A full stop at the end of a sentence is not part of the token.
        let rest = rest.trim_end_matches('.');
        (rest.len() >= row.least && is_random(rest)).then_some(row.prefix.len() + rest.len())
    });
    lengths.max()
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use super::*;

    fn drawn(count: usize, of: Of) -> String {
        let from = match of {
            Of::Hex => "0123456789abcdef",
            _ => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        };
        let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
        let from = from.as_bytes();
        let one = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            let at = usize::try_from(state >> 40).unwrap_or(0) % from.len();
            from.get(at).copied().map_or('x', char::from)
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_token_of_every_vendor_is_replaced() {
        let redactor = Redactor::standard();
        for Vendor { name, prefix, of, least } in VENDORS {
            let token = format!("{prefix}{}", drawn(least, of));
            let text = format!("ready, using {token}. Next");
            let redacted = redactor.redact(&text);
            assert!(redacted.ends_with("]. Next"), "{name}: {redacted}");
            assert!(
                !redacted.contains(token.get(prefix.len()..).unwrap_or("")),
                "{name}: {redacted}"
            );
            let short = format!("{prefix}x1 and {prefix}, {prefix}name-of-a-thing");
            assert_eq!(redactor.redact(&short), short, "{name}");
        }
    }
}
