use crate::toolset::Toolset;

/// Who performs a call. Calls of either go through the same steps: a host enters with
/// [`before`](crate::Session::before) and leaves with [`after`](crate::Session::after), or calls
/// [`track`](crate::Session::track) if it needs no permission.
#[derive(Clone, Copy)]
pub(crate) enum Performer<'t> {
    /// The guard's executors, with this set of tools.
    Guard(&'t Toolset),
    /// A host. It asks a person itself, or reports that it cannot.
    Host,
}
