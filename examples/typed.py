"""The demo's typed result: a child's object becomes one of the host's own class, field by field."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

import numpy as np

import hookless
from stage import BLUE, HERE, describe, expect, say


@dataclass
class Colony:
    """What this host wants to have; the child's class has another name."""

    first_egg: datetime
    mean_mass: Decimal
    sizes: Annotated[np.ndarray, hookless.ArraySpec("float64", (None, 2))]


@dataclass
class Coarse:
    """The same with a field that does not fit."""

    first_egg: datetime
    mean_mass: float
    sizes: np.ndarray


def show_typed(rows: list[dict[str, str]]) -> None:
    """Converted by `returns=`; what does not fit is an error with its place, and the worker goes on."""
    print(
        "\n2. summary.py hands back an object of its own class, which becomes one of the host's class Colony"
    )
    script, inputs = str(HERE / "summary.py"), {"rows": rows}
    with hookless.Worker() as worker:
        try:
            worker.options(returns=Coarse).run(script, inputs=inputs)
        except hookless.DecodeError as error:
            refusal = error
        else:
            expect("a Decimal is no float", False)
            return
        colony = worker.options(returns=Colony).run(script, inputs=inputs)
        record = worker.run(script, inputs=inputs)
    say("received", *(describe(name, value) for name, value in vars(colony).items()), colour=BLUE)
    say("as a float?", str(refusal))
    say("without type", f"{type(record).__name__} of {record.type_name}, inert")
    expect("its class is the host's", type(colony) is Colony and type(record) is hookless.Record)
    expect("a datetime keeps its zone", colony.first_egg == datetime(2007, 11, 9, tzinfo=UTC))
    expect("a Decimal keeps its digits", str(colony.mean_mass) == "4.2018")
    expect("an array has the shape that was asked for", colony.sizes.shape == (342, 2))
    expect("a Decimal is no float", (refusal.code, refusal.path) == ("type_mismatch", "$.mean_mass"))
