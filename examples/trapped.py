"""A hostile script: its exception's class, which the host has too, runs code when it is rebuilt."""

from traps import Trap

raise Trap("rebuild me", 7)
