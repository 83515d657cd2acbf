use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// A pending lookup of addresses.
type Found<'r> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'r>>;

/// Resolves names. Every address it returns is checked before a connection is made.
pub trait Resolver: Send + Sync {
    /// The addresses, in the order in which to try them.
    fn resolve<'r>(&'r self, name: &'r str) -> Found<'r>;
}

/// The resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'r>(&'r self, name: &'r str) -> Found<'r> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
