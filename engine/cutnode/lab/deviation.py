"""The error of a shallow search as a predictor of a deep one, for a game's verb ``deviation``.

The positions come from games that the engine plays against itself, with some random moves, and
are searched to every depth.  The score differences between two depths of equal parity have a
standard deviation.  As a function of the stage of the game and the pair of depths, it is about

    exp(a + b * plies + c * log(deep - shallow) + d * log(1 + shallow))

where ``plies`` were played before the position.  The constants are fitted to the logarithms by
least squares, each cell weighted by its number of positions.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import fmean, pstdev
from typing import Any

import click
import numpy as np

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import CutnodeError, GameError, require_at_least, require_integer
from cutnode.contract.messages import position_text
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import play
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.lab.measuring import search_afresh
from cutnode.lab.plots import COLOURS, COLUMN, GREY, MARKERS, SIGMAS, draw_error_bars
from cutnode.lab.provenance import game_source
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.search.searcher import Searcher
from cutnode.storage.evaluations import chosen_evaluation
from cutnode.storage.files import write_whole

COLUMNS = (
    Column("plies", "plies played before the position"),
    Column("deep", "depth of the deep search", "d"),
    Column("shallow", "depth of the shallow search", "d"),
    Column("positions", "positions searched to both depths", ",d"),
    Column("bias", "mean of deep score - shallow score", "+.2f"),
    Column("deviation", "standard deviation of deep score - shallow score", ".2f"),
    Column("fitted", "standard deviation by the formula", ".2f"),
)

OPENING_PLIES = 4
RANDOM_MOVES = 0.2
PLAYER_DEPTH = 2
"""Self-play: the random plies at the start, the share of random moves after them, and the depth
of the search that chooses the other moves."""

EVERY = 4
"""The plies from one sampled position of a game to the next."""

STAGE = 12
"""The length of a stage of the game, in plies."""

FEWEST = 20
"""The fewest positions for a row."""

SCORE = "score_"
"""The prefix of a score's name in a sample, before the depth."""

Scores = tuple[int, dict[int, float]]
"""The plies played before a position, and its scores by depth."""


def deviation(
    start: Any,
    depth: int,
    *,
    games: int = 60,
    seed: int = 0,
    evaluation: AnyEvaluation = None,
    table_mb: int = 16,
    progress: Progress = no_progress,
) -> Study:
    """Compare scores at all depths up to *depth*, for positions of *games* games from *start*.

    The search is exact; proven scores are left out.  :class:`GameError` for a game of chance,
    where the search has no ProbCut; :class:`CutnodeError` for numbers out of range.
    """
    start = coerce(start)
    cls: Any = type(start)
    if defines(cls, "chance"):
        raise GameError(f"{game_name(cls)} is a game of chance: its search has no ProbCut")
    if not 2 <= require_integer(depth, "a depth") <= MOST_DEPTH:
        raise CutnodeError(f"depth must be 2..{MOST_DEPTH}, got {depth}")
    require_at_least(games, 1, "games")
    chosen = chosen_evaluation(cls, evaluation)
    searcher = Searcher(cls, exact=True, evaluation=chosen, table=table_mb)
    study = Study(
        "deviation",
        "Score differences between depths",
        {
            "game": game_source(cls),
            "positions": [position_text(start)],
            "depth": depth,
            "games": games,
            "seed": seed,
            "evaluation": chosen.name,
            "table_mb": table_mb,
        },
        COLUMNS,
        progress=progress,
    )
    found: list[Scores] = []
    with study.kept():
        for number in range(games):
            progress(f"game {number + 1}", number, games)
            for plies, position in _positions(searcher, start, Random(f"{seed} {number}")):
                key = {"game": number, "position": position_text(position)}
                sample = study.recall(**key)
                if sample is None:
                    scores = _scores(searcher, position, depth)
                    named = {f"{SCORE}{deep}": score for deep, score in scores.items()}
                    sample = key | {"plies": plies} | named
                    study.add_sample(sample)
                found.append((plies, _scores_in(sample)))
    rows = list(_rows(found, depth))
    for note in _fit(rows):
        study.add_note(note)
    for row in rows:
        study.add_row(row | {"plies": f"{row['plies']}..{row['plies'] + STAGE - 1}"})
    return study


def _positions(searcher: Searcher, start: Any, random: Random) -> Iterator[tuple[int, Any]]:
    """Play a game; yield some of its positions, each after the number of plies before it."""
    position, plies = start, 0
    first = random.randrange(EVERY)
    while moves := legal_moves(position):
        if plies % EVERY == first:
            yield plies, position
        if plies < OPENING_PLIES or random.random() < RANDOM_MOVES:
            move = random.choice(moves)
        else:
            result = search_afresh(searcher, position, PLAYER_DEPTH)
            move = result.lines[0].move
        position, plies = play(position, move), plies + 1


