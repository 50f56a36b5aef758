"""The demo: seven scripts run in child processes and their outcomes arrive here, where nothing is unpickled.

Run it by `make demo`, or by `python -I examples/demo.py` where hookless, NumPy and Matplotlib are installed.
It is also a test: it ends with status 1 when anything is not as expected.
"""

import csv
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import hookless

# Python's isolated mode leaves the program's own folder out.
sys.path.append(str(Path(__file__).resolve().parent))

from hostile import show_flood, show_reach, show_trap
from stage import BLUE, HERE, RED, describe, expect, say, surprises, unpickle, watch, went_off
from typed import show_typed

PICTURE = HERE.parent / "out" / "demo.png"


def show_analysis(rows: list[dict[str, str]]) -> dict[str, Any]:
    """A result of many types: each arrives as it was."""
    print("\n1. analysis.py measures penguins and hands back values, containers and arrays")
    printed = bytearray()
    with hookless.Worker() as worker:
        say("in force", *(f"{layer}: {state}" for layer, state in worker.isolation.items()))
        options = worker.options(deadline=60.0, on_output=lambda stream, data: printed.extend(data))
        result: dict[str, Any] = options.run(str(HERE / "analysis.py"), inputs={"rows": rows})
    say("child printed", *printed.decode(errors="backslashreplace").splitlines())
    say("received", *(describe(name, value) for name, value in result.items()), colour=BLUE)

    names, files = unpickle("analysis.py", rows=rows)
    say("pickle.loads", f"looks up what even these honest bytes name: {names}", colour=RED)
    expect("pickle had to look up names to build them", "numpy.dtype" in names and not files)
    check_values(result)
    check_arrays(result)
    return result


def check_values(result: dict[str, Any]) -> None:
    birds, taggings, mean = result["birds"], result["taggings"], result["mean_mass"]
    expect("an int is an int, however large", type(birds) is int and taggings == math.comb(342, 165))
    expect("a NumPy scalar is a NumPy scalar", type(mean) is np.float64 and f"{mean:.2f}" == "4201.75")
    expect("keys are still tuples", result["counts"]["Adelie", "Dream"] == 56)
    expect("sets are still sets", result["homes"]["Adelie"] == {"Biscoe", "Dream", "Torgersen"})
    heaviest = (6300, "Gentoo penguin (Pygoscelis papua)", "N39A2")
    expect("tuples are still tuples", result["heaviest"] == heaviest)


def check_arrays(result: dict[str, Any]) -> None:
    forms = {name: (v.dtype.str, v.shape) for name, v in result.items() if isinstance(v, np.ndarray)}
    expected = {
        "species": ("<U9", (342,)),
        "flipper": ("<f8", (342,)),
        "mass": ("<i8", (342,)),
        "female": ("|b1", (342,)),
        "laid": ("<M8[D]", (342,)),
        "lines": ("<f8", (3, 2)),
        "density": ("<f8", (3, 120, 160)),
    }
    expect("arrays have their dtypes and shapes", forms == expected)
    sums = int(result["mass"].sum()), int(result["female"].sum()), str(result["laid"].max())
    expect("and their elements", sums == (1_437_000, 165, "2009-12-01"))
    grid_x, grid_y = result["grid"]
    volumes = result["density"].sum(axis=(1, 2)) * (grid_x[1] - grid_x[0]) * (grid_y[1] - grid_y[0])
    expect("each density has volume 1", bool(np.allclose(volumes, 1, atol=0.02)))


def show_failure(rows: list[dict[str, str]]) -> None:
    """A failure arrives as data: its type by name, its arguments, its cause and where it was raised."""
    print("\n3. failing.py raises an exception of its own class, with a cause")
    try:
        with hookless.Worker() as worker:
            worker.run(str(HERE / "failing.py"), inputs={"rows": rows})
    except hookless.RemoteError as error:
        failure, cause = error.remote, error.remote.cause
    else:
        expect("failing.py fails", False)
        return
    say("received", f"RemoteError: {failure.qualname}, derived from {', '.join(failure.bases)}", colour=BLUE)
    say("message", failure.message)
    say("args", repr(failure.args))
    places = (f"line {f.line!s:<3} in {f.function:<10} {(f.source or '').strip()}" for f in failure.frames)
    say("raised at", *places)
    if cause is not None:
        say("cause", f"{cause.qualname}: {cause.message}")

    names, files = unpickle("failing.py", rows=rows)
    say("pickle.loads", f"calls {names}, as the bytes say; new files: {files}", colour=RED)
    lineage = (failure.qualname, *failure.bases[:1])
    expect("its class and base are known by name", lineage == ("SampleError", "builtins.ValueError"))
    expect("its args are values", failure.args == ("N2A2", "Flipper Length (mm)", 3))
    expect("its frames are there", [f.function for f in failure.frames][-3:] == ["<module>", "mean", "read"])
    expect("and its cause", cause is not None and cause.qualname == "ValueError" and "'NA'" in cause.message)
    expect("the trap went off for pickle, not here", files == ["UNPICKLED-THE-EXCEPTION"] and not went_off)


def show_gadget() -> None:
    """Bytes that are no frame are refused as such."""
    print("\n4. gadget.py writes a pickle to the channel in place of a frame")
    try:
        with hookless.Worker() as worker:
            worker.run(str(HERE / "gadget.py"), inputs={"attack": True})
    except hookless.DecodeError as error:
        refusal = error
    else:
        expect("the gadget is refused", False)
        return
    say("received", f"{type(refusal).__name__}, code {refusal.code}: {refusal}", colour=BLUE)

    names, files = unpickle("gadget.py", attack=False)
    say("pickle.loads", f"calls {names}, as the bytes say; new files: {files}", colour=RED)
    expect("the refusal has the code bad_magic", refusal.code == "bad_magic")
    expect("the gadget went off for pickle, not here", files == ["UNPICKLED-THE-GADGET"] and not went_off)


def draw(result: dict[str, Any]) -> None:
    """Draw the arrays that came from the child: density, birds and a line for each species."""
    grid_x, grid_y = result["grid"]
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for index, name in enumerate(np.unique(result["species"])):
        colour, of = ["#0072b2", "#d55e00", "#009e73"][index], result["species"] == name
        flipper, mass, density = result["flipper"][of], result["mass"][of], result["density"][index]
        for share in (0.1, 0.3, 0.6):
            inside = [share * density.max(), density.max()]
            axes.contourf(grid_x, grid_y, density, inside, colors=[colour], alpha=0.13)
        ends, line = np.array([flipper.min(), flipper.max()]), result["lines"][index]
        axes.plot(ends, np.polyval(line, ends), color=colour, label=f"{name}: {line[0]:.0f} g/mm")
        axes.scatter(flipper, mass, s=9, color=colour, linewidths=0, zorder=3)
    axes.set_title(result["title"], loc="left")
    axes.set(xlabel="flipper length (mm)", ylabel="body mass (g)", ylim=(2400, 6600))
    axes.legend(frameon=False, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150)


def main() -> int:
    sys.addaudithook(watch)
    with (HERE / "data" / "penguins-raw.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    print("hookless: seven scripts run in child processes, and this process unpickles nothing.")
    result = show_analysis(rows)
    show_typed(rows)
    show_failure(rows)
    show_gadget()
    show_trap()
    show_flood()
    show_reach()
    if surprises:
        print(f"\n{len(surprises)} not as expected: {'; '.join(surprises)}")
        return 1
    draw(result)
    print(f"\nThe arrays from the child are drawn in {os.path.relpath(PICTURE)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
