"""A package that takes its time to load, and needs its parts for that."""

from . import part

value = part.value


def ready() -> int:
    """What the tests call."""
    return value
