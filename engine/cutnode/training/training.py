"""Training: alternating self-play, fits and matches, until time is up, and a final proof.

Each generation plays games with the best evaluation so far, fits weights to all games so far, and
plays a short match, in which each side has the nodes that it would visit in the same time; weights
that win it are the new best.  The first generation tries all models of evaluations
(``cutnode.training.models``), and a later one tries them again when there are several times as
many positions; generations between refit the model that was best.  At the end, the best weights
have to win a sequential test (SPRT) at equal time against the evaluation that the game's searches
use now.  Weights that do not win are not installed, but kept in a file next to the target, where
the next training starts.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cutnode.batches.searching import BatchSearcher
from cutnode.contract.dispatch import game_constant, game_name
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.loading import Game
from cutnode.kernels.learned import Learned
from cutnode.kernels.playouts import ESTIMATE_UNIT
from cutnode.kernels.scores import MOST_ESTIMATE, is_decisive
from cutnode.playing.elo import elo_difference, mean_and_error
from cutnode.storage.arrays import rules_digest
from cutnode.storage.evaluations import (
    chosen_evaluation,
    evaluation_recipe,
    load_evaluation,
    save_evaluation,
)
from cutnode.tablebases.tablebase import Tablebase
from cutnode.training.acceptance import (
    FEWEST_SECONDS,
    install_if_proven,
    proof_of,
    target_file,
    unproven_file,
    usual_plies,
)
from cutnode.training.fits import (
    SHARE,
    Fitting,
    Games,
    Step,
    fit_step,
    libraries,
    read_of,
    staged,
)
from cutnode.training.fitting import FEWEST, logistic_slope, require_jax
from cutnode.training.games import Labelled, compare, play_games
from cutnode.training.models import Model, models_for
from cutnode.training.records import as_kept, prepare_folder, read_games, write_games
from cutnode.training.results import Generation, Training

LEAST_SECONDS = 60.0
"""The least seconds of a training: compiling, one generation and the proof take as long."""

MORE = 4
"""The growth in positions after which all models are tried again."""

TIMED = 100
"""Positions searched to measure the speed of an evaluation."""

PROOF = 0.3
"""The fraction of the time for the proof."""

PLAYING = 0.2
"""The fraction of the remaining time in which a generation plays."""

FEWEST_EPOCHS, SEEN = 3, 8_000
"""The least epochs of a fit, and the positions that it sees per second of the whole training, as
far as the model benefits: fits take one to three hundredths of the time."""

MOST_POSITIONS = 2_000_000
"""The most positions in a fit; the oldest are dropped."""

PAIRS = 150
"""Pairs of games between two evaluations at equal nodes."""

TABLE_MB = 32


def train(
    game: Game,
    *,
    seconds: float = 600.0,
    out: str | Path | None = None,
    nodes: int = 400,
    threads: int = 2,
    seed: int = 0,
    data: str | Path | None = None,
    tablebase: Tablebase | str | os.PathLike[str] | None = None,
    report: Callable[[str], None] | None = None,
) -> Training:
    """Learn an evaluation of a game from self-play in *seconds*, and install it if it is stronger.

    *out* is the file of weights, by default the one next to the game, where searches find it; new
    weights have to beat the ones already there.  *nodes* is the node limit for each move of
    self-play.  *data* is a folder for the positions to learn from; positions already there are
    used, too.  Positions in a *tablebase* have its values as results.  *report* is called with a
    line of progress from time to time.

    The best weights so far are in ``FILE.unproven.weights`` until they win their proof; a training
    starts from the ones that another left there, until something beats them.  Ctrl-C ends playing
    and learning; finished games are kept with the others.

    :class:`GameError` if the game cannot be learned, :class:`CutnodeError` if the tablebase is of
    another game.
    """
    require_jax()
    if not LEAST_SECONDS <= seconds < math.inf:
        raise CutnodeError(
            f"seconds of a training must be at least {LEAST_SECONDS:g} and finite, got {seconds:g}"
        )
    start = game.start()
    cls: Any = type(start)
    target = target_file(cls, out)
    say = report or (lambda line: None)
    began = time.monotonic()
    base = Tablebase.of(tablebase, cls)
    before = load_evaluation(target, cls) if target.exists() else chosen_evaluation(cls, None)
    trainer = Trainer(start, before, nodes, threads, seed, say, data, base, seconds)
    trainer.remember()
    result = trainer.result
    aside = unproven_file(target)
    if aside.exists():
        trainer.begin_with(aside)
    try:
        end = began + (1 - PROOF) * seconds
        while not trainer.took or time.monotonic() + trainer.took < end:
            trainer.generation(max(PLAYING * (end - time.monotonic()), FEWEST_SECONDS))
            if trainer.best is not None and result.generations[-1].kept:
                save_evaluation(aside, trainer.best, trainer.recipe())
            if result.interrupted:
                break
        else:
            trainer.finish()
    except KeyboardInterrupt:
        result.interrupted = True
    if trainer.best is None:
        better = "nothing learned was better" if result.generations else "nothing was learned yet"
        result.reason = f"{better}: not installed"
    else:
        if not result.interrupted:
            left = max(began + seconds - time.monotonic(), FEWEST_SECONDS)
            say("proof at equal time")
            result.proof = proof_of(game, aside, target, left, threads, seed, trainer.plies)
        install_if_proven(result, aside, target)
    if result.interrupted and data is not None and trainer.played:
        result.reason += f"; {trainer.played:,} new positions are in {data}"
    result.seconds = time.monotonic() - began
    return result


@dataclass(frozen=True)
class _Tried:
    """Fitted weights, and how they played."""

    model: Model
    fitting: Fitting
    data: dict[str, dict[str, Any]]
    """The identities of the positions of all fits, by their digests."""
    fitted: Any
    evaluation: Learned
    elo: float


class Trainer:
    """The state of a training."""

    def __init__(
        self,
        start: Any,
        before: Any,
        nodes: int,
        threads: int,
        seed: int,
        say: Callable[[str], None],
        folder: str | Path | None,
        tablebase: Tablebase | None,
        seconds: float,
    ):
        self.start = start
        self.cls: Any = type(start)
        self.nodes, self.threads, self.seed, self.say = nodes, threads, seed, say
        self.seconds = seconds
        self.plies = usual_plies(start)
        models = models_for(start)
        enough = max(seconds, min(model.least_seconds for model in models))
        models = [model for model in models if model.least_seconds <= enough]
        self.models = models
        self.decisive = is_decisive(self.cls)
        self.before = before
        self.best: Learned | None = None
        self.scaled = False
        """Whether scores of the best evaluation are on the scale of ``unit``."""
        self.took = 0.0
        """Seconds that the last generation took."""
        self.chosen: _Tried | None = None
        """The model that was best when all were tried, with its last fit."""
        self.kept: _Tried | None = None
        """The fit of the best weights."""
        self.tried_at = 0
        """The number of positions when all models were last tried."""
        self.stages: dict[str, tuple[int, ...]] = {}
        """The numbers of stones at which stages begin, by the name of the model."""
        self.speeds: dict[str, float] = {}
        """Nanoseconds per node, by the ``meaning`` of an evaluation."""
        self.unit = 0.0
        """The score that corresponds to log odds of 1; 0 if not known yet."""
        self.folder, self.tablebase = folder, tablebase
        self.earlier = 0
        """The number of generations of earlier trainings."""
        self.played = 0
        """The number of new positions."""
        self.data: list[Games] = []
        self.result = Training(game_name(self.cls), nodes)
        for model in models:
            say(f"{game_name(self.cls)}: {model.name}: {model.described()}")

    def searcher(self, evaluation: Any) -> BatchSearcher:
        return BatchSearcher(self.cls, table=TABLE_MB, threads=self.threads, evaluation=evaluation)

    def recipe(self) -> dict[str, Any]:
        """Return the recipe of the best weights, which with the positions can repeat their fits."""
        assert self.kept is not None
        return {
            "nodes": self.nodes,
            "seed": self.seed,
            "fitting": self.kept.fitting.to_dict(),
            "data": list(self.kept.data.values()),
            "libraries": libraries(),
            "generations": [vars(generation) for generation in self.result.generations],
        }

    def remember(self) -> None:
        """Load the positions of earlier trainings."""
        if self.folder is None:
            return
        prepare_folder(self.folder)
        rules_digest(self.cls, ())  # files will have it
        for played, recipe in read_games(self.folder, self.cls):
            self.unit = float(recipe.get("unit", self.unit))
            self.data.append(Games(played, recipe["file"]))
        self.earlier = len(self.data)
        if self.data:
            self.say(f"{self._count():,} positions from earlier trainings")

    def begin_with(self, file: Path) -> None:
        """Start from the weights that an earlier training left unproven, until others beat them."""
        try:
            self.best = load_evaluation(file, self.cls)
        except GameError as error:
            raise GameError(f"{error}; a training would start from it: move it away") from None
        unit = float(evaluation_recipe(file).get("fitting", {}).get("unit", 0.0))
        self.unit = self.unit or unit
        self.scaled = 0 < unit == self.unit
        self.result.model = f"weights of {file.name}"
        self.say(f"starting from {file}, left by an earlier training")

    def _count(self) -> int:
        return sum(len(games.played) for games in self.data)

    def generation(self, seconds: float) -> None:
        """Play for a number of seconds, fit weights, and keep them if they win."""
        began = time.monotonic()
        number = self.earlier + len(self.result.generations)
        current = self.best or self.before
        new = play_games(
            self.start,
            self.searcher(current),
            nodes=self.nodes,
            longest_opening=max(4, self.plies // 2),
            seed=self.seed + number,
            seconds=seconds,
            tablebase=self.tablebase,
        )
        if len(new):
            self._keep(new, number, current)
        if new.interrupted:
            raise KeyboardInterrupt
        if not len(new):
            raise CutnodeError(f"no game ended within {seconds:.0f} s: allow more time")
        best = self._fitted(current)
        kept = best.elo > 0
        if kept:
            self.best, self.kept, self.scaled = best.evaluation, best, True
            self.result.model = best.model.name
        self.result.generations.append(
            Generation(len(new), new.count, best.model.name, best.fitted.error, best.elo, kept)
        )
        self.took = time.monotonic() - began

    def _keep(self, new: Labelled, number: int, current: Any) -> None:
        """Add positions to the training data, and to the folder."""
        self.say(f"generation {number + 1}: {len(new):,} positions of {new.count:,} games")
        new = as_kept(self.cls, replace(new, expected=self._expected(new)))
        self.played += len(new)
        name = ""
        if self.folder is not None:
            recipe = {"nodes": self.nodes, "seed": self.seed + number, "unit": self.unit}
            recipe |= {"evaluation": current.meaning}
            name = write_games(self.folder, self.cls, new, recipe).name
        self.data.append(Games(new, name))
        while len(self.data) > 1 and self._count() > MOST_POSITIONS:
            del self.data[0]

    def _fitted(self, current: Any) -> _Tried:
        """Fit the model that was best, or all of them; return what plays best against *current*."""
        if self.chosen is not None and self._count() < MORE * self.tried_at:
            chosen = self.chosen
            self.chosen = self._try(chosen.model, current, chosen)
            return self.chosen
        self.tried_at = self._count()
        tried: list[_Tried] = []
        try:
            for model in self.models:
                tried.append(self._try(model, current))
        except KeyboardInterrupt:
            if not tried:
                raise
            self.result.interrupted = True
        self.chosen = max(tried, key=lambda each: each.elo)
        return self.chosen

    def _try(self, model: Model, current: Any, known: _Tried | None = None) -> _Tried:
        """Fit a model to all positions, and play it against the current evaluation."""
        if model.name not in self.stages:
            self.stages[model.name] = staged(read_of(self.start, model, self.data)[1])
        step = Step(
            self._epochs(model, self._count(), again=known),
            tuple(games.digest for games in self.data),
        )
        fitting = Fitting(
            model.name,
            self.seed,
            SHARE,
            self.unit,
            self.stages[model.name],
            (*(() if known is None else known.fitting.steps), step),
        )
        fitted, evaluation = fit_step(
            self.start, model, self.data, fitting, None if known is None else known.fitted
        )
        elo = self._elo(evaluation, current, timed=True)
        self.say(
            f"  {model.name}: error {fitted.error:.4f}, {elo:+.0f} Elo at "
            f"{self.speeds[evaluation.meaning]:.0f} ns a node "
            f"(before: {self.speeds[current.meaning]:.0f})"
        )
        data = {games.digest: games.to_dict() for games in self.data}
        data |= {} if known is None else known.data
        return _Tried(model, fitting, data, fitted, evaluation, elo)

    def _epochs(self, model: Model, positions: int, *, again: Any) -> int:
        """Return the epochs of a fit to *positions* positions: half if it starts from another."""
        epochs = max(round(SEEN * self.seconds / positions), FEWEST_EPOCHS)
        epochs = min(epochs, model.most_epochs)
        return epochs if again is None else epochs // 2

    def _speed(self, evaluation: Any) -> float:
        """Return the nanoseconds of processor time per node with an evaluation."""
        if evaluation.meaning not in self.speeds:
            words = self.data[-1].played.words
            chosen = np.random.default_rng(self.seed).integers(0, len(words), TIMED)
            searcher = self.searcher(evaluation)
            times = []
            for _ in range(3):
                began = time.process_time()
                found = searcher.search(words[chosen].reshape(-1), nodes=5 * self.nodes, cold=True)
                times.append((time.process_time() - began) / found["nodes"].sum())
            self.speeds[evaluation.meaning] = 1e9 * min(times)
        return self.speeds[evaluation.meaning]

    def _expected(self, played: Labelled) -> Any:
        """Return the scores of positions as targets of a fit: the odds to win, or points."""
        scores = played.scores.astype(np.float64)
        if not self.decisive:
            return scores
        decided = np.abs(scores) > MOST_ESTIMATE
        results = (np.sign(played.results[~decided]) + 1) / 2
        slope = logistic_slope(scores[~decided], results)
        if not self.unit:
            usual = game_constant(self.cls, "UNIT", ESTIMATE_UNIT)
            known = slope > 0 and len(played) >= FEWEST  # otherwise the games were interrupted
            self.unit = min(max(1 / slope, usual / 4), 4 * usual) if known else usual
        if self.scaled or len(played) < FEWEST:
            slope = 1 / self.unit
        odds = 1 / (1 + np.exp(-np.clip(slope * scores, -30, 30)))
        return np.where(decided, (np.sign(scores) + 1) / 2, odds)

    def _elo(self, evaluation: Any, other: Any, *, timed: bool) -> float:
        """Return the Elo difference at equal nodes or, if *timed*, at nodes that take equal time.

        A score of 0 or 1 is moved by half a pair, so that the difference is finite.
        """
        slower = self._speed(evaluation) / self._speed(other) if timed else 1.0
        counts = compare(
            self.start,
            (self.searcher(evaluation), self.searcher(other)),
            pairs=PAIRS,
            nodes=(max(1, round(self.nodes / slower)), self.nodes),
            longest_opening=max(2, self.plies // 4),
            seed=self.seed + 1000 + len(self.result.generations),
        )
        mean, _ = mean_and_error(counts)
        return elo_difference(min(max(mean, 0.5 / PAIRS), 1 - 0.5 / PAIRS))

    def finish(self) -> None:
        """Compare the best evaluation with the one before the training, at equal nodes."""
        if self.best is not None:
            self.result.at_nodes = self._elo(self.best, self.before, timed=False)
