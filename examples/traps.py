"""A class that tells when it is rebuilt. The child that raises it has it loaded, and so has the host."""

from typing import Any

SPRUNG: list[str] = []  # which traps went off in this process


def spring(trap: str) -> None:
    SPRUNG.append(trap)
    print(f"{trap}-went-off")  # a real one would have the whole process at its command


class Trap(Exception):
    """Whoever calls the class, or restores its state, runs code of its author's choice."""

    def __new__(cls, *args: Any) -> "Trap":
        spring("__new__")
        return super().__new__(cls, *args)

    def __reduce__(self) -> tuple[Any, ...]:
        spring("__reduce__")
        return Trap, self.args, {"armed": True}

    def __setstate__(self, state: Any) -> None:
        spring("__setstate__")
