"""What was appended to a state, and how it goes on behind another one.

A client that finds its last line unterminated ends it first, so that a line end at the start of
what follows such a state belongs to the state's last line. A *carry* is what was appended in one
form for all states: a line end, and then the appended lines; ``b""`` is nothing. A state is open
when its last line is unterminated.
"""

_LINE_ENDS = (b"\n", b"\r\n")


def is_open(state: bytes) -> bool:
    """Tell whether the last line of a state is unterminated; the end of the state is enough."""
    return bool(state) and not state.endswith(b"\n")


def can_carry(suffix: bytes, *, is_open: bool) -> bool:
    """Tell whether ``suffix`` follows a state without growing into its last line."""
    return not is_open or not suffix or suffix.startswith(_LINE_ENDS)


def carry_of(suffix: bytes, *, is_open: bool) -> bytes:
    """Return the carry of ``suffix``, which follows a state and can be carried."""
    return suffix if is_open or not suffix else b"\n" + suffix


def carried(carry: bytes, *, is_open: bool) -> bytes:
    """Return the bytes that bring a carry behind a state, whose last line they end if need be."""
    return carry if is_open else carry[carry.find(b"\n") + 1 :]


def joined(carry: bytes, later: bytes) -> bytes:
    """Return the carry of one carry and then another."""
    return carry + carried(later, is_open=is_open(carry)) if carry else later
