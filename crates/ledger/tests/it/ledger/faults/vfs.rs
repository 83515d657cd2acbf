//! A SQLite file system that records writes and can inject faults.
//!
//! It wraps the real one for every file of this test process; only files in watched folders are
//! recorded.
#![expect(unsafe_code, reason = "SQLite takes its file system as a table of C functions")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, OnceLock};

use rusqlite::ffi;

use super::disk::{Disk, Failure, Operation, SharedDisk, lock, name};

/// The recorded folders.
static WATCHED: Mutex<BTreeMap<PathBuf, SharedDisk>> = Mutex::new(BTreeMap::new());

/// The file system that does the work.
static REAL: OnceLock<Real> = OnceLock::new();

struct Real(*mut ffi::sqlite3_vfs);

// SAFETY: SQLite registers its file systems once and never changes or frees them.
unsafe impl Send for Real {}
// SAFETY: as above.
unsafe impl Sync for Real {}

/// Starts recording changes to the files of a folder.
pub(super) fn watch(folder: &Path) -> SharedDisk {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(register);
    let disk = SharedDisk::new(Mutex::new(Disk::default()));
    WATCHED.lock().unwrap().insert(folder.canonicalize().unwrap(), disk.clone());
    disk
}

fn register() {
    // SAFETY: the default file system is there as long as the process; ours is a copy of it, with
    // its own way to open and delete, and is leaked so that it is, too.
    unsafe {
        let real = ffi::sqlite3_vfs_find(std::ptr::null());
        REAL.set(Real(real)).ok();
        let mut ours: ffi::sqlite3_vfs = std::ptr::read(real);
        ours.zName = c"recorded".as_ptr();
        ours.szOsFile += c_int::try_from(size_of::<Recorded>()).unwrap();
        ours.xOpen = Some(open);
        ours.xDelete = Some(delete);
        ours.pNext = std::ptr::null_mut();
        assert_eq!(ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1), ffi::SQLITE_OK);
    }
}

fn real() -> *mut ffi::sqlite3_vfs {
    REAL.get().unwrap().0
}

/// What SQLite allocates for an open file; the real file system's data directly follows it.
#[repr(C)]
struct Recorded {
    file: ffi::sqlite3_file,
    /// `None` if the file is not recorded.
    watched: *mut Watched,
}

struct Watched {
    disk: SharedDisk,
    name: String,
}

/// # Safety
/// `file` is one that `open` filled in.
unsafe fn wrapped(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: SQLite allocated room for both, one after the other.
    unsafe { file.cast::<Recorded>().add(1).cast() }
}

/// # Safety
/// As for `wrapped`.
unsafe fn watched<'f>(file: *mut ffi::sqlite3_file) -> Option<&'f Watched> {
    // SAFETY: it is null, or was leaked by `open` and is freed only by `close`.
    unsafe { (*file.cast::<Recorded>()).watched.as_ref() }
}

fn find(path: *const c_char) -> Option<Watched> {
    if path.is_null() {
        return None;
    }
    // SAFETY: SQLite gives names that end with a zero byte.
    let path = Path::new(unsafe { CStr::from_ptr(path) }.to_str().ok()?);
    let disk = WATCHED.lock().unwrap().get(&path.parent()?.canonicalize().ok()?)?.clone();
    Some(Watched { disk, name: name(path) })
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: `file` has room for `Recorded` and for the real file after it, as registered.
    unsafe {
        let recorded = file.cast::<Recorded>();
        (*recorded).file.pMethods = std::ptr::null();
        (*recorded).watched = std::ptr::null_mut();
        let opened = (*real()).xOpen.unwrap()(real(), path, wrapped(file), flags, out);
        if opened == ffi::SQLITE_OK {
            (*recorded).file.pMethods = &METHODS;
            if let Some(watched) = find(path) {
                (*recorded).watched = Box::into_raw(Box::new(watched));
            }
        }
        opened
    }
}

unsafe extern "C" fn delete(
    _: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    sync_folder: c_int,
) -> c_int {
    if let Some(Watched { disk, name }) = find(path) {
        lock(&disk).operations.push(Operation::Delete { file: name });
    }
    // SAFETY: passed on as it came.
    unsafe { (*real()).xDelete.unwrap()(real(), path, sync_folder) }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `open` leaked what is freed here, and SQLite closes once.
    unsafe {
        let recorded = file.cast::<Recorded>();
        if !(*recorded).watched.is_null() {
            drop(Box::from_raw((*recorded).watched));
        }
        (*(*wrapped(file)).pMethods).xClose.unwrap()(wrapped(file))
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite gives `count` bytes.
    unsafe {
        if let Some(Watched { disk, name }) = watched(file) {
            let mut disk = lock(disk);
            if disk.fails(&[Failure::Write, Failure::Full]) {
                let full = disk.failure == Failure::Full;
                return if full { ffi::SQLITE_FULL } else { ffi::SQLITE_IOERR_WRITE };
            }
            let given = std::slice::from_raw_parts(bytes.cast(), usize::try_from(count).unwrap());
            let (file, offset) = (name.clone(), u64::try_from(offset).unwrap());
            disk.operations.push(Operation::Write { file, offset, bytes: given.to_vec() });
        }
        (*(*wrapped(file)).pMethods).xWrite.unwrap()(wrapped(file), bytes, count, offset)
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // SAFETY: passed on as it came.
    unsafe {
        if let Some(Watched { disk, name }) = watched(file) {
            let size = u64::try_from(size).unwrap();
            lock(disk).operations.push(Operation::Truncate { file: name.clone(), size });
        }
        (*(*wrapped(file)).pMethods).xTruncate.unwrap()(wrapped(file), size)
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: passed on as it came.
    unsafe {
        if let Some(Watched { disk, name }) = watched(file) {
            let mut disk = lock(disk);
            if disk.fails(&[Failure::Sync]) {
                return ffi::SQLITE_IOERR_FSYNC;
            }
            disk.operations.push(Operation::Sync { file: name.clone() });
        }
        (*(*wrapped(file)).pMethods).xSync.unwrap()(wrapped(file), flags)
    }
}

/// Functions that only call the real file system.
macro_rules! passed_on {
    ($($name:ident = $method:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        unsafe extern "C" fn $name(
            file: *mut ffi::sqlite3_file, $($argument: $type),*
        ) $(-> $result)? {
            // SAFETY: passed on as it came.
            unsafe { (*(*wrapped(file)).pMethods).$method.unwrap()(wrapped(file), $($argument),*) }
        }
    )*};
}

passed_on! {
    read = xRead(bytes: *mut c_void, count: c_int, offset: ffi::sqlite3_int64) -> c_int;
    file_size = xFileSize(size: *mut ffi::sqlite3_int64) -> c_int;
    take_lock = xLock(level: c_int) -> c_int;
    give_lock = xUnlock(level: c_int) -> c_int;
    check_lock = xCheckReservedLock(reserved: *mut c_int) -> c_int;
    file_control = xFileControl(operation: c_int, argument: *mut c_void) -> c_int;
    sector_size = xSectorSize() -> c_int;
    characteristics = xDeviceCharacteristics() -> c_int;
    shm_map = xShmMap(
        region: c_int, size: c_int, extend: c_int, mapped: *mut *mut c_void
    ) -> c_int;
    shm_lock = xShmLock(offset: c_int, count: c_int, flags: c_int) -> c_int;
    shm_barrier = xShmBarrier();
    shm_unmap = xShmUnmap(delete: c_int) -> c_int;
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(take_lock),
    xUnlock: Some(give_lock),
    xCheckReservedLock: Some(check_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};
