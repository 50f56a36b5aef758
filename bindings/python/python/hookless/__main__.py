"""`python -m hookless`: the same as the command `hookless`."""

from __future__ import annotations

import os
import sys

# `-m` puts the current folder first among the places to import from. It may hold the very scripts that are
# not trusted: a `json.py` there must not run in this process.
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()] != [_HOME]:
    del sys.path[0]

if __name__ == "__main__":
    from hookless.cli import main

    sys.exit(main())
