"""Training: self-play, fit and proof by turns, until the time is over.

Each generation plays games with the best evaluation so far, fits weights to all games so far, and
plays a short match at equal nodes: weights that win it are the best from then on.  At the end they
have to win a sequential test at equal time against what the game's searches use now; weights that
do not are not installed.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from engine.batches.searching import BatchSearcher
from engine.contract.dispatch import game_constant, game_name
from engine.contract.errors import CutnodeError
from engine.contract.loading import Game
from engine.kernels.patterns import FRACTION, LANES, MOST_STONES, Patterns, write_places
from engine.kernels.playouts import ESTIMATE_UNIT
from engine.kernels.scores import MOST_ESTIMATE, is_decisive
from engine.playing.elo import Sprt, elo_difference, mean_and_error
from engine.playing.matches import MatchResult, make_openings, match
from engine.storage.evaluations import (
    SUFFIX,
    chosen_evaluation,
    installed_file,
    save_evaluation,
)
from engine.storage.files import check_file
from engine.training.boards import random_game
from engine.training.designs import design_for
from engine.training.fitting import MOST_EPOCHS, Examples, Fit, fit, require_jax
from engine.training.games import Labelled, compare, play_games
from engine.training.records import prepare_folder, read_games, write_games

__all__ = ["Generation", "Training", "train"]

STAGES = 3
"""Stages of the game, with as many positions each."""

HELD_OUT = 20
"""One game in so many is for validation."""

SHARES = (1.0, 0.6)
"""How much of a label is what a search said, the rest the result of the game.

