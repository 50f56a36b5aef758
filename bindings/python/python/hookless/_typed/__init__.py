"""Typed results: from an annotation of the host to a value of that type. Imported when one is asked for.

An annotation is walked once, into a tree of nodes that is kept (`plan`). Each node takes the exact types that
it names and refuses all others, so nothing is coerced, merged, or chosen by a name of the wire.
"""
