"""All combinations of techniques: counts, effects, interactions, and searches without an order."""

from __future__ import annotations

import math

import pytest
from commands import run_cutnode
from marks import compiled_only

from cutnode import CutnodeError, Searcher, alphabeta, load_game
from cutnode.lab import write_study
from cutnode.lab.combinations import combinations, draw
from cutnode.lab.unordered import UNORDERED, without_order

pytestmark = [compiled_only, pytest.mark.once]

TICTACTOE = load_game("tictactoe")
SOME = [TICTACTOE.parse(text) for text in ("", "5", "1", "2", "15", "1593")]
FACTORS = ("table", "killers", "history")


def of(study, part):
    return {row["of"]: row for row in study.rows if row["part"] == part}


@pytest.fixture(scope="module")
def study():
    return combinations(SOME, 6, FACTORS, techniques=(*FACTORS, "deepening"))


def test_each_combination_is_searched(study):
    rows = of(study, "combination")
    assert len(rows) == 2 ** len(FACTORS)
    assert next(iter(rows)) == "none" and list(rows)[-1] == "table + killers + history"
    searcher = Searcher(SOME[0], techniques=("table", "history", "deepening"))
    nodes = leaves = 0
    for position in SOME:
        searcher.clear()
        result = searcher.search(position, depth=6)
        nodes, leaves = nodes + result.nodes, leaves + result.statistics.leaves
    row = rows["table + history"]
    assert (row["nodes"], row["leaves"]) == (nodes, leaves)


def test_reductions_are_parts_of_the_best(study):
    rows = of(study, "combination")
    counts = {name: row["nodes"] for name, row in rows.items()}
    best = min(counts, key=counts.get)
    assert rows["none"]["reduction"] == 0 and rows[best]["reduction"] == 1
    for name, row in rows.items():
        saved = counts["none"] - counts[name]
        assert row["reduction"] == pytest.approx(saved / (counts["none"] - counts[best]))


def test_effects_follow_from_the_samples(study):
    nodes = {(s["of"], s["position"]): s["nodes"] for s in study.samples}
    positions = {s["position"] for s in study.samples}

    def mean(*pairs):
        logs = [
            math.log(nodes[more, p] / nodes[fewer, p]) for more, fewer in pairs for p in positions
        ]
        return math.exp(sum(logs) / len(logs))

    effect = mean(
        ("none", "table"),
        ("killers", "table + killers"),
        ("history", "table + history"),
        ("killers + history", "table + killers + history"),
    )
    assert of(study, "main effect")["table"]["gain"] == pytest.approx(effect)
    alone = mean(("none", "table"), ("history", "table + history"))
    together = mean(
        ("killers", "table + killers"), ("killers + history", "table + killers + history")
    )
    found = of(study, "interaction")["table x killers"]["gain"]
    assert found == pytest.approx(together / alone)


def test_plot(study, tmp_path):
    pytest.importorskip("matplotlib")
    write_study(study, str(tmp_path / "plot.svg"), draw)
    assert "main effect" in (tmp_path / "plot.svg").read_text()


def test_factors_must_make_sense():
    for factors, fault in (
        (("table", "symmetry"), "'symmetry' makes no sense without table"),
        (("tabel",), "did you mean 'table'"),
        ((), "1 to 8 techniques, got 0"),
    ):
        with pytest.raises(CutnodeError, match=fault):
            combinations(SOME, 3, factors)


def test_other_techniques_are_in_all_searches():
    found = combinations(SOME[:2], 3, ("killers",))
    assert found.settings["exact"] and "enhanced_cutoffs" in found.notes[0]
    found = combinations(SOME[:2], 3, ("table",))
    assert "enhanced_cutoffs" not in found.notes[0]  # it needs the table


def test_command_searches_without_the_order():
    out = run_cutnode(
        *("lab", "combinations", "tictactoe", "--depth", 4, "--combine", "killers,history"),
        *("--no-order", "--positions", 3, "--plies", "2:4", "--quiet", "--format", "csv"),
    ).output
    assert "combination,killers + history," in out and "interaction,killers x history," in out


@pytest.mark.slow
def test_unordered_search_lists_moves_as_the_game_does():
    game = load_game("chess")
    positions = [game.start(), game.parse("e4 e5 Nf3 Nc6 Bb5")]
    techniques = without_order(type(positions[0]), frozenset())
    assert techniques == {UNORDERED}
    searcher = Searcher(positions[0], techniques=techniques, exact=True, evaluation="material")
    ordered = Searcher(positions[0], techniques=(), exact=True, evaluation="material")
    for position in positions:
        plain = alphabeta(position, 4, evaluation="material")
        found = searcher.search(position, depth=4)
        assert (found.nodes, found.value) == (plain.nodes, plain.value)
        assert ordered.search(position, depth=4).nodes < plain.nodes
