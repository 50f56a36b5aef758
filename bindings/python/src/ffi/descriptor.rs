//! Descriptors that Python owns.

use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Borrows a descriptor that the caller of the channel keeps open: a wrong number gives EBADF, never more.
pub(crate) fn borrow(descriptor: &RawFd) -> BorrowedFd<'_> {
    // SAFETY: the number is not -1 (checked by the callers), and is only polled and read from; the Python object that owns it is held by
    // the caller of the method for as long as the call lasts.
    unsafe { BorrowedFd::borrow_raw(*descriptor) }
}

/// Takes over a descriptor that Python has given up (`socket.detach`).
pub(crate) fn take(descriptor: RawFd) -> Option<OwnedFd> {
    // SAFETY: by the contract of `Channel(fd, …)` the number belongs to the channel from now on.
    (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) })
}
