"""The contents of an export: kernels, their data, and the layout of their memories for C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from cutnode.compiler.parts import part_of
from cutnode.contract.choices import EXPORTED
from cutnode.contract.dispatch import defines, game_constant, game_name, value_limit
from cutnode.contract.errors import GameError
from cutnode.contract.loading import Game
from cutnode.contract.notation import board_of
from cutnode.contract.positions import as_words, coerce, words_each
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import INFINITE, MOVES_ROOM, NO_MOVE
from cutnode.export.assembly import Entry
from cutnode.export.rules import (
    ABOUT,
    describe,
    list_moves,
    make_move,
    meet_outcome,
    read_cells,
    scout_depth,
)
from cutnode.kernels import mate, playout_tree, playouts, solver
from cutnode.kernels.batch_search import CONTROL, result_dtype, search_batch
from cutnode.kernels.chance import chance_root
from cutnode.kernels.evaluation import kept_bytes
from cutnode.kernels.learned import Learned
from cutnode.kernels.mate import mating_root
from cutnode.kernels.monte_carlo import search_tree
from cutnode.kernels.node import search_dtype
from cutnode.kernels.parameters import (
    MOST_BEFORE,
    MOST_DEPTH,
    MOST_MOVES,
    SCOUTING_NODES,
    SCOUTING_SHARE,
)
from cutnode.kernels.playout_tree import copy_tree, visits_kept
from cutnode.kernels.playouts import ESTIMATE_UNIT
from cutnode.kernels.reference import perft_node, plain_dtype
from cutnode.kernels.scores import MOST_ESTIMATE, WIN, is_decisive
from cutnode.kernels.search import search_root
from cutnode.kernels.solver import solve_batch
from cutnode.kernels.table import COLD
from cutnode.kernels.tablebase_scores import FAR
from cutnode.playing.players import full_width
from cutnode.runtime.running import UNLIMITED
from cutnode.search import forced_wins, solving
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.playout_tree import PARTS
from cutnode.search.searcher import Searcher
from cutnode.search.solving import solver_memory
from cutnode.storage.evaluations import chosen_evaluation

MOST_MIB = 1 << 16
SPACES = 2
"""The spaces for nodes of a tree: one in use, one to copy it to."""


@dataclass
class Contents:
    """The contents of an export."""

    entries: list[Entry] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    """Arrays by name."""
    macros: dict[str, Any] = field(default_factory=dict)
    """The constants of C, in their order."""

    def header(self) -> str:
        """Return the constants as a header of C."""
        lines = [f"#define {name} {value}".rstrip() for name, value in self.macros.items()]
        return "/* Generated: the layout of the memories of kernels. */\n" + "\n".join(lines) + "\n"

    def add_fields(self, name: str, dtype: np.dtype[Any]) -> None:
        """Add the size of a record, and the offsets of its fields."""
        self.macros[f"{name}_SIZE"] = dtype.itemsize
        for part, (_, offset, *_) in (dtype.fields or {}).items():
            self.macros[f"AT_{name}_{part.upper()}"] = offset


def parts_of(cls: Any) -> list[str]:
    """Return the parts that a game's export can have: names in ``EXPORTED``."""
    alternates = not defines(cls, "chance") and not defines(cls, "turn")
    suits = {"solve": not defines(cls, "chance"), "mate": alternates}
    return [name for name in EXPORTED if suits.get(name, True)]


def require_parts(cls: Any, asked: list[str]) -> list[str]:
    """Return the parts to export: those *asked* for, or all.

    :class:`GameError` if the game cannot have one of them.
    """
    possible = parts_of(cls)
    for name in asked:
        if name not in possible:
            raise GameError(
                f"{game_name(cls)} cannot be exported with --{name}: it has chance, or players "
                f"who move several times in a row"
            )
    return asked or possible


