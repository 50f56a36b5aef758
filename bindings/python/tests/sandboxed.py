"""What the tests of the sandbox share."""

from __future__ import annotations

import os

import pytest

from hookless import RemoteError, Worker


def denied(worker: Worker, target: str, *args: object) -> None:
    """The child gets a PermissionError, and lives on."""
    with pytest.raises(RemoteError) as caught:
        worker.call(target, *args)
    remote = caught.value.remote
    assert remote.qualname == "PermissionError", f"{target}: {remote.type_name}: {remote.message}"
    assert worker.call("os:getppid") == os.getpid()
