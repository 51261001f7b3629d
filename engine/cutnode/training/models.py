"""The kinds of evaluation to try: patterns or a network, alone or added to the game's own.

Patterns can be combined with terms, too: the game's ``features`` and the number of legal moves.

A model defines what is read from positions, how weights are fitted to it, and the evaluation that
results.  It learns in units of the targets, log odds or points; an evaluation uses the scores of
the game's searches, with *unit* of them for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import GameError
from cutnode.kernels.learned import MOST_STONES, Learned
from cutnode.kernels.networks import (
    MOST_OUTPUT,
    ONE,
    OUTPUT_ONE,
    Inputs,
    Network,
    inputs_of,
    write_planes,
)
from cutnode.kernels.patterns import FRACTION, LANES, MOVE_COUNT, write_places
from cutnode.training.boards import require_learnable
from cutnode.training.designs import Design, design_for, with_terms
from cutnode.training.fitting import (
    EPOCHS,
    SOME,
    Course,
    Layers,
    PatternFit,
    fit_network,
    fit_patterns,
)
from cutnode.training.objectives import Examples
from cutnode.training.symmetries import image_of_bits
from cutnode.training.windows import Symmetry

WIDTH = 32
"""Neurons of a network."""

NETWORK_EPOCHS = 32
"""The most epochs for a network.  A network for draughts, fitted to 990,000 positions, is 57 Elo
stronger (31 to 83, 300 games of 400 nodes a move) after 30 epochs than after 4."""

MOST_PLANES = MOST_STONES // 64

MOST_WEIGHT = 1.98
"""The largest weight in a network's first layer, if few bits are set."""

LARGEST = (1 << 15) - 1

LARGE = 500_000
"""The weights per stage above which a fit takes minutes."""

MANY_SECONDS = 240.0
"""The least seconds of a training that tries more than plain patterns: compiling each other model
takes as long as playing."""

LARGE_SECONDS = 1800.0
"""The least seconds of a training that tries models whose fits take minutes, or counts moves."""


class Model(Protocol):
    """A kind of evaluation of one game."""

    @property
    def name(self) -> str:
        """The name shown to users."""

    @property
    def own(self) -> bool:
        """Whether the game's own estimate is part of it."""

    @property
    def most_epochs(self) -> int:
        """The most useful epochs: more do not help, or overfit."""

    def with_own(self) -> Model:
        """Return the same model, added to the game's own estimate."""

    def described(self) -> str:
        """Return a description of its size."""

    @property
    def least_seconds(self) -> float:
        """The length of the shortest training that tries it."""

    def read(self, start: Any, words: Any) -> tuple[Any, Any]:
        """Return the inputs for packed positions, a row for each, and their numbers of stones."""

    def fit(self, examples: Examples, course: Course, *, count: int, known: Any = None) -> Any:
        """Fit weights for *count* stages; the result has an ``error``."""

    def evaluation(self, fitted: Any, stages: Any, unit: float) -> Learned:
        """Return the evaluation with fitted weights; *stages* has the stage by number of stones."""


@dataclass(frozen=True)
class PatternModel:
    """Windows on the board, each configuration with a weight (``cutnode.kernels.patterns``)."""

    design: Design
    own: bool = False

    @property
    def name(self) -> str:
        name = "patterns and terms" if self.design.terms else "patterns"
        return f"{name} and the game's own" if self.own else name

    @property
    def most_epochs(self) -> int:
        return EPOCHS

    def with_own(self) -> PatternModel:
        return replace(self, own=True)

    def described(self) -> str:
        terms = f"{len(self.design.terms)} terms, " if self.design.terms else ""
        return (
            f"{len(self.design.windows)} windows, {terms}{self.design.size:,} weights a stage, "
            f"{len(self.design.symmetries)} symmetries"
        )

    @property
    def least_seconds(self) -> float:
        design = self.design
        if design.size > LARGE or any(term.number == MOVE_COUNT for term in design.terms):
            return LARGE_SECONDS
        return MANY_SECONDS if design.terms else 0.0

    def read(self, start: Any, words: Any) -> tuple[Any, Any]:
        each = 1 + LANES * self.design.shape.vectors + len(self.design.terms)
        found = np.zeros(len(words) * each, np.int32)
        run = write_places.specialise(type(start), self._empty)
        run(start, self._empty, np.ascontiguousarray(words).reshape(-1), found)
        rows = found.reshape(len(words), each)
        tied = self.design.tied.astype(np.int32)
        return tied[rows[:, 1 + self.design.read]], rows[:, 0]

    @cached_property
    def _empty(self) -> Learned:
        return self.design.empty()

    def fit(
        self, examples: Examples, course: Course, *, count: int, known: PatternFit | None = None
    ) -> PatternFit:
        return fit_patterns(examples, course, size=self.design.size, count=count, known=known)

    def evaluation(self, fitted: PatternFit, stages: Any, unit: float) -> Learned:
        weights = np.rint(fitted.weights * unit * (1 << FRACTION))
        weights = np.clip(weights, -LARGEST, LARGEST).astype(np.int16)
        return self.design.evaluation(stages, weights, own=self.own)