def contents_of_export(game: Game, parts: list[str]) -> Contents:
    """Compile the kernels for some *parts* of a game, and collect their data.

    The process must have called :func:`cutnode.compiler.parts.export_kernels`.
    """
    start = coerce(game.start())
    cls: Any = type(start)
    evaluation = chosen_evaluation(cls, None)
    found = Contents()
    _add_constants(found, cls, evaluation, parts)
    found.data["start"] = np.asarray(as_words([start]), np.uint64)
    _add_rules(found, cls)
    if "search" in parts:
        _add_search(found, cls, evaluation)
    if "solve" in parts:
        _add_solver(found, cls)
    if "mate" in parts:
        _add_mate(found, cls)
    if "mcts" in parts:
        _add_playouts(found, cls, evaluation)
    return found


def _add(found: Contents, kernel: Any, cls: Any, evaluation: Any = None) -> None:
    weights = "weights" if isinstance(evaluation, Learned) else ""
    found.entries.append(Entry(kernel.function.__name__, part_of(kernel, cls, evaluation), weights))


def _add_constants(found: Contents, cls: Any, evaluation: Any, parts: list[str]) -> None:
    limit = value_limit(cls)
    board = board_of(cls)
    most = game_constant(cls, "MAX_MOVES", 256)
    seal = blake2b(f"{game_name(cls)} {cls.__qualname__}".encode(), digest_size=8).hexdigest()
    found.macros |= {
        "CUTNODE_WORDS": words_each(cls),
        "CUTNODE_MOST_MOVES": most,
        "CUTNODE_MOST_PLIES": game_constant(cls, "MAX_PLIES", 512),
        "CUTNODE_MOST_LINE": min(game_constant(cls, "MAX_PLIES", 512), 512),
    }
    if board is not None:
        found.macros["CUTNODE_CELLS"] = len(board.places)
    names = {"search": "SEARCH", "solve": "SOLVE", "mate": "MATE", "mcts": "PLAYOUTS"}
    found.macros |= {f"HAS_{names[part]}": "" for part in parts}
    found.macros |= {
        "HAS_TURNS": int(defines(cls, "turn")),
        "HAS_CHANCE": int(defines(cls, "chance")),
        "IS_DECISIVE": int(is_decisive(cls)),
        "IS_WON_OR_LOST": int(bool(game_constant(cls, "DECISIVE", 0))),
        "MOVES_ROOM": most + MOVES_ROOM,
        "REPETITIONS": game_constant(cls, "REPETITIONS", 2),
        "MOST_BEFORE": MOST_BEFORE,
        "MOST_DEPTH": MOST_DEPTH,
        "MOST_WIN": MOST_MOVES,
        "MOST_VALUE": int(limit),
        "MOST_MIB": MOST_MIB,
        "UNLIMITED": f"INT64_C({UNLIMITED})",
        "INFINITE": INFINITE,
        "SEAL": f"UINT64_C(0x{seal})",
        "TABLE_COLD": COLD,
        "VALUE_LIMIT": float(limit),
        "LIMIT_ROUNDED": -int(-limit // 1),
        "FAR_WIN": float(WIN - FAR),
        "MOST_ESTIMATE": float(MOST_ESTIMATE),
        "UNIT": float(game_constant(cls, "UNIT", ESTIMATE_UNIT)),
        "SHORT_NODES": solving.SHORT_NODES,
        "SHORT_MATE_NODES": forced_wins.SHORT_NODES,
        "SCOUTING_NODES": SCOUTING_NODES,
        "SCOUTING_SHARE": SCOUTING_SHARE,
        "KEPT_BYTES": 0,
        **{
            f"{name}_SIZE": 0 for name in ("SEARCH", "SOLVER", "MATE", "TREE", "NODE", "ARM", "SUM")
        },
    }
    found.add_fields("ABOUT", ABOUT)
    found.add_fields("PLAIN", plain_dtype(cls))
    found.add_fields("FOUND", result_dtype(cls))
    found.add_fields("CONTROL", CONTROL)
    found.add_fields("ROW", solver.result_dtype(cls))
    found.macros["ROWS_SIZE"] = result_dtype(cls).itemsize + 2 * solver.result_dtype(cls).itemsize
    found.macros["GUESS_NONE"] = INFINITE
    if isinstance(evaluation, Learned) and {"search", "mcts"} & {*parts}:
        words, places = evaluation.relocatable()
        found.data["weights"] = words
        pairs = [number for place in places.items() for number in place]
        found.data["places"] = np.array([len(places), *pairs], np.uint64)
        found.macros["HAS_WEIGHTS"] = ""


def _add_rules(found: Contents, cls: Any) -> None:
    for kernel in (describe, list_moves, make_move):
        _add(found, kernel, cls)
    if defines(cls, "chance"):
        _add(found, meet_outcome, cls)
    if board_of(cls) is not None:
        _add(found, read_cells, cls)
    _add(found, perft_node, cls)
    plain = _Image(plain_dtype(cls))
    plain["plies"], plain["finished"], plain["stop"] = (
        found.macros["CUTNODE_MOST_PLIES"],
        0,
        RUNNING,
    )
    found.data["plain_image"] = plain.runs()


def _add_search(found: Contents, cls: Any, evaluation: Any) -> None:
    root = chance_root if defines(cls, "chance") else search_root
    part_of(root, cls, evaluation)  # a kernel that calls another one finds it compiled
    _add(found, search_batch, cls, evaluation)
    found.add_fields("SEARCH", search_dtype(cls, ()))
    found.macros["KEPT_BYTES"] = found.macros["CUTNODE_MOST_PLIES"] * kept_bytes(evaluation)
    choices: Mapping[str, dict[str, Any]] = {
        "search": {},
        "full_width": {"techniques": full_width(cls)},
        "exact": {"exact": True},
    }
    for name, options in choices.items():
        searcher = Searcher(cls, table=1, ready=False, **options)
        found.macros["KEPT_BYTES"] = searcher._kept.nbytes
        searcher.memory["kept"] = 0
        found.data[f"{name}_image"] = _runs(searcher.memory.argument)


def _add_solver(found: Contents, cls: Any) -> None:
    _add(found, solve_batch, cls)
    found.add_fields("SOLVER", solver.search_dtype(cls))
    found.data["solver_image"] = _runs(solver_memory(cls).argument)
    if defines(cls, "scout"):
        found.macros["HAS_SCOUT"] = ""
        _add(found, scout_depth, cls)


def _add_mate(found: Contents, cls: Any) -> None:
    _add(found, mating_root, cls)
    dtype = mate.mating_dtype(cls)
    found.add_fields("MATE", dtype)
    image = _Image(dtype)
    image["killers"] = NO_MOVE
    image["purpose"] = forced_wins.purpose_of(cls, [])
    found.data["mate_image"] = image.runs()


def _add_playouts(found: Contents, cls: Any, evaluation: Any) -> None:
    _add(found, search_tree, cls, evaluation)
    _add(found, copy_tree, cls)
    _add(found, visits_kept, cls)
    found.add_fields("TREE", playouts.playout_dtype(cls))
    for name, dtype in zip(("NODE", "ARM", "SUM"), PARTS, strict=True):
        found.add_fields(name, dtype)
    found.macros["LEAST_TREE"] = 4 * (game_constant(cls, "MAX_MOVES", 256) + playout_tree.CHUNK)
    search = MonteCarlo(cls, memory=64 << 20, ready=False)
    (memory,) = search.memories
    memory["lowest"], memory["highest"] = 1e9, -1e9
    found.data["tree_image"] = _runs(memory.argument)


# Images of memories


class _Image:
    """A zeroed memory of a kernel, whose fields can be set."""

    def __init__(self, dtype: np.dtype[Any]):
        self.memory = np.zeros(1, dtype)

    def __setitem__(self, name: str, value: Any) -> None:
        self.memory[name] = value

    def runs(self) -> Any:
        return _runs(self.memory[0])


def _runs(record: Any) -> Any:
    """Return a memory as runs of equal words: place, length and word of each; zeros are left out.

    A run of length 0 ends the list.
    """
    words = np.frombuffer(record.tobytes(), np.uint64)
    begins = np.flatnonzero(np.diff(words, prepend=words[:1] ^ np.uint64(1)))
    lengths = np.diff(begins, append=len(words))
    runs = np.stack([begins.astype(np.uint64), lengths.astype(np.uint64), words[begins]], axis=1)
    return np.vstack([runs[runs[:, 2] != 0], np.zeros((1, 3), np.uint64)])
