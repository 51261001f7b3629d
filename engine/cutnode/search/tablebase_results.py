"""Results from a tablebase, without a search."""

from __future__ import annotations

from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, value_limit
from cutnode.contract.verbs import chance, drawn, moves_again, outcome, play
from cutnode.kernels.scores import final_score
from cutnode.kernels.tablebase_scores import FAR, FARTHEST
from cutnode.search.results import Line, Result, TableUse
from cutnode.tablebases.layer_tables import DISTANCES
from cutnode.tablebases.tablebase import Tablebase


def result_of(
    base: Tablebase, position: Any, *, weak: bool, scores: bool = False, line: bool = True
) -> Result | None:
    """Return a tablebase's result for a position, optionally with move *scores* and a *line*.

    None if the position is not in it, or if a rule that draws the game, such as a count of moves,
    would end the line of best play: a tablebase does not know such rules.
    """
    known = value_and_line(base, position, weak, line)
    if known is None:
        return None
    value, best_play = known
    best = next(iter(base.moves(position)), None)
    values: dict[int, int | None] = {}
    if scores and not outcome(position)[0]:
        for move in legal_moves(position):
            child = play(position, move)
            after = value_and_line(base, child, weak, False)
            same = moves_again(position, child)
            values[move] = None if after is None else after[0] if same else -after[0]
    return Result(
        position=position,
        value=value,
        lower=value,
        upper=value,
        weak=weak,
        best_move=best,
        scores=values if scores else None,
        pv=tuple(best_play),
        nodes=0,
        seconds=0.0,
        table=TableUse(0, 0, 0, 0, 0),
        reason="proven",
    )


def value_and_line(
    base: Tablebase, position: Any, weak: bool, wanted: bool = True
) -> tuple[int, list[int]] | None:
    """Return the value of a position on the game's own scale, and best play if *wanted*.

    If the tablebase holds distances, the value is taken from the end of the line.
    """
    entry = base.entry(position)
    if entry is None:
        return None
    value = int(entry.value)
    scaled = base.kind == DISTANCES and value_limit(base.cls) != 1 and not weak
    if not (wanted or scaled or defines(base.cls, "drawn")):
        return (value > 0) - (value < 0) if weak else value, []
    line = base.line(position)
    last, same = position, True
    for move in line:
        child = play(last, move)
        same = same == moves_again(last, child)
        last = child
        if defines(base.cls, "drawn") and drawn(last):
            return None
    over, final = outcome(last)
    if base.kind == DISTANCES and over:
        value = int(final) if same else -int(final)
    if weak:
        value = (value > 0) - (value < 0)
    return value, line


def lines_of(
    base: Tablebase, position: Any, moves: list[int] | None, most: int, win: int, step: int
) -> tuple[Line, ...] | None:
    """Return the best lines of play, at most *most*, with their scores for the player to move.

    *moves* restricts the choice; *win* and *step* are as for ``final_score``.  None if the
    tablebase does not know all moves, nobody is to move, or a rule would end a line as a draw.
    """
    if outcome(position)[0] or chance(position):
        return None
    known = base.moves(position)
    chosen = legal_moves(position) if moves is None else moves
    if not set(chosen) <= known.keys():
        return None
    lines = []
    for move in [move for move in known if move in chosen][:most]:
        child = play(position, move)
        found = value_and_line(base, child, False)
        if found is None or (defines(base.cls, "drawn") and drawn(child)):
            return None
        score, line = known[move].value, found[1]
        if base.kind == DISTANCES and win == 0:
            score = found[0] if moves_again(position, child) else -found[0]
        elif base.kind == DISTANCES:
            distance = known[move].distance or 0
            if base.metric != "dtm":
                distance = min(FAR + distance, FARTHEST)
            score = final_score(score, distance, win, step)
        lines.append(Line(move, score, (move, *line)))
    return tuple(lines)
