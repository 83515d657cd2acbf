use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use super::line;
use super::read::{AuditFiles, AuditProblem, ReadAuditError};
use super::{AuditLine, LineError};

/// The last `count` lines of a log, oldest first, read backwards from the end.
///
/// # Errors
/// On an I/O error.
pub fn tail(
    files: AuditFiles,
    count: usize,
) -> Result<Vec<Result<AuditLine, AuditProblem>>, ReadAuditError> {
    let mut found = Vec::new();
    for (path, mut file, length) in files.files.into_iter().rev() {
        let wanted = count - found.len();
        if wanted == 0 {
            break;
        }
        let failed = |source| ReadAuditError::Io { path: path.clone(), source };
        let start = start_of_last(&mut file, length, wanted).map_err(failed)?;
        let before = lines_until(&mut file, start).map_err(failed)?;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut lines = super::source::Lines::new(file, length - start);
        let mut here = Vec::new();
        while let Some((bytes, _)) = lines.next().map_err(failed)? {
            let number = before + u64::try_from(here.len()).unwrap_or_default() + 1;
            let problem = |why: LineError| AuditProblem { file: path.clone(), line: number, why };
            here.push(bytes.and_then(line::read).map_err(problem));
        }
        found.splice(0..0, here);
    }
    Ok(found)
}

/// The offset of the last `count` lines of a file: 0 if it has fewer.
fn start_of_last(file: &mut File, length: u64, count: usize) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    // The line feed at the very end does not start another line.
    let mut end = length.saturating_sub(1);
    let mut left = count;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(&mut bytes)?;
        for at in memchr::memrchr_iter(b'\n', &bytes) {
            left -= 1;
            if left == 0 {
                return Ok(start + u64::try_from(at).unwrap_or_default() + 1);
            }
        }
        end = start;
    }
    Ok(0)
}

/// The number of lines that end before this offset.
fn lines_until(file: &mut File, place: u64) -> io::Result<u64> {
    let mut reader = io::BufReader::new(&mut *file);
    reader.seek(SeekFrom::Start(0))?;
    let mut reader = reader.take(place);
    let mut lines = 0;
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let read = reader.read(&mut bytes)?;
        if read == 0 {
            return Ok(lines);
        }
        let feeds = memchr::memchr_iter(b'\n', bytes.get(..read).unwrap_or_default()).count();
        lines += u64::try_from(feeds).unwrap_or_default();
    }
}
