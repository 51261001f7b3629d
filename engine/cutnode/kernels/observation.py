"""The answers of all verbs in compiled code, for :mod:`cutnode.conformance` to compare."""

from __future__ import annotations

from typing import NamedTuple

from cutnode.compiler.jit import Numbers, Position, Words, kernel
from cutnode.contract.bits import Bits
from cutnode.contract.derived import same_after_chance
from cutnode.contract.positions import pack, width
from cutnode.contract.verbs import (
    bounds,
    candidates,
    canonical,
    canonical_move,
    chance,
    chance_outcome,
    drawn,
    evaluate,
    exchange,
    forced,
    gain,
    key,
    moves,
    moves_again,
    noisy,
    order,
    original_move,
    outcome,
    play,
    plies_left,
    recurrence,
    reversible,
    settled,
)
from cutnode.contract.verbs import check as in_check


class Number(NamedTuple):
    """A value to write as a word; in games of chance it may be any number."""

    value: float


@kernel
def observe(position: Position, alpha: int, beta: int, buffer: Numbers, words: Words) -> int:
    """Write the answer of each verb about a position to *words*; return their number."""
    over, value = outcome(position)
    lower, upper = bounds(position, alpha, beta)
    word, symmetry = canonical(position)
    words[0] = Bits(key(position))
    words[1] = Bits(over)
    pack(words, 2, Number(float(value)))
    pack(words, 3, Number(float(lower)))
    pack(words, 4, Number(float(upper)))
    words[5] = Bits(word)
    words[6] = Bits(symmetry)
    points, rest = settled(position)
    words[7] = Bits(points)
    words[8] = Bits(rest)
    at = 9
    if over:
        return at
    for index in range(chance(position)):
        _, child = chance_outcome(position, index)
        words[at] = Bits(same_after_chance(position, child))
        pack(words, at + 1, child)
        at += width(child) + 1
    if chance(position) > 0:
        return at
    pack(words, at, Number(float(evaluate(position))))
    words[at + 1] = Bits(plies_left(position))
    words[at + 2] = Bits(in_check(position))
    words[at + 3] = Bits(drawn(position))
    words[at + 4] = Bits(recurrence(position))
    at += 5
    for number in range(noisy(position, buffer, 0)):
        move = buffer[number]
        words[at] = Bits(move)
        words[at + 1] = Bits(gain(position, move))
        words[at + 2] = Bits(exchange(position, move, 0))
        at += 3
    for number in range(moves(position, buffer, 0)):
        move = buffer[number]
        child = play(position, move)
        seen = canonical_move(position, move, symmetry)
        words[at] = Bits(move)
        words[at + 1] = Bits(seen)
        words[at + 2] = Bits(original_move(position, seen, symmetry))
        words[at + 3] = Bits(order(position, move, child))
        words[at + 4] = Bits(moves_again(position, child))
        words[at + 5] = Bits(reversible(position, child))
        pack(words, at + 6, child)
        at += width(child) + 6
    if lower < beta and upper > alpha and lower != upper:
        words[at] = Bits(forced(position))
        at += 1
        for number in range(candidates(position, buffer, 0)):
            words[at] = Bits(buffer[number])
            at += 1
    return at
