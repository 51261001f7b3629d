"""``cutnode lab engines``: which engine suits a game."""

from __future__ import annotations

import pytest
from marks import compiled_only

from cutnode import load_game
from cutnode.contract.errors import CutnodeError
from cutnode.lab.engines import _best_prover, _better_player, engines
from cutnode.lab.statistics import geometric_mean
from cutnode.playing.matches import MatchResult
from cutnode.runtime.running import Limits

pytestmark = [compiled_only, pytest.mark.once]

TICTACTOE = load_game("tictactoe")


@pytest.mark.slow
def test_engines_prove_and_play():
    study = engines(TICTACTOE, [TICTACTOE.parse("15"), TICTACTOE.parse("1593")], pairs=1)
    rows = {row["engine"]: row for row in study.rows}
    assert list(rows) == ["alphabeta", "pn", "auto", "mcts"]
    assert [row["proven"] for row in study.rows] == [2, 2, 2, 2]
    assert len({(each["position"], each["value"]) for each in study.samples}) == 2
    mcts = rows["mcts"]
    assert mcts["games"] == 2
    assert 0 <= mcts["score_low"] <= mcts["score"] <= mcts["score_high"] <= 1
    proofs, play = study.notes
    assert proofs.startswith("Proofs: ") and ", 2 of 2 positions proven in " in proofs
    assert play.startswith("Play: undecided after 2 games at 0.05 s per move (mcts won ")


def test_sums_take_part_if_positions_fall_apart():
    game = load_game("kayles:4", plain=True)
    study = engines(game, [game.start()], pairs=0, seconds=60)
    assert [row["engine"] for row in study.rows] == ["alphabeta", "pn", "sums", "mcts"]
    assert {sample["value"] for sample in study.samples} == {1}


def test_proofs_in_equal_nodes():
    positions = [TICTACTOE.parse(text) for text in ("", "5", "15")]
    study = engines(TICTACTOE, positions, nodes=10_000, provers=["alphabeta", "pn"], pairs=0)
    rows = {row["engine"]: row for row in study.rows}
    assert list(rows) == ["alphabeta", "pn"]
    assert {column.name for column in study.columns if column.timed} >= {"seconds", "elo"}
    assert not next(column for column in study.columns if column.name == "nodes").timed
    nodes = {(s["engine"], s["position"]): s["nodes"] for s in study.samples}
    again = engines(TICTACTOE, positions, nodes=10_000, provers=["pn"], pairs=0)
    assert {s["nodes"] for s in again.samples} == {n for (e, _), n in nodes.items() if e == "pn"}
    ratios = [nodes["alphabeta", p] / nodes["pn", p] for e, p in nodes if e == "pn"]
    assert rows["pn"]["fewer"] == pytest.approx(geometric_mean(ratios))
    assert rows["alphabeta"]["fewer"] == 1
    assert " of 3 positions proven in " in study.notes[0] and " nodes" in study.notes[0]
    with pytest.raises(CutnodeError, match="'sums' proves nothing in this game"):
        engines(TICTACTOE, positions, provers=["sums"])


def match_of(pairs):
    """Return a match with these counts of pairs of 0, 1/2, 1, 3/2 and 2 points, with few draws."""
    draws = pairs[1] + pairs[3]
    wins = pairs[2] + pairs[3] + 2 * pairs[4]
    return MatchResult(
        game="",
        player="",
        opponent="",
        seed=0,
        pairs=pairs,
        wins=wins,
        draws=draws,
        losses=2 * sum(pairs) - wins - draws,
        endings={},
        sprt=None,
        reason="played",
        seconds=0.0,
        records=(),
    )


def row_of(engine, proven, seconds):
    return {"engine": engine, "proven": proven, "seconds": seconds}


@pytest.mark.parametrize(
    ("proofs", "verdict"),
    [
        ((("alphabeta", 3, 2.0), ("pn", 4, 3.0)), "pn, 4 of 5 positions proven in 3 s (alpha"),
        ((("alphabeta", 4, 2.0), ("pn", 4, 3.0)), "alphabeta, 4 of 5 positions proven in 2 s (pn"),
        ((("alphabeta", 4, 2.9), ("pn", 4, 3.0)), "alphabeta and pn, 4 of 5 positions proven in"),
        ((("auto", 4, 1.0), ("pn", 4, 3.0)), "pn and auto, 4 of 5 positions proven in 3 s"),
        ((("auto", 4, 1.0), ("pn", 3, 3.0)), "auto, 4 of 5 positions proven in 1 s (pn 3"),
        ((("alphabeta", 0, 2.9), ("pn", 0, 3.0)), "undecided, as no engine proved a position"),
    ],
)
def test_best_prover(proofs, verdict):
    told = _best_prover([row_of(*proof) for proof in proofs], 5, Limits(None, 1.0))
    assert told.startswith(f"Proofs: {verdict}")


def test_best_prover_in_equal_nodes():
    rows = [row_of(*proof) | {"nodes": proof[2]} for proof in (("a", 4, 2000), ("b", 4, 30_000))]
    told = _best_prover(rows, 5, Limits(1_000_000))
    assert told == "Proofs: a, 4 of 5 positions proven in 2,000 nodes (b 4 in 30,000 nodes)."
    rows = [row_of("a", 0, 1) | {"nodes": 5}]
    assert "no engine proved a position in 5,000 nodes" in _best_prover(rows, 5, Limits(5000))


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        ((0, 0, 0, 0, 10), "mcts, by 166 Elo or more (95 %) in 20 games at 0.1 s"),
        ((10, 0, 0, 0, 0), "alphabeta, by 166 Elo or more (95 %) in 20 games at 0.1 s"),
        ((0, 0, 2, 2, 8), "mcts, by 338 Elo (95 %: "),
        ((8, 2, 2, 0, 0), "alphabeta, by 338 Elo (95 %: "),
        ((1, 0, 6, 0, 1), "undecided after 16 games at 0.1 s"),
        ((0, 0, 5, 0, 0), "undecided after 10 games at 0.1 s"),
    ],
)
def test_better_player(pairs, verdict):
    told = _better_player(match_of(pairs), 0.1)
    assert told.startswith(f"Play: {verdict}")


@pytest.mark.slow
def test_engines_of_a_game_of_chance_only_play():
    study = engines(load_game("toys.race"), [], pairs=1, move_seconds=0.005)
    (row,) = study.rows
    assert row.keys() >= {"engine", "score", "games"} and "proven" not in row
    assert study.notes[0].startswith("A game of chance: the engines prove nothing")


def test_engines_need_unfinished_positions():
    with pytest.raises(CutnodeError, match="the game is over in"):
        engines(TICTACTOE, [TICTACTOE.start(), TICTACTOE.parse("14253")])
    with pytest.raises(CutnodeError, match="pairs must be at least 0, got -1"):
        engines(TICTACTOE, [], pairs=-1)
