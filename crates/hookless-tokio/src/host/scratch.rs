//! The private temporary folder of a child: made, and removed, by the host.

use std::ffi::{CStr, CString};
use std::fs::{self, DirBuilder, Permissions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// A new empty folder that only this user can enter, removed with its owner.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> io::Result<Scratch> {
        loop {
            let random = RandomState::new().build_hasher().finish();
            let name = format!("hookless-{random:016x}");
            let path = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    /// A child chose what is in it: folders nested deeper than a path can be long or a program can recurse, folders that nobody may
    /// enter, links to anywhere. Nothing is followed, and the depth costs nothing. What cannot be removed stays.
    fn drop(&mut self) {
        let opened = openat(rustix::fs::CWD, &self.0, OPEN, Mode::empty());
        if opened.is_ok_and(|top| empty(top.as_fd()).is_ok()) {
            let _ = fs::remove_dir(&self.0);
        }
    }
}

const OPEN: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Empties a folder: what lies in a folder below is either removed, or moved up here to have its turn.
fn empty(top: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut number = 0u64;
    loop {
        let folders = unlink_all(top)?;
        if folders.is_empty() {
            return Ok(());
        }
        for name in folders {
            let below = enter(top, &name)?;
            for inner in unlink_all(below.as_fd())? {
                // A folder can only be moved by who may write to it.
                drop(enter(below.as_fd(), &inner)?);
                renameat(&below, &inner, top, unused(top, &mut number)?)?;
            }
            unlinkat(top, &name, AtFlags::REMOVEDIR)?;
        }
    }
}

/// Removes all but the folders from a folder; gives those.
fn unlink_all(folder: BorrowedFd<'_>) -> Result<Vec<CString>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => found.push(name.to_owned()),
            _ => unlinkat(folder, name, AtFlags::empty())?,
        }
    }
    Ok(found)
}

/// Opens a folder, whatever its mode was.
fn enter(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if stat.st_mode & 0o700 == 0o700
        && let Ok(opened) = openat(parent, name, OPEN, Mode::empty())
    {
        return Ok(opened);
    }
    let held = openat(parent, name, OPEN.difference(OFlags::RDONLY).union(OFlags::PATH), Mode::empty())?;
    // By its descriptor: what has this name now may not be what has it next.
    let itself = format!("/proc/self/fd/{}", held.as_raw_fd());
    fs::set_permissions(itself, Permissions::from_mode(0o700))
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    openat(&held, c".", OPEN, Mode::empty())
}

fn unused(folder: BorrowedFd<'_>, number: &mut u64) -> Result<CString, Errno> {
    loop {
        let name = CString::new(number.to_string()).unwrap_or_default();
        *number += 1;
        match statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(name),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn whatever_a_child_leaves_is_removed_and_no_link_is_followed() {
        let (kept, scratch) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        let (kept_path, path) = (kept.path().to_owned(), scratch.path().to_owned());
        fs::write(kept_path.join("file"), "kept").unwrap();
        symlink(&kept_path, path.join("link")).unwrap();
        let mut folder = openat(rustix::fs::CWD, &path, OPEN, Mode::empty()).unwrap();
        for depth in 0..2000 {
            rustix::fs::mkdirat(&folder, "0", Mode::RWXU).unwrap();
            let below = openat(&folder, "0", OPEN, Mode::empty()).unwrap();
            if depth % 100 == 0 {
                rustix::fs::mkdirat(&below, "closed", Mode::empty()).unwrap();
            }
            folder = below;
        }
        drop(scratch);
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(kept_path.join("file")).unwrap(), "kept");
    }
}
