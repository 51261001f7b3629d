"""The source of Nim with one heap, as a user writes a game into a file: who takes the last wins."""


def nim(heap=10, most=3):
    """Return the source, in plain Python, with a *heap* from which one may take 1 to *most*.

    With None as its *heap* the position has no default.
    """
    default = "" if heap is None else f" = {heap}"
    return f"""
from typing import NamedTuple

MAX_MOVES = {most}

class Position(NamedTuple):
    left: int{default}

def moves(position, buffer, at):
    for count in range(1, min(position.left, {most}) + 1):
        buffer[at] = count
        at += 1
    return at

def play(position, move):
    return Position(position.left - move)

def outcome(position):
    return position.left == 0, -1 if position.left == 0 else 0
"""
