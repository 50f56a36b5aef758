"""What pydantic converts: a `TypeAdapter`, and its models and dataclasses inside other types."""

from __future__ import annotations

import sys
from typing import Any

from hookless._typed.lower import lowered
from hookless._typed.mismatch import Mismatch, step
from hookless._typed.nodes import Node
from hookless.display import escape_line

__all__ = ["Adapted", "is_adapter"]


def is_adapter(wanted: object) -> bool:
    """Return whether what was asked for is a pydantic `TypeAdapter`."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(wanted, pydantic.TypeAdapter)


class Adapted(Node):
    """A place that pydantic fills. Its own rules hold there, coercion among them unless it is strict."""

    def __init__(self, adapter: Any, text: str, kinds: frozenset[type] = frozenset()) -> None:
        import pydantic

        self.adapter, self.text, self.kinds = adapter, text, kinds
        self._error = pydantic.ValidationError

    def run(self, value: Any) -> Any:
        if self.kinds and type(value) not in self.kinds:
            raise Mismatch.of(self.text, value)
        plain = lowered(value)
        try:
            return self.adapter.validate_python(plain)
        except self._error as error:
            first, *others = error.errors(include_url=False, include_context=False, include_input=False)
            more = f" (and {len(others)} more)" if others else ""
            found = Mismatch(escape_line(str(first["msg"]), most=500) + more)
            for one in reversed(first["loc"]):
                found.steps.append(f"[{one}]" if type(one) is int else step(str(one), 0))
            raise found from error