@dataclass(frozen=True)
class NetworkModel:
    """A network of one hidden layer (``cutnode.kernels.networks``)."""

    cls: Any
    shape: Inputs
    images: tuple[Any, ...] = ()
    """For each symmetry, the bit that each input bit takes its value from."""

    @property
    def own(self) -> bool:
        return self.shape.own

    @property
    def name(self) -> str:
        return "a network and the game's own" if self.own else "a network"

    @property
    def most_epochs(self) -> int:
        return NETWORK_EPOCHS

    def with_own(self) -> NetworkModel:
        return replace(self, shape=self.shape._replace(own=True))

    def described(self) -> str:
        return f"{64 * self.shape.words:,} inputs, {self.shape.neurons} neurons"

    @property
    def least_seconds(self) -> float:
        return MANY_SECONDS

    def read(self, start: Any, words: Any) -> tuple[Any, Any]:
        each = self.shape.words + 1
        found = np.zeros(len(words) * each, np.uint64)
        run = write_planes.specialise(self.cls, self._empty)
        run(start, self._empty, np.ascontiguousarray(words).reshape(-1), found)
        planes, second = np.split(found.reshape(-1, each), [each - 1], axis=1)
        stones = np.bitwise_count(planes[:, : self.shape.planes]).sum(axis=1, dtype=np.int64)
        if self.shape.sides == 2:  # words for both players; only the mover's are not zero
            none = np.zeros_like(planes)
            planes = np.hstack([np.where(second, none, planes), np.where(second, planes, none)])
        return np.ascontiguousarray(planes).view(np.uint8), stones

    @cached_property
    def _empty(self) -> Network:
        shape = self.shape
        return Network(
            self.cls,
            shape,
            np.zeros((shape.sides, shape.rows, shape.width), np.int16),
            np.zeros((1, shape.neurons), np.int16),
            np.zeros(1, np.int64),
            np.zeros(MOST_STONES + 1, np.int64),
            1.0,
        )

    def fit(
        self, examples: Examples, course: Course, *, count: int, known: Layers | None = None
    ) -> Layers:
        weight = min(MOST_WEIGHT, LARGEST / ONE / (self._most_bits(examples.inputs) + 1))
        return fit_network(
            examples,
            course,
            width=self.shape.width,
            views=self.shape.views,
            count=count,
            most=(weight, MOST_OUTPUT / OUTPUT_ONE),
            known=known,
            varied=self._varied if len(self.images) > 1 else None,
        )

    def _most_bits(self, inputs: Any) -> int:
        """Return the most bits that are set in a view of a position."""
        count, size = inputs.shape
        most = 0
        for first in range(0, count, SOME):
            views = inputs[first : first + SOME].reshape(-1, size // self.shape.views)
            most = max(most, int(np.bitwise_count(views).sum(axis=1, dtype=np.int64).max()))
        return most

    def _varied(self, inputs: Any, random: Any) -> Any:
        """Return each position as a random one of its images."""
        chosen = random.integers(0, len(self.images), len(inputs))
        found = inputs.copy()
        for number, image in enumerate(self.images):
            rows = np.flatnonzero(chosen == number)
            bits = np.unpackbits(inputs[rows], axis=1, bitorder="little")
            found[rows] = np.packbits(bits[:, image], axis=1, bitorder="little")
        return found

    def evaluation(self, fitted: Layers, stages: Any, unit: float) -> Learned:
        shape = self.shape
        rows = fitted.inputs.reshape(shape.sides, -1, shape.width)
        bias = np.broadcast_to(fitted.bias, (shape.sides, 1, shape.width))
        inputs = np.rint(np.concatenate([rows, bias], axis=1) * ONE)
        outputs = np.clip(np.rint(fitted.outputs * OUTPUT_ONE), -MOST_OUTPUT, MOST_OUTPUT)
        worth = unit * fitted.spread
        shifts = np.rint(fitted.shifts * worth)
        return Network(
            self.cls,
            shape,
            inputs.astype(np.int16),
            outputs.astype(np.int16),
            shifts.astype(np.int64),
            stages,
            worth,
        )

    def layers(self, network: Network, unit: float) -> Layers:
        """Return the layers of an :meth:`evaluation` of this shape, so that a fit can resume."""
        worth = float(network.unit[0])
        return Layers(
            network.inputs[:, :-1].reshape(-1, self.shape.width) / ONE,
            network.inputs[0, -1] / ONE,
            network.outputs / OUTPUT_ONE * (worth / unit),
            network.shifts / unit,
            1.0,
            0.0,
        )


def models_for(start: Any) -> list[Model]:
    """Return the models to try for the game that begins at *start*, the fastest first.

    Only networks are tried for a game that defines ``planes``.  :class:`GameError` if another game
    lacks what this needs.
    """
    cls: Any = type(start)
    design = None if defines(cls, "planes") else design_for(start)
    found: list[Model] = [] if design is None else [PatternModel(design)]
    counting = None if design is None else with_terms(start, design)
    found += [] if counting is None else [PatternModel(counting)]
    network = _network(start, design)
    found += [] if network is None else [network]
    if defines(cls, "evaluate"):
        found += [model.with_own() for model in found]
    return found


def _network(start: Any, design: Design | None) -> NetworkModel | None:
    """Return the network model of a game; None if its positions have too many words to read."""
    if design is None:
        require_learnable(start)
        inputs = inputs_of(start, WIDTH)
        if not 0 < inputs.planes <= MOST_PLANES:
            raise GameError(
                f"{game_name(type(start))} has planes of {inputs.planes} words; a network reads 1 "
                f"to {MOST_PLANES}"
            )
        return NetworkModel(type(start), inputs)
    fields, side = design.reading.fields, design.reading.side
    shape = Inputs(fields, len(fields), WIDTH, side, own=False)
    if shape.planes > MOST_PLANES:
        return None
    images = [_image(design, symmetry, shape.sides) for symmetry in design.symmetries]
    if any(image is None for image in images):
        images = []
    return NetworkModel(type(start), shape, tuple(images))


def _image(design: Design, symmetry: Symmetry, sides: int) -> Any:
    """Return the image of each bit that a network sees; None if a bit has none."""
    found = []
    for moved in image_of_bits(design.reading, symmetry).values():
        if moved is None:
            return None
        found.append(64 * moved[0] + moved[1])
    return np.concatenate([np.array(found) + len(found) * side for side in range(sides)])
