"""`hookless run --plot`: the arrays of a result as pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hookless._show import is_array, key_text, summary
from hookless.display import escape_line

__all__ = ["draw"]

_PICTURES = 20
_POINTS = 20_000
_SIDE = 1000
_LINES = 8
_DEPTH = 4


def draw(value: Any, prefix: str) -> list[str]:
    """Draw the numeric arrays in `value`, one picture each; return a line to show for each.

    One dimension is drawn as a line, two as an image, or as lines where there are few columns. Names of files
    are made of letters and digits of what the arrays are called, which the child chose.
    """
    from matplotlib.figure import Figure

    said = []
    drawn = 0
    for name, array in _arrays(value, "", _DEPTH):
        title = escape_line(name or "result", most=60)
        if not _is_drawable(array):
            said.append(f"not drawn: {title}, {summary(array)}")
            continue
        if drawn == _PICTURES:
            said.append(f"only the first {_PICTURES} arrays are drawn")
            break
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.subplots()
        if array.ndim == 1 or array.shape[1] <= _LINES:
            axes.plot(*_thinned(array))
            axes.set_xlabel("index")
        else:
            rows, columns = (-(-side // _SIDE) for side in array.shape)
            picture = axes.imshow(array[::rows, ::columns], aspect="auto", interpolation="nearest")
            figure.colorbar(picture)
        # The child's text is not TeX.
        axes.set_title(f"{title}: {array.dtype} {array.shape}", parse_math=False, loc="left")
        path = f"{prefix}-{drawn}{_slug(name)}.png"
        try:
            figure.savefig(path, dpi=120)
        except OSError as error:
            said.append(f"cannot write {path}: {error.strerror}")
            break
        said.append(f"drew {title} to {path}")
        drawn += 1
    return said or ["the result holds no array, so nothing is drawn"]


def _arrays(value: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    if is_array(value):
        yield name, value
    elif depth and type(value) in (list, tuple):
        for index, item in enumerate(value[:1000]):
            yield from _arrays(item, f"{name}[{index}]", depth - 1)
    elif depth and type(value) is dict:
        for key, item in value.items():
            step = key if type(key) is str else f"[{key_text(key)}]"
            yield from _arrays(item, f"{name}.{step}" if name else step, depth - 1)


def _is_drawable(array: Any) -> bool:
    return array.dtype.kind in "biuf" and array.ndim in (1, 2) and array.size > 0


def _thinned(array: Any) -> tuple[Any, Any]:
    import numpy as np

    step = -(-len(array) // _POINTS)
    return np.arange(len(array))[::step], array[::step]


def _slug(name: str) -> str:
    found = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    return f"-{found}" if found else ""
