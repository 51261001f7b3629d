"""Explanations: who is ahead, how many moves keep it, what threatens, and why a move is wrong.

::

    import cutnode

    print(cutnode.explain("connect4", "4"))        # why a move is good or bad at the start

Every claim is marked as proven or as an estimate, and every line of play can be replayed.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.loading import Game
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.notebook import InNotebooks
from cutnode.contract.verbs import check, moves_again, play, skip
from cutnode.explaining import phrases
from cutnode.explaining.changes import Changes, changes_of
from cutnode.explaining.judging import LIMITS, Budget, Judge, JudgedMove, Judgement
from cutnode.explaining.points import points_of
from cutnode.kernels.parameters import MOST_MOVES
from cutnode.search.board import given_history, given_position
from cutnode.search.options import ProofOptions
from cutnode.search.record import is_over
from cutnode.search.results import ending_words, line_text
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

JUDGING_SHARE = 0.6
"""The share of the limits for the values of all moves; lines and threats get the rest."""

LINE_SHARE = 0.1
"""The share of the limits for the proof of one line, and for each position counted on it."""

COUNTED_REPLIES = 4
"""The most replies of a refutation whose alternatives are counted."""

SEEN_REPLIES = 12
"""The most moves whose best reply is looked up to find a threat."""

QUICK_WIN = 6
"""The most moves within which a shorter win than the solver's is looked for."""

WRONG = ("mistake", "missed win", "blunder")
"""The grades of moves that are refuted."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A ply of a refutation."""

    move: int
    """The move."""
    text: str
    """The move in the game's notation."""
    keeping: int | None = None
    """How many of the opponent's moves keep the result; None for the defender's moves, and where
    they were not counted."""
    legal: int = 0
    """How many legal moves there are, if they were counted."""
    as_soon: bool = False
    """Whether *keeping* counts moves that win as soon, and not all that keep the result."""

    def __str__(self) -> str:
        if self.keeping is None:
            return self.text
        if self.legal == 1:
            return f"{self.text} (forced)"
        if self.keeping == 1:
            return f"{self.text} (the only move{' as quick' if self.as_soon else ''})"
        return f"{self.text} (one of {self.keeping})"


@dataclass(frozen=True, slots=True)
class Refutation:
    """A line that shows what is wrong with a move; it begins with the opponent's reply."""

    plies: tuple[Reply, ...]
    """The plies."""
    proven: bool
    """Whether the result of the line is proven; if not, it is the main line of a search."""
    complete: bool
    """Whether the line ends the game."""

    def __str__(self) -> str:
        shown = " ".join(map(str, self.plies[: phrases.MOST_PLIES]))
        return shown + " ..." * (not self.complete or len(self.plies) > phrases.MOST_PLIES)


@dataclass(frozen=True, slots=True)
class Threat:
    """A threat of the opponent."""

    move: int
    """The move that the opponent threatens."""
    text: str
    """The move in the game's notation."""
    points: float
    """The expected points of the opponent after it."""
    proven: bool
    """Whether these are proven."""
    passing: bool
    """Whether the threat is what follows a pass; else the reply that most wrong moves fall to."""
    falling: int = 0
    """The number of wrong moves that fall to the reply."""
    wrong: int = 0
    """The number of wrong moves whose replies are known."""
    line: tuple[str, ...] = ()
    """The line of play that begins with the move, as texts."""


@dataclass(frozen=True, slots=True)
class MoveNote:
    """A move of interest and what it does."""

    judged: JudgedMove
    """The move and its value."""
    text: str
    """The move in the game's notation."""
    grade: str
    """Its grade: see ``cutnode.explaining.judging.GRADES``."""
    lost: float
    """The expected points that it gives away."""
    changes: Changes
    """The changes that it makes on the board."""
    line: tuple[str, ...]
    """The line of play that it begins, as texts."""
    refutation: Refutation | None
    """The line that shows what is wrong with it; None if nothing is."""


