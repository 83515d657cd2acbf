use crate::toolset::Toolset;

/// Who performs a call. Both go through the same steps: a host enters with
/// [`before`](crate::Session::before) and leaves with [`after`](crate::Session::after), or with
/// [`track`](crate::Session::track) where it needs no permission.
#[derive(Clone, Copy)]
pub(crate) enum Performer<'t> {
    /// The guard's executors, with these tools.
    Guard(&'t Toolset),
    /// A host. It asks a person itself, or says that it cannot.
    Host,
}
