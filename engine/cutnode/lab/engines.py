"""A comparison of the engines on one game: proofs of positions, and a match at equal time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError, require_at_least
from cutnode.contract.loading import Game
from cutnode.contract.messages import position_text
from cutnode.contract.text import nearest, quoted
from cutnode.contract.verbs import outcome
from cutnode.lab.laboratory import with_interval
from cutnode.lab.plots import COLUMN, PALETTE, Dot, draw_dots, ends_of, mark_reference
from cutnode.lab.provenance import game_source
from cutnode.lab.statistics import geometric_mean_ratio
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.playing.elo import elo_difference
from cutnode.playing.matches import MatchResult, match
from cutnode.runtime.running import Limits
from cutnode.search.game_solver import GameSolver
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.options import ProofOptions
from cutnode.search.results import MonteCarloResult, Result
from cutnode.storage.tables import Table

PROVERS = ("alphabeta", "pn", "auto", "mcts")
"""The engines that are compared by their proofs."""

PROVERS_OF_SUMS = ("alphabeta", "pn", "sums", "mcts")
"""The same if positions fall apart into parts, where ``auto`` is ``sums``."""

REFERENCE = "alphabeta"
"""The engine whose nodes the others' are compared with."""

PLAYER = "mcts"
"""The engine that plays the match against alpha-beta."""

WARM_UP = 0.1
"""The seconds of an untimed proof before the timed ones."""

ALIKE = 1.2
"""The ratio of times below which engines count as equally fast."""

OF_PROOFS = (
    Column("proven", "positions with a proven value", "d", timed=True),
    Column(
        "nodes",
        "nodes visited in all attempts at a proof, completed or not",
        ",d",
        timed=True,
    ),
    Column(
        "fewer",
        "alpha-beta's nodes / nodes: geometric mean over the positions that both prove",
        ",.3f",
        interval=True,
        timed=True,
    ),
    Column("seconds", "wall-clock time of these attempts", ".3f", timed=True),
)
OF_MATCHES = (
    Column(
        "score",
        "points per game against alpha-beta at equal time",
        ".3f",
        interval=True,
        timed=True,
    ),
    Column("elo", "Elo difference from alpha-beta", "+.0f", interval=True, timed=True),
    Column("games", "games of the match", "d", timed=True),
)

Prove = Callable[[Any, Limits], Result | MonteCarloResult]
"""A function that tries to prove a position's value from nothing, within limits."""


def engines(
    game: Game,
    positions: Sequence[Any],
    *,
    seconds: float = 1.0,
    nodes: int | None = None,
    provers: Sequence[str] | None = None,
    pairs: int = 10,
    move_seconds: float = 0.05,
    table_mb: int = 256,
    seed: int = 0,
    positions_from: str = "",
    progress: Progress = no_progress,
) -> Study:
    """Prove positions with each engine, and play a match of *pairs* of games at equal time.

    Each proof gets *seconds*, or with *nodes* that many nodes, so that what is proven and the node
    counts are reproducible; each move of the match gets *move_seconds*.  *provers* are the engines
    that prove, by default all that suit the game.  Notes say which engine proves more and which one
    plays better.  In a game of chance only the match is played.  *pairs* 0: no match.
    :class:`CutnodeError` if the game is over in a position, or for an unknown engine.
    """
    for position in positions:
        if outcome(position)[0]:
            text = position_text(position)
            raise CutnodeError(f"the game is over in {text}: there is nothing to prove")
    require_at_least(pairs, 0, "pairs")
    cls = type(game.start())
    has_chance = defines(cls, "chance")
    names = _provers(cls, provers)
    limits = Limits(nodes, None if nodes is not None else seconds)
    study = Study(
        "engines",
        "Which engine suits the game: proofs, and matches at equal time",
        {
            "game": game_source(cls),
            "positions": [position_text(position) for position in positions],
            "positions_from": positions_from,
            "seconds": seconds,
            "nodes": nodes,
            "provers": list(names),
            "pairs": pairs,
            "move_seconds": move_seconds,
            "table_mb": table_mb,
            "seed": seed,
        },
        (Column("engine"), *_of_proofs(nodes), *OF_MATCHES),
        progress=progress,
    )
    if has_chance:
        study.add_note("A game of chance: the engines prove nothing, and only the match is played.")
    steps = len(names) * len(positions) + bool(pairs)
    proofs: list[dict[str, Any]] = []
    player: dict[str, Any] = {"engine": PLAYER}
    with study.kept():
        for name in names:
            row = _proofs(study, cls, name, positions, limits)
            proofs.append(row)
            progress(name, len(proofs) * len(positions), steps)
            if name == PLAYER:
                player |= row
            else:
                study.add_row(row)
        if proofs:
            study.add_note(_best_prover(proofs, len(positions), limits))
        if pairs:
            progress(f"match of {PLAYER}", steps - 1, steps)
            result = _match(game, pairs, move_seconds, seed)
            player |= _figures(result)
            study.add_note(_better_player(result, move_seconds))
    if len(player) > 1:
        study.add_row(player)
    return study


