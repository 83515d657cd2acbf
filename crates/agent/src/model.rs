use counterfoil_guard::BoxFuture;
use counterfoil_providers::{Piece, Provider, ProviderError, Reply, Request};

/// A model that talks and calls tools.
pub trait Model: Send + Sync {
    /// Its whole answer; `on` gets each piece as it comes.
    fn chat<'a>(
        &'a self,
        request: &'a Request,
        on: &'a mut (dyn FnMut(Piece) + Send),
    ) -> BoxFuture<'a, Result<Reply, ProviderError>>;

    /// Whether it can be given tools. One that cannot is given all of them, as they are.
    fn supports_tool_use(&self) -> bool;

    /// How many tokens it can read.
    fn context_tokens(&self) -> u64;
}

impl Model for Provider {
    fn chat<'a>(
        &'a self,
        request: &'a Request,
        on: &'a mut (dyn FnMut(Piece) + Send),
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(Self::chat(self, request, on))
    }

    fn supports_tool_use(&self) -> bool {
        Self::supports_tool_use(self)
    }

    fn context_tokens(&self) -> u64 {
        self.settings().context_tokens.into()
    }
}
