use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// Addresses, once they are found.
type Found<'r> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'r>>;

/// Finds the addresses of a name. Whatever it answers is checked before anything is connected to.
pub trait Resolver: Send + Sync {
    /// The addresses, in the order in which they are tried.
    fn resolve<'r>(&'r self, name: &'r str) -> Found<'r>;
}

/// Asks the system.
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
