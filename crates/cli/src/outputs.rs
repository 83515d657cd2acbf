use std::path::Path;

use anyhow::Context as _;
use counterfoil_report::{Baseline, BaselineError};

use crate::exit::Complaint;
use crate::files;
use crate::inputs::Input;
use crate::replace::replace;

/// Refuses an output that would overwrite an input.
pub(crate) fn refuse_inputs(
    output: Option<&Path>,
    inputs: &[Input],
    also_read: &[Option<&Path>],
) -> anyhow::Result<()> {
    let Some(place) = output.and_then(|path| path.canonicalize().ok()) else { return Ok(()) };
    let read = inputs.iter().filter_map(Input::path).chain(also_read.iter().copied().flatten());
    for path in read {
        if path.canonicalize().is_ok_and(|path| path == place) {
            let shown = path.display();
            return Err(Complaint::new(format!("the output would overwrite the input `{shown}`"))
                .help("write to another file")
                .into());
        }
    }
    Ok(())
}

/// Writes a baseline to a new file or over another baseline, atomically.
pub(crate) fn write_baseline(
    path: &Path,
    baseline: &Baseline,
    inputs: &[Input],
) -> anyhow::Result<()> {
    refuse_inputs(Some(path), inputs, &[])?;
    let there = files::read_text(path);
    let is_other = |text: &str| match Baseline::from_json(text) {
        Ok(_) | Err(BaselineError::Version(_)) => false,
        Err(_) => !text.is_empty(),
    };
    let other = there.is_ok_and(|text| is_other(&text));
    if other || path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
        let shown = path.display();
        return Err(Complaint::new(format!("`{shown}` is not a baseline and was not overwritten"))
            .help("specify a new file, or a baseline written by `--write-baseline`")
            .into());
    }
    replace(path, &baseline.to_json())
        .with_context(|| format!("cannot write the baseline {}", path.display()))
}
