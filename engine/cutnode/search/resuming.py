"""Resumable proofs: a journal of what a long proof has found out below its root.

A solver's table holds, for every position that took work, what is proven about it (for df-pn, its
numbers), and how many nodes that took.  While a proof runs, a thread reads the entries that took
long out of the table and appends the new ones to a file.  A later proof of the same position puts
them into its table first: it finds its earlier answers and is soon where the last one stopped.  The
search itself knows nothing of all this, so a proof with a journal visits the same nodes as without.

Where positions can recur, only df-pn has a journal: its table keeps an answer that depends on the
line of play together with that line, from the root on, and all proofs in a journal have one root.

Several processes can work on one proof.  The first that opens the journal carries it out; others
split the position (:mod:`cutnode.search.splitting`) and prove its subgoals, of which they choose
one at random from the most-proving leaves.  Each puts what the others append into its own table.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.messages import position_text
from cutnode.contract.positions import Packed, coerce
from cutnode.contract.verbs import INFINITE
from cutnode.kernels.clock import Clock
from cutnode.runtime.running import Limits, is_stopped
from cutnode.search.solving import Goal, Solver
from cutnode.search.splitting import Split
from cutnode.search.top import Top
from cutnode.storage.arrays import identity
from cutnode.storage.journal import Journal
from cutnode.storage.tables import Table

SECONDS = 20.0
"""The seconds between two looks at the table; a killed process loses what it proved since."""

MOST_SECONDS = 50.0
"""The most of these seconds, whatever a look takes."""

LOOK_SHARE = 50
"""The seconds between two looks for each second that a look takes: about half of one for a GiB."""

WORK_SECONDS = 0.01
"""The seconds of work from which on an entry is kept."""

FEED_SECONDS = 0.5
"""The seconds after which entries are put back once more, when the search has begun: the table
would first replace entries from before it."""

LEAST_NODES = 256
"""The nodes that an entry took at least, however slow the search is."""

LEAVES = 200
"""The leaves into which a position is split, to estimate how far a proof is and to share it."""

MOST_POSITIONS = 20_000
"""The most positions above these leaves."""

CHOICE = 8
"""The most-proving leaves of which a helping process chooses one."""

BAND = 12.0
"""The factor by which the remaining time may be shorter or longer than estimated.  Of 52 estimates
during proofs of Connect Four on 4x12, 4x13 and 5x9 boards, 35 were within a factor of 4 and 50
within one of 12; the other two were made when 4 % and 99 % of the nodes were done."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """How far a proof is."""

    share: float
    """The share of the current question that is answered, by a rough estimate."""
    left: tuple[float, float] | None
    """The seconds left for the question, at least and at most; None as long as nothing is known."""

    def __str__(self) -> str:
        if self.left is None:
            return f"{self.share:.0%} of the question"
        low, high = (duration(seconds) for seconds in self.left)
        return f"{self.share:.0%} of the question, {low} to {high} left"


class ProofJournal:
    """The file of what is proven below a position, open for more.

    A record is an array of pairs of words: first a number for the process that wrote it and its
    nodes so far, then entries of a solver's table, each a scattered key and its data.

    :class:`GameError` if proofs by the *engine* have none; :class:`CutnodeError` if the file is not
    a journal, belongs to another proof (the message says how it differs), or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], position: Any, engine: str | None = None):
        cls: Any = type(position)
        require_journal(cls, engine)
        self.position = coerce(position)
        self._known = np.zeros(0, np.uint64)  # a word for each entry in the file, sorted
        self._found: list[np.ndarray] = [np.zeros((0, 2), np.uint64)]
        self._nodes: dict[int, int] = {}  # of each process that had the file open
        self.process = random.SystemRandom().getrandbits(64)
        """A number for this process, in its records."""
        about = {"job": "proof", **identity(cls), "position": position_text(position)}
        self.file = Journal(path, about, self._take, shared=True)
        self.restored = sum(map(len, self._found))
        """The entries that the file held when it was opened."""

    @property
    def first(self) -> bool:
        """Whether this process carries out the proof, and does not help another."""
        return self.file.first

    @property
    def nodes_before(self) -> int:
        """The nodes of earlier proofs and of other processes."""
        return sum(nodes for each, nodes in self._nodes.items() if each != self.process)

    def note(self) -> str:
        """Return in words what the file held."""
        found = "new"
        if self.restored:
            found = f"{self.restored:,} entries from {self.nodes_before:,} nodes restored"
        if self.file.damaged:
            found += f", {self.file.damaged:,} bytes of unfinished or damaged records dropped"
        return found

    def _take(self, record: bytes) -> None:
        rows = np.frombuffer(record, np.uint64).reshape(-1, 2)
        process, nodes = rows[0].tolist()
        self._nodes[process] = max(nodes, self._nodes.get(process, 0))
        self._found.append(rows[1:])

    def news(self) -> np.ndarray:
        """Return the entries that other processes appended since the last call."""
        self.file.read(self._take)
        rows = np.concatenate(self._found)
        del self._found[1:]
        return self._unknown(rows)

    def append(self, entries: np.ndarray, nodes: int) -> np.ndarray:
        """Append the entries that are new, and the nodes so far; return those entries."""
        entries = self._unknown(entries)
        about = np.array([[self.process, nodes]], np.uint64)
        self.file.append(np.concatenate([about, entries]).tobytes())
        return entries

    def _unknown(self, rows: np.ndarray) -> np.ndarray:
        """Return the entries that are not known to be in the file, and note that they are."""
        words = rows[:, 0] + rows[:, 1] * np.uint64(0x9E3779B97F4A7C15)
        words, firsts = np.unique(words, return_index=True)
        if len(self._known):
            at = np.minimum(np.searchsorted(self._known, words), len(self._known) - 1)
            new = self._known[at] != words
            words, firsts = words[new], firsts[new]
        self._known = np.union1d(self._known, words)
        return rows[np.sort(firsts)]

    def __enter__(self) -> ProofJournal:
        return self

    def __exit__(self, *failure: object) -> None:
        self.file.close()


