"""Views that need no engine: boards, positions, and the trees of small searches."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from cutnode.contract.derived import cells_of_parts, legal_moves, recurs, same_after_chance
from cutnode.contract.errors import CutnodeError, GameError, PositionError
from cutnode.contract.loading import Game
from cutnode.contract.messages import (
    board,
    chance_text,
    description,
    move_text,
    position_text,
)
from cutnode.contract.notation import board_of, contents_of, notation_of
from cutnode.contract.notes import notes_to
from cutnode.contract.repetition import bans_repetition
from cutnode.contract.text import quoted
from cutnode.contract.verbs import (
    chance,
    chance_outcome,
    drawn,
    moves_again,
    outcome,
    play,
    recurrence,
    reversible,
)
from cutnode.playing.board_layout import board_layout
from cutnode.playing.records import step_of
from cutnode.search.board import Board
from cutnode.service.failures import Failure
from cutnode.service.games import GameRegistry
from cutnode.service.models import (
    BoardView,
    MoveView,
    OutcomeView,
    PositionView,
    SetupRequest,
    TreeRequest,
    TreeView,
)
from cutnode.tree.drawing import Tree
from cutnode.tree.recording import record_tree

MOST_NODES = 10_000
"""The node limit of a search whose tree is shown: about a second of plain Python in most games."""

TREE_PATIENCE = 10.0
"""The seconds that a tree search waits for the previous one to end."""

_one_tree_at_a_time = threading.Lock()


def read_position(game: Game, text: str, where: str) -> tuple[Any, list[str]]:
    """Return the position of a text, with notes on it; :class:`Failure` (404) if it is invalid."""
    notes: list[str] = []
    try:
        with notes_to(notes.append):
            return game.parse(text), notes
    except CutnodeError as error:
        raise Failure(404, str(error), where) from None


class IllegalMove(Failure):
    """A move that cannot be played on a board, and the moves that can."""

    def __init__(self, board: Board, error: CutnodeError, where: str):
        super().__init__(404, str(error), where)
        self.legal = outcome_texts(board) or move_texts(board)


@contextlib.contextmanager
def legal_listed(board: Board, where: str) -> Iterator[None]:
    """Raise the error of an illegal move as an :class:`IllegalMove`."""
    try:
        yield
    except CutnodeError as error:
        raise IllegalMove(board, error, where) from None


def read_board(game: Game, text: str, moves: Sequence[str]) -> tuple[Board, list[str]]:
    """Return the board after some moves from a position, with notes on that position.

    Outcomes of chance are in words, or ``chance N`` for number N, counted from 0.
    :class:`Failure` (404) if the position is invalid or a move is illegal.
    """
    position, notes = read_position(game, text, "body.position")
    board = Board(game, position)
    for number, move in enumerate(moves):
        with legal_listed(board, f"body.moves[{number}]"):
            outcomes = outcome_texts(board)
            step = outcomes.index(move) if move in outcomes else step_of(move)
            if isinstance(step, int):
                board.roll(step)
            elif outcomes:
                raise PositionError(f"chance decides here: {quoted(move)} is not an outcome")
            else:
                board.push(step)
    return board, notes


def outcome_texts(board: Board) -> list[str]:
    """Return the outcomes of chance in words; none where chance does not decide."""
    position = board.position
    events = chance(position) if board.is_chance() else 0
    return [chance_text(position, event) for event in range(events)]


def move_texts(board: Board) -> list[str]:
    """Return the legal moves in the game's notation."""
    return [move_text(board.position, move) for move in board.legal_moves]


# Boards


def show_board(registry: GameRegistry, name: str) -> BoardView | None:
    """Return the board that a game declares; None if it declares none."""
    layout = board_layout(type(registry.game(name).start()))
    return None if layout is None else BoardView(**layout)


# Positions


def show_position(registry: GameRegistry, name: str, text: str) -> PositionView:
    """Return the view of a position, with its moves and chance outcomes."""
    return view(name, *read_position(registry.game(name), text, "query.position"))