def _scores(searcher: Searcher, position: Any, depth: int) -> dict[int, float]:
    """Return the scores that are not proven, by depth; depth 0 is the static evaluation."""
    scores: dict[int, float] = {0: searcher.evaluation(position)}
    for deepest in (depth - 1, depth):
        for iteration in search_afresh(searcher, position, deepest).iterations:
            if not iteration.proven:
                scores[iteration.depth] = iteration.value
    return scores


def _scores_in(sample: dict[str, Any]) -> dict[int, float]:
    """Return the scores of a sample, by depth."""
    return {
        int(name.removeprefix(SCORE)): score
        for name, score in sample.items()
        if name.startswith(SCORE)
    }


def _rows(found: list[Scores], depth: int) -> Iterator[dict[str, Any]]:
    for stage in sorted({plies // STAGE for plies, _ in found}):
        scores = [scores for plies, scores in found if plies // STAGE == stage]
        for deep in range(2, depth + 1):
            for shallow in range(deep % 2, deep, 2):
                pairs = [each for each in scores if each.keys() >= {deep, shallow}]
                if len(pairs) < FEWEST:
                    continue
                apart = [each[deep] - each[shallow] for each in pairs]
                yield {
                    "plies": stage * STAGE,
                    "deep": deep,
                    "shallow": shallow,
                    "positions": len(pairs),
                    "bias": fmean(apart),
                    "deviation": pstdev(apart),
                }


def _fit(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Fit the formula and add its value to each row; yield a note of its constants."""

    def terms(row: dict[str, Any]) -> tuple[float, ...]:
        middle = row["plies"] + (STAGE - 1) / 2
        deep, shallow = row["deep"], row["shallow"]
        return 1, middle, math.log(deep - shallow), math.log(1 + shallow)

    known = [row for row in rows if row["deviation"] > 0]
    if len({terms(row)[1:] for row in known}) < len(terms(known[0])) if known else True:
        yield "Too few positions to fit the formula."
        return
    weights = np.sqrt([row["positions"] for row in known])
    matrix = np.array([terms(row) for row in known])
    wanted = np.log([row["deviation"] for row in known])
    found, *_ = np.linalg.lstsq(matrix * weights[:, None], wanted * weights, rcond=None)
    for row in rows:
        row["fitted"] = math.exp(float(np.dot(terms(row), found)))
    a, b, c, d = found
    yield (
        f"deviation = exp({a:.3f} {b:+.4f} * plies {c:+.3f} * log(deep - shallow) "
        f"{d:+.3f} * log(1 + shallow))"
    )


def draw(study: Study, figure: Any) -> None:
    """Draw measured against fitted deviations, with 95 % intervals (if errors are normal)."""
    figure.set_size_inches(COLUMN, 3.2)
    figure.set_label(
        "Standard deviations of score differences between two depths, measured against fitted, by "
        "stage; bars: 95 % confidence intervals, assuming normal errors."
    )
    axes = figure.subplots()
    rows = [row for row in study.rows if row.get("fitted") and row.get("deviation")]
    stages = list(dict.fromkeys(row["plies"] for row in rows))
    for number, stage in enumerate(stages):
        points = [row for row in rows if row["plies"] == stage]
        colour = COLOURS[number % len(COLOURS)]
        places = [row["fitted"] for row in points]
        figures = [row["deviation"] for row in points]
        mark = MARKERS[number % len(MARKERS)]
        axes.plot(places, figures, mark, color=colour, label=f"plies {stage}")
        errors = [SIGMAS * row["deviation"] / math.sqrt(2 * row["positions"]) for row in points]
        ends = [(y - error, y + error) for y, error in zip(figures, errors, strict=True)]
        draw_error_bars(axes, list(zip(places, figures, ends, strict=True)), colour)
    least = min((row["fitted"] for row in rows), default=1)
    axes.axline((least, least), slope=1, color=GREY, linewidth=0.8, zorder=0)
    axes.set_xlabel("standard deviation by the formula")
    axes.set_ylabel("measured")
    if stages:
        axes.legend()


class FileCommands(click.Group):
    """A group whose commands report file errors in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (OSError, CutnodeError) as error:
            raise click.ClickException(str(error)) from None


FOLDER = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))


def weights_option(usual: Path) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option ``--weights FILE``, whose default is the *usual* file."""
    return click.option(
        "--weights",
        type=click.Path(dir_okay=False, path_type=Path),
        default=usual,
        help="File of weights (default: the game's own).",
    )


def write_rows(path: Path, rows: np.ndarray[Any, Any]) -> None:
    """Write rows to a NumPy file, completely or not at all."""
    file = io.BytesIO()
    np.save(file, rows)
    write_whole(str(path), file.getvalue())


def read_rows(path: Path, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Read the rows of a file; :class:`CutnodeError` if they are not of the *dtype*."""
    try:
        rows: Any = np.load(path)
    except (ValueError, EOFError):
        rows = None
    if getattr(rows, "dtype", None) != dtype:
        raise CutnodeError(f"{path} is not a file of positions")
    return rows  # type: ignore[no-any-return]
