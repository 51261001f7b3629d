"""The compiled depth-limited search, as one thread uses it."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from cutnode.compiler.jit import Kernel
from cutnode.compiler.memory import Memory
from cutnode.compiler.rules import as_plain_python
from cutnode.contract.dispatch import defines, game_name, is_plain, longest_line, value_limit
from cutnode.contract.errors import GameError
from cutnode.contract.stop import CALLED, counts_turns
from cutnode.contract.verbs import NO_MOVE, outcome
from cutnode.kernels import chance_table
from cutnode.kernels.chance import chance_root
from cutnode.kernels.evaluation import kept_bytes
from cutnode.kernels.node import COUNTERS, LATE_COUNTS, PREPARE_TABLE, QUIET_COUNTS, search_dtype
from cutnode.kernels.outside import require_hooks
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.kernels.profiles import profile_of
from cutnode.kernels.scores import WIN, final_score, is_decisive, limited
from cutnode.kernels.search import search_root
from cutnode.kernels.table import ENTRY_WORDS
from cutnode.kernels.techniques import checked_parameters, choose, outside, technique_of
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.options import SearcherOptions, SearchOptions
from cutnode.search.record import counted_words
from cutnode.storage.evaluations import chosen_evaluation
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase


class CompiledSearch:
    """The compiled search of one thread: its kernel, its memory, and a table.

    The kernel is compiled at once if *ready* is true, else by the first search.  An *interpreted*
    one runs as plain Python, and only the rules are compiled.
    """

    def __init__(
        self,
        cls: Any,
        options: SearcherOptions,
        table: Table | int,
        workers: Workers = SHARED_WORKERS,
        *,
        ready: bool = True,
        interpreted: bool = False,
    ):
        self.cls = cls
        self.interpreted = interpreted
        self.driver = options.driver
        self.debug = options.debug
        self.has_chance = defines(cls, "chance")
        if self.has_chance and self.driver != "alphabeta":
            raise GameError(f"{game_name(cls)} has chance, which {self.driver} does not support")
        if self.debug and not self.has_chance:
            raise GameError(f"{game_name(cls)} has no chance, so debug has nothing to check")
        self.evaluation = chosen_evaluation(cls, options.evaluation)
        self.techniques = choose(cls, options.techniques, exact=options.exact)
        self.outside = outside(self.techniques)
        require_hooks(self.outside, plain=is_plain(cls))
        self.parameters = checked_parameters(options.parameters or {}, self.techniques)
        self.tablebase = Tablebase.of(options.tablebase, cls)
        self.options = replace(options, techniques=self.techniques, tablebase=self.tablebase)
        self.exact = all(technique_of(name).exact for name in self.techniques)
        if self.has_chance:
            self.exact = options.exact or "table" not in self.techniques
        self.win = WIN if is_decisive(cls) else 0
        self.step = int(bool(options.soonest))
        self.turns = counts_turns(options.depth_in)
        self.workers = workers
        if ready:
            self.prepare()
        self.table = table if isinstance(table, Table) else Table(table)
        self.memory = Memory(cls, search_dtype(cls, self.outside), interpreted)
        self.words = self.memory.words
        self.stopped = threading.Event()
        """Set by :meth:`stop`."""
        self._set_up()
        CompiledSearch.unlearn(self)

    @property
    def root(self) -> Kernel:
        """The kernel, for positions of any class."""
        return chance_root if self.has_chance else search_root

    @functools.cached_property
    def kernel(self) -> Callable[..., Any]:
        if self.interpreted:
            return as_plain_python(self.root, self.cls)
        return self.root.specialise(self.cls, self.evaluation, self.outside)

    def prepare(self, options: SearchOptions | None = None) -> None:
        """Compile now what searches with some *options* need, or all searches.

        Raise :class:`GameError` if the rules do not compile.
        """
        _ = self.kernel

    def claim_table(self) -> None:
        """Empty the table if it holds another game's entries, or entries of another size."""
        entry_words = chance_table.ENTRY_WORDS if self.has_chance else ENTRY_WORDS
        self.table.claim(self.cls, entry_words)

    def _set_up(self) -> None:
        """Write into the memory what stays the same for all searches."""
        words = self.words
        words["plies"][0] = longest_line(self.cls)
        words["win"][0], words["step"][0], words["exact"][0] = self.win, self.step, self.exact
        words["turns"][0] = self.turns
        words["purpose"][0] = self._purpose()
        for name in self.techniques:
            words[f"use_{name}"][0] = 1
        profile = profile_of(self.cls).suited_to(self.techniques)
        numbers = profile.fields(self.cls, self.outside, self.parameters)
        for name, value in numbers.items():
            words[name][0] = value
        base, divisor = (numbers[f"late_move_reductions_{name}"] for name in ("base", "divisor"))
        words["lmr_reductions"][:] = reductions(base, divisor)
        self.reset_frontier()
        # Room for the children of the last ply, which a search may evaluate, for tests that reach
        # beyond it, and for one entry before the root.
        self._kept = aligned((longest_line(self.cls) + 5) * kept_bytes(self.evaluation))
        words["kept"][0] = self._kept.ctypes.data
        if self.tablebase is not None:
            self.tablebase.lend(words)
        if self.has_chance:
            words["debug"][0] = self.debug
            words["value_limit"][0] = value_limit(self.cls)
            words["most"][0] = self.win or value_limit(self.cls)

    def _purpose(self) -> int:
        """Return a word that goes into table keys, so that scores of unlike searches do not mix."""
        selective = () if self.exact else sorted(map(self._meaning, self.techniques))
        symmetry = "symmetry" in self.techniques
        meaning = [self.evaluation.meaning, self.step, self.turns, symmetry, selective]
        if self.tablebase is not None:
            meaning.append(self.tablebase.name)
        if self.parameters and not self.exact:
            meaning.append(str(sorted(self.parameters.items())))
        name = f"{game_name(self.cls)} {tuple(meaning)}"
        return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")

    def _meaning(self, name: str) -> str:
        """Return a technique's name, with a digest of its code if it is not the engine's own."""
        technique = technique_of(name)
        return f"{name} {technique.digest()}" if technique in self.outside else technique.key

    def clone(self) -> CompiledSearch:
        """Return another search with the same options and the same table."""
        return CompiledSearch(self.cls, self.options, self.table, self.workers, ready=False)

    def call(self, position: Any, low: float, high: float, depth: int, first: int) -> float:
        """Search a position once within a window; a *first* call starts an age of the table."""
        kind = float if self.has_chance else int
        memory, table = self.memory.argument, self.table.words
        return self.kernel(  # type: ignore[no-any-return]
            position, self.evaluation, kind(low), kind(high), depth, first, memory, table
        )

    def open_table(self, example: Any) -> None:
        """Make the table ready for several threads; *example* is any position of the class."""
        self.call(example, 0, 1, 0, PREPARE_TABLE)

    def estimate(self, position: Any) -> float:
        """Return a position's static evaluation as a score; exact if the game is over."""
        over, final = outcome(position)
        if over:
            value = final_score(final, 0, self.win, self.step)
        else:
            value = limited(self.evaluation(position), self.win)
        return float(value) if self.has_chance else int(value)

    def stop(self) -> None:
        """End the running search, from any thread; it returns its best so far at once."""
        self.stopped.set()
        self.memory["stop"] = CALLED

    def remember(self, history: Sequence[Any], position: Any) -> None:
        """Tell the kernel which positions of the game so far count if they occur again."""
        words = counted_words(history, position) if history else []
        if words:
            self.words["path"][: len(words)] = words
        self.words["before"][0] = len(words)

    def outside_counts(self) -> dict[str, int]:
        """Return the counters of techniques from outside the engine."""
        return {
            f"{technique.name}.{name}": int(self.memory[technique.field(name)])
            for technique in self.outside
            for name in technique.counters
        }

    def count_from_zero(self) -> None:
        """Set all counters to zero, before a search begins."""
        self.memory.clear(COUNTERS)
        self.memory.clear(QUIET_COUNTS)
        for technique in self.outside:
            for name in technique.counters:
                self.memory[technique.field(name)] = 0

    def reset_frontier(self) -> None:
        """Set the frontier to where a search begins with it."""
        # Techniques from outside the engine have hooks that every node calls.
        used = "frontier" in self.techniques and not self.outside
        self.memory["frontier"] = self.memory["frontier_depth"] if used else 0

    def unlearn(self) -> None:
        """Forget what earlier searches learned about moves; the table keeps its entries."""
        for name in ("history", "history_weight", "continuation_history"):
            self.memory.fill(name, 0)
        self.memory.clear(LATE_COUNTS)
        for name in ("killers", "countermoves"):
            self.memory.fill(name, NO_MOVE)
        for technique in self.outside:
            for name in technique.memory:
                self.memory.fill(technique.field(name), 0)


def aligned(size: int) -> Any:
    """Return *size* bytes of zeroed memory whose address is a multiple of 64."""
    memory = np.zeros(size + 64, np.uint8)
    return memory[-memory.ctypes.data % 64 :]


@functools.cache
def reductions(base: float, divisor: float) -> list[int]:
    """Return late move reductions in plies, indexed by ``depth * 64 + move number``."""
    less = [0] * ((MOST_DEPTH + 1) * 64)
    for depth in range(1, MOST_DEPTH + 1):
        for number in range(1, 64):
            less[depth * 64 + number] = int(base + math.log(depth) * math.log(number) / divisor)
    return less
