//! Starts a child over a private socket.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hookless::Limits;
use rustix::net::sockopt::set_socket_send_buffer_size;

use crate::error::Error;
use crate::host::driver::{Driver, Times};
use crate::host::output::Outputs;
use crate::host::post::Shared;
use crate::host::process::Process;
use crate::host::scratch::Scratch;
use crate::host::{Host, Settings};
use crate::socket::Socket;

/// What is in flight stays in the processor's cache between one copy and the next.
const SOCKET_BUFFER: usize = 512 << 10;

/// All that a child finds in its environment, with its folder, and what the host says of threads to compute with. glibc makes many
/// arenas otherwise, each of which counts as memory in use.
const ENVIRONMENT: [(&str, &str); 3] =
    [("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8"), ("MALLOC_ARENA_MAX", "4")];
const PASSED_ON: [&str; 4] =
    ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"];

/// What a Python child gives up before it runs foreign code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Landlock and seccomp are both in force, or no child starts. The kernel is asked whether system calls are filtered.
    #[default]
    Strict,
    /// What the kernel offers; the child writes to its standard error what is missing.
    Auto,
    /// The child may do all that its user may do.
    None,
}

impl Isolation {
    fn name(self) -> &'static str {
        match self {
            Isolation::Strict => "strict",
            Isolation::Auto => "auto",
            Isolation::None => "none",
        }
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Python { paths: Vec<PathBuf>, isolation: Isolation, memory: Option<u64> },
    Program { args: Vec<OsString> },
}

/// How to start a child: a Python interpreter that has the package `hookless`, or a program with a [`Worker`](crate::Worker).
///
/// The child gets the channel as its standard input, which it replaces at once, so that nothing it runs reads from there. Its standard
/// output and error are pipes that the host drains. It starts in a private temporary folder, which goes with it, and with a clean
/// environment. Descriptors that this program has opened without close-on-exec are closed by a Python child, and inherited by others.
#[derive(Debug, Clone)]
#[must_use]
pub struct Launch {
    program: PathBuf,
    kind: Kind,
    settings: Settings,
    environment: Vec<(OsString, OsString)>,
    is_confirmed: bool,
}

impl Launch {
    /// A Python child, by its interpreter, strictly isolated.
    pub fn python(interpreter: impl Into<PathBuf>) -> Launch {
        let kind = Kind::Python { paths: Vec::new(), isolation: Isolation::Strict, memory: None };
        Launch { is_confirmed: true, ..Launch::new(interpreter, kind) }
    }

    /// A program that serves a [`Worker`](crate::Worker) on its standard input.
    pub fn program(program: impl Into<PathBuf>) -> Launch {
        Launch::new(program, Kind::Program { args: Vec::new() })
    }

    fn new(program: impl Into<PathBuf>, kind: Kind) -> Launch {
        Launch {
            program: program.into(),
            kind,
            settings: Settings::default(),
            environment: Vec::new(),
            is_confirmed: false,
        }
    }

