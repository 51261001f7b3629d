"""How many units of a game's estimates turn even chances into odds of e to 1.

    python -m benchmarks.studies.spreads [GAME ...] [--games 300] [--nodes 2000] [--out FILE]

The engine plays itself from random openings; the logistic function of the score, in units of
``spread * UNIT``, that best predicts the results gives the spread.  The interval is the middle 95 %
of bootstrap samples of games.  A game gets no spread if the interval of its slope reaches 0: its
estimates do not predict its results.  ``--out`` adds the spreads to FILE, game by game, and keeps
the other games there; explanations use ``engine/cutnode/explaining/spreads.json``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from cutnode import Engine, legal_moves, load_game
from cutnode.contract.dispatch import game_constant
from cutnode.kernels.playouts import ESTIMATE_UNIT
from cutnode.kernels.scores import MOST_ESTIMATE
from cutnode.search.record import Record
from cutnode.training.fitting import logistic_slope

GAMES = ("breakthrough", "chess", "dobutsu", "draughts", "hex", "kalah", "mnk", "morris")
GAMES += ("othello", "oware", "qubic", "skirmish", "y")

SAMPLES = 200
"""Bootstrap samples."""


def play(engine: Any, start: Any, random: Random, nodes: int) -> tuple[list[float], list[float]]:
    """Play a game; return the scores of its estimated positions and the mover's results there."""
    record = Record(start, seed=random.getrandbits(30))
    for _ in range(random.randint(2, 8)):
        if not record.ending():
            record.play(random.choice(legal_moves(record.position)))
    engine.new_game()
    scores, sides = [], []
    while not record.ending():
        before = record.positions[:-1]
        found = engine.search(record.position, nodes=nodes, history=before)
        if abs(found.value) <= MOST_ESTIMATE and not found.proven:
            scores.append(float(found.value))
            sides.append(record.side)
        record.play(found.best_move)
    return scores, [record.score(side) for side in sides]


def slope_of(games: list[tuple[list[float], list[float]]]) -> float:
    """Return the slope of the logistic function that best predicts the results."""
    scores = np.concatenate([np.array(game[0]) for game in games])
    results = np.concatenate([np.array(game[1]) for game in games])
    return logistic_slope(scores, results)


def add(file: Path, name: str, spread: float) -> None:
    """Write the spread of a game to a file of spreads, and keep the other games there."""
    kept = json.loads(file.read_bytes()) if file.exists() else {}
    file.write_text(json.dumps(dict(sorted({**kept, name: spread}.items())), indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="GAME", default=GAMES)
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    for name in chosen.names:
        start, random = load_game(name).start(), Random(f"{chosen.seed} {name}")
        with Engine(start, table=16, proof_share=0) as engine:
            games = [play(engine, start, random, chosen.nodes) for _ in range(chosen.games)]
        games = [game for game in games if game[0]]
        unit = game_constant(type(start), "UNIT", ESTIMATE_UNIT)
        samples = [slope_of(random.choices(games, k=len(games))) * unit for _ in range(SAMPLES)]
        slope, (low, high) = slope_of(games) * unit, np.quantile(samples, (0.025, 0.975))
        count = sum(len(game[0]) for game in games)
        if low <= 0:
            print(f"{name:14} no spread: the slope is between {low:.2g} and {high:.2g}")
            continue
        spread = round(1 / slope, 2)
        print(f"{name:14} {spread:6.2f}  ({1 / high:.2f} to {1 / low:.2f}), {count:,} positions")
        if chosen.out is not None:
            add(chosen.out, name, spread)


if __name__ == "__main__":
    main()
