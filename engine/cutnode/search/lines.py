"""Lines of play that the table cut short, continued from what the table holds."""

from __future__ import annotations

from typing import Any

from cutnode.contract.derived import is_free_move
from cutnode.contract.legal import legal_moves
from cutnode.contract.verbs import NO_MOVE, canonical, chance, original_move, outcome, play
from cutnode.kernels import chance_table
from cutnode.kernels.chance import chance_address
from cutnode.kernels.node import address
from cutnode.kernels.table import move_of, probe
from cutnode.search.compiled_search import CompiledSearch
from cutnode.search.results import Line


def completed(search: CompiledSearch, position: Any, line: Line, depth: int) -> Line:
    """Return a line of play from a position, continued to *depth* moves from the table."""
    if len(line.pv) >= depth or "table" not in search.techniques:
        return line
    moves: list[int] = []
    actions = 0
    move: int | None
    for move in line.pv:
        position, actions = _after(search, position, actions, move)
        moves.append(move)
    while len(moves) < depth and not outcome(position)[0] and not chance(position):
        move = _table_move(search, position, actions, depth - len(moves), len(moves))
        if move is None:
            break
        position, actions = _after(search, position, actions, move)
        moves.append(move)
    return Line(line.move, line.value, tuple(moves))


def _after(search: CompiledSearch, position: Any, actions: int, move: int) -> tuple[Any, int]:
    """Return the position after a move, and the free moves of this turn until then."""
    child = play(position, move)
    return child, actions + 1 if is_free_move(position, move, child, actions, search.turns) else 0


def _table_move(
    search: CompiledSearch, position: Any, actions: int, left: int, ply: int
) -> int | None:
    """Return the move that the table holds for a position, if it is a legal one."""
    record, words = search.memory.record, search.table.words
    if search.has_chance:
        word = chance_address(position, actions, left, ply, record)
        data = chance_table.probe(words, word).data
    else:
        data = probe(words, address(position, actions, record))
    move = move_of(data) if data != 0 else NO_MOVE
    if move == NO_MOVE:
        return None
    if "symmetry" in search.techniques:
        move = original_move(position, int(move), canonical(position)[1])
    return int(move) if move in legal_moves(position) else None
