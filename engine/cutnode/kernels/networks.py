"""Learned evaluations: small, efficiently updatable networks.

The inputs are the bits of some words: a game's ``planes``, or the bitboards of its positions from
the mover's point of view.  Each set bit adds a row of weights to the *accumulator*, whose sums are
clipped and squared; the output is a weighted sum of these, with weights for the stage of the game.
A game that defines ``opponent_planes`` has two *views* of a position, the mover's and the other
player's: each has an accumulator of the same rows, and the output weighs the neurons of both.
Stockfish uses such networks since version 12, after Y. Nasu's for shogi (2018); the square of the
clipped sum is the usual choice of open-source programs.

The accumulator is updated incrementally: for each ply a search keeps the words of the last position
that it estimated there, and their sums; a position adds the rows of the bits that it has in
addition, and subtracts the rows of the bits that it lacks.  It starts from the nearer of two: the
last position of its own ply, mostly a sibling or a cousin, or the last one of the ply before,
mostly its parent, whose two views belong to the other player.  Nothing has to be undone, nor does
the game have to say what a move changes; a position that has little in common with either is added
up from scratch.

Weights are data, as in patterns.  ``cutnode.training`` learns them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cutnode.compiler.jit import Evaluator, Position, Words, kernel
from cutnode.contract import verbs
from cutnode.contract.addresses import integer_at, room_here, store_integer, word_at
from cutnode.contract.bits import WORD, Bits, lowest_index, popcount, without_lowest
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code, usable_in_compiled_code
from cutnode.contract.positions import unpack, width
from cutnode.contract.vectors import clip, dot, tile_of, vectors_at
from cutnode.kernels.learned import (
    MOST_STONES,
    NONE,
    ROWS,
    Learned,
    address_of,
    rows_of_mover,
    second_moves,
    second_of,
)

ONE = 255
"""The value of a fully active neuron."""

OUTPUT_ONE = 64
"""The integer that stands for an output weight of 1."""

SHIFT = 32
"""Fractional bits of the output factor."""

MOST_OUTPUT = 127
"""The largest output weight: its product with an active neuron fits into 16 bits."""

MOST_WIDTH = 256
"""The most neurons of a view: the output has to fit into 32 bits."""

NEAR = 3
"""The number of differing bits up to which no nearer position is looked for."""

HEADER = 6
"""Numbers at the start of the memory; three addresses and the factor of the output follow."""
OUTPUTS, SHIFTS, STAGES, FACTOR = range(2, HEADER)


class Inputs(NamedTuple):
    """The shape of a network, as compiled code knows it: the words it reads, and its width."""

    fields: tuple[int, ...]
    """The fields of the position to read; if empty, the network reads the game's ``planes``."""
    planes: int
    """The number of words."""
    width: int
    """The number of neurons of an accumulator."""
    side: int
    """The field that says who moves, or ``TURN``; ``NONE`` if both players share weights."""
    own: bool
    """Whether the game's own ``evaluate`` is added to the score."""
    views: int = 1
    """The number of accumulators: 2 if the network also sees the position from the other side."""

    @property
    def sides(self) -> int:
        """The number of sets of weights: 2 if each player has weights of his own, else 1."""
        return 1 if self.side == NONE else 2

    @property
    def words(self) -> int:
        """The number of words of all views."""
        return self.views * self.planes

    @property
    def neurons(self) -> int:
        """The number of neurons of all views, which the output weighs."""
        return self.views * self.width

    @property
    def rows(self) -> int:
        """The rows of the first layer for each player: one for each bit, and the bias."""
        return 64 * self.planes + 1


class Network(Learned):
    """A learned evaluation of the positions of a class: a network with one hidden layer.

    *inputs* is an int16 array of shape ``(sides, 64 * planes + 1, width)``, whose last row is
    always added; *stages* gives for each number of set bits the row of *outputs*, an int16 array of
    shape ``(stages, views * width)``, and of *shifts* to use; a sum of 1 is worth *unit* points, a
    single number.  :class:`GameError` if they do not fit together.
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
            raise GameError("the parts of a learned network do not fit together")
        if shape.width % 16 or not 0 < shape.width <= MOST_WIDTH:
            raise GameError(
                f"a network must have 16, 32, ... {MOST_WIDTH} neurons, got {shape.width}"
            )
        if 64 * shape.planes > MOST_STONES:
            raise GameError(f"{game_name(cls)} has positions of more than {MOST_STONES} bits")
        if np.abs(outputs.astype(np.int64)).max() > MOST_OUTPUT:
            raise GameError(f"a learned network has output weights beyond {MOST_OUTPUT}")
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

    @property
    def addressed(self) -> list[int]:
        return [ROWS, *range(OUTPUTS, FACTOR)]

    @classmethod
    def drawn(cls, game: Any, shape: Inputs, seed: int = 0, *, stages: int = 1) -> Network:
        """Return a network of random weights for a position class; no two inputs count the same."""
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
    """Return the words of a position whose bits are the inputs, one view after the other."""
    words: list[Any] = [position[field] for field in shape.fields]
    if not shape.fields:
        words += verbs.planes(position)
        words += verbs.opponent_planes(position) if shape.views == 2 else ()
    return [int(word) & WORD for word in words]


def inputs_of(start: Any, width: int) -> Inputs:
    """Return the shape of a network that sees only the ``planes`` of a game's positions."""
    views = 2 if defines(type(start), "opponent_planes") else 1
    return Inputs((), len(verbs.planes(start)), width, NONE, own=False, views=views)


