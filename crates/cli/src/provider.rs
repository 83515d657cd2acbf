//! The configured language models.

use std::sync::Arc;

use counterfoil_guard::{AdversarialOptions, Completion, Embedder};
use counterfoil_providers::{
    KeyPlace, LlmOptions, Provider, ProviderOptions, ProviderOptionsError,
};

use crate::config::Options;
use crate::exit::Complaint;
use crate::files;

/// Returns the model with this name, or the first one if the name is empty.
pub(crate) fn provider(options: &LlmOptions, name: &str) -> anyhow::Result<Provider> {
    let named = options.named(name).map_err(|error| complaint(&error, options))?;
    made(named, options)
}

fn made(named: &ProviderOptions, options: &LlmOptions) -> anyhow::Result<Provider> {
    let settings = named.resolve(secret).map_err(|error| complaint(&error, options))?;
    Ok(Provider::new(settings))
}

/// Returns the key of the first model that could not be used with any secret, and why.
pub(crate) fn unusable(options: &Options) -> Option<(String, Complaint)> {
    let (llm, policy) = (&options.llm, &options.tools.adversarial_policy);
    let some_secret = |_: KeyPlace<'_>| Ok("a key".to_owned());
    let providers = llm.providers.iter().enumerate().map(|(index, provider)| {
        let named = llm.named(&provider.name);
        (format!("llm.providers[{index}]"), named.and_then(|named| named.resolve(some_secret)))
    });
    let own = policy.consults_model().then(|| own_judge(policy)).flatten();
    let own = own.map(|own| ("tools.adversarial_policy.url".to_owned(), own.resolve(some_secret)));
    let wrong = |(key, made): (String, Result<_, _>)| Some((key, complaint(&made.err()?, llm)));
    providers.chain(own).find_map(wrong)
}

fn secret(place: KeyPlace<'_>) -> Result<String, String> {
    match place {
        KeyPlace::Variable(name) => std::env::var(name).map_err(|_| "is not set".to_owned()),
        KeyPlace::File(path) => {
            files::read_text(path).map_err(|error| format!("cannot be read: {error:#}"))
        }
    }
}

fn complaint(error: &ProviderOptionsError, options: &LlmOptions) -> Complaint {
    let complaint = Complaint::new(error.to_string());
    match error {
        ProviderOptionsError::None => complaint.help(
            "add a model to `~/.config/counterfoil/counterfoil.toml`:\n\n  [[llm.providers]]\n  \
             name = \"local\"\n  kind = \"ollama\"\n  model = \"qwen3\"",
        ),
        ProviderOptionsError::Unknown(_) => {
            let names: Vec<&str> = options.providers.iter().map(|p| p.name.as_str()).collect();
            complaint.help(format!("known: {}", names.join(", ")))
        }
        _ => complaint,
    }
}

/// Returns the model that judges calls by plain-language policies; `None` if none is configured.
pub(crate) fn judge(options: &Options) -> anyhow::Result<Option<Arc<dyn Completion>>> {
    let policy = &options.tools.adversarial_policy;
    if !policy.consults_model() {
        return Ok(None);
    }
    let judge = match own_judge(policy) {
        Some(own) => made(&own, &options.llm)?,
        None => provider(&options.llm, &policy.provider)?,
    };
    Ok(Some(Arc::new(judge)))
}

/// Returns the model described in `[tools.adversarial_policy]` itself, if it names no other.
fn own_judge(policy: &AdversarialOptions) -> Option<ProviderOptions> {
    policy.provider.is_empty().then(|| ProviderOptions {
        name: "tools.adversarial_policy".to_owned(),
        url: policy.url.clone(),
        model: policy.model.clone(),
        api_key_env: policy.api_key_env.clone(),
        timeout_secs: policy.timeout_secs,
        // The guard's time limit leaves no room for a second attempt.
        max_attempts: 1,
        ..ProviderOptions::default()
    })
}

/// Returns the model that reformats invalid arguments; `None` if none is configured.
pub(crate) fn reformatter(options: &Options) -> anyhow::Result<Option<Arc<dyn Completion>>> {
    match options.tools.retry.parameter_reformat_provider.as_str() {
        "" => Ok(None),
        name => Ok(Some(Arc::new(provider(&options.llm, name)?))),
    }
}

/// Returns the embedding model, if tools are filtered by request and the agent's provider has one.
pub(crate) fn embedder(options: &Options) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    if !options.agent.tool_filter.enabled || options.llm.providers.is_empty() {
        return Ok(None);
    }
    let provider = provider(&options.llm, &options.agent.provider)?;
    let has_one = provider.settings().embedding_model.is_some();
    Ok(has_one.then(|| Arc::new(provider) as Arc<dyn Embedder>))
}
