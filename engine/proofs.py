"""Wins by force: in how few moves, by which line, and the proof of it.

:func:`prove_win` runs the search of ``engine.mating`` for one move, two, and so on.  The proof is
built afterwards, with what is then in the table: an answer to every reply.  It is data, and
:meth:`Proof.verify` looks at it by the rules of the game alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from engine.clock import Clock
from engine.contract import (
    NO_MOVE,
    defines,
    drawn,
    game_name,
    legal_moves,
    outcome,
    play,
    recurrence,
    recurs,
)
from engine.errors import CutnodeError, GameError, whole
from engine.limits import MOVES, NODES, RUNNING
from engine.mating import MOST_MOVES, mating_dtype, mating_root
from engine.memory import Memory
from engine.people import accusation, move_text, position_text
from engine.positions import coerce
from engine.results import line_text
from engine.runner import UNLIMITED, Limits, run_watched
from engine.searcher import chosen_moves, class_of, drawing_words
from engine.table import ENTRY_WORDS, Table

__all__ = ["ForcedWin", "Proof", "Prover", "prove_win"]

SHORT_NODES = 2_000
"""What is answered in fewer nodes is answered in the caller's thread: see ``INLINE_NODES``."""

ATTACKING, REPLYING = True, False


@dataclass(frozen=True, slots=True)
class ForcedWin:
    """Whether the player to move wins within so many of his own moves, whatever is replied.

    Within *n* moves is within ``2 * n - 1`` plies.
    """

    position: Any
    within: int
    """The moves that were asked for."""
    moves: int | None
    """The fewest moves in which the win can be forced; None if none was found.  0 if the game
    is won already."""
    refuted: int
    """Within so many moves there is no win: proven."""
    pv: tuple[int, ...]
    """The quickest win against the longest defence."""
    proof: Proof | None
    """If there is a win and its proof was asked for."""
    nodes: int
    seconds: float
    """To the answer; the line and the proof are found afterwards."""
    reason: str
    """Why it ended: proven, or what ended it before all was done that was asked for, the line and
    the proof included: node limit, time limit, stopped, or interrupted."""

    @property
    def proven(self) -> bool:
        """Whether the question is answered, either way."""
        return self.moves is not None or self.refuted >= self.within

    @property
    def best_move(self) -> int | None:
        """The move that wins."""
        return self.pv[0] if self.pv else None

    @property
    def nodes_per_second(self) -> float:
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    def meaning(self) -> str:
        """The answer in words."""
        if self.moves == 0:
            return "the player to move has won"
        if self.moves is not None:
            return f"the player to move wins in {counted(self.moves)}"
        if self.proven:
            return f"no win within {counted(self.within)}"
        if self.refuted:
            return f"no win within {counted(self.refuted)}, then unknown ({self.reason})"
        return f"unknown ({self.reason})"

    def line_text(self) -> list[str]:
        """The line in the game's own notation."""
        return line_text(self.position, self.pv)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with positions and moves in the game's own notation."""
        line = self.line_text()
        return {
            "game": game_name(type(self.position)),
            "position": position_text(self.position),
            "within": self.within,
            "moves": self.moves,
            "refuted": self.refuted,
            "proven": self.proven,
            "best_move": line[0] if line else None,
            "pv": line,
            "proof": None if self.proof is None else self.proof.to_dict(),
            "nodes": self.nodes,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        lines = [f"win    {self.meaning()}"]
        if self.pv:
            lines.append(f"line   {' '.join(self.line_text())}")
        rate = f"{self.nodes_per_second:,.0f} per second"
        lines.append(f"nodes  {self.nodes:,} in {self.seconds:.3g} s ({rate})")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the attacker plays in a position, and in how many moves he so wins."""

    move: int
    moves: int


@dataclass(frozen=True, slots=True)
class Proof:
    """That a position is won within so many moves: an answer to everything.

    ``len`` is the number of positions with an answer.  A position that is reached in several
    ways is there once.
    """

    position: Any
    answers: Mapping[Any, Answer]
    """For each position in which the attacker moves, if he plays so; the proven one first."""
    barred: frozenset[int] = frozenset()
    """The words (``recurrence``) of positions of the game before, which are a draw now."""

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def moves(self) -> int:
        return self.answers[self.position].moves

    def replies(self, position: Any) -> list[tuple[int, Any]]:
        """The replies to the answer in a position, with where they lead; longest defence first."""
        after = play(position, self.answers[position].move)
        found = [(reply, play(after, reply)) for reply in legal_moves(after)]
        return sorted(found, key=lambda reply: -self._moves_from(reply[1]))

    def _moves_from(self, position: Any) -> int:
        return self.answers[position].moves if position in self.answers else 0

    def verify(self) -> None:
        """Look at all of it by the rules alone; :class:`CutnodeError` says what is wrong, if it is.

        Every answer is a legal move, every reply to it has an answer or ends the game with a win
        of the attacker, no line is longer than is said, and no draw by a rule or by
        repetition comes first.
        """
        waiting, seen = [self.position], {self.position}
        words: dict[int, list[Any]] = {}
        while waiting:
            position = waiting.pop()
            answer = self._checked(position)
            after = play(position, answer.move)
            self._refuse_draw(after)
            for reply in legal_moves(after):
                child = play(after, reply)
                over, value = outcome(child)
                if over and value > 0:
                    continue
                if over:
                    raise self._wrong(child, "it is over, and not won")
                self._refuse_draw(child)
                if child not in self.answers:
                    raise self._wrong(child, "there is no answer")
                if self.answers[child].moves >= answer.moves:
                    raise self._wrong(child, "the win is no nearer than it was")
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
            if recurs(position):
                for met in (position, after):
                    words.setdefault(recurrence(met), []).append(position)
        for group in words.values():
            self._refuse_repetition(group)

    def _checked(self, position: Any) -> Answer:
        """The answer in a position, which is a legal move, and wins at once if it says so."""
        answer = self.answers[position]
        if outcome(position)[0] or answer.move not in legal_moves(position):
            raise self._wrong(position, "the answer is not a legal move")
        over, value = outcome(play(position, answer.move))
        least = 1 if over else 2
        if (over and value >= 0) or answer.moves < least:
            raise self._wrong(position, f"it is not won in {counted(answer.moves)}")
        return answer

    def _refuse_draw(self, position: Any) -> None:
        if outcome(position)[0]:
            return
        if drawn(position):
            raise self._wrong(position, "it is drawn by a rule")
        if self.barred and recurrence(position) in self.barred:
            raise self._wrong(position, "it is drawn by repetition")

    def _refuse_repetition(self, group: list[Any]) -> None:
        """Fail if of positions that are the same for a repetition one can follow another.

        With each move the win is nearer, so it can only if it is less far from there.
        """
        for position in group:
            nearest = min(self.answers[other].moves for other in group)
            waiting = [position] if self.answers[position].moves > nearest else []
            seen = set(waiting)
            while waiting:
                for _, child in self.replies(waiting.pop()):
                    if child in self.answers and child not in seen:
                        if child in group:
                            raise self._wrong(child, "it is a repetition")
                        seen.add(child)
                        waiting.append(child)

    def _wrong(self, position: Any, what: str) -> CutnodeError:
        return CutnodeError(f"the proof is wrong at {position_text(position)}: {what}")

    def lines(self) -> Iterator[str]:
        """The tree for people, a line each: a reply and its answer, and indented what follows.

        What is reached in several ways is shown once, has a number, and is referred to by that.
        """
        numbers = self._numbers()
        shown: set[Any] = set()
        waiting = [(0, "", self.position)]
        while waiting:
            depth, reply, position = waiting.pop()
            line = "  " * depth + reply
            if position not in self.answers:
                yield line
                continue
            answer = self.answers[position]
            label = f"  [{numbers[position]}]" if position in numbers else ""
            text = f"{reply and '  '}{move_text(position, answer.move)}"
            if position in shown and label:
                yield f"{line}{text}  see{label}"
                continue
            shown.add(position)
            yield f"{line}{text}{label}"
            after = play(position, answer.move)
            below = [
                (depth + 1, move_text(after, move), child) for move, child in self.replies(position)
            ]
            waiting += reversed(below)

    def _numbers(self) -> dict[Any, int]:
        """Numbers for positions reached in several ways in which the win takes some moves yet."""
        met: dict[Any, int] = {}
        for position in self.answers:
            for _, child in self.replies(position):
                if self._moves_from(child) > 1:
                    met[child] = met.get(child, 0) + 1
        several = [position for position in self.answers if met.get(position, 0) > 1]
        return {position: number for number, position in enumerate(several, 1)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data: a list of positions, the proven one first, with their answers and replies.

        The replies lead to positions of the list by their numbers, or to None: the game is won.
        """
        numbers = {position: number for number, position in enumerate(self.answers)}
        positions = []
        for position, answer in self.answers.items():
            after = play(position, answer.move)
            replies = {
                move_text(after, move): numbers.get(child) for move, child in self.replies(position)
            }
            positions.append(
                {
                    "position": position_text(position),
                    "moves": answer.moves,
                    "answer": move_text(position, answer.move),
                    "replies": replies,
                }
            )
        return {"moves": self.moves, "positions": positions}

    def __str__(self) -> str:
        return "\n".join(self.lines())


class Prover:
    """Finds forced wins in positions of one game.

    *game* is a game, a position or a position class; *table* is a :class:`Table` or its size
    in MiB.  :class:`GameError` for games in which players do not just alternate: with chance,
    or with extra turns.  One thread at a time may use a prover.
    """

    def __init__(self, game: Any, *, table: Table | int = 64):
        self.cls: Any = class_of(game)
        for verb, what in (("chance", "chance"), ("turn", "extra turns")):
            if defines(self.cls, verb):
                raise GameError(
                    f"{game_name(self.cls)} has {what}: no win is proven by force there"
                )
        self.run = mating_root.specialise(self.cls)
        self.table = table if isinstance(table, Table) else Table(table)
        self.memory = Memory(self.cls, mating_dtype(self.cls))
        self._busy = threading.Lock()

    def prove(
        self,
        position: Any,
        moves: int,
        *,
        proof: bool = False,
        among: Iterable[int] | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
        history: Sequence[Any] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> ForcedWin:
        """Whether the player to move wins within *moves* moves, 1 to 32: see :func:`prove_win`."""
        if type(position) is not self.cls:
            raise GameError(
                f"this prover is for {game_name(self.cls)}, not {game_name(type(position))}"
            )
        if not 1 <= whole(moves, "a number of moves") <= MOST_MOVES:
            raise CutnodeError(f"a win is looked for within 1..{MOST_MOVES} moves, not {moves}")
        limits = Limits(nodes, seconds, stop)
        chosen = None if among is None else chosen_moves(position, among)
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this prover is busy: use a prover for each thread")
        try:
            words = drawing_words(history, position)
            task = _Task(self, coerce(position), limits, chosen, words)
            return task.run(moves, proof, progress)
        finally:
            self._busy.release()


class _Ended(Exception):  # noqa: N818
    """A limit ended the search."""


class _Task:
    """One question to a prover."""

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
        self.chosen = chosen
        self.barred = frozenset(words) - {0}
        self.clock = Clock(limits.seconds)
        self.stops = [] if limits.stop is None else [limits.stop]
        self.first = True
        self.memory = memory = prover.memory
        prover.table.lay_out(ENTRY_WORDS)
        memory.fill("killers", NO_MOVE)
        memory.clear(("nodes", "stop"))
        barred = sorted(self.barred)
        memory.words["path"][: len(barred)] = barred
        memory["before"] = len(barred)
        meaning = f"wins of {game_name(prover.cls)} {barred}".encode()
        memory["purpose"] = int.from_bytes(blake2b(meaning, digest_size=8).digest(), "little")

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
                    proof = Proof(self.position, answers, self.barred)
        except _Ended as ended:
            reason = str(ended)
        except KeyboardInterrupt:
            reason = "interrupted"
        count, seconds = spent or (int(self.memory["nodes"]), self.clock.elapsed())
        return ForcedWin(
            position=self.position,
            within=within,
            moves=moves,
            refuted=refuted,
            pv=pv,
            proof=proof,
            nodes=count,
            seconds=seconds,
            reason=reason or "proven",
        )

    def winning_move(self, left: int) -> int:
        """A move that wins within *left* moves, or ``NO_MOVE``."""
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
        """One call of the compiled search, for a position in which the game goes on."""
        memory = self.memory
        limit = min(self.limits.nodes or UNLIMITED, UNLIMITED)
        answers: list[bool] = []

        def search() -> None:
            first, self.first = self.first, False
            answers[:] = [
                bool(
                    self.prover.run(
                        *(position, left, attacking, ply, first),
                        memory.argument,
                        self.prover.table.words,
                    )
                )
            ]

        if any(stop.is_set() for stop in self.stops):
            raise _Ended("stopped")
        if self.clock.is_over(0):
            raise _Ended("time limit")
        reason = ""
        memory["stop"] = RUNNING
        memory["node_limit"] = min(limit, int(memory["nodes"]) + SHORT_NODES) - 1
        search()
        if memory["stop"] == NODES and int(memory["nodes"]) < limit:
            memory["stop"] = RUNNING
            memory["node_limit"] = limit - 1
            reason = run_watched(search, memory, self.clock, self.stops)
        if memory["stop"] == MOVES:
            raise accusation(memory.position("culprit", self.position), MOVES)
        if reason == "interrupted":
            raise KeyboardInterrupt
        if memory["stop"] != RUNNING:
            raise _Ended("node limit" if memory["stop"] == NODES else reason or "stopped")
        return answers[0]

    def distance(self, position: Any, most: int) -> Answer:
        """The quickest win from a position that is won within *most* moves."""
        for left in range(1, most + 1):
            if self.ask(position, left, ATTACKING, 1):
                return Answer(int(self.memory["move"]), left)
        raise CutnodeError(f"two positions have one key, one of them {position_text(position)}")

    def line(self, moves: int, first: Sequence[int]) -> Iterator[int]:
        """The moves after the first of the quickest win against the longest defence."""
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
        """Write down the answers in a position and in all that follow."""
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
    proof: bool = False,
    among: Iterable[int] | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    stop: threading.Event | None = None,
    table: Table | int = 64,
    history: Sequence[Any] = (),
    progress: Callable[[int, int], None] | None = None,
) -> ForcedWin:
    """Whether the player to move wins by force within *moves* of his own moves, and how quickly.

    "Mate in three" is ``moves=3``.  The answer is exact either way, as far as ``key`` tells
    positions apart; *proof* asks for the proof of a win as well.  *among* are the only first
    moves to choose from.  *nodes*, *seconds* and *stop* limit all of it.  *history* are the
    positions of the game before this one, the first first: what may not occur again.
    *progress* is called with each number of moves that is refuted, and the nodes until then.
    :class:`GameError` for games with chance or with extra turns.
    """
    return Prover(position, table=table).prove(
        position,
        moves,
        proof=proof,
        among=among,
        nodes=nodes,
        seconds=seconds,
        stop=stop,
        history=history,
        progress=progress,
    )


def counted(moves: int) -> str:
    return f"{moves} move{'s' * (moves != 1)}"
