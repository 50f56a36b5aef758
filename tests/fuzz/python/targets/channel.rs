//! The session as Python runs it, over a socket, against the naive model of it.
#![cfg_attr(fuzzing, no_main)]

use std::sync::LazyLock;

use embedded::channel::Channels;

static CHANNELS: LazyLock<Channels> = LazyLock::new(Channels::new);

fn check(input: &[u8]) {
    CHANNELS.check(input, fuzz::planted());
}

fuzz::target!(check);
