"""Reviews of chess games: do our marks agree with Stockfish's?

    python -m benchmarks.studies.review_marks marks.jsonl --games 200 --stockfish stockfish

Stockfish plays the games against itself at low skill levels, from random openings of 4 plies.  Then
it evaluates every position to a fixed depth, and its marks follow Lichess: the loss of a move is
the difference of the expected points ``1 / (1 + exp(-0.00368208 * centipawns))`` before and after
it, mates counting as 1000 centipawns, and 0.05, 0.1 and 0.15 make an inaccuracy, a mistake and a
blunder.  Ours are the grades of ``cutnode.review`` with a node limit per position.  The
control is a shallower search by Stockfish: its agreement with itself.

Each game is a line of the file, so an interrupted study continues.  ``--games-of FILE`` reviews the
games of an earlier study, with its marks of Stockfish.  (pip install chess)
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import chess.engine

import cutnode
from cutnode.explaining.judging import LIMITS, Judge

CLASSES = ("-", "inaccuracy", "mistake", "blunder")
OURS = {"best": "-", "good": "-", "missed win": "mistake"}
"""Our grades in these classes; others are classes themselves."""

MATE = 1000
"""The centipawns of a mate, and the most of an evaluation, as on Lichess."""


def played(engine: Any, rng: random.Random) -> chess.Board:
    """Play a game of two skill levels."""
    board = chess.Board()
    for _ in range(4):
        board.push(rng.choice(list(board.legal_moves)))
    levels = [rng.randint(0, 12), rng.randint(0, 12)]
    while not board.is_game_over(claim_draw=True) and len(board.move_stack) < 160:
        engine.configure({"Skill Level": levels[len(board.move_stack) % 2]})
        board.push(engine.play(board, chess.engine.Limit(depth=6)).move)
    return board


def points_of(engine: Any, board: chess.Board, depth: int) -> list[float]:
    """Return the expected points of White at every position of a game."""
    at, found = chess.Board(), []
    for move in [*board.move_stack, None]:
        if at.is_checkmate():
            centipawns = -MATE if at.turn else MATE
        elif at.is_game_over():
            centipawns = 0
        else:
            info = engine.analyse(at, chess.engine.Limit(depth=depth))
            centipawns = info["score"].white().score(mate_score=10 * MATE)
        centipawns = max(-MATE, min(MATE, centipawns))
        found.append(1 / (1 + math.exp(-0.00368208 * centipawns)))
        if move is not None:
            at.push(move)
    return found


def classes_of(points: Sequence[float]) -> list[str]:
    """Return the class of each move by the expected points of White at every position."""
    found = []
    for ply in range(len(points) - 1):
        lost = (points[ply] - points[ply + 1]) * (1 if ply % 2 == 0 else -1)
        found.append(next((name for least, name in LIMITS if lost >= least), "-"))
    return found


def measured(engine: Any, arguments: Any, number: int) -> dict[str, Any]:
    """Return the moves of a game, and their classes by Stockfish and its control."""
    board = played(engine, random.Random(f"review {number}"))
    engine.configure({"Skill Level": 20})
    anchor = points_of(engine, board, arguments.depth)
    control = points_of(engine, board, arguments.control)
    at, moves = chess.Board(), []
    for move in board.move_stack:
        moves.append(at.san(move))
        at.push(move)
    return {
        "number": number,
        "moves": moves,
        "anchor": classes_of(anchor),
        "control": classes_of(control),
        "points": anchor,
    }


def reviewed(judge: Judge, moves: Sequence[str], nodes: int) -> dict[str, Any]:
    """Return our grades of the moves of a game."""
    judge.table.forget()
    review = cutnode.review("chess", moves, nodes=nodes, turning_points=0, judge=judge)
    return {
        "ours": [step.grade for step in review.steps],
        "our_points": review.points,
        "lost": [-(step.change or 0) for step in review.steps],
        "accuracy": [side.accuracy for side in review.sides],
        "nodes": review.nodes,
    }


def report(games: Sequence[dict[str, Any]]) -> None:
    """Print the confusion tables."""
    print(f"{len(games)} games, {sum(len(game['moves']) for game in games):,} moves\n")
    for name in ("ours", "control"):
        pairs = Counter(
            (anchor, OURS.get(other, other))
            for game in games
            for anchor, other in zip(game["anchor"], game[name], strict=True)
        )
        print(f"{'Stockfish':12}" + "".join(f"{column:>12}" for column in CLASSES) + f"  <- {name}")
        for row in CLASSES:
            print(f"{row:12}" + "".join(f"{pairs[row, column]:>12,}" for column in CLASSES))
        for least in ("mistake", "blunder"):
            wrong = CLASSES[CLASSES.index(least) :]
            both = sum(pairs[pair] for pair in pairs if pair[0] in wrong and pair[1] in wrong)
            theirs = sum(pairs[pair] for pair in pairs if pair[0] in wrong)
            ours = sum(pairs[pair] for pair in pairs if pair[1] in wrong)
            worse = " or worse" * (least == "mistake")
            recall, precision = both / max(theirs, 1), both / max(ours, 1)
            print(f"{least}{worse}: recall {recall:.0%}, precision {precision:.0%}")
        total = sum(pairs.values())
        agreed = sum(pairs[each, each] for each in CLASSES) / total
        chance = sum(
            sum(pairs[each, other] for other in CLASSES)
            * sum(pairs[other, each] for other in CLASSES)
            for each in CLASSES
        ) / (total * total)
        print(f"agreement {agreed:.1%}, Cohen's kappa {(agreed - chance) / (1 - chance):.2f}\n")


def lines_of(path: Path | None) -> list[dict[str, Any]]:
    """Return the games in a file; none if there is no file."""
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    return [json.loads(line) for line in lines]


def main() -> None:
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--stockfish", default="stockfish")
    parser.add_argument("--depth", type=int, default=14)
    parser.add_argument("--control", type=int, default=8)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--games-of", type=Path)
    arguments = parser.parse_args()
    games, known = lines_of(arguments.file), lines_of(arguments.games_of)
    judge = Judge("chess")
    with (
        chess.engine.SimpleEngine.popen_uci(arguments.stockfish) as engine,
        arguments.file.open("a") as out,
    ):
        for number in range(len(games), arguments.games):
            game = known[number] if known else measured(engine, arguments, number)
            games.append(game | reviewed(judge, game["moves"], arguments.nodes))
            print(json.dumps(games[-1]), file=out, flush=True)
    report(games)


if __name__ == "__main__":
    main()
