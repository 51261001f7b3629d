"""The acceptance of new weights: a match at equal time against the evaluation in use, the proof."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.loading import Game
from cutnode.playing.elo import Sprt
from cutnode.playing.matches import MatchResult, make_openings, match
from cutnode.runtime.running import Limits
from cutnode.storage.evaluations import (
    SUFFIX,
    evaluation_recipe,
    installed_file,
    load_evaluation,
)
from cutnode.storage.files import check_file, write_whole
from cutnode.training.boards import LONGEST_GAME, random_game
from cutnode.training.results import PROOF_SECONDS, Training

FEWEST_SECONDS = 10.0
"""The least seconds of games that mean anything."""

SAMPLED_GAMES = 9


def target_file(cls: Any, out: str | os.PathLike[str] | None) -> Path:
    """Return the file for weights that win their proof: *out*, or the one next to the game.

    :class:`CutnodeError` if it cannot be written, or exists and is for another game.
    """
    target = Path(out) if out is not None else installed_file(cls)
    if target is None:
        raise CutnodeError(f"{game_name(cls)} is not in a file: name a file for its weights")
    if target.suffix != SUFFIX:
        raise CutnodeError(f"the name of a weights file must end in {SUFFIX}, got {target}")
    if "," in str(target):
        raise CutnodeError(f"the name of a weights file must not have a comma, got {target}")
    check_file(target)
    if target.exists():
        load_evaluation(target, cls)
    return target


def unproven_file(target: Path) -> Path:
    """Return the file, next to the target, that keeps weights until they win their proof."""
    return target.with_name(f"{target.stem}.unproven{SUFFIX}")


def usual_plies(start: Any) -> int:
    """Return the median length of a few random games.

    :class:`GameError` if none of them ends.
    """
    lengths = sorted(len(random_game(start, random.Random(n))) for n in range(SAMPLED_GAMES))
    if lengths[0] >= LONGEST_GAME:
        raise GameError(
            f"no random game of {game_name(type(start))} ended within {LONGEST_GAME} plies: "
            f"outcome(position) must end games"
        )
    return lengths[len(lengths) // 2]


def prove(
    game: Game,
    file: str | os.PathLike[str],
    *,
    seconds: float = 600.0,
    out: str | os.PathLike[str] | None = None,
    threads: int = 2,
    seed: int = 0,
    report: Callable[[str], None] | None = None,
) -> Training:
    """Test for at most *seconds* whether the weights in a file are stronger; if so, install them.

    Their opponent is the evaluation that searches use now, or the weights in *out*, which they
    replace if they win.  The file itself stays, unless a training left it as unproven.
    """
    Limits(seconds=seconds)
    began = time.monotonic()
    start = game.start()
    cls: Any = type(start)
    target = target_file(cls, out)
    weights = Path(file)
    load_evaluation(weights, cls)
    if "," in str(weights):
        raise CutnodeError(f"the name of a weights file must not have a comma, got {weights}")
    if target.exists() and weights.samefile(target):
        raise CutnodeError(f"{weights} is already in use: there is nothing to prove")
    recipe = evaluation_recipe(weights)
    result = Training(game_name(cls), recipe.get("nodes", 0), f"weights of {weights.name}")
    plies = usual_plies(start)
    if report is not None:
        report("proof at equal time")
    result.proof = proof_of(game, weights, target, seconds, threads, seed, plies)
    install_if_proven(result, weights, target)
    result.seconds = time.monotonic() - began
    return result


def proof_of(
    game: Game, file: Path, target: Path, seconds: float, threads: int, seed: int, plies: int
) -> MatchResult | None:
    """Match the weights in a file against the weights in *target*, at equal time.

    If *target* does not exist, the opponent is the evaluation that searches use now.  None if the
    game is too small to have openings.
    """
    moves = 2 * plies  # each opening is played twice, and a random game is as long as a good one
    limit = f"seconds={PROOF_SECONDS:g}"
    before = f"evaluation={target}," if target.exists() else ""
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


def install_if_proven(result: Training, weights: Path, target: Path) -> None:
    """Install weights that won their proof where searches find them, and set the reason."""
    proof = result.proof
    result.interrupted |= proof is not None and proof.reason == "interrupted"
    where = f"the weights are in {weights}"
    if result.interrupted:
        result.reason = f"not proven: {where}"
        return
    if proof is None:
        result.reason = f"the game is too small for a proof: not installed; {where}"
        return
    accepted = proof.sprt.decision(proof.pairs) if proof.sprt else None
    better = accepted == "elo1" or (
        not accepted and proof.interval is not None and proof.interval[0] > 0
    )
    if not better:
        result.reason = f"not proven stronger: not installed; {where}"
        return
    if weights == unproven_file(target):
        os.replace(weights, target)
    else:
        write_whole(target, weights.read_bytes())
    result.file = str(target)
    result.reason = f"stronger: installed in {target}"
