"""Uniform game trees, made up by a hash: what search algorithms are studied on.

Rules: every position has the same number of moves, the *width*, numbered from 0, and the
game is over after as many plies as the *depth*.  No tree is stored: a node's number and
the tree's *seed* decide all about it.

Variants: ``WIDTHxDEPTH``, then a model and settings after commas, in any order::

    4x6                     random, the usual model
    8x6,incremental,seed=3
    8x6,ordered=75,noise=20

``random``
    Each leaf has a value of its own, all from -32000 to 32000 equally likely.
``incremental``
    Each move adds an amount to the mover's score, all from -100 to 100 equally likely;
    the value of a leaf is the sum, of each player's moves from his point of view.  So
    what is near in the tree has similar values, as in real games.
``ordered``, ``ordered=PERCENT``
    The minimax value of every position is known.  At each node the best move comes first
    with a probability of so many percent (100 if none is given), else it is any of the
    others, all equally likely.  Every other move is worse for the mover by 1 to 100, all
    equally likely.  The value of the root is from -1000 to 1000.
``noise=N``
    The evaluation is off by -N to N, all equally likely, at most 1000 (default 0).
    In the random model it says nothing anyway, and there is no such setting.
``seed=N``
    Which tree; default 0.  It is part of the position, so one compiled class has all
    the trees of its shape.  Trees of different shapes are independent only if their
    seeds differ.

Values: those of the model; the evaluation of an inner node is what it would be worth as a
leaf, plus noise.  In the ordered model that is its true value; in the random one it is no
guide at all.  Without noise, a search of limited depth sees the tree of that depth with
the same width, model and seed.

Text: the moves played, 0 the first, with dots between (``0.3.1``; nothing at the root).
The seed and ``/`` may come before (``3/0.3.1``), else it is the variant's.

Encoding: the nodes are numbered from the root, which is 1, level by level; the children
of node n of a tree of width w are w * (n - 1) + 2 and the w - 1 after it.  The seed and
the number make the key, so positions of one tree never have the same one.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, play_texts, quoted
from cutnode.contract.bits import WORD, high_product, mix, product
from cutnode.contract.dispatch import MAX_VALUE
from cutnode.contract.variants import variants

RANDOM, INCREMENTAL, ORDERED = range(3)
MODELS = ("random", "incremental", "ordered")
USUAL = "4x6,random"

MAX_WIDTH = 256
MAX_DEPTH = 64
STEP = 100
"""A move adds at most this to a score, or loses at most this against the best."""

ROOTS = 1000
"""No value of a root in the ordered model is further from zero."""

MAX_NOISE = 1000

# Odd numbers for the hash, and what sets its uses apart.
NODE, SEED = Bits(0x9E3779B97F4A7C15), Bits(0xD1342543DE82EF95)
OF_VALUE, OF_BEST, OF_OTHERS, OF_NOISE = Bits(1), Bits(2), Bits(3), Bits(4)


class Node(NamedTuple):
    """A node of a tree, the plies left, and its value as a leaf (for the mover)."""

    seed: Bits
    node: Bits
    left: int
    value: int

    def __str__(self) -> str:
        played = path(self)
        lines = [
            f"tree {self.seed} of {self.VARIANT or USUAL}",
            f"moves {' '.join(map(str, played)) or 'none'}; {self.left} more to play",
            f"{'final' if self.left == 0 else 'estimated'} value {evaluate(self)}",
        ]
        if self.left:
            children = (-evaluate(play(self, move)) for move in range(self.WIDTH))
            values = "  ".join(f"{move}:{value:+}" for move, value in enumerate(children))
            lines += textwrap.wrap(f"of its moves  {values}", 80, subsequent_indent="  ")
        return "\n".join(lines)


@compiled
def draw(word, use, count):
    """A number below *count*, all equally likely; another one for each *use* of the word."""
    return high_product(mix(word ^ use), Bits(count))


@compiled
def key(position):
    return mix(product(position.node, NODE) ^ product(position.seed, SEED))


@compiled
def moves(position, buffer, at):
    for move in range(position.WIDTH):
        buffer[at] = move
        at += 1
    return at


@compiled
def play(position, move):
    first = product(position.node - Bits(1), Bits(position.WIDTH)) + Bits(2)
    child = position._replace(node=first + Bits(move), left=position.left - 1)
    word = key(child)
    if position.MODEL == RANDOM:
        value = random_value(word)
    elif position.MODEL == INCREMENTAL:
        value = -(position.value + draw(word, OF_VALUE, 2 * STEP + 1) - STEP)
    else:
        value = -position.value
        if move != best_move(position):
            value += 1 + draw(word, OF_VALUE, STEP)
    return child._replace(value=value)


@compiled
def random_value(word):
    return draw(word, OF_VALUE, 2 * MAX_VALUE + 1) - MAX_VALUE


@compiled
def best_move(position):
    """The best move of the ordered model."""
    if position.PERCENT == 100 or position.WIDTH == 1:
        return 0
    word = key(position)
    if draw(word, OF_BEST, 100) < position.PERCENT:
        return 0
    return 1 + draw(word, OF_OTHERS, position.WIDTH - 1)


@compiled
def outcome(position):
    over = position.left == 0
    return over, position.value if over else 0


@compiled
def evaluate(position):
    if position.NOISE == 0 or position.left == 0:
        return position.value
    return position.value + draw(key(position), OF_NOISE, 2 * position.NOISE + 1) - position.NOISE


@compiled
def plies_left(position):
    return position.left


# Trees of all shapes

VARIANTS = "4x6", "2x8,random"


@variants(
    Node,
    usual=USUAL,
    read=lambda variant: _settings(variant)[0],
    about="moves of a node and plies, and perhaps a model and settings: 8x6,ordered=75,seed=3",
)
def tree(width: int, depth: int, model: int, percent: int, noise: int) -> dict[str, Any]:
    """The constants of all trees of a shape; :class:`PositionError` if it is too large."""
    if not 1 <= width <= MAX_WIDTH or not 1 <= depth <= MAX_DEPTH:
        raise PositionError(
            f"a tree of {width}x{depth}: its width is 1 to {MAX_WIDTH}, its depth 1 to {MAX_DEPTH}"
        )
    if sum(width**ply for ply in range(depth + 1)) > WORD:
        deepest = max(d for d in range(depth) if sum(width**ply for ply in range(d + 1)) <= WORD)
        raise PositionError(
            f"a tree of {width}x{depth} has 2**64 nodes or more; "
            f"of width {width} the deepest is {width}x{deepest}"
        )
    variant = f"{width}x{depth},{MODELS[model]}"
    variant += f"={percent}" * (percent < 100) + f",noise={noise}" * (noise > 0)
    return {
        "WIDTH": width,
        "DEPTH": depth,
        "MODEL": model,
        "PERCENT": percent,
        "NOISE": noise,
        "VARIANT": variant,
        "MAX_MOVES": width,
        "MAX_PLIES": depth,
    }


# Text


def start(variant: str = "") -> Node:
    """The root of a tree such as ``8x6,ordered=75,seed=3``; the usual one is 4x6."""
    settings, seed = _settings(variant or USUAL)
    return _root(tree(*settings), seed)


def _settings(variant: str) -> tuple[tuple[int, ...], int]:
    """The settings of :func:`tree`, and the seed."""
    size, *words = variant.split(",")
    match = re.fullmatch("([0-9]{1,9})x([0-9]{1,9})", size)
    if not match:
        raise PositionError(
            f"{quoted(size)} is not the size of a tree; write WIDTHxDEPTH, as in 8x6, "
            f"and then, for example, ,ordered=75,seed=3"
        )
    model, settings = RANDOM, {}
    for word in words:
        name, given, number = word.partition("=")
        if name in MODELS and (name == "ordered" or not given):
            model, name = MODELS.index(name), "model"
            value = _setting(word, number, 100) if given else 100
        elif name == "seed":
            value = _setting(word, number, WORD)
        elif name == "noise":
            value = _setting(word, number, MAX_NOISE)
        else:
            raise PositionError(
                f"{quoted(word)} is neither a model ({', '.join(MODELS)}, ordered=PERCENT) "
                f"nor a setting (noise=N, seed=N)"
            )
        if name in settings:
            raise PositionError(f"{quoted(word)}: there is a {name} already")
        settings[name] = value
    noise = settings.get("noise", 0)
    if noise and model == RANDOM:
        raise PositionError(
            f"noise={noise} is for the models incremental and ordered; "
            f"in the random one evaluations say nothing anyway"
        )
    shape = int(match[1]), int(match[2]), model, settings.get("model", 100), noise
    return shape, settings.get("seed", 0)


def _setting(word: str, number: str, most: int) -> int:
    if not re.fullmatch("[0-9]{1,20}", number) or int(number) > most:
        name = word.partition("=")[0]
        raise PositionError(f"{quoted(word)}: write {name}=N with N from 0 to {most}")
    return int(number)


def _root(cls: type[Node], seed: int) -> Node:
    root = cls(Bits(seed), Bits(1), cls.DEPTH, 0)
    if cls.MODEL == RANDOM:
        return root._replace(value=random_value(key(root)))
    if cls.MODEL == ORDERED:
        return root._replace(value=draw(key(root), OF_VALUE, 2 * ROOTS + 1) - ROOTS)
    return root


def parse_position(text: str, variant: str = "") -> Node:
    position = start(variant)
    seed, given, line = text.strip().rpartition("/")
    if given:
        position = _root(type(position), _setting(f"seed={seed}", seed, WORD))
    return play_texts(position, line.split(".") if line else [], line)


def position_text(position: Node) -> str:
    return f"{position.seed}/{'.'.join(map(str, path(position)))}"


def path(position: Node) -> list[int]:
    """The moves that lead to a position."""
    node, line = position.node, []
    while node > 1:
        node, move = divmod(node - 2, position.WIDTH)
        node += 1
        line.append(move)
    return line[::-1]


def parse_move(position: Node, text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) >= position.WIDTH:
        raise PositionError(f"{quoted(text)} is not a move; moves are 0..{position.WIDTH - 1}")
    if position.left == 0:
        raise PositionError(f"{text} is played after the game is over")
    return int(text)


def move_text(position: Node, move: int) -> str:
    return str(move)
