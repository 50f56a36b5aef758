"""The list of hostile inputs that every decoder's tests must hold, and which test or vector has each."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
VECTORS = HERE.parents[2] / "proto" / "vectors"

# The input, and where it is. A name with a slash is a file of vectors, which `test_vectors.py` decodes.
STRUCTURE = {
    "levels of arrays, maps, markers, alternations": "test_hostile_inputs test_levels",
    "levels on a small stack": "test_hostile test_c138_depth_on_a_small_stack",
    "lengths of 2^32-1 with nothing behind": "test_cases_hostile test_c121_lengths_are_not_reserved",
    "a million empty maps": "test_hostile_inputs test_a_million_small_containers",
    "containers of one element": "test_hostile_inputs test_a_million_small_containers",
    "shared pairs 20, 60, 256 deep": "test_hostile_inputs test_pairs_that_share",
    "cycles through every container": "test_hostile_inputs test_cycles",
    "truncation at every offset": "test_vectors test_accept_cut_at_every_offset",
    "truncation at every offset, pushed": "test_vectors test_accept_pushed_and_cut_at_every_offset",
    "writes of one byte": "test_vectors test_accept_in_chunks",
    "two frames in one read": "test_hostile_inputs test_every_split_of_two_frames",
    "lengths off by one": "test_hostile_inputs test_lengths_off_by_one",
    "forms that are not minimal": "test_cases_hostile_values test_c141_one_spelling",
    "0xc1, unknown ext, unknown marker": "test_hostile_inputs test_markers_that_mean_nothing",
}
VALUES = {
    "colliding keys": "test_cases_hostile test_c116_numbers_chosen_to_collide",
    "colliding tuples": "test_cases_hostile_values test_c140_tuples_of_small_ints_that_collide",
    "equal keys": "test_keys test_equal_keys_are_refused_not_merged",
    "range with step 0": "reject/standard range-step-zero",
    "deque longer than maxlen": "reject/standard deque-past-maxlen",
    "Counter with odd counts": "reject/standard counter-count-text",
    "Decimal exponents": "reject/standard decimal-exponent-greatest",
    "Decimal exponents of 10^9 and more": "test_cases_hostile_values test_c144_numbers_as_an_attack",
    "sNaN as a key": "reject/standard key-decimal-snan",
    "Fraction n/0": "reject/standard fraction-zero-by-nothing",
    "Fraction unreduced": "reject/standard fraction-two-fourths",
    "dates out of range": "reject/standard date-february-30-2024",
    "offsets of 24 h": "reject/standard zone-offset-24-hours",
    "fold 2": "reject/standard datetime-fold-2",
    "zone key that climbs": "reject/standard zone-key-traversal",
    "zone key, absolute": "reject/standard zone-key-absolute",
    "zone key with NUL": "reject/standard zone-key-nul",
    "zone key of a million characters": "reject/standard zone-key-million",
    "prefix /33": "reject/standard ip-prefix-33",
    "host bits": "reject/standard ip-host-bits",
    "paths with NUL": "reject/standard path-part-nul",
    "UUID of 15 bytes": "reject/standard uuid-short",
    "struct_time of 8 fields": "reject/standard struct-time-short",
    "dtype with huge itemsize": "reject/arrays dtype-V-itemsize-2^32-1",
    "structure with huge itemsize": "reject/structures structure-itemsize-2^31",
    "shape products that overflow": "reject/arrays shape-2^32-squared",
    "negative dimension": "reject/arrays dimension-is-negative",
    "65 dimensions": "reject/arrays shape-65-dimensions",
    "size mismatch": "reject/arrays data-7-of-8",
}
NAMES = {
    "SystemExit, StopIteration, hookless's own, os.system, dotted, dunder, bidi": (
        "test_hostile_inputs test_names_of_exceptions"
    ),
    "empty names, names of 10 MiB": "test_hostile_inputs test_names_of_exceptions_that_are_refused",
    "names of classes that would be imported": "test_hostile test_c123_names_of_classes_are_text",
}
TRACEBACKS = {
    "/etc/shadow, /dev/zero": "test_remote_display test_nothing_goes_off",
    "a FIFO": "test_remote_display test_uncaught",
    "a million frames": "test_hostile_inputs test_a_million_frames",
    "cyclic chain": "reject/exceptions cycle-of-two",
    "cyclic chain by a member": "reject/exceptions cycle-through-members",
    "line -1 and 2^63": "test_hostile_inputs test_lines_of_frames",
}
PROTOCOL = {
    "replies to unknown and finished calls, garbage, wrong version": (
        "test_worker_death test_a_child_that_writes_its_own_bytes"
    ),
    "two results": "test_rogue_children test_two_results",
    "output after the result": "test_rogue_children test_output_after_the_result",
    "EOF without one, os._exit(0) mid-frame": "test_rogue_children test_the_end_without_a_result",
    "endless output, endless garbage": "test_rogue_children test_bytes_without_an_end",
    "1 byte per second": "test_rogue_children test_one_byte_at_a_time",
    "a forked writer": "test_rogue_children test_a_forked_writer",
    "a grandchild that keeps the descriptor": "test_rogue_children test_a_grandchild_that_holds_the_channel",
    "a grandchild whose parent is gone": "test_rogue_children test_a_child_that_leaves_a_grandchild",
    "a deadline racing the result": "test_rogue_children test_a_cancel_that_races_the_result",
    "SIGKILL": "test_worker_death test_death_by_signal",
    "frames of an older session": "test_rogue_children test_frames_of_an_older_session",
    "cancel racing the result": "test_child_session test_cancel_at_any_time",
}
ALWAYS = {
    "vars() of every class, sys.modules, builtins": (
        "test_hooks test_c120_c125_c145_c146_the_corpus_under_every_hook"
    ),
    "audit hook": "test_hooks test_c134_mutations_under_every_hook",
    "profile hook, against a fixed list": "test_hooks test_c120_c125_c145_c146_the_corpus_under_every_hook",
}
LIST = STRUCTURE | VALUES | NAMES | TRACEBACKS | PROTOCOL | ALWAYS


@cache
def names_of(file: str) -> set[str]:
    """The names of a file's tests."""
    tree = ast.parse((HERE / f"{file}.py").read_text(encoding="utf-8"))
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("item", LIST)
def test_it_is_held(item: str) -> None:
    """The test, or the vector, is there."""
    file, name = LIST[item].split()
    if "/" in file:
        vectors = json.loads((VECTORS / f"{file}.json").read_text(encoding="utf-8"))
        assert name in {vector["name"] for vector in vectors}
    else:
        assert name in names_of(file)
