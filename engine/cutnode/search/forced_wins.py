"""The search for forced wins: deepening, limits, the line, and the proof.

A :class:`Prover` runs the compiled search of ``cutnode.kernels.mate`` for one move, two, and so on.
The line and the proof are found afterwards, mostly from the table.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Unpack

from cutnode.compiler.memory import Memory
from cutnode.contract.derived import legal_moves, recurs, require_moves
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import CutnodeError, GameError, require_integer
from cutnode.contract.messages import contract_violation, position_text
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import require_draws
from cutnode.contract.stop import MOVES, NODES, RUNNING
from cutnode.contract.verbs import NO_MOVE, outcome, play, recurrence
from cutnode.kernels.clock import Clock
from cutnode.kernels.mate import mating_dtype, mating_root
from cutnode.kernels.parameters import MOST_MOVES
from cutnode.runtime.running import UNLIMITED, KernelCall, Limits, is_stopped, run
from cutnode.runtime.unpickled import Unpickled
from cutnode.search.board import class_of, given_history, given_position
from cutnode.search.options import LimitKeywords, chosen_moves
from cutnode.search.proofs import Answer, ForcedWin, Proof
from cutnode.search.record import counted_words
from cutnode.search.tablebase_results import value_and_line
from cutnode.storage.tables import Table, holding
from cutnode.tablebases.layer_tables import DISTANCES
from cutnode.tablebases.tablebase import Tablebase

SHORT_NODES = 2_000
"""The nodes of a first attempt in the caller's thread: see ``INLINE_NODES``."""

ATTACKING, REPLYING = True, False


class WinKeywords(LimitKeywords, total=False):
    """Keywords of a search for a forced win."""

    proof: bool
    among: Iterable[int] | None
    history: Sequence[Any]
    progress: Callable[[int, int], None] | None


class Prover(Unpickled):
    """Finds forced wins in positions of one game.

    *game* is a game, a position or a position class; *table* is a :class:`Table` or its size
    in MiB.  Positions in the *tablebase* (or its folder) are looked up there, if it holds distances
    to the end of the game.  Raise :class:`GameError` for games in which players do not strictly
    alternate, with chance or extra turns, and for games in which a repetition is no draw.  One
    thread at a time may use a prover.
    """

    def __init__(
        self,
        game: Any,
        *,
        table: Table | int = 64,
        tablebase: Tablebase | str | os.PathLike[str] | None = None,
    ):
        self.cls: Any = class_of(game)
        require_draws(self.cls, "a search for a forced win")
        for verb, what in (("chance", "chance"), ("turn", "extra turns")):
            if defines(self.cls, verb):
                raise GameError(
                    f"{game_name(self.cls)} has {what}, which the search for forced wins does not "
                    f"support"
                )
        self.tablebase = Tablebase.of(tablebase, self.cls)
        self.table = table if isinstance(table, Table) else Table(table)
        self.memory = Memory(self.cls, mating_dtype(self.cls))
        self.stopped = threading.Event()
        """Set by :meth:`stop`."""
        self._busy = threading.Lock()

    @functools.cached_property
    def run(self) -> Any:
        """The compiled search."""
        return mating_root.specialise(self.cls)

    def prepare(self) -> None:
        """Compile the search now."""
        _ = self.run

    def stop(self) -> None:
        """End the running search, from any thread."""
        self.stopped.set()

    def prove(
        self,
        position: Any,
        moves: int,
        *,
        proof: bool = False,
        among: Iterable[int] | None = None,
        history: Sequence[Any] = (),
        progress: Callable[[int, int], None] | None = None,
        **limits: Unpack[LimitKeywords],
    ) -> ForcedWin:
        """Search for a win within *moves* moves, 1 to 32: see :func:`prove_win`."""
        if type(position) is not self.cls:
            raise GameError(
                f"this prover is for {game_name(self.cls)}, not {game_name(type(position))}"
            )
        require_moves(position)
        if not 1 <= require_integer(moves, "a number of moves") <= MOST_MOVES:
            raise CutnodeError(f"moves must be 1..{MOST_MOVES}, got {moves}")
        checked = Limits(**limits)
        chosen = None if among is None else chosen_moves(position, among)
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this prover is busy: use one for each thread")
        self.stopped.clear()
        try:
            words = counted_words(history, position)
            if chosen is not None and recurs(position):
                words.append(recurrence(position))  # only the quickest win never comes back to it
            if chosen is None and not words and not proof:
                known = self._known(coerce(position), moves)
                if known is not None:
                    return known
            self.prepare()  # before the clock runs
            question = _Question(self, coerce(position), checked, chosen, words)
            return question.run(moves, proof, progress)
        finally:
            self._busy.release()

    def _known(self, position: Any, within: int) -> ForcedWin | None:
        """Return the tablebase's answer for a position; None if it has none."""
        if self.tablebase is None or self.tablebase.kind != DISTANCES:
            return None
        clock = Clock(None)
        found = value_and_line(self.tablebase, position, True)
        if found is None or (found[0] > 0 and self.tablebase.metric != "dtm"):
            return None
        value, line = found
        moves, refuted = None, within
        if value > 0:
            moves = (len(line) + 1) // 2
            refuted = min(within, max(moves - 1, 0))
        if moves is None or moves > within:
            moves, line = None, []
        pv = tuple(line)
        return ForcedWin(position, within, moves, refuted, pv, None, 0, clock.elapsed(), "proven")


