"""cutnode: a compiled game-tree search engine.

For users: :func:`load_game`, :func:`solve`, :func:`analyse`, :func:`solve_many`,
:func:`perft`, :func:`minimax`, :func:`alphabeta`, :func:`iterate`, :func:`prove_win`, and
:class:`Table`; for programs that search again and again :class:`Engine`; for playing
:func:`make_player`, :func:`play_game` and :func:`match`; for seeing what is searched
:func:`record_tree` and :func:`to_svg`.
For many positions :mod:`engine.batches`, for books of a game's first ones :mod:`engine.books`.
For writers of games: :mod:`engine.contract` describes what a game is; the other names
here are what a game's file needs.
"""

from engine.api import alphabeta, analyse, minimax, perft, solve, solve_many
from engine.bits import Bits, lowest, lowest_index, mix, popcount, without_lowest
from engine.contract import NO_MOVE, legal_moves
from engine.counting import count_moves
from engine.embedding import Engine
from engine.errors import ContractError, CutnodeError, GameError, PositionError, TableError
from engine.evaluation import Evaluation
from engine.finding import Game, game_names, load_game
from engine.handles import Handle, Progress
from engine.iteration import iterate
from engine.jit import compiled
from engine.optionality import Optionality
from engine.playing.matches import MatchResult, Sprt, match, play_game
from engine.playing.players import LEVELS, Choice, Player, make_player
from engine.playing.record import Record
from engine.positions import rebuild
from engine.proofs import ForcedWin, Proof
from engine.prover import Prover, prove_win
from engine.results import (
    Batch,
    Iterated,
    Iteration,
    Line,
    PlainResult,
    Result,
    SearchResult,
    TableUse,
)
from engine.searcher import Searcher, search
from engine.statistics import Statistics
from engine.table import Table
from engine.text import draw_board, is_board, parse_board, play_texts, quoted
from engine.tree.drawing import to_dot, to_json, to_mermaid, to_svg
from engine.tree.recording import Node, Tree, record_tree

__all__ = [
    "LEVELS",
    "NO_MOVE",
    "Batch",
    "Bits",
    "Choice",
    "ContractError",
    "CutnodeError",
    "Engine",
    "Evaluation",
    "ForcedWin",
    "Game",
    "GameError",
    "Handle",
    "Iterated",
    "Iteration",
    "Line",
    "MatchResult",
    "Node",
    "Optionality",
    "PlainResult",
    "Player",
    "PositionError",
    "Progress",
    "Proof",
    "Prover",
    "Record",
    "Result",
    "SearchResult",
    "Searcher",
    "Sprt",
    "Statistics",
    "Table",
    "TableError",
    "TableUse",
    "Tree",
    "alphabeta",
    "analyse",
    "compiled",
    "count_moves",
    "draw_board",
    "game_names",
    "is_board",
    "iterate",
    "legal_moves",
    "load_game",
    "lowest",
    "lowest_index",
    "make_player",
    "match",
    "minimax",
    "mix",
    "parse_board",
    "perft",
    "play_game",
    "play_texts",
    "popcount",
    "prove_win",
    "quoted",
    "rebuild",
    "record_tree",
    "search",
    "solve",
    "solve_many",
    "to_dot",
    "to_json",
    "to_mermaid",
    "to_svg",
    "without_lowest",
]