def slot_bytes(shape: Inputs) -> int:
    """Return the bytes kept for a ply: the words, the address of the rows, and the sums."""
    return -(-8 * (shape.words + 1) // 64) * 64 + 2 * shape.neurons


def network_score(network: Any, position: Any, slot: int) -> int:
    """Return the score of a position; *slot* is the address of the ply's data in the search, or 0.

    The data of the ply before lie directly in front of it.
    """
    return int(network(position))


@in_compiled_code(network_score)
def _compiled_score(network: Any, position: Any, slot: Any) -> Any:
    shape = network.shape
    tile = tile_of(shape.width)
    load, store = vectors_at(tile)
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

    def listed(bits, rows, end):
        """Write the addresses of the rows of some bits to *end*; return the end after them."""
        while bits:
            store_integer(end, rows + row * lowest_index(bits))
            bits = without_lowest(bits)
            end += 8
        return end

    def updated(total, begin, fewer, more, end):
        """Subtract a tile of the rows listed from *fewer* on, and add the rows from *more* on."""
        for place in range(fewer, more, 8):
            total = total - load(integer_at(place) + begin)
        for place in range(more, end, 8):
            total = total + load(integer_at(place) + begin)
        return total

    def weighed(total, weights):
        active = clip(total, ONE)
        # The product of a neuron and its weight fits into 16 bits, as the weight has 8.
        return dot(active * load(weights), active)

    for function in (added, removed, listed, updated, weighed):
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
        "room_here": room_here,
        "load": load,
        "store": store,
        "added": added,
        "removed": removed,
        "listed": listed,
        "updated": updated,
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
        *([f"    changes = room_here({64 * shape.planes})"] if tile < shape.width else []),
    ]
    for view in range(shape.views):
        numbers = range(view * shape.planes, (view + 1) * shape.planes)
        moved = [(n, f"rows + {64 * row * (n - numbers[0])}") for n in numbers]
        # The mover here is the other player of the ply before.
        others = view if shape.views == 1 else 1 - view
        lines += [
            f"    {' = '.join(f'old{n}' for n in numbers)} = Bits(0)",
            f"    nearest = rows + {bias}",
            "    far = stones",
            "    if alike:",
            *_nearer("slot", 8 * shape.planes * view, sums + row * view, numbers),
            f"    if alike_before and far > {NEAR}:",
            *_nearer("before", 8 * shape.planes * others, sums + row * others, numbers),
            "    if slot != 0:",
            *(f"        store_integer(slot + {8 * n}, now{n})" for n in numbers),
            *_sums(moved, shape.width, tile, sums + row * view, row * view),
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


def _sums(
    moved: list[tuple[int, str]], neurons: int, tile: int, sums: int, outputs: int
) -> list[str]:
    """Return lines of code that update the sums of a view from the nearest ones, and weigh them.

    *moved* are the numbers of the view's words and the places of their rows; the sums begin at
    byte *sums* of the slot, their weights at byte *outputs* of the outputs.  If a *tile* is less
    than all *neurons*, the rows are listed first.
    """
    if tile == neurons:
        return [
            "    total = load(nearest)",
            *(f"    total = removed(total, old{n} & ~now{n}, {place})" for n, place in moved),
            *(f"    total = added(total, now{n} & ~old{n}, {place})" for n, place in moved),
            "    if slot != 0:",
            f"        store(slot + {sums}, total)",
            f"    found += weighed(total, outputs + {outputs})",
        ]
    return [
        "    more = changes",
        *(f"    more = listed(old{n} & ~now{n}, {place}, more)" for n, place in moved),
        "    end = more",
        *(f"    end = listed(now{n} & ~old{n}, {place}, end)" for n, place in moved),
        f"    for begin in range(0, {2 * neurons}, {2 * tile}):",
        "        total = updated(load(nearest + begin), begin, changes, more, end)",
        "        if slot != 0:",
        f"            store(slot + {sums} + begin, total)",
        f"        found += weighed(total, outputs + {outputs} + begin)",
    ]


def _nearer(slot: str, first: int, sums: int, numbers: range) -> list[str]:
    """Return lines of code that start from a view in a *slot* if it is nearer.

    The view's words begin there at byte *first*, its sums at byte *sums*; *numbers* says which of
    the position's words they are compared with.
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
    """Return a compiled function that returns the words of a position."""
    if shape.fields:
        terms = ", ".join(f"Bits(position[{field}])" for field in shape.fields)
        return usable_in_compiled_code(eval(f"lambda position: ({terms},)", {"Bits": Bits}))
    return verbs.planes if shape.views == 1 else _both_views


def _both_views(position):
    return verbs.planes(position) + verbs.opponent_planes(position)


usable_in_compiled_code(_both_views)


def planes_read(network: Any, position: Any) -> tuple[int, ...]:
    """Return the words of a position whose bits a network sees."""
    return tuple(words_read(network.shape, position))


@in_compiled_code(planes_read)
def _compiled_planes_read(network: Any, position: Any) -> Any:
    read = _reader(network.shape)
    return lambda network, position: read(position)


def is_second(network: Any, position: Any) -> bool:
    """Return whether the second player moves and has weights of his own."""
    return second_moves(position, network.shape.side)


@in_compiled_code(is_second)
def _compiled_is_second(network: Any, position: Any) -> Any:
    second = second_of(network.shape.side)
    return lambda network, position: second(position)


@kernel
def write_planes(example: Position, evaluation: Evaluator, words: Words, found: Words) -> None:
    """Write the words that a network sees of each position packed in *words*.

    One more word for each position says which player's weights to use.
    """
    count = len(planes_read(evaluation, example))
    each = count + 1
    for number in range(len(found) // each):
        position = unpack(words, number * width(example), example)
        planes = planes_read(evaluation, position)
        for at in range(count):
            found[number * each + at] = Bits(planes[at])
        found[number * each + count] = Bits(1 if is_second(evaluation, position) else 0)
