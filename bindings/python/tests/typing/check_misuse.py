"""Mistakes that a type checker must find: under --strict an `ignore` without one is itself an error."""

from __future__ import annotations

import hookless
from hookless import Limits, Worker

hookless.loads("text")  # type: ignore[call-overload]
hookless.loads(b"", None)  # type: ignore[call-overload]
hookless.loads(b"", hook=print)  # type: ignore[call-overload]
hookless.dumps(1, limits={"depth": 5})  # type: ignore[arg-type]
hookless.decode(b"", copy="yes")  # type: ignore[call-overload]
hookless.Decoder().feed("text")  # type: ignore[arg-type]
Limits(dept=5)  # type: ignore[call-arg]
Limits(depth="5")  # type: ignore[arg-type]
Limits().depth = 5  # type: ignore[misc]
Worker(paths=["src"], isolation="none").options(deadlin=5)  # type: ignore[call-overload]
Worker(grace="long")  # type: ignore[arg-type]
