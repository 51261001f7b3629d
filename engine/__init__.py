"""cutnode: a compiled game-tree search engine.

For users: :func:`load_game`, :func:`solve`, :func:`analyse`, :func:`solve_many`,
:func:`perft`, :func:`minimax`, :func:`alphabeta`, :func:`iterate`, :func:`prove_win`,
:func:`write_proof`, and :class:`Table`; for programs that search again and again
:class:`Engine`, or :class:`MonteCarlo`; for playing :func:`make_player`, :func:`play_game`
and :func:`match`; for seeing what is searched :func:`record_tree` and :func:`to_svg`.
For many positions, and books of a game's first ones, :mod:`engine.batches`.
For writers of games: :mod:`engine.contract` describes what a game is; the other names
here are what a game's file needs.

Names are imported when they are first used, so the rules of a game load neither the search nor
what runs it.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as type checkers read it: to import typing takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

    __version__: str

    from engine.batches.books import build_book as build_book
    from engine.batches.results import BatchResult as BatchResult
    from engine.batches.results import read_results as read_results
    from engine.batches.running import run_batch as run_batch
    from engine.compiler.jit import compiled as compiled
    from engine.contract.bits import Bits as Bits
    from engine.contract.bits import lowest as lowest
    from engine.contract.bits import lowest_index as lowest_index
    from engine.contract.bits import mix as mix
    from engine.contract.bits import popcount as popcount
    from engine.contract.bits import without_lowest as without_lowest
    from engine.contract.collection import game_names as game_names
    from engine.contract.counting import count_moves as count_moves
    from engine.contract.errors import ContractError as ContractError
    from engine.contract.errors import CutnodeError as CutnodeError
    from engine.contract.errors import GameError as GameError
    from engine.contract.errors import PositionError as PositionError
    from engine.contract.errors import PositionWarning as PositionWarning
    from engine.contract.errors import TableError as TableError
    from engine.contract.legal import legal_moves as legal_moves
    from engine.contract.loading import Game as Game
    from engine.contract.loading import load_game as load_game
    from engine.contract.notation import play_texts as play_texts
    from engine.contract.notes import note as note
    from engine.contract.positions import rebuild as rebuild
    from engine.contract.text import draw_board as draw_board
    from engine.contract.text import is_board as is_board
    from engine.contract.text import parse_board as parse_board
    from engine.contract.text import quoted as quoted
    from engine.contract.verbs import NO_MOVE as NO_MOVE
    from engine.kernels.declarations import Parameter as Parameter
    from engine.kernels.declarations import Technique as Technique
    from engine.kernels.evaluation import Evaluation as Evaluation
    from engine.kernels.optionality import Optionality as Optionality
    from engine.playing.elo import Sprt as Sprt
    from engine.playing.levels import LEVELS as LEVELS
    from engine.playing.matches import MatchResult as MatchResult
    from engine.playing.matches import match as match
    from engine.playing.matches import play_game as play_game
    from engine.playing.players import Choice as Choice
    from engine.playing.players import Player as Player
    from engine.playing.players import make_player as make_player
    from engine.search.api import alphabeta as alphabeta
    from engine.search.api import analyse as analyse
    from engine.search.api import minimax as minimax
    from engine.search.api import perft as perft
    from engine.search.api import search as search
    from engine.search.api import solve as solve
    from engine.search.api import solve_many as solve_many
    from engine.search.board import Board as Board
    from engine.search.engine import Engine as Engine
    from engine.search.forced_wins import Prover as Prover
    from engine.search.forced_wins import prove_win as prove_win
    from engine.search.handles import Handle as Handle
    from engine.search.handles import Progress as Progress
    from engine.search.monte_carlo import MonteCarlo as MonteCarlo
    from engine.search.proof_files import read_proofs as read_proofs
    from engine.search.proof_files import save_proofs as save_proofs
    from engine.search.proofs import ForcedWin as ForcedWin
    from engine.search.proofs import Proof as Proof
    from engine.search.record import Record as Record
    from engine.search.results import Batch as Batch
    from engine.search.results import Iteration as Iteration
    from engine.search.results import Line as Line
    from engine.search.results import PlainResult as PlainResult
    from engine.search.results import Result as Result
    from engine.search.results import SearchResult as SearchResult
    from engine.search.results import TableUse as TableUse
    from engine.search.searcher import Searcher as Searcher
    from engine.search.state_values import Iterated as Iterated
    from engine.search.statistics import Statistics as Statistics
    from engine.search.tree_results import MonteCarloResult as MonteCarloResult
    from engine.search.tree_results import RootMove as RootMove
    from engine.search.tree_results import TreeStatistics as TreeStatistics
    from engine.search.value_iteration import iterate as iterate
    from engine.search.value_proofs import ValueProof as ValueProof
    from engine.search.value_proofs import write_proof as write_proof
    from engine.storage.books import Book as Book
    from engine.storage.tables import Table as Table
    from engine.tablebases.tablebase import Entry as Entry
    from engine.tablebases.tablebase import Tablebase as Tablebase
    from engine.tree.drawing import Tree as Tree
    from engine.tree.drawing import to_dot as to_dot
    from engine.tree.drawing import to_json as to_json
    from engine.tree.drawing import to_mermaid as to_mermaid
    from engine.tree.drawing import to_svg as to_svg
    from engine.tree.nodes import Node as Node
    from engine.tree.recording import record_tree as record_tree

_HOMES = {
    "engine.batches.books": ("build_book",),
    "engine.batches.results": ("BatchResult", "read_results"),
    "engine.batches.running": ("run_batch",),
    "engine.compiler.jit": ("compiled",),
    "engine.contract.bits": (
        "Bits",
        "lowest",
        "lowest_index",
        "mix",
        "popcount",
        "without_lowest",
    ),
    "engine.contract.collection": ("game_names",),
    "engine.contract.counting": ("count_moves",),
    "engine.contract.errors": (
        "ContractError",
        "CutnodeError",
        "GameError",
        "PositionError",
        "PositionWarning",
        "TableError",
    ),
    "engine.contract.legal": ("legal_moves",),
    "engine.contract.loading": (
        "Game",
        "load_game",
    ),
    "engine.contract.notation": ("play_texts",),
    "engine.contract.notes": ("note",),
    "engine.contract.positions": ("rebuild",),
    "engine.contract.text": (
        "draw_board",
        "is_board",
        "parse_board",
        "quoted",
    ),
    "engine.contract.verbs": ("NO_MOVE",),
    "engine.kernels.declarations": (
        "Parameter",
        "Technique",
    ),
    "engine.kernels.evaluation": ("Evaluation",),
    "engine.kernels.optionality": ("Optionality",),
    "engine.playing.elo": ("Sprt",),
    "engine.playing.levels": ("LEVELS",),
    "engine.playing.matches": (
        "MatchResult",
        "match",
        "play_game",
    ),
    "engine.playing.players": (
        "Choice",
        "Player",
        "make_player",
    ),
    "engine.search.api": (
        "alphabeta",
        "analyse",
        "minimax",
        "perft",
        "solve",
        "solve_many",
    ),
    "engine.search.board": ("Board",),
    "engine.search.engine": ("Engine",),
    "engine.search.forced_wins": (
        "Prover",
        "prove_win",
    ),
    "engine.search.handles": (
        "Handle",
        "Progress",
    ),
    "engine.search.monte_carlo": ("MonteCarlo",),
    "engine.search.proof_files": (
        "read_proofs",
        "save_proofs",
    ),
    "engine.search.proofs": (
        "ForcedWin",
        "Proof",
    ),
    "engine.search.record": ("Record",),
    "engine.search.results": (
        "Batch",
        "Iteration",
        "Line",
        "PlainResult",
        "Result",
        "SearchResult",
        "TableUse",
    ),
    "engine.search.searcher": ("Searcher",),
    "engine.search.state_values": ("Iterated",),
    "engine.search.statistics": ("Statistics",),
    "engine.search.tree_results": (
        "MonteCarloResult",
        "RootMove",
        "TreeStatistics",
    ),
    "engine.search.value_iteration": ("iterate",),
    "engine.search.value_proofs": (
        "ValueProof",
        "write_proof",
    ),
    "engine.storage.books": ("Book",),
    "engine.storage.tables": ("Table",),
    "engine.tablebases.tablebase": ("Entry", "Tablebase"),
    "engine.tree.drawing": (
        "Tree",
        "to_dot",
        "to_json",
        "to_mermaid",
        "to_svg",
    ),
    "engine.tree.nodes": ("Node",),
    "engine.tree.recording": ("record_tree",),
}
"""Where the public names are defined; the same imports as above, made on demand."""

_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME, "search"])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name == "search":  # the package, which can be called
        return importlib.import_module("engine.search")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value


def _version() -> str:
    """Return the version that is installed."""
    from importlib import metadata

    try:
        return metadata.version("cutnode")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