def purpose_of(cls: Any, drawing: Sequence[int]) -> int:
    """Return the part of table keys that keeps apart searches with other *drawing* positions."""
    meaning = f"wins of {game_name(cls)} {drawing}".encode()
    return int.from_bytes(blake2b(meaning, digest_size=8).digest(), "little")


class _Ended(Exception):  # noqa: N818
    """The search ended at a limit, which the message names."""


class _Question:
    """One call of a prover: its limits, and what it has found."""

    def __init__(
        self,
        prover: Prover,
        position: Any,
        limits: Limits,
        chosen: list[int] | None,
        words: list[int],
    ):
        self.prover = prover
        self.position = position
        self.limits = limits
        self.stops = [*limits.stops, prover.stopped]
        self.chosen = chosen
        self.drawing = frozenset(words)
        self.clock = Clock(limits.seconds)
        self.first = True
        self.memory = memory = prover.memory
        prover.table.claim(prover.cls)
        memory.fill("killers", NO_MOVE)
        memory.clear(("nodes", "stop"))
        drawing = sorted(self.drawing)
        memory.words["path"][: len(drawing)] = drawing
        memory["before"] = len(drawing)
        memory["purpose"] = purpose_of(prover.cls, drawing)

    def run(
        self, within: int, wanted: bool, progress: Callable[[int, int], None] | None
    ) -> ForcedWin:
        over, value = outcome(self.position)
        moves: int | None = 0 if over and value > 0 else None
        refuted = within if over and value <= 0 else 0
        pv: tuple[int, ...] = ()
        answers: dict[Any, Answer] = {}
        proof: Proof | None = None
        reason = ""
        spent: tuple[int, float] | None = None
        try:
            while moves is None and refuted < within:
                move = self.winning_move(refuted + 1)
                if move != NO_MOVE:
                    moves, pv = refuted + 1, (move,)
                else:
                    refuted += 1
                    if progress is not None:
                        progress(refuted, self.memory["nodes"])
            spent = int(self.memory["nodes"]), self.clock.elapsed()
            if moves:
                for move in self.line(moves, pv):
                    pv = (*pv, move)
                if wanted:
                    self.build(Answer(pv[0], moves), answers)
                    proof = Proof(self.position, answers, self.drawing)
        except _Ended as ended:
            reason = str(ended)
        except KeyboardInterrupt:
            reason = "interrupted"
        spent = spent or (int(self.memory["nodes"]), self.clock.elapsed())
        found = moves, refuted, pv, proof
        return ForcedWin(self.position, within, *found, *spent, reason or "proven")

    def winning_move(self, left: int) -> int:
        """Return a move that wins within *left* moves, or ``NO_MOVE``."""
        if self.chosen is None:
            won = self.ask(self.position, left, ATTACKING, 0)
            return int(self.memory["move"]) if won else NO_MOVE
        for move in self.chosen:
            child = play(self.position, move)
            over, value = outcome(child)
            if value < 0 if over else left > 1 and self.ask(child, left - 1, REPLYING, 1):
                return move
        return NO_MOVE

    def ask(self, position: Any, left: int, attacking: bool, ply: int) -> bool:
        """Run the compiled search on an unfinished position; return whether it is won."""
        memory = self.memory
        limit = min(self.limits.nodes or UNLIMITED, UNLIMITED)

        def search() -> bool:
            first, self.first = self.first, False
            words = self.prover.table.words
            arguments = position, left, attacking, ply, first, memory.argument, words
            return bool(self.prover.run(*arguments))

        if is_stopped(self.stops):
            raise _Ended("stopped")
        if self.clock.is_over(0):
            raise _Ended("time limit")
        call = KernelCall(search, memory, self.clock)
        reason = ""
        memory["stop"] = RUNNING
        memory["node_limit"] = min(limit, int(memory["nodes"]) + SHORT_NODES) - 1
        call.work()
        if memory["stop"] == NODES and int(memory["nodes"]) < limit:
            memory["stop"] = RUNNING
            memory["node_limit"] = limit - 1
            reason = run([call], self.stops)
        if memory["stop"] == MOVES:
            raise contract_violation(memory.position("violation", self.position), MOVES)
        if reason == "interrupted":
            raise KeyboardInterrupt
        if memory["stop"] != RUNNING:
            raise _Ended("node limit" if memory["stop"] == NODES else reason or "stopped")
        return bool(call.answer)

    def distance(self, position: Any, most: int) -> Answer:
        """Return the quickest win from a position that is won within *most* moves."""
        for left in range(1, most + 1):
            if self.ask(position, left, ATTACKING, 1):
                return Answer(int(self.memory["move"]), left)
        raise CutnodeError(
            f"two positions have the same key, one of them {position_text(position)}"
        )

    def line(self, moves: int, first: Sequence[int]) -> Iterator[int]:
        """Yield the quickest win against the longest defence, after its first move."""
        position, move = self.position, first[0]
        while moves > 1:
            position = play(position, move)
            best, longest = Answer(NO_MOVE, 0), NO_MOVE
            for reply in legal_moves(position):
                child = play(position, reply)
                found = Answer(NO_MOVE, 0)
                if not outcome(child)[0]:
                    found = self.distance(child, moves - 1)
                if longest == NO_MOVE or found.moves > best.moves:
                    best, longest = found, reply
            yield longest
            moves, move = best.moves, best.move
            if moves:
                position = play(position, longest)
                yield move

    def build(self, first: Answer, answers: dict[Any, Answer]) -> None:
        """Fill in the answers for a position and for all that follow."""
        answers[self.position] = first
        waiting = [self.position]
        while waiting:
            position = waiting.pop()
            answer = answers[position]
            after = play(position, answer.move)
            for reply in legal_moves(after):
                child = play(after, reply)
                if child not in answers and not outcome(child)[0]:
                    answers[child] = self.distance(child, answer.moves - 1)
                    waiting.append(child)


def prove_win(
    position: Any,
    moves: int,
    *,
    table: Table | int = 64,
    tablebase: Tablebase | str | os.PathLike[str] | None = None,
    **options: Unpack[WinKeywords],
) -> ForcedWin:
    """Search for a forced win of the player to move within *moves* of his own moves.

    "Mate in three" is ``moves=3``.  The answer is exact either way, as far as ``key`` tells
    positions apart.  With *proof*, the result includes a proof of the win.  *among* restricts the
    first move to these moves; after them, a return to *position* is a draw.  *nodes*, *seconds* and
    *stop* limit the whole search.  *history* holds the positions of the game before this one,
    oldest first, whose repetition is a draw.  *progress* is called with each number of moves that
    is refuted, and the nodes so far.  *tablebase* is as for :class:`Prover`.

    Raise :class:`GameError` for games with chance or extra turns, or if a repetition is no draw.
    """
    options["history"] = list(given_history(position, options.get("history", ())))
    position = given_position(position)
    with holding(table) as table:
        return Prover(position, table=table, tablebase=tablebase).prove(position, moves, **options)