def set_up(registry: GameRegistry, name: str, asked: SetupRequest) -> PositionView:
    """Return the view of the position of a board given cell by cell."""
    start = registry.game(name).start()
    cells = board_of(type(start))
    if cells is None:
        raise Failure(409, f"{name} declares no board", "path.game")
    if len(asked.cells) != len(cells.places):
        raise Failure(
            404, f"the board has {len(cells.places)} cells, got {len(asked.cells)}", "body.cells"
        )
    if max(asked.cells, default=0) >= len(cells.contents):
        raise Failure(
            404, f"contents must be numbers from 0 to {len(cells.contents) - 1}", "body.cells"
        )
    if cells.players and asked.mover not in cells.players:
        raise Failure(404, f"mover must be {' or '.join(cells.players)}", "body.mover")
    try:
        position = notation_of(type(start)).set_up(asked.cells, asked.mover, start)
    except CutnodeError as error:
        raise Failure(404, str(error), "body.cells") from None
    return view(name, position, [])


def view(name: str, position: Any, notes: list[str]) -> PositionView:
    """Return the view of a position that was read with *notes*."""
    cls = type(position)
    ended, value = outcome(position)
    over = bool(ended or drawn(position))
    events = 0 if over else chance(position)
    moves = [] if over or events else legal_moves(position)
    cells = contents_of(position)
    return PositionView(
        game=name,
        position=position_text(position),
        notes=notes,
        board=board(position),
        cells=cells if board_of(cls) else None,
        parts=cells_of_parts(position),
        caption=notation_of(cls).caption(position),
        player=notation_of(cls).player(position),  # type: ignore[arg-type]
        recurrence=f"{int(recurrence(position)):x}" if recurs(position) else None,
        over=over,
        value=(value if ended else 0) if over else None,
        meaning=(description(position, value) or "") if ended else "",
        winning_line=notation_of(cls).winning_line(position),
        moves=[_move(position, cells, move) for move in moves],
        chance=[_outcome(position, event) for event in range(events)],
    )


def _move(position: Any, cells: list[int], move: int) -> MoveView:
    child = play(position, move)
    return MoveView(
        move=move_text(position, move),
        position=position_text(child),
        again=bool(moves_again(position, child)),
        changes=[
            (cell, after)
            for cell, (before, after) in enumerate(zip(cells, contents_of(child), strict=True))
            if before != after
        ],
        recurrence=_banned_word(position, child),
    )


def _banned_word(position: Any, child: Any) -> str | None:
    """Return the key of the position after a move, if the move may be an illegal repetition."""
    if not (bans_repetition(position) and reversible(position, child)) or outcome(child)[0]:
        return None
    return f"{int(recurrence(child)):x}"


def _outcome(position: Any, event: int) -> OutcomeView:
    probability, child = chance_outcome(position, event)
    return OutcomeView(
        text=chance_text(position, event),
        probability=probability,
        position=position_text(child),
        again=bool(same_after_chance(position, child)),
    )


# Trees


def show_tree(registry: GameRegistry, name: str, asked: TreeRequest) -> TreeView:
    """Return the tree of a search in plain Python; only one such search runs at a time."""
    position, notes = read_position(registry.game(name), asked.position, "body.position")
    options = asked.model_dump(exclude={"position"})
    if not _one_tree_at_a_time.acquire(timeout=TREE_PATIENCE):
        raise Failure(503, "another tree is being searched", wait=1)
    try:
        tree = record_tree(position, nodes=MOST_NODES, **options)
    except GameError:
        raise
    except CutnodeError as error:
        raise Failure(409, str(error), "body.depth") from None
    finally:
        _one_tree_at_a_time.release()
    data = tree.to_dict()
    scored: dict[str, Any] = {"game": name, "notes": notes, "score": tree.score_text(tree.value)}
    scored["root"] = _node(tree, data["root"])
    return TreeView.model_validate(data | scored)


def _node(tree: Tree, node: dict[str, Any]) -> dict[str, Any]:
    """Add the score in words to a node and all its descendants."""
    children = [_node(tree, child) for child in node["children"]]
    return node | {"score": tree.score_text(node["value"]), "children": children}
