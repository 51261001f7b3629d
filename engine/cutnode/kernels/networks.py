"""Evaluations that are learned: small networks, whose first layer follows the search.

The inputs are the bits of some words: a game's ``planes``, or the bitboards of its positions as
the player to move has them.  Each bit that is set adds a row of weights to the *accumulator*; what
that comes to is clipped and squared, and the output is a weighted sum of it, with weights for the
stage of the game.  A game that defines ``opponent_planes`` has two *views* of a position, the
mover's and the other player's: each has an accumulator, of the same rows, and the output weighs the
neurons of both.  Such networks are those of Stockfish 12 and later, after Y. Nasu's for shogi
(2018); the square of the clipped sum is the usual choice of open-source programs.

The accumulator is *updated*: a search keeps, for each ply, the words of the last position that it
estimated there and what they added up to, and a position adds the rows of the bits that it has more
and takes away those of the bits that it lacks.  It begins with what is nearest: the last position
of its own ply, mostly a sibling or a cousin, or that of the ply before, mostly its parent, whose
two views are those of the other player.  Nothing has to be undone, nor does a game say what a move
changes; a position that has little in common with both is added up anew.

Weights are data, as those of patterns.  ``cutnode.training`` makes them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, Words, kernel
from cutnode.contract import verbs
from cutnode.contract.addresses import integer_at, store_integer, word_at
from cutnode.contract.bits import WORD, Bits, lowest_index, popcount, without_lowest
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code, usable_in_compiled_code
from cutnode.contract.positions import unpack, width
from cutnode.contract.vectors import clip, dot, vectors_at
from cutnode.kernels.learned import (
    MOST_STONES,
    NONE,
    Learned,
    address_of,
    rows_of_mover,
    second_moves,
    second_of,
)

ONE = 255
"""A neuron that is fully active."""

OUTPUT_ONE = 64
"""A weight of 1 of the output."""

SHIFT = 32
"""Bits of the factor of the output that are parts of a unit."""

MOST_OUTPUT = 127
"""The largest weight of the output: its product with an active neuron has 16 bits."""

MOST_WIDTH = 256
"""Neurons of a view, whose output has 32 bits."""

NEAR = 3
"""Bits: where no more differ, nothing nearer is looked for."""

HEADER = 6
"""Numbers at the start of the memory; three addresses and the factor of the output follow."""
OUTPUTS, SHIFTS, STAGES, FACTOR = range(2, HEADER)


class Inputs(NamedTuple):
    """What compiled code knows of a network: which words it reads, and how wide it is."""

    fields: tuple[int, ...]
    """The fields of the position that are read; none: what its game's ``planes`` gives."""
    planes: int
    """The number of words."""
    width: int
    """The neurons of the accumulator."""
    side: int
    """The field that says who moves, or ``TURN``, if the players have weights of their own."""
    own: bool
    """Whether the game's own ``evaluate`` is a part of the score."""
    views: int = 1
    """Accumulators: 2 if the position is also seen as the other player has it."""

    @property
    def sides(self) -> int:
        """How many players have weights of their own: both, or one for both."""
        return 1 if self.side == NONE else 2

    @property
    def words(self) -> int:
        """The number of words of all views."""
        return self.views * self.planes

    @property
    def neurons(self) -> int:
        """What the output weighs: the neurons of all views."""
        return self.views * self.width

    @property
    def rows(self) -> int:
        """The rows of the first layer, for each player: one for each bit, and the bias."""
        return 64 * self.planes + 1


