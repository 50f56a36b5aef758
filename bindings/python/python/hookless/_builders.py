"""What a worker raises for a failure of its child: the `errors=` of `Worker` and of its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn, TypeAlias

from hookless._family import error_of
from hookless._hookless import Failure
from hookless.remote import RemoteError

__all__ = ["Builder", "Errors", "check_errors", "raise_remote"]

Builder: TypeAlias = Callable[[Failure], BaseException]
Errors: TypeAlias = str | Mapping[str, Builder]


def check_errors(errors: Errors) -> str | dict[str, Builder]:
    """Return what `raise_remote` takes; builders by the full name of their class.

    Raises ValueError or TypeError for anything else.
    """
    if isinstance(errors, str):
        if errors not in ("builtin", "plain"):
            raise ValueError(f"errors= is 'builtin', 'plain' or a dict of builders, not {errors!r}")
        return errors
    if not isinstance(errors, Mapping):
        raise TypeError(f"errors= is 'builtin', 'plain' or a dict of builders, not {type(errors).__name__}")
    builders: dict[str, Builder] = {}
    for name, build in errors.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"errors= has names of classes as keys, such as 'app.Quota', not {name!r}")
        if not callable(build):
            raise TypeError(f"errors[{name!r}] takes a failure and returns an exception; {build!r} does not")
        builders[name if "." in name else f"builtins.{name}"] = build
    return builders


def raise_remote(error: RemoteError, errors: str | dict[str, Builder]) -> NoReturn:
    """Raise what stands for a failure of the child.

    The builder of the nearest class in its MRO, if there is one, is given the descriptor; the error is then
    the cause of what it returns.
    """
    if errors == "plain":
        raise error_of(error.remote, plain=True)
    if isinstance(errors, dict) and errors:
        _raise_built(error, errors)
    raise error


def _raise_built(error: RemoteError, builders: dict[str, Builder]) -> None:
    failure = error.remote
    for name in (f"{failure.module}.{failure.qualname}", *failure.bases):
        build = builders.get(name)
        if build is None:
            continue
        try:
            # So that the error is the context of what the builder itself raises.
            raise error
        except RemoteError:
            made = build(failure)
            if not isinstance(made, BaseException):
                kind = type(made).__name__
                raise TypeError(f"errors[{name!r}] returned a {kind}, which is no exception") from error
        if made is error:
            raise error
        raise made from (made.__cause__ or error)
