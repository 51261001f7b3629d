"""Explanations of random positions, each claim compared with an independent proof.

    python -m benchmarks.studies.explanations [--count 10000] [--nodes 20000] [--games GAME ...]

Positions come from random games of the shipped games and of the small games of the tests.  Every
move that an explanation names must be legal, and every line must be playable.  A claim called
proven (a win, a loss, a draw, an only move, a distance) is proven again: by the other engine with
an empty table, or by the search for forced wins, whose proof is verified by the rules alone.  A
claim that this second proof does not settle within its node limit counts as unchecked.  For
estimates, the share is given that a search of sixteen times as many nodes keeps, by grade.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from cutnode import Board, CutnodeError, legal_moves, load_game, prove_win, solve
from cutnode.contract.dispatch import defines
from cutnode.contract.verbs import moves_again, outcome, play
from cutnode.explaining.explanations import WRONG, Explanation, explain
from cutnode.explaining.judging import Judge, JudgedMove
from cutnode.explaining.points import points_of
from cutnode.search.loops import has_loops
from cutnode.search.record import Record, is_over

TOYS = Path(__file__).parents[2] / "tests" / "toys"

GAMES = (
    *("tictactoe", "connect4:5x4", "connect4", "mnk:4x4x3", "mnk", "hex:4x4", "hex:7x7", "y:5"),
    *("othello:4x4", "othello:6x6", "othello", "domineering:5x5", "clobber:4x4", "cram:4x4"),
    *("nogo:3x4", "kayles:12", "toads", "breakthrough:4x4", "breakthrough", "kalah:3x2", "kalah"),
    *("oware", "chess", "draughts:4x4", "draughts", "morris:three", "morris", "dobutsu", "qubic"),
    *("skirmish", "ur"),
)
"""Games of all kinds, small ones among them, whose claims a second engine can prove."""

TRUTH_NODES = 400_000
"""The node limit of a second proof."""


def truth(position: Any) -> float | None:
    """Return the points of the player to move by a second engine; None if it finds no proof."""
    return _truth(type(position), position)


@lru_cache(maxsize=100_000)
def _truth(cls: Any, position: Any) -> float | None:
    """Prove a value; the class is a key, as equal tuples can be positions of two games."""
    over, value = outcome(position)
    if over:
        return points_of(value)
    if is_over(position):
        return 0.5
    engine = "alphabeta" if defines(cls, "parts") or has_loops(cls) else "pn"
    try:
        result = solve(position, weak=True, engine=engine, nodes=TRUTH_NODES, table=32)
    except CutnodeError:
        return None
    return None if result.value is None else points_of(result.value)


def truth_of_move(position: Any, move: int) -> float | None:
    """Return the points of the player to move after his move, by a second engine."""
    child = play(position, move)
    points = truth(child)
    return points if points is None or moves_again(position, child) else 1 - points


def is_forced(position: Any, moves: int, among: list[int] | None) -> bool | None:
    """Return whether a win takes exactly this many moves; its proof is verified by the rules.

    A proof has one answer for each position, so a win by a given move has none if the first
    position can come back.
    """
    proof = among is None
    found = prove_win(position, moves, among=among, proof=proof, nodes=TRUTH_NODES, table=16)
    if not found.proven or (found.moves is not None and found.reason != "proven"):
        return None
    if found.proof is not None:
        found.proof.verify()
    return found.moves == moves


class Claims:
    """The claims of explanations, and the faults found in them."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    def claim(self, kind: str, holds: bool | None, where: str) -> None:
        """Count a claim; *holds* is None if the second proof did not settle it."""
        self.counts[f"{kind}, {'unchecked' if holds is None else 'checked'}"] += 1
        if holds is False:
            self.faults.append(f"{where}: {kind}")

    def check(self, explanation: Explanation) -> None:
        """Check all claims of an explanation."""
        position, judgement = explanation.position, explanation.judgement
        about = explanation.to_dict()
        where = f"{about['game']} {about['position']!r}"
        str(explanation)
        for judged in judgement.moves:
            self.line(position, (judged.move, *judged.pv[1:]), where)
            self.claim("the line begins with its move", judged.pv[:1] == (judged.move,), where)
            if judged.proven:
                found = truth_of_move(position, judged.move)
                holds = None if found is None else found == judged.points
                if holds is None and judged.distance is not None:
                    holds = self.distance(position, judged)
                elif judged.distance is not None:
                    self.claim("distance", self.distance(position, judged), where)
                self.claim("proven move", holds, where)
        if judgement.proven and judgement.legal:
            found = truth(position)
            self.claim("verdict", None if found is None else found == judgement.points, where)
            if judgement.only_move:
                others = [move for move in legal_moves(position) if move not in explanation.keeping]
                points = [truth_of_move(position, move) for move in others]
                known = [each for each in points if each is not None]
                holds = all(each < judgement.points for each in known)
                self.claim("only move", holds if len(known) == len(points) else None, where)
        for note in explanation.notes:
            if note.refutation is not None:
                line = [ply.move for ply in note.refutation.plies]
                end = self.line(play(position, note.judged.move), line, where)
                if note.refutation.proven and note.refutation.complete:
                    self.claim("refutation ends the game", is_over(end), where)
        threat = explanation.threat
        if threat is not None and not threat.passing and threat.proven:
            self.claim("threat", threat.falling <= threat.wrong, where)

    def line(self, position: Any, line: Sequence[int], where: str) -> Any:
        """Play a line; return its last position."""
        for move in line:
            legal = not is_over(position) and move in legal_moves(position)
            self.claim("legal line", legal, where)
            if not legal:
                break
            position = play(position, move)
        return position

    def distance(self, position: Any, judged: JudgedMove) -> bool | None:
        """Return whether a win or loss has the distance that an explanation gives."""
        assert judged.distance is not None
        child = play(position, judged.move)
        if is_over(child):
            return judged.distance == 1
        if judged.points == 1:
            return is_forced(position, (judged.distance + 1) // 2, [judged.move])
        return is_forced(child, judged.distance // 2, None)


def random_boards(name: str, random: Random) -> Iterator[Board]:
    """Yield boards of random games, after any number of their moves."""
    game = load_game(name, plain=name.endswith(".py") and "@compiled" not in Path(name).read_text())
    while True:
        record = Record(game.start(), seed=random.getrandbits(30))
        while not record.ending():
            if record.is_chance():
                record.draw()
            else:
                record.play(random.choice(legal_moves(record.position)))
        plies = random.randrange(max(len(record.steps), 1))
        board = Board(game, seed=record.seed)
        for step in record.steps[:plies]:
            if board.is_chance():
                board.roll(step)
            else:
                board.push(step)
        yield board


def kept(judge: Judge, explanation: Explanation, nodes: int) -> Iterator[tuple[str, bool]]:
    """Yield the grade of each noted estimate, and whether a deeper search keeps it.

    A wrong move is kept if it is still wrong, any other move if it is not.
    """
    notes = [note for note in explanation.notes if not note.judged.proven]
    if notes:
        again = judge.judge(explanation.position, nodes=16 * nodes)
        for note in notes:
            grade = again.grade(note.judged.move)
            yield note.grade, (grade in WRONG) == (note.grade in WRONG)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--deeper", type=int, default=20, help="estimates of a game searched again")
    parser.add_argument(
        "--games", nargs="+", default=[*GAMES, *map(str, sorted(TOYS.glob("*.py")))]
    )
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    each = -(-chosen.count // len(chosen.games))
    claims, grades, done = Claims(), Counter[tuple[str, bool]](), 0
    for name in chosen.games:
        random, began = Random(f"{chosen.seed} {name}"), time.process_time()
        before = len(claims.faults)
        boards = random_boards(name, random)
        judge = Judge(next(boards).position, table=16)
        for number in range(min(each, chosen.count - done)):
            board = next(boards)
            asked = random.choice([None, *board.legal_moves])
            explanation = explain(board, asked, nodes=chosen.nodes, judge=judge)
            claims.check(explanation)
            if number < chosen.deeper:
                grades.update(kept(judge, explanation, chosen.nodes))
            done += 1
        spent = time.process_time() - began
        faults = len(claims.faults) - before
        print(f"{name:36} {number + 1:6} explanations {spent:8.1f} s {faults:4} faults", flush=True)
    for kind, count in sorted(claims.counts.items()):
        print(f"{kind:45} {count:10,}")
    for grade in sorted({grade for grade, _ in grades}):
        same, other = grades[grade, True], grades[grade, False]
        print(f"estimates kept: {grade:29} {same:6,} of {same + other:,}")
    for fault in claims.faults[:20]:
        print(fault)
    print(f"{done:,} explanations, {len(claims.faults)} faults")
    if claims.faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