class Network(Learned):
    """A learned evaluation of the positions of a class: a network of one hidden layer.

    *inputs* are int16 of ``(sides, 64 * planes + 1, width)``, of which the last row is always
    added; *stages* says for each number of bits that are set which row of *outputs*, int16 of
    ``(stages, views * width)``, and of *shifts* counts; a sum of 1 is worth *unit* points, one
    number.  :class:`GameError` if they do not belong together.
    """

    kind = "network"
    module = __name__
    parts = ("inputs", "outputs", "shifts", "stages", "unit")

    def __init__(
        self, cls: Any, shape: Inputs, inputs: Any, outputs: Any, shifts: Any, stages: Any,
        unit: Any,
    ):  # fmt: skip
        count = len(shifts)
        fits = inputs.shape == (shape.sides, shape.rows, shape.width)
        fits &= outputs.shape == (count, shape.neurons) and len(stages) == MOST_STONES + 1
        if not fits or not 0 <= stages.min() <= stages.max() < count:
            raise GameError("the parts of a learned network do not belong together")
        if shape.width % 16 or not 0 < shape.width <= MOST_WIDTH:
            raise GameError(f"a network has 16, 32, ... {MOST_WIDTH} neurons, not {shape.width}")
        if 64 * shape.planes > MOST_STONES:
            raise GameError(f"{game_name(cls)} has positions of more than {MOST_STONES} bits")
        if np.abs(outputs.astype(np.int64)).max() > MOST_OUTPUT:
            raise GameError(f"a learned network has outputs beyond {MOST_OUTPUT}")
        self.inputs, self.outputs = inputs.astype(np.int16), outputs.astype(np.int16)
        self.shifts, self.stages = shifts.astype(np.int64), stages.astype(np.int64)
        self.unit = np.array(unit, np.float64).reshape(1)
        self.factor = round(float(self.unit[0]) * 2**SHIFT / (ONE * ONE * OUTPUT_ONE))
        super().__init__(cls, shape)
        parts = [self.inputs, self.outputs, self.shifts, self.stages]
        rows, *others = self._lay_out(HEADER, parts)
        self._words_at(self.address, HEADER)[:] = (
            rows, self.inputs[0].nbytes, *others, self.factor,
        )  # fmt: skip

    @classmethod
    def drawn(cls, game: Any, shape: Inputs, seed: int = 0, *, stages: int = 1) -> Network:
        """Return a network of random weights for a position class: no two inputs count alike."""
        random = np.random.default_rng(seed)
        return cls(
            game,
            shape,
            random.integers(-60, 60, (shape.sides, shape.rows, shape.width)),
            random.integers(-100, 100, (stages, shape.neurons)),
            random.integers(-50, 50, stages),
            np.minimum(np.arange(MOST_STONES + 1) // 8, stages - 1),
            200.0,
        )

    def __call__(self, position: Any) -> int:
        shape = self.shape
        rows = self.inputs[int(second_moves(position, shape.side))].astype(np.int64)
        words = words_read(shape, position)
        totals = np.tile(rows[-1], (shape.views, 1))
        for number, word in enumerate(words):
            view, plane = divmod(number, shape.planes)
            bits = [64 * plane + bit for bit in range(64) if word >> bit & 1]
            totals[view] += rows[bits].sum(axis=0)
        stage = int(self.stages[sum(word.bit_count() for word in words[: shape.planes])])
        active = np.clip(totals.astype(np.int16), 0, ONE).astype(np.int64).reshape(-1)
        output = int((active * active * self.outputs[stage]).sum())
        score = (output * self.factor >> SHIFT) + int(self.shifts[stage])
        return self.completed(position, score)


def words_read(shape: Inputs, position: Any) -> list[int]:
    """The words of a position whose bits are inputs, those of one view after the other."""
    words: list[Any] = [position[field] for field in shape.fields]
    if not shape.fields:
        words += verbs.planes(position)
        words += verbs.opponent_planes(position) if shape.views == 2 else ()
    return [int(word) & WORD for word in words]


def inputs_of(start: Any, width: int) -> Inputs:
    """The shape of a network that sees the ``planes`` of a game's positions, and nothing else."""
    views = 2 if defines(type(start), "opponent_planes") else 1
    return Inputs((), len(verbs.planes(start)), width, NONE, own=False, views=views)


def slot_bytes(shape: Inputs) -> int:
    """What the position of a ply takes: its words, the rows that were added, and their sums."""
    return -(-8 * (shape.words + 1) // 64) * 64 + 2 * shape.neurons


def network_score(network: Any, position: Any, slot: int) -> int:
    """The score of a position; *slot* is the address of what the search keeps, or 0.

    What it keeps for the ply before lies before it.
    """
    return int(network(position))


@in_compiled_code(network_score)
def _compiled_score(network: Any, position: Any, slot: Any) -> Any:
    shape = network.shape
    load, store = vectors_at(shape.width)
    row = 2 * shape.width
    bias = row * (shape.rows - 1)
    size = slot_bytes(shape)
    sums = size - row * shape.views
    read = _reader(shape)

    def added(total, bits, rows):
        while bits:
            total = total + load(rows + row * lowest_index(bits))
            bits = without_lowest(bits)
        return total

    def removed(total, bits, rows):
        while bits:
            total = total - load(rows + row * lowest_index(bits))
            bits = without_lowest(bits)
        return total

    def weighed(total, weights):
        active = clip(total, ONE)
        # The product of a number and its weight has 16 bits, as the weight has 8.
        return dot(active * load(weights), active)

    for function in (added, removed, weighed):
        usable_in_compiled_code(function)
    names = {
        "read": read,
        "rows_of_mover": rows_of_mover,
        "address_of": address_of,
        "popcount": popcount,
        "Bits": Bits,
        "integer_at": integer_at,
        "store_integer": store_integer,
        "word_at": word_at,
        "load": load,
        "store": store,
        "added": added,
        "removed": removed,
        "weighed": weighed,
    }
    now = [f"now{number}" for number in range(shape.words)]
    lines = [
        "def score(network, position, slot):",
        f"    {', '.join(now)}, = read(position)",
        "    rows = rows_of_mover(network, position)",
        f"    stones = {' + '.join(f'popcount({name})' for name in now[: shape.planes])}",
        f"    alike = slot != 0 and integer_at(slot + {8 * shape.words}) == rows",
        f"    before = slot - {size}",
        f"    alike_before = slot != 0 and integer_at(before + {8 * shape.words}) == rows",
        "    at = address_of(network)",
        f"    stage = integer_at(integer_at(at + {8 * STAGES}) + 8 * stones)",
        f"    outputs = integer_at(at + {8 * OUTPUTS}) + {row * shape.views} * stage",
        "    found = 0",
    ]
    for view in range(shape.views):
        numbers = range(view * shape.planes, (view + 1) * shape.planes)
        moved = [(n, f"rows + {64 * row * (n - numbers[0])}") for n in numbers]
        # Whoever moves here did not move before.
        others = view if shape.views == 1 else 1 - view
        lines += [
            f"    {' = '.join(f'old{n}' for n in numbers)} = Bits(0)",
            f"    nearest = rows + {bias}",
            "    far = stones",
            "    if alike:",
            *_nearer("slot", 8 * shape.planes * view, sums + row * view, numbers),
            f"    if alike_before and far > {NEAR}:",
            *_nearer("before", 8 * shape.planes * others, sums + row * others, numbers),
            "    total = load(nearest)",
            *(f"    total = removed(total, old{n} & ~now{n}, {place})" for n, place in moved),
            *(f"    total = added(total, now{n} & ~old{n}, {place})" for n, place in moved),
            "    if slot != 0:",
            *(f"        store_integer(slot + {8 * n}, now{n})" for n in numbers),
            f"        store(slot + {sums + row * view}, total)",
            f"    found += weighed(total, outputs + {row * view})",
        ]
    lines += [
        "    if slot != 0:",
        f"        store_integer(slot + {8 * shape.words}, rows)",
        f"    found = found * integer_at(at + {8 * FACTOR}) >> {SHIFT}",
        f"    return found + integer_at(integer_at(at + {8 * SHIFTS}) + 8 * stage)",
    ]
    exec("\n".join(lines), names)
    score = usable_in_compiled_code(names["score"], inline=False)
    return lambda network, position, slot: score(network, position, slot)


def _nearer(slot: str, first: int, sums: int, numbers: range) -> list[str]:
    """Lines that begin with a view in a *slot* if it is nearer.

    Its words lie there from the byte *first* on, its sums from *sums* on; *numbers* are those of
    the words of the position that they are compared with.
    """
    differ = " + ".join(f"popcount(now{n} ^ seen{n})" for n in numbers)
    return [
        *(f"        seen{n} = word_at({slot} + {first + 8 * i})" for i, n in enumerate(numbers)),
        f"        distance = {differ}",
        "        if distance < far:",
        f"            {', '.join(f'old{n}' for n in numbers)}, = "
        f"{', '.join(f'seen{n}' for n in numbers)},",
        f"            nearest, far = {slot} + {sums}, distance",
    ]


def _reader(shape: Inputs) -> Any:
    """A compiled function that gives the words of a position."""
    if shape.fields:
        terms = ", ".join(f"Bits(position[{field}])" for field in shape.fields)
        return usable_in_compiled_code(eval(f"lambda position: ({terms},)", {"Bits": Bits}))
    return verbs.planes if shape.views == 1 else _both_views


def _both_views(position):
    return verbs.planes(position) + verbs.opponent_planes(position)


usable_in_compiled_code(_both_views)


def planes_read(network: Any, position: Any) -> tuple[int, ...]:
    """The words of a position whose bits a network sees."""
    return tuple(words_read(network.shape, position))


@in_compiled_code(planes_read)
def _compiled_planes_read(network: Any, position: Any) -> Any:
    read = _reader(network.shape)
    return lambda network, position: read(position)


def is_second(network: Any, position: Any) -> bool:
    """Whether the second player moves, who has weights of his own."""
    return second_moves(position, network.shape.side)


@in_compiled_code(is_second)
def _compiled_is_second(network: Any, position: Any) -> Any:
    second = second_of(network.shape.side)
    return lambda network, position: second(position)


@kernel
def write_planes(example: Position, evaluation: Evaluator, words: Words, found: Words) -> None:
    """Write the words that a network sees of each position packed in *words*.

    A further one, for each, says which player's weights count.
    """
    count = len(planes_read(evaluation, example))
    each = count + 1
    for number in range(len(found) // each):
        position = unpack(words, number * width(example), example)
        planes = planes_read(evaluation, position)
        for at in range(count):
            found[number * each + at] = Bits(planes[at])
        found[number * each + count] = Bits(1 if is_second(evaluation, position) else 0)
