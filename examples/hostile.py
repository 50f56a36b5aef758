"""The demo's hostile children: a trapped exception, a flood that ends inside a frame, a reach outside."""

import socket
import tempfile
import time
from pathlib import Path

import hookless
import traps
from stage import BLUE, HERE, RED, expect, say, unpickle, went_off


def show_trap() -> None:
    """A class by the wire's name is known here, and is not touched."""
    print("\n5. trapped.py raises an exception whose class the host has loaded too, with traps in it")
    try:
        with hookless.Worker(paths=[str(HERE)]) as worker:
            worker.run(str(HERE / "trapped.py"))
    except hookless.RemoteError as error:
        arrived, failure = type(error), error.remote
    else:
        expect("trapped.py fails", False)
        return
    say("child printed", *worker.output.decode().splitlines())
    say("received", f"{arrived.__name__}: {failure.type_name} {failure.args!r}, as data", colour=BLUE)

    names, _ = unpickle("trapped.py")
    say("pickle.loads", f"looks up and sets off: {names}", colour=RED)
    expect("the traps went off for pickle", "__new__-went-off" in names and "__setstate__-went-off" in names)
    expect(
        "its class is known by name only",
        failure.type_name == "traps.Trap" and arrived is hookless.RemoteError,
    )
    expect("no trap went off here", traps.SPRUNG == [] and not went_off)


def show_flood() -> None:
    """Output is counted and dropped past its budget; half a frame is an error and no value."""
    print("\n6. flood.py prints 64 MiB, sends half a frame and kills itself")
    taken = 0

    def count(stream: str, data: bytes) -> None:
        nonlocal taken
        taken += len(data)

    began = time.monotonic()
    with hookless.Worker() as worker:
        try:
            worker.options(deadline=60.0, on_output=count).run(
                str(HERE / "flood.py"), inputs={"mebibytes": 64}
            )
        except hookless.HooklessError as error:
            refusal: hookless.HooklessError | None = error
        else:
            refusal = None
        dropped = worker.output_dropped
    seconds = time.monotonic() - began
    say("received", f"{type(refusal).__name__}: {str(refusal).splitlines()[0]}", colour=BLUE)
    say("output", f"{taken} bytes taken, {dropped} dropped; the last 64 KiB kept; {seconds:.1f} s in all")
    wanted = (hookless.Truncated, hookless.WorkerDied)
    expect("half a frame is an error of the transport", isinstance(refusal, wanted))
    expect("output stops at its budget", taken <= (16 << 20) + 100 and dropped > 32 << 20)
    expect("and no more than its end is kept", len(worker.output) == 64 << 10)


def show_reach() -> None:
    """What the child may do beside answering is the sandbox's matter, and is told as it is."""
    mode = "strict" if strict_works() else "none"
    print(f"\n7. reach.py opens a secret file and a socket, with isolation={mode!r}")
    with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "secret"
        secret.write_text("the host's secret")
        inputs = {"secret": str(secret), "port": listener.getsockname()[1]}
        with hookless.Worker(isolation=mode) as worker:
            found = worker.options(deadline=60.0).run(str(HERE / "reach.py"), inputs=inputs)
    for name, (reached, what) in found.items():
        say(name, f"{'REACHED' if reached else 'refused'}: {what}", colour=RED if reached else BLUE)
    reached = {name: outcome[0] for name, outcome in found.items()}
    if mode == "strict":
        expect("the sandbox refused both", reached == {"file": False, "socket": False})
        return
    say("so", "isolation='none' stops neither: hookless keeps the child's bytes from running code here,")
    say("", "and not the child from the user's files and the network")
    expect("both attempts succeeded, as isolation='none' says", reached == {"file": True, "socket": True})


def strict_works() -> bool:
    """Whether this release, on this kernel, can shut a child in."""
    try:
        hookless.Worker(isolation="strict").close()
    except hookless.IsolationError:
        return False
    return True
