"""A script that fails: some birds were not measured. Its exception is also a trap for `pickle.loads`."""
# ruff: noqa: F821 (the inputs are defined by the host; mypy checks the names)

from typing import Any

rows: list[dict[str, str]]  # given by the host


class SampleError(ValueError):
    """An exception of the child's own. The host has no such class and needs none."""

    def __init__(self, bird: str, column: str, row: int) -> None:
        super().__init__(bird, column, row)
        self.bird, self.column, self.row = bird, column, row

    def __str__(self) -> str:
        return f"bird {self.bird} (row {self.row}): no number in {self.column!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("UNPICKLED-THE-EXCEPTION", "w")  # whoever unpickles a SampleError makes this file


def number(row: dict[str, str], column: str) -> float:
    return float(row[column])


def read(column: str) -> list[float]:
    numbers = []
    for index, row in enumerate(rows):
        try:
            numbers.append(number(row, column))
        except ValueError as error:
            raise SampleError(row["Individual ID"], column, index) from error
    return numbers


def mean(column: str) -> float:
    numbers = read(column)
    return sum(numbers) / len(numbers)


result = mean("Flipper Length (mm)")