# Proofs


def _provers(cls: Any, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the engines that prove positions of a class, all or those with some *names*."""
    suited = PROVERS_OF_SUMS if defines(cls, "parts") else PROVERS
    if defines(cls, "chance"):
        return ()
    for name in names or ():
        if name not in suited:
            raise CutnodeError(
                f"{quoted(name)} proves nothing in this game"
                + nearest(name, suited, f"engines are {', '.join(suited)}")
            )
    return suited if names is None else tuple(dict.fromkeys(names))


def _of_proofs(nodes: int | None) -> tuple[Column, ...]:
    """Return the columns of proofs; only the seconds depend on the clock if *nodes* limit them."""
    return tuple(
        replace(column, timed=nodes is None or column.name == "seconds") for column in OF_PROOFS
    )


def _proofs(
    study: Study, cls: Any, name: str, positions: Sequence[Any], limits: Limits
) -> dict[str, Any]:
    """Try to prove each position; add samples to the study, and return their row."""
    prove = _prover(cls, name, study.settings["table_mb"], study.settings["seed"])
    is_warm = False
    samples: list[dict[str, Any]] = []
    for position in positions:
        key = {"engine": name, "position": position_text(position)}
        sample = study.recall(**key)
        if sample is None:
            if not is_warm:
                warm = WARM_UP if limits.seconds is None else min(limits.seconds, WARM_UP)
                prove(position, Limits(limits.nodes, warm))
                is_warm = True
            result = prove(position, limits)
            if result.reason == "interrupted":
                raise KeyboardInterrupt
            proof = {"proven": result.proven, "value": _proven_value(result)}
            sample = key | proof | {"nodes": result.nodes, "seconds": result.seconds}
            study.add_sample(sample)
        samples.append(sample)
    totals = {
        figure: sum(sample[figure] for sample in samples)
        for figure in ("proven", "nodes", "seconds")
    }
    return {"engine": name} | totals | _fewer(study.samples, samples)


def _fewer(every: Sequence[dict[str, Any]], mine: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the ratio of alpha-beta's nodes to an engine's, over the positions that both prove."""
    theirs = {sample["position"]: sample for sample in every if sample["engine"] == REFERENCE}
    pairs = [
        (theirs[sample["position"]]["nodes"], sample["nodes"])
        for sample in mine
        if sample["proven"] and theirs.get(sample["position"], {}).get("proven")
    ]
    pairs = [pair for pair in pairs if min(pair)]
    return with_interval("fewer", geometric_mean_ratio(*zip(*pairs, strict=True))) if pairs else {}


def _prover(cls: Any, name: str, table_mb: int, seed: int) -> Prove:
    """Return the function by which an engine proves positions, in *table_mb* MiB."""
    if name == "mcts":
        search = MonteCarlo(cls, memory=table_mb << 20, reuse=False)
        return lambda position, limits: search.search(
            position, nodes=limits.nodes, seconds=limits.seconds, seed=seed
        )
    table = Table(table_mb)
    solver = GameSolver(cls, table)
    solver.prepare(name)

    def prove(position: Any, limits: Limits) -> Result:
        table.forget()
        options = ProofOptions(nodes=limits.nodes, seconds=limits.seconds, engine=name)
        return solver.prove("solve", position, options)

    return prove


def _proven_value(result: Result | MonteCarloResult) -> int | None:
    """Return the proven value of a result, or None.

    Where only the winner matters, bounds on one side of 0 are a proof, and the bound nearer to 0
    is returned.
    """
    if not result.proven:
        return None
    return result.lower if result.lower > 0 else result.upper


def _best_prover(proofs: Sequence[dict[str, Any]], count: int, limits: Limits) -> str:
    """Return a sentence on which engine proves most, and takes the least time among equals.

    With a limit of nodes, they count in place of the time.  ``auto`` runs two of the other engines,
    so it comes first only if it proves more than they do.
    """
    cost, form, unit = ("seconds", ".3g", "s") if limits.nodes is None else ("nodes", ",", "nodes")
    best, *others = sorted(
        proofs, key=lambda row: (-row["proven"], row["engine"] == "auto", row[cost])
    )
    if not best["proven"]:
        each = format(limits.seconds if limits.nodes is None else limits.nodes, form)
        return f"Proofs: undecided, as no engine proved a position in {each} {unit}."
    alike = [
        row["engine"]
        for row in others
        if row["proven"] == best["proven"] and row[cost] < ALIKE * best[cost]
    ]
    told = [
        f"{row['engine']} {row['proven']} in {row[cost]:{form}} {unit}"
        for row in others
        if row["engine"] not in alike
    ]
    names = " and ".join([best["engine"], *alike])
    proven = f"{best['proven']} of {count} positions proven in {best[cost]:{form}} {unit}"
    rest = f" ({', '.join(told)})" if told else ""
    return f"Proofs: {names}, {proven}{rest}."


# Matches


def _match(game: Game, pairs: int, seconds: float, seed: int) -> MatchResult:
    """Play the match against alpha-beta."""
    limit = f"seconds={seconds:g}"
    result = match(game, f"engine={PLAYER},{limit}", limit, pairs=pairs, seed=seed)
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    return result


def _figures(result: MatchResult) -> dict[str, Any]:
    """Return the figures of a match, without infinite ones."""
    low, high = result.score_interval or (None, None)
    data = result.to_dict() | {"score_low": low, "score_high": high}
    names = [name for column in OF_MATCHES for name in column.every]
    return {name: data[name] for name in names if data[name] is not None}


def _better_player(result: MatchResult, seconds: float) -> str:
    """Return a sentence on which engine plays better, by the confidence interval of the score."""
    low, high = result.score_interval or (0.0, 1.0)
    played = f"{result.games} games at {seconds:g} s per move"
    tally = f"{PLAYER} won {result.wins}, drew {result.draws}, lost {result.losses}"
    if low <= 0.5 <= high:
        verdict = f"undecided after {played}"
    elif low > 0.5:
        verdict = f"{PLAYER}, by {_lead(result.score, low, high)} in {played}"
    else:
        score = None if result.score is None else 1 - result.score
        verdict = f"alphabeta, by {_lead(score, 1 - high, 1 - low)} in {played}"
    return f"Play: {verdict} ({tally})."


def _lead(score: float | None, low: float, high: float) -> str:
    """Return the Elo lead of a score with its 95 % interval, or the lower end if it won all."""
    if score == 1.0:
        return f"{elo_difference(low):.0f} Elo or more (95 %)"
    ends = f"{elo_difference(low):.0f} to {elo_difference(high):.0f}"
    return f"{elo_difference(score or 0.0):.0f} Elo (95 %: {ends})"


def draw(study: Study, figure: Any) -> None:
    """Draw the time of the proofs, and below, the points in the match with their interval."""
    proofs = [row for row in study.rows if "proven" in row]
    matches = [row for row in study.rows if "score" in row]
    panels = [rows for rows in (proofs, matches) if rows]
    figure.set_label(
        "Positions proven and the seconds spent; points per game in the match against alpha-beta "
        "at equal time, with 95 % confidence intervals."
    )
    heights = [1 + len(rows) for rows in panels]
    figure.set_size_inches(COLUMN, 0.3 + 0.28 * sum(heights))
    grid = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[
        :, 0
    ]
    for rows, axes in zip(panels, grid, strict=True):
        if rows is proofs:
            count = len(study.settings["positions"])
            names = [f"{row['engine']}: {row['proven']} of {count}" for row in rows]
            seconds = [row.get("seconds") for row in rows]
            dots = [Dot(*dot, PALETTE["blue"]) for dot in zip(names, seconds, strict=True)]
            draw_dots(axes, dots, numbers=False)
            axes.set_title("Proofs: positions proven, seconds")
        else:
            draw_dots(
                axes,
                [Dot(r["engine"], r["score"], PALETTE["blue"], ends_of(r, "score")) for r in rows],
                log=False,
            )
            mark_reference(axes, 0.5)
            axes.set_xlim(0, 1)
            axes.set_title("Match against alpha-beta: points per game")
