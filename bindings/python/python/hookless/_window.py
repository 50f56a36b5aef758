"""How many items of a stream may be on their way: enough to keep the child busy, no more than may wait."""

from __future__ import annotations

__all__ = ["Window"]

# Items that a child may send before it is known how large they are, and ever.
_FIRST = 2
_MOST = 16


class Window:
    """The credit of one stream. `room` is what the items of all streams of the session may cost together."""

    def __init__(self, streams: list[Window], room: int) -> None:
        self._streams, self._room = streams, room
        self._largest = 0
        # The credit of the CALL: one item, whose size nobody knows, where others have theirs on the way.
        self.first = 1 if streams else _FIRST
        # Items that have been granted and not yet taken: some on their way, some in the box.
        self._open = self.first

    def taken(self, cost: int) -> int:
        """Note that an item was taken; return how many more may be sent, 0 until half the window is free."""
        self._open -= 1
        self._largest = max(self._largest, cost, 1)
        streams = [one for one in list(self._streams) if one is not self]
        # A fair share, and not before the others have given up what is more than theirs.
        left = self._room - sum(one._open * one._largest for one in streams)
        size = max(1, min(_MOST, min(left, self._room // (len(streams) + 1)) // self._largest))
        more = size - self._open
        if more < max(1, size // 2):
            return 0
        self._open += more
        return more