@dataclass(frozen=True, slots=True)
class Explanation(InNotebooks):
    """An explanation of a position, and of moves in it."""

    position: Any
    """The position."""
    judgement: Judgement
    """The values of all moves, as far as they are known."""
    asked: int | None
    """The move that was asked about; None if none was."""
    threat: Threat | None
    """The opponent's threat; None if none was found."""
    notes: tuple[MoveNote, ...]
    """The moves of interest: the best one, the one asked about, and a tempting wrong one."""
    nodes: int
    """Nodes visited."""
    seconds: float
    """Seconds spent."""
    reason: str
    """Why the work ended: proven, node limit, time limit, stopped, or interrupted."""

    @property
    def proven(self) -> bool:
        """Whether the verdict is proven."""
        return self.judgement.proven

    @property
    def keeping(self) -> tuple[int, ...]:
        """The moves that keep the result of the position."""
        return tuple(each.move for each in self.judgement.keeping)

    def note_of(self, move: int) -> MoveNote | None:
        """Return the note of a move; None if it has none."""
        return next((note for note in self.notes if note.judged.move == move), None)

    def sentences(self) -> list[str]:
        """Return the explanation as sentences."""
        names = phrases.Names.of(self.position)
        ended = _ending(self.position)
        found = [phrases.verdict(self.judgement, names, ended)]
        if kept := phrases.keeping(self.judgement):
            found.append(kept)
        if self.threat is not None:
            found.append(self._threat_words(self.threat, names))
        found += [self._note_words(note, names) for note in self.notes]
        return found

    def _threat_words(self, threat: Threat, names: phrases.Names) -> str:
        other = names.subject(names.other)
        why = phrases.basis(self.judgement, threat.proven)
        if threat.passing:
            does = "would win" if threat.points == 1 else f"would have {threat.points:.0%}"
            line = " ".join(threat.line)
            return f"Threat: {threat.text}; after a pass {other} {does} with {line} ({why})."
        fall = f"{threat.falling} of {threat.wrong} wrong moves fall to it"
        return f"Threat: {threat.text} by {other}: {fall} ({why})."

    def _note_words(self, note: MoveNote, names: phrases.Names) -> str:
        judged = note.judged
        words = phrases.result_words(self.position, judged, names)
        why = phrases.basis(self.judgement, judged.proven)
        does = "; ".join(note.changes.words)
        text = f"{note.text} ({note.grade}) {words} ({why})" + (f". It {does}." if does else ".")
        if note.refutation is not None:
            return phrases.stopped(f"{text} Refutation: {note.refutation}")
        if len(note.line) > 1:
            return phrases.stopped(f"{text} Line: {phrases.line_words(self.position, judged.pv)}")
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        position, judgement = self.position, self.judgement
        best = judgement.best
        return {
            "game": game_name(type(position)),
            "position": position_text(position),
            "verdict": {
                "proven": judgement.proven,
                "value": judgement.value,
                "points": judgement.points,
                "distance": best.distance if best is not None and judgement.proven else None,
                "depth": judgement.depth,
                "playouts": judgement.playouts,
            },
            "legal": judgement.legal,
            "keeping": [move_text(position, move) for move in self.keeping],
            "undecided": judgement.open,
            "only_move": judgement.only_move,
            "threat": None if self.threat is None else _threat_dict(self.threat),
            "moves": [_judged_dict(judgement, each) for each in judgement.moves],
            "notes": [_note_dict(position, note) for note in self.notes],
            "text": self.sentences(),
            "nodes": self.nodes,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def explain(
    position: Any,
    move: int | str | None = None,
    *,
    history: Iterable[Any] = (),
    table: Table | int = 64,
    tablebase: Tablebase | str | os.PathLike[str] | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    stop: threading.Event | None = None,
    judge: Judge | None = None,
) -> Explanation:
    """Explain a position, and the *move* in it: why it is good, or what is wrong with it.

    *position* can also be a :class:`Board`, whose history counts for repetitions, or a game or its
    name, which mean the start.  *history* holds the positions before another position.

    *nodes*, *seconds* and *stop* limit the work; without *nodes* and *seconds* it takes two
    seconds.  Time spent on compiling does not count.  *table* and *tablebase* are as for
    :func:`solve`.  A *judge* explains many positions of one game, and keeps what its searches
    stored.

    Raise :class:`PositionError` if the *move* is illegal.
    """
    history = tuple(given_history(position, history))
    position = given_position(position)
    game = Game.of(position)
    chosen = None if move is None else game.legal_move(position, move)
    if nodes is None and seconds is None:
        seconds = 2.0
    if judge is None:
        judge = Judge(position, table=table, tablebase=tablebase)
    budget = Budget(judge, nodes, seconds, stop)
    return _Explaining(judge, position, history, budget).explain(chosen)


class _Explaining:
    """The work on one explanation, and its limits."""

    def __init__(
        self,
        judge: Judge,
        position: Any,
        history: tuple[Any, ...],
        budget: Budget,
    ):
        self.judge = judge
        self.position = position
        self.history = history
        self.budget = budget

    def explain(self, asked: int | None) -> Explanation:
        """Explain the position and the move that was asked about."""
        also = () if asked is None else (asked,)
        judgement = self.judge.judge(
            self.position, history=self.history, also=also, **self.budget.share(JUDGING_SHARE)
        )
        self.budget.spend(judgement.nodes, judgement.reason)
        threat = None
        try:
            notes = [self.note(judgement, each) for each in self.interesting(judgement, asked)]
            threat = self.threat(judgement)
        except KeyboardInterrupt:
            self.budget.interrupted = True
            notes = [self.note(judgement, each) for each in self.interesting(judgement, asked)]
        reason = "interrupted" if self.budget.interrupted else judgement.reason
        return Explanation(
            self.position,
            judgement,
            asked,
            threat,
            tuple(notes),
            self.budget.nodes,
            self.budget.clock.elapsed(),
            reason,
        )

    def interesting(self, judgement: Judgement, asked: int | None) -> list[JudgedMove]:
        """Return the best move, the one asked about, and else a tempting wrong one."""
        if judgement.best is None:
            return []
        chosen = [judgement.best]
        if asked is not None:
            found = judgement.of(asked)
            if found is not None and found is not judgement.best:
                chosen = [found, judgement.best]
        else:
            wrong = [each for each in judgement.moves if judgement.grade(each.move) in WRONG]
            if wrong:
                chosen.append(max(wrong, key=self.temptation))
        return chosen

    def temptation(self, judged: JudgedMove) -> tuple[float, float]:
        """Return how good a move looks at first sight: its gain, then the static evaluation."""
        child = play(self.position, judged.move)
        points = self.judge.static(child)
        if not moves_again(self.position, child):
            points = 1 - points
        return changes_of(self.position, judged.move).gain, points

    def note(self, judgement: Judgement, judged: JudgedMove) -> MoveNote:
        """Return the note of a move."""
        assert judgement.best is not None
        grade = judgement.grade(judged.move)
        refutation = None
        if grade in WRONG and not self.budget.interrupted:
            refutation = self.refutation(judged)
        return MoveNote(
            judged,
            move_text(self.position, judged.move),
            grade,
            max(0.0, judgement.best.points - judged.points),
            changes_of(self.position, judged.move),
            tuple(line_text(self.position, judged.pv)),
            refutation,
        )

    # Refutations

    def refutation(self, judged: JudgedMove) -> Refutation | None:
        """Return the line that shows what is wrong with a move; None if none is known."""
        child = play(self.position, judged.move)
        if is_over(child):
            return None
        line = self.line(judged, child)
        if not line:
            return None
        if not judged.proven:
            line = self.shown(child, line)
        plies, complete = self.counted(judged, child, line)
        return Refutation(plies, judged.proven, complete)

    def line(self, judged: JudgedMove, child: Any) -> tuple[int, ...]:
        """Return the line after a move, the quickest win that is found if the move loses."""
        line = judged.pv[1:]
        if not judged.proven or judged.distance is not None:
            return line
        prover = self.judge.prover if judged.points == 0 and not self.budget.ended else None
        if prover is not None:
            history = (*self.history, self.position)
            found = prover.prove(child, QUICK_WIN, history=history, **self.budget.share(LINE_SHARE))
            self.budget.spend(found.nodes, found.reason)
            if found.moves is not None and found.reason == "proven":
                return found.pv
        if not line and not self.budget.ended:
            options = ProofOptions(**self.budget.share(LINE_SHARE))
            result = self.judge.exact(child, options, kind="solve")
            if result is not None:
                self.budget.spend(result.nodes, result.reason)
                line = result.pv
        return line

    def shown(self, child: Any, line: tuple[int, ...]) -> tuple[int, ...]:
        """Cut the line of a search where the static evaluation has come to show the loss."""
        mine = moves_again(self.position, child)
        for number, move in enumerate(line, 1):
            after = play(child, move)
            mine = mine if moves_again(child, after) else not mine
            child = after
            seen = self.judge.static(child)
            if number > 1 and (seen if mine else 1 - seen) <= 0.5 - LIMITS[0][0]:
                return line[:number]
        return line

    def counted(
        self, judged: JudgedMove, child: Any, line: tuple[int, ...]
    ) -> tuple[tuple[Reply, ...], bool]:
        """Return the plies of a line, with alternatives, and whether it ends the game."""
        plies: list[Reply] = []
        mine = moves_again(self.position, child)
        position, counted = child, 0
        for number, move in enumerate(line):
            keeping, legal, as_soon = None, 0, False
            if not mine and judged.proven and counted < COUNTED_REPLIES and not self.budget.ended:
                counted += 1
                left = len(line) - number
                keeping, legal, as_soon = self.alternatives(position, 1 - judged.points, left)
            plies.append(Reply(move, move_text(position, move), keeping, legal, as_soon))
            after = play(position, move)
            mine = mine if moves_again(position, after) else not mine
            position = after
        return tuple(plies), is_over(position)

    def alternatives(self, position: Any, points: float, left: int) -> tuple[int | None, int, bool]:
        """Return how many moves keep the points, the legal moves, and whether they win as soon.

        The line ends after *left* plies.
        """
        legal = legal_moves(position)
        if len(legal) == 1:
            return 1, 1, False
        options = ProofOptions(weak=True, **self.budget.share(LINE_SHARE))
        result = self.judge.exact(position, options)
        if result is not None:
            self.budget.spend(result.nodes, result.reason)
            values = list((result.scores or {}).values())
            if len(values) == len(legal) and None not in values:
                kept = sum(points_of(value) == points for value in values if value is not None)
                return kept, len(legal), False
        within = (left + 1) // 2
        if points != 1 or not 1 <= within <= MOST_MOVES:
            return None, 0, False
        prover = self.judge.prover
        if prover is None:
            return None, 0, False
        kept = 0
        for move in legal:
            if self.budget.ended:
                return None, 0, False
            limits = self.budget.share(LINE_SHARE / 2)
            found = prover.prove(position, within, among=[move], **limits)
            self.budget.spend(found.nodes, found.reason)
            if not found.proven:
                return None, 0, False
            kept += found.moves is not None
        return (kept, len(legal), True) if kept else (None, 0, False)

    # Threats

    def threat(self, judgement: Judgement) -> Threat | None:
        """Return what the opponent threatens; None if nothing is found."""
        best = judgement.best
        if judgement.points == 0 or best is None or best.distance == 1:
            return None
        return self.threat_after_pass(judgement) or self.common_reply(judgement)

    def threat_after_pass(self, judgement: Judgement) -> Threat | None:
        """Return the best move of the opponent after a pass, if it gains much."""
        cls = type(self.position)
        if not defines(cls, "skip") or self.budget.ended or defines(cls, "chance"):
            return None
        if defines(cls, "check") and check(self.position):
            return None
        allowed, passed = skip(self.position)
        if not allowed or is_over(passed):
            return None
        found = self.judge.judge(passed, lines=1, **self.budget.share(2 * LINE_SHARE))
        self.budget.spend(found.nodes, found.reason)
        best = found.best
        if best is None or best.points < 1 - judgement.points + LIMITS[1][0]:
            return None
        text = move_text(passed, best.move)
        line = tuple(line_text(passed, best.pv[: phrases.MOST_PLIES]))
        return Threat(best.move, text, best.points, best.proven, True, line=line)

    def common_reply(self, judgement: Judgement) -> Threat | None:
        """Return the reply that most wrong moves fall to, if half of them and two do."""
        wrong = [each for each in judgement.moves if judgement.grade(each.move) in WRONG]
        replies: list[tuple[str, JudgedMove, Any]] = []
        for each in wrong[-SEEN_REPLIES:]:
            child = play(self.position, each.move)
            if moves_again(self.position, child) or is_over(child):
                continue
            line = each.pv[1:] or self.line(each, child)
            if line:
                replies.append((move_text(child, line[0]), each, line[0]))
        if len(replies) < 2:
            return None
        text, count = Counter(text for text, _, _ in replies).most_common(1)[0]
        falling = [(each, move) for reply, each, move in replies if reply == text]
        if count < 2 or 2 * count < len(replies):
            return None
        proven = all(each.proven for each, _ in falling)
        points = 1 - max(each.points for each, _ in falling)
        return Threat(falling[0][1], text, points, proven, False, count, len(replies))


def _ending(position: Any) -> str:
    """Return in words how the game has ended; "" if it has not."""
    if not is_over(position):
        return ""
    return f"the game is over: {ending_words(position) or 'a draw by the rules'}"


def _judged_dict(judgement: Judgement, judged: JudgedMove) -> dict[str, Any]:
    position = judgement.position
    return {
        "move": move_text(position, judged.move),
        "value": judged.value,
        "proven": judged.proven,
        "points": judged.points,
        "distance": judged.distance,
        "grade": judgement.grade(judged.move),
        "line": line_text(position, judged.pv),
    }


def _threat_dict(threat: Threat) -> dict[str, Any]:
    return {
        "move": threat.text,
        "points": threat.points,
        "proven": threat.proven,
        "after_pass": threat.passing,
        "falling": threat.falling,
        "wrong": threat.wrong,
        "line": list(threat.line),
    }


def _note_dict(position: Any, note: MoveNote) -> dict[str, Any]:
    refutation = note.refutation
    return {
        "move": note.text,
        "grade": note.grade,
        "lost": note.lost,
        "proven": note.judged.proven,
        "points": note.judged.points,
        "distance": note.judged.distance,
        "changes": list(note.changes.words),
        "gain": note.changes.gain,
        "line": list(note.line),
        "refutation": None
        if refutation is None
        else {
            "proven": refutation.proven,
            "complete": refutation.complete,
            "line": [
                {
                    "move": ply.text,
                    "keeping": ply.keeping,
                    "legal": ply.legal if ply.keeping is not None else None,
                    "as_soon": ply.as_soon,
                }
                for ply in refutation.plies
            ],
        },
    }