    /// An argument of a program; a Python child has none.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Launch {
        if let Kind::Program { args } = &mut self.kind {
            args.push(arg.as_ref().to_owned());
        }
        self
    }

    /// A folder that a Python child may read, and import from.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Launch {
        if let Kind::Python { paths, .. } = &mut self.kind {
            paths.push(path.into());
        }
        self
    }

    /// What a Python child gives up.
    pub fn isolation(mut self, chosen: Isolation) -> Launch {
        if let Kind::Python { isolation, .. } = &mut self.kind {
            *isolation = chosen;
            self.is_confirmed = chosen == Isolation::Strict;
        }
        self
    }

    /// The address space of a Python child, in bytes; 4 GiB and 128 MiB for each processor unless told otherwise.
    pub fn memory(mut self, bytes: u64) -> Launch {
        if let Kind::Python { memory, .. } = &mut self.kind {
            *memory = Some(bytes);
        }
        self
    }

    /// Refuses a child of whom the kernel does not confirm, when it has said HELLO, that its system calls are filtered; otherwise that is
    /// asked of strict Python children only.
    pub fn confirm_isolation(mut self) -> Launch {
        self.is_confirmed = true;
        self
    }

    /// A variable of the child's environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Launch {
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// With which the host decodes and encodes, and a Python child too.
    pub fn limits(mut self, limits: Limits) -> Launch {
        self.settings.limits = limits;
        self
    }

    /// How long a frame that has begun may stand still: 30 s unless told otherwise.
    pub fn stall(mut self, after: Duration) -> Launch {
        self.settings.stall = after;
        self
    }

    /// How long the child may take to start: 30 s unless told otherwise.
    pub fn start_timeout(mut self, after: Duration) -> Launch {
        self.settings.start_timeout = after;
        self
    }

    /// How long the child may take to end a cancelled call before it is stopped: 2 s unless told otherwise.
    pub fn grace(mut self, after: Duration) -> Launch {
        self.settings.grace = after;
        self
    }

    /// Starts the child, and waits for its HELLO.
    ///
    /// # Errors
    /// [`Error::Io`] where the system refuses; [`Error::Died`] with its last words if it ends, say because it cannot isolate itself;
    /// [`Error::DeadlineExceeded`]; [`Error::Protocol`]; [`Error::Isolation`]. No child is left then.
    ///
    /// # Cancel safety
    /// Dropping the future kills the child, and has it reaped.
    pub async fn start(self) -> Result<Host, Error> {
        let scratch = Scratch::new()?;
        let (ours, theirs) = UnixStream::pair()?;
        for end in [&ours, &theirs] {
            set_socket_send_buffer_size(end, SOCKET_BUFFER)?;
        }
        ours.set_nonblocking(true)?;
        let mut child = self.command(&scratch)?.stdin(OwnedFd::from(theirs)).spawn()?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        // From here on, whoever drops it has the child killed.
        let process = Process::new(child, scratch)?;
        let outputs = pipes.map(|(stdout, stderr)| Outputs::new(stdout, stderr)).transpose()?;
        let stream = Socket(tokio::net::UnixStream::from_std(ours)?);
        let shared = Shared::new(self.settings.limits.clone());
        let times = Times { stall: self.settings.stall, grace: self.settings.grace };
        let driver = Driver::new(stream, shared.clone(), times)
            .with_process(process.clone(), outputs.unwrap_or_default())?;
        let timeout = self.settings.start_timeout;
        let host = Host::begin(driver, shared, Some(process.clone()), timeout).await?;
        if self.is_confirmed && !is_confined(process.id()) {
            return Err(Error::Isolation);
        }
        Ok(host)
    }

    fn command(&self, scratch: &Scratch) -> io::Result<Command> {
        let mut command = Command::new(resolve(&self.program)?);
        match &self.kind {
            Kind::Program { args } => {
                command.args(args);
            }
            Kind::Python { paths, isolation, memory } => {
                // Isolated mode: no PYTHON* variable, no user site, not the current folder.
                command.args(["-I", "-B", "-X", "faulthandler", "-m", "hookless", "child", "--stdin"]);
                command.args(["--isolation", isolation.name()]).arg("--scratch").arg(scratch.path());
                for path in paths {
                    command.arg("--path").arg(std::path::absolute(path)?);
                }
                for (name, value) in self.settings.limits.entries() {
                    command.arg("--limits").arg(format!("{name}={value}"));
                }
                if let Some(bytes) = memory {
                    command.arg("--memory").arg(bytes.to_string());
                }
            }
        }
        command.env_clear().envs(ENVIRONMENT);
        command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("TMPDIR", scratch.path()).env("HOME", scratch.path());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(scratch.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// The path of a program: the child starts in another folder, and without PATH.
fn resolve(program: &Path) -> io::Result<PathBuf> {
    if program.components().count() > 1 {
        return std::path::absolute(program);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file());
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{}: not found", program.display()));
    found.ok_or_else(missing).and_then(std::path::absolute)
}

/// Whether the kernel filters the system calls of a process, which can then gain no privilege either.
fn is_confined(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let has = |wanted: &str| status.lines().any(|line| line == wanted);
    has("Seccomp:\t2") && has("NoNewPrivs:\t1")
}
