"""Why a value does not fit, and where: the path is collected on the way out, as the encoder does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookless.display import escape_line

if TYPE_CHECKING:
    from hookless._hookless import _Code

__all__ = ["Mismatch", "kind_text", "step"]

# Characters of a name that is a step as it is, and of one that is shown shortened (as the reader's paths).
_NAME, _SHOWN = 64, 40


class Mismatch(Exception):
    """A value does not fit. `steps` lead to it, the last one first."""

    def __init__(self, text: str, *, code: _Code = "type_mismatch") -> None:
        super().__init__(text)
        self.text = text
        self.code: _Code = code
        self.steps: list[str] = []

    @classmethod
    def of(cls, wanted: str, value: object) -> Mismatch:
        """Return the mismatch of a value that is not what its place wants."""
        return cls(f"expected {wanted}, found {kind_text(value)}")

    @property
    def path(self) -> str:
        """The whole path, such as `$.rows[3].key`."""
        return "$" + "".join(reversed(self.steps))


def kind_text(value: object) -> str:
    """Return what a value is: the name of its type; never anything that the child chose."""
    if value is None:
        return "None"
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def step(key: Any, index: int) -> str:
    """Return the step into a dict by a key, which is the `index`th."""
    kind = type(key)
    if kind is str:
        if len(key) <= _NAME and key.isascii() and key.isidentifier():
            return f".{key}"
        # One quote ends the step, so the key has none.
        shown = escape_line(key[:_SHOWN].replace("\\", "\\\\").replace('"', '\\"'))
        return f'["{shown}{"…" if len(key) > _SHOWN else ""}"]'
    if key is None or kind in (bool, float) or (kind is int and -(1 << 63) <= key < 1 << 64):
        return f"[{key!r}]"
    return f".values[{index}]"
