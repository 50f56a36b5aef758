"""A time zone's key that is a path.

Wants: a file of the host opened, or an exception that nobody expects
Against: `zoneinfo.ZoneInfo` of what came
Since: 0.1
"""

from __future__ import annotations

import zoneinfo

from harness import expose, naive, refused

KEYS = (
    "../../etc/passwd",
    "/etc/localtime",
    "America",
    "A" * 1_000_000,
    "x\0y",
    "../UTC",
    "UTC/",
    "",
    "x/../UTC",
    "tzdata.zones",
)


def victim(data: bytes) -> None:
    kinds = set()
    for key in KEYS:
        try:
            zoneinfo.ZoneInfo(key)
        except Exception as error:
            kinds.add(type(error).__name__)
    print(sorted(kinds))


def peer() -> str:
    out = expose(__name__).out
    # The package tzdata need not be here.
    assert any(kind in out for kind in ("ValueError", "OSError", "IsADirectoryError")), out
    kinds = "succeeds: exceptions that are no ZoneInfoNotFoundError"
    return f"{kinds}; with the package tzdata, a directory is opened"


def ours() -> str:
    codes = set()
    for key in KEYS:
        body = naive.frame(naive.ext(14, b"\x02" + key.encode()))
        codes.add(refused(body, "zone_unknown" if key == "America" else "bad_payload", 32))
    return (
        f"holds: {' or '.join(sorted(codes))}, by grammar and by the host's own list of keys; no file is "
        "opened"
    )
