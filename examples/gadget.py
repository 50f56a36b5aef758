"""A hostile script: it does not answer with a frame but writes a pickle straight to the channel."""
# ruff: noqa: F821 (the inputs are defined by the host; mypy checks the names)

import os
import pickle
from typing import Any

import hookless.worker

attack: bool  # given by the host; false when it only wants a look at the bytes


class Gadget:
    def __reduce__(self) -> tuple[Any, ...]:
        return open, (
            "UNPICKLED-THE-GADGET",
            "w",
        )  # whoever unpickles a Gadget makes this file; it could be os.system


result = Gadget()
if attack:
    os.write(hookless.worker.channel_fd(), pickle.dumps(result))