Both are tried in the first generation, and then the one that was better.
"""

PROOF = 0.3
"""The part of the time that is for the proof."""

PLAYING = 0.2
"""The part of the time left in which a generation plays, and the fewest seconds."""
FEWEST_SECONDS = 10.0

LATER_EPOCHS = 3
"""Of a fit that begins with the weights of an earlier one."""

MOST_POSITIONS = 2_000_000
"""Older ones are left out of the fit."""

PAIRS = 150
"""Pairs of games between two evaluations at equal nodes."""

PROOF_SECONDS = 0.05
"""Of a move, in the proof."""

TABLE_MB = 32


@dataclass(frozen=True)
class Generation:
    """What a generation did."""

    positions: int
    """New ones, of the games that it played."""
    games: int
    share: float
    """Of a label, what a search said."""
    error: float
    """On held-out positions: cross entropy where games are won or lost, else mean square."""
    elo: float
    """Against the best before it, at equal nodes."""
    kept: bool


@dataclass
class Training:
    """What became of a training."""

    game: str
    windows: int
    weights: int
    nodes: int
    seconds: float = 0.0
    generations: list[Generation] = field(default_factory=list)
    at_nodes: float | None = None
    """Elo against the evaluation before, at equal nodes."""
    proof: MatchResult | None = None
    """The test at equal time."""
    file: str | None = None
    """Where the weights are, if they won."""
    reason: str = ""
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "game": self.game,
            "windows": self.windows,
            "weights": self.weights,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "generations": [vars(generation) for generation in self.generations],
            "elo_at_equal_nodes": self.at_nodes,
            "proof": None if self.proof is None else self.proof.to_dict(),
            "file": self.file,
            "reason": self.reason,
            "interrupted": self.interrupted,
        }

    def __str__(self) -> str:
        lines = [f"{self.game}: {self.windows} windows, {self.weights:,} weights a stage"]
        for number, each in enumerate(self.generations, 1):
            verdict = "the best so far" if each.kept else "not better"
            lines.append(
                f"generation {number}  {each.positions:,} positions of {each.games:,} games, "
                f"error {each.error:.4f}, {each.elo:+.0f} Elo at equal nodes: {verdict}"
            )
        if self.at_nodes is not None:
            lines.append(f"at {self.nodes} nodes a move: {self.at_nodes:+.0f} Elo against before")
        if self.proof is not None and self.proof.games:
            lines.append(f"at {PROOF_SECONDS:g} s a move: {self.proof.elo_text()}")
        lines.append(self.reason)
        return "\n".join(lines)


def train(
    game: Game,
    *,
    seconds: float = 600.0,
    out: str | Path | None = None,
    nodes: int = 400,
    threads: int = 2,
    seed: int = 0,
    data: str | Path | None = None,
    report: Callable[[str], None] | None = None,
) -> Training:
    """Learn an evaluation of a game from its own games, in so many *seconds*, and install it.

    *out* is the file of weights, by default the one beside the game from which searches take them;
    *nodes* are those of each move of self-play.  *data* is a folder for the positions that it
    learns from; those that are there already are learned from, too.  *report* is called with a line
    now and then.  Ctrl-C ends playing and learning; what was best so far is left unproven in
    ``FILE.unproven.weights``.  :class:`GameError` if the game cannot be learned.
    """
    require_jax()
    start = game.start()
    cls: Any = type(start)
    target = Path(out) if out is not None else installed_file(cls)
    if target is None:
        raise CutnodeError(f"{game_name(cls)} is in no file: say where its weights go")
    if target.suffix != SUFFIX:
        raise CutnodeError(f"weights go into a file whose name ends in {SUFFIX}, not {target}")
    if "," in str(target):
        raise CutnodeError(f"a file of weights has no comma in its name, as {target} has")
    check_file(target)
    say = report or (lambda line: None)
    began = time.monotonic()
    trainer = _Trainer(start, nodes, threads, seed, say, data)
    trainer.remember()
    result = trainer.result
    aside = target.with_name(f"{target.stem}.unproven{SUFFIX}")
    try:
        end = began + (1 - PROOF) * seconds
        while not trainer.took or time.monotonic() + trainer.took < end:
            trainer.generation(max(PLAYING * (end - time.monotonic()), FEWEST_SECONDS))
            if trainer.best is not None and result.generations[-1].kept:
                save_evaluation(aside, trainer.best, trainer.recipe())
        trainer.finish()
    except KeyboardInterrupt:
        result.interrupted = True
    if trainer.best is None:
        result.reason = "nothing learned was better: not installed"
        result.seconds = time.monotonic() - began
        return result
    if not result.interrupted:
        left = max(began + seconds - time.monotonic(), FEWEST_SECONDS)
        say("proof at equal time")
        before = f"evaluation={target}," if target.exists() else ""
        result.proof = _proof(game, aside, before, left, threads, seed, trainer.plies)
    _install(result, aside, target)
    result.seconds = time.monotonic() - began
    return result


def _proof(
    game: Game, file: Path, before: str, seconds: float, threads: int, seed: int, plies: int
) -> MatchResult | None:
    """Test at equal time whether the weights in a file are better than what is used now.

    None for a game that has no openings.
    """
    moves = 2 * plies  # each opening is played twice, and a random game is as long as a good one
    limit = f"seconds={PROOF_SECONDS:g}"
    pairs = int(min(max(seconds * threads / (moves * PROOF_SECONDS), 10), 500))
    openings: list[Any] = []
    opening = max(4, plies // 6)
    while not openings and opening > 0:
        try:
            openings = make_openings(game, pairs, opening, seed)
        except CutnodeError:  # a small game has fewer
            pairs, opening = (pairs // 2, opening) if pairs > 1 else (8, opening - 1)
    if not openings:
        return None
    return match(
        game,
        f"evaluation={file},{limit}",
        before + limit,
        pairs=pairs,
        openings=openings,
        seed=seed,
        sprt=Sprt(0.0, 50.0, 0.05, 0.05),
        processes=threads,
    )


def _install(result: Training, aside: Path, target: Path) -> None:
    """Put weights that won their proof where searches find them."""
    proof = result.proof
    result.interrupted |= proof is not None and proof.reason == "interrupted"
    if proof is None or result.interrupted:
        why = "interrupted" if result.interrupted else "the game is too small for a proof"
        result.reason = f"{why}: not installed; the weights are in {aside}"
        return
    accepted = proof.sprt.decision(proof.pairs) if proof.sprt else None
    better = accepted == "elo1" or (
        not accepted and proof.interval is not None and proof.interval[0] > 0
    )
    if better:
        os.replace(aside, target)
        result.file = str(target)
        result.reason = f"stronger: installed in {target}"
    else:
        result.reason = f"not proven stronger: not installed; the weights are in {aside}"


class _Trainer:
    """The state of a training."""

    def __init__(
        self,
        start: Any,
        nodes: int,
        threads: int,
        seed: int,
        say: Callable[[str], None],
        folder: str | Path | None,
    ):
        self.start, self.cls = start, type(start)
        self.nodes, self.threads, self.seed, self.say = nodes, threads, seed, say
        self.design = design_for(start)
        self.empty = self.design.empty()
        self.decisive = is_decisive(self.cls)
        lengths = sorted(len(random_game(start, random.Random(n))) for n in range(9))
        self.plies = lengths[len(lengths) // 2]
        self.before = chosen_evaluation(self.cls, None)
        self.best: Patterns | None = None
        self.took = 0.0
        """Seconds that the last generation took."""
        self.shares: tuple[float, ...] = SHARES
        self.known: Any = None
        """The weights of the last fit."""
        self.table: Any = None
        """The stage of the game for each number of stones."""
        self.unit = 0.0
        """What a logarithm of odds of 1 is in scores."""
        self.folder = folder
        self.earlier = 0
        """Generations of earlier trainings."""
        self.data: list[Labelled] = []
        self.digest = blake2b(digest_size=8)
        self.result = Training(
            game_name(self.cls), len(self.design.windows), self.design.size, nodes
        )
        say(
            f"{game_name(self.cls)}: {len(self.design.windows)} windows, "
            f"{self.design.size:,} weights a stage, {len(self.design.symmetries)} symmetries"
        )

    def searcher(self, evaluation: Any) -> BatchSearcher:
        return BatchSearcher(self.cls, table=TABLE_MB, threads=self.threads, evaluation=evaluation)

    def recipe(self) -> dict[str, Any]:
        """How the best weights were made."""
        return {
            "nodes": self.nodes,
            "seed": self.seed,
            "data": self.digest.hexdigest(),
            "generations": [vars(generation) for generation in self.result.generations],
        }

    def remember(self) -> None:
        """Take the positions of an earlier training."""
        if self.folder is None:
            return
        prepare_folder(self.folder)
        for played, recipe in read_games(self.folder, self.cls):
            self.data.append(played)
            self.unit = float(recipe.get("unit", self.unit))
        self.earlier = len(self.data)
        if self.data:
            self.say(f"{sum(map(len, self.data)):,} positions are there already")

    def generation(self, seconds: float) -> None:
        """Play for some seconds, fit, and keep what wins."""
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
        )
        if not len(new):
            raise CutnodeError(f"no game came to its end in {seconds:.0f} s: let it play longer")
        for part in (new.words, new.scores, new.results):
            self.digest.update(np.ascontiguousarray(part).tobytes())
        self.say(f"generation {number + 1}: {len(new):,} positions of {new.count:,} games")
        new = replace(new, expected=self._expected(new))
        if self.folder is not None:
            recipe = {"nodes": self.nodes, "seed": self.seed + number, "unit": self.unit}
            write_games(self.folder, self.cls, new, recipe | {"evaluation": current.meaning})
        self.data.append(new)
        while len(self.data) > 1 and sum(map(len, self.data)) > MOST_POSITIONS:
            del self.data[0]
        played = Labelled.joined(self.data)
        at, stones = self._places(played.words)
        if self.table is None:
            self.table = staged(stones)
        stages = self.table[stones].astype(np.int32)
        results = (np.sign(played.results) + 1) / 2 if self.decisive else played.results
        held = np.concatenate([part.games % HELD_OUT == 0 for part in self.data])
        tried = []
        for share in self.shares:
            targets = (share * played.expected + (1 - share) * results).astype(np.float32)
            fitted = fit(
                Examples(at, stages, targets, held),
                size=self.design.size,
                count=int(self.table.max()) + 1,
                decisive=self.decisive,
                seed=self.seed,
                known=self.known,
                epochs=MOST_EPOCHS if self.known is None else LATER_EPOCHS,
            )
            evaluation = self._evaluation(fitted)
            elo = self._elo(evaluation, current)
            self.say(f"  fit with {share:.0%} search: error {fitted.error:.4f}, {elo:+.0f} Elo")
            tried.append((elo, share, fitted, evaluation))
        elo, share, fitted, evaluation = max(tried, key=lambda each: each[0])
        kept = elo > 0
        self.shares = (share,)
        self.known = fitted.weights
        if kept:
            self.best = evaluation
        self.result.generations.append(
            Generation(len(new), new.count, share, fitted.error, elo, kept)
        )
        self.took = time.monotonic() - began

    def _expected(self, played: Labelled) -> Any:
        """What searches said of positions: the odds to win, or points."""
        scores = played.scores.astype(np.float64)
        if not self.decisive:
            return scores
        decided = np.abs(scores) > MOST_ESTIMATE
        results = (np.sign(played.results[~decided]) + 1) / 2
        slope = logistic_slope(scores[~decided], results)
        if not self.unit:
            usual = game_constant(self.cls, "UNIT", ESTIMATE_UNIT)
            self.unit = min(max(1 / slope, usual / 4), 4 * usual) if slope > 0 else usual
        if self.best is not None:
            slope = 1 / self.unit  # its scores have this meaning
        odds = 1 / (1 + np.exp(-np.clip(slope * scores, -30, 30)))
        return np.where(decided, (np.sign(scores) + 1) / 2, odds)

    def _places(self, words: Any) -> tuple[Any, Any]:
        """The places of the weights of positions, a row for each, and how many stones they have."""
        lanes = LANES * self.design.shape.vectors
        found = np.zeros(len(words) * (1 + lanes), np.int32)
        run = write_places.specialise(self.cls, self.empty)
        run(self.start, self.empty, np.ascontiguousarray(words).reshape(-1), found)
        rows = found.reshape(len(words), 1 + lanes)
        return self.design.tied.astype(np.int32)[rows[:, 1 : 2 + len(self.design.windows)]], rows[
            :, 0
        ]

    def _evaluation(self, fitted: Fit) -> Patterns:
        unit = self.unit if self.decisive else 1.0
        weights = np.rint(fitted.weights * unit * (1 << FRACTION))
        return self.design.evaluation(self.table, np.clip(weights, -32767, 32767).astype(np.int16))

    def _elo(self, evaluation: Any, other: Any) -> float:
        """The difference in Elo at equal nodes; no further than a pair more would make it."""
        counts = compare(
            self.start,
            (self.searcher(evaluation), self.searcher(other)),
            pairs=PAIRS,
            nodes=self.nodes,
            longest_opening=max(2, self.plies // 4),
            seed=self.seed + 1000 + len(self.result.generations),
        )
        mean, _ = mean_and_error(counts)
        return elo_difference(min(max(mean, 0.5 / PAIRS), 1 - 0.5 / PAIRS))

    def finish(self) -> None:
        """Compare the best with what was used before."""
        if self.best is not None:
            self.result.at_nodes = self._elo(self.best, self.before)


def logistic_slope(scores: Any, results: Any) -> float:
    """The slope of the logistic function that foretells results best (Newton's method)."""
    spread = float(np.std(scores)) if len(scores) else 0.0
    if spread == 0.0:
        return 0.0
    scaled, slope = scores / spread, 1.0
    for _ in range(30):
        odds = 1 / (1 + np.exp(-np.clip(slope * scaled, -30, 30)))
        curve = float((odds * (1 - odds) * scaled**2).sum()) + 1e-9
        slope += float(np.clip(((results - odds) * scaled).sum() / curve, -1, 1))
    return slope / spread


def staged(stones: Any) -> Any:
    """The stage for each number of stones, by how often positions have them."""
    borders = np.unique(np.quantile(stones, np.arange(1, STAGES) / STAGES)).astype(np.int64)
    return np.searchsorted(borders, np.arange(MOST_STONES + 1), side="right")