class Resumption:
    """A proof that is resumed from a journal, with a *table* and an *engine*."""

    def __init__(self, journal: ProofJournal, table: Table, engine: str, goal: Goal):
        self.journal = journal
        self.table = table
        self.engine = engine
        self.goal = goal
        self.outlook: Outlook | None = None
        """How far the proof is; None if that is unknown."""
        self.helped = 0
        """The nodes of subgoals proven for another process."""
        self._split: Split | None = None
        self._others = journal.news()  # entries that this process did not prove
        self._seen = 0  # how many of these are in the split
        self._failure: BaseException | None = None
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def keeping(
        self, progress: Callable[[], tuple[int, int | None, int | None]], stop: Callable[[], None]
    ) -> Iterator[None]:
        """Keep what is proven while the block runs; *stop* ends the proof if that fails."""
        self.table.claim(type(self.journal.position))
        self.table.put_back(self._others)
        done = threading.Event()
        clock = Clock(None)

        def work() -> None:
            wait = FEED_SECONDS
            try:
                while not done.wait(wait):
                    began = clock.elapsed()
                    if wait == FEED_SECONDS:
                        self.table.put_back(self._others, during=True)
                    else:
                        self.look(progress()[0], began)
                    wait = max(SECONDS, min(LOOK_SHARE * (clock.elapsed() - began), MOST_SECONDS))
            except BaseException as failure:
                self._failure = failure
                stop()

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            if self._failure is not None:
                raise self._failure

    def look(self, nodes: int, seconds: float) -> None:
        """Append the entries that took long, and take in what others appended."""
        nodes += self.helped
        with self._lock:
            self._take_news()
            entries = self._others[:0]
            if nodes:
                least = max(nodes / max(seconds, 1e-3) * WORK_SECONDS, LEAST_NODES)
                work = int(math.log2(least))
                entries = self.journal.append(self.table.entries(work), nodes)
                self.journal.file.sync(now=True)
            self.table.put_back(self._others, during=True)
            if self.engine == "alphabeta" and self.goal.at_least is None:
                self._estimate(entries, nodes, seconds)

    def _take_news(self) -> None:
        self._others = np.concatenate([self._others, self.journal.news()])

    def _estimate(self, entries: np.ndarray, nodes: int, seconds: float) -> None:
        """Renew the outlook with new entries."""
        if self._split is None:
            self._split = split_of(self.journal.position, weak=self.goal.weak)
        self._split.restore(np.concatenate([self._others[self._seen :], entries]))
        self._seen = len(self._others)
        share = self._split.share()
        left = None
        if 0 < share < 1 and nodes:
            worked = seconds * (self.journal.nodes_before + nodes) / nodes
            estimate = worked * (1 - share) / share
            left = estimate / BAND, estimate * BAND
        self.outlook = Outlook(share, left)

    def help(self, solver: Any, limits: Limits) -> None:
        """Prove subgoals until the position is proven, here or elsewhere, or a limit is reached.

        :class:`CutnodeError` if only one process can carry out such a proof.
        """
        goal = self.goal
        if not isinstance(solver, Solver) or goal.scores or goal.at_least is not None:
            raise CutnodeError(
                f"the journal {self.journal.file.path} is in use: several processes can only share "
                f"the proof of a value by alpha-beta"
            )
        clock, random_leaf = Clock(limits.seconds), random.Random(self.journal.process)
        split = split_of(self.journal.position, weak=goal.weak)
        leaves = Packed(split.top.words, self.journal.position)
        seen = 0
        while True:
            with self._lock:
                self._take_news()
                split.restore(self._others[seen:])
                seen = len(self._others)
            left = None if limits.nodes is None else max(limits.nodes - self.helped, 0)
            if split.done or clock.is_over(0) or is_stopped(limits.stops) or left == 0:
                return
            taken = split.take(CHOICE)
            leaf, asked = random_leaf.choice(taken)
            for each, _ in taken:
                split.put_back(each)
            most = SECONDS if limits.seconds is None else max(min(SECONDS, clock.left()), 1e-3)
            result = solver.prove(
                Goal(leaves[leaf : leaf + 1][0], False),
                Limits(left, most, limits.stop),
                (asked - 1, asked),
                line=0,
            )
            self.helped += result.nodes
            if result.reason in ("interrupted", "stopped"):
                return
            if result.value is not None:
                yes = result.value == asked
                split.take_answer(leaf, *((asked, INFINITE) if yes else (-INFINITE, asked - 1)))


def require_journal(cls: Any, engine: str | None) -> None:
    """Raise :class:`GameError` if proofs of a game by an engine have no journal."""
    if is_plain(cls):
        raise GameError(f"{game_name(cls)} is plain Python: a journal needs a compiled game")
    for verb, reason in (("reversible", "repetition"), ("drawn", "draws by rule")):
        if defines(cls, verb) and engine != "pn":
            raise GameError(f"{game_name(cls)} has {reason}: a journal needs engine=pn (df-pn)")


def split_of(position: Any, *, weak: bool = False) -> Split:
    """Split a position into some hundred leaves, or as many as it has."""
    top = Top(position, 1, 1 << 30)
    for plies in range(2, 64):
        if top.leaves.stop - top.leaves.start >= LEAVES or top.plies > len(top.layers):
            break
        try:
            top = Top(position, plies, MOST_POSITIONS)
        except CutnodeError:
            break
    return Split(top, weak=weak)


def duration(seconds: float) -> str:
    """Return a number of seconds in words, such as ``2 h``."""
    for size, unit in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
