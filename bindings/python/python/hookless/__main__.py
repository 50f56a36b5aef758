"""`python -m hookless --version`."""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:
    """Print the version. The commands that run and inspect come with a later release."""
    if arguments != ["--version"]:
        sys.stderr.write("usage: python -m hookless --version\n")
        return 2
    from hookless import __version__

    sys.stdout.write(f"hookless {__version__}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
