"""Statistics of studies: known values, samples by seed, sets of positions, processes."""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import subprocess
import sys
import threading
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from commands import run_cutnode
from toys import race
from workers import dying, ending

from cutnode import CutnodeError, Searcher, game_names, load_game
from cutnode.cli.inputs import read_positions
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.collection import position_sets
from cutnode.contract.verbs import canonical
from cutnode.lab.ablation import ablation
from cutnode.lab.depths import depths
from cutnode.lab.files import read_study
from cutnode.lab.formulas import critical_levels, critical_tree
from cutnode.lab.laboratory import Workbench
from cutnode.lab.measuring import note_disagreement
from cutnode.lab.minimal import minimal_graph
from cutnode.lab.observer import KINDS
from cutnode.lab.page import page
from cutnode.lab.sampling import plies_in, sample_positions
from cutnode.lab.statistics import (
    bootstrap_mean,
    bootstrap_share,
    geometric_mean,
    geometric_mean_ratio,
    growth_factor,
    mean_growth_factor,
    quartiles,
    student_quantile,
    wilcoxon,
)
from cutnode.lab.study import INTERRUPTED, Column, Study
from cutnode.runtime.processes import Processes
from cutnode.search.record import is_over, wins_at_once

searches = pytest.mark.skipif(not jit_enabled(), reason="many nodes")

ROOT = Path(__file__).parent.parent
TICTACTOE = load_game("tictactoe")
SOME = [TICTACTOE.parse(text) for text in ("", "5", "1", "2", "15", "1593")]
FEW = {"techniques": ("table", "deepening", "killers"), "runs": 1}


# Known values

DARWIN = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)
"""Differences in height of crossed and self-fertilised plants, in eighths of an inch (C. Darwin,
1876)."""


def test_signed_ranks_of_darwins_plants():
    assert wilcoxon(DARWIN, [0] * 15) == pytest.approx(0.04126, abs=5e-6)


def test_signed_ranks_with_ties_and_zeros_are_counted():
    """Of the 16 sign patterns of 1, 1, 2, 2, two are as extreme as 0, and six as extreme as 1.5."""
    assert wilcoxon([1, 1, 2, 2, 7], [0, 0, 0, 0, 7]) == 2 / 16
    assert wilcoxon([0, 1, 2, 2], [1, 0, 0, 0]) == 6 / 16
    assert wilcoxon([3, 3], [3, 3]) == 1


def test_signed_ranks_of_many_pairs_are_nearly_those_counted():
    random = np.random.default_rng(1)
    a = random.normal(0.3, 1, 51)
    exact, normal = wilcoxon(a[:50], np.zeros(50)), wilcoxon(a, np.zeros(51))
    assert exact == pytest.approx(normal, rel=0.35)
    assert wilcoxon(a, np.zeros(51)) == wilcoxon(np.zeros(51), a)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (5, 2.57058), (10, 2.22814), (120, 1.97993)],
)
def test_students_quantiles(freedom, quantile):
    assert student_quantile(0.975, freedom) == pytest.approx(quantile, rel=1e-5)


def test_growth_is_the_slope_of_logarithms():
    assert growth_factor([1, 2, 3], [3, 9, 27]) == pytest.approx((3, 3, 3))
    assert growth_factor([4, 6], [100, 400]) == (pytest.approx(2), None, None)
    # Logarithms 0, 1, 1 over 0, 1, 2: slope 1/2, standard error sqrt(1/12), t of one degree.
    factor, low, high = growth_factor([0, 1, 2], [1, math.e, math.e])
    reach = math.tan(0.475 * math.pi) * math.sqrt(1 / 12)
    assert (factor, low, high) == pytest.approx([math.exp(0.5 + s * reach) for s in (0, -1, 1)])
    assert mean_growth_factor([1, 2], [[2, 4], [2, 16]])[0] == pytest.approx(4)


def test_means_of_ratios_are_symmetric():
    a, b = [3, 10, 8, 5, 9], [1, 2, 3, 4, 5]
    ratio, low, high = geometric_mean_ratio(a, b)
    assert ratio == pytest.approx(geometric_mean(np.divide(a, b)))
    assert low < ratio < high
    inverse = geometric_mean_ratio(b, a)
    assert inverse[0] == pytest.approx(1 / ratio)
    assert inverse[1:] == pytest.approx((1 / high, 1 / low), rel=0.03)
    assert geometric_mean_ratio(a, b) == (ratio, low, high)
    assert quartiles([1, 2, 3, 4, 5]) == (2, 3, 4)


def test_invalid_intervals():
    assert bootstrap_mean([5]) == (5, None, None)
    assert bootstrap_mean([5, 5, 5]) == (5, 5, 5)
    assert bootstrap_share([1, 0, 2], [2, 0, 4]) == (0.5, 0.5, 0.5)
    assert geometric_mean_ratio([4], [2]) == (pytest.approx(2), None, None)


def test_intervals_hold_the_mean_as_often_as_they_say():
    """Of 200 samples of 30 from a skewed distribution; plain percentiles hold it less often."""
    random = np.random.default_rng(4)
    held = 0
    for _ in range(200):
        _, low, high = bootstrap_mean(random.exponential(size=30))
        held += low <= 1 <= high
    assert 0.89 <= held / 200 <= 0.98


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (bootstrap_mean, ([],), "at least one number, and only finite"),
        (bootstrap_mean, ([1, math.nan],), "at least one number, and only finite"),
        (bootstrap_share, ([0], [0]), "a whole other than 0"),
        (wilcoxon, ([1, 2], [1]), "paired samples must be equally many, got 2 and 1"),
        (geometric_mean, ([1, 0],), "needs positive numbers, got 0"),
        (growth_factor, ([3, 3], [1, 2]), "at least two different depths"),
    ],
)
def test_figures_of_which_there_are_no_statistics(function, arguments, message):
    with pytest.raises(CutnodeError, match=message):
        function(*arguments)


# Samples of positions


@searches
def test_samples_follow_from_the_seed():
    start = TICTACTOE.start()
    drawn = sample_positions(start, 20, plies=(1, 5), seed=3)
    assert drawn == sample_positions(start, 20, plies=(1, 5), seed=3)
    assert drawn != sample_positions(start, 20, plies=(1, 5), seed=4)
    assert len({canonical(position)[0] for position in drawn}) == 20
    for position in drawn:
        assert 1 <= sum(word.bit_count() for word in position) <= 5
        assert not is_over(position) and not wins_at_once(position)


@searches
@pytest.mark.slow
def test_samples_of_a_game_of_dice():
    game = load_game(race.__file__)
    drawn = sample_positions(game.start(), 5, plies=(1, 3))
    assert all(game.legal_moves(position) for position in drawn)


def test_samples_that_cannot_be_had():
    start = TICTACTOE.start()
    with pytest.raises(
        CutnodeError, match="found only 1 of 2 different positions after 0 to 0 plies"
    ):
        sample_positions(start, 2, plies=(0, 0))
    with pytest.raises(CutnodeError, match=r"a sample needs 1\.\.100,000 positions, got 0"):
        sample_positions(start, 0)
    with pytest.raises(CutnodeError, match="0 <= LEAST <= MOST, got 5:4"):
        sample_positions(start, 2, plies=(5, 4))
    with pytest.raises(CutnodeError, match="a number or range like 8 or 8:20, got '8-20'"):
        plies_in("8-20")
    assert (plies_in("8"), plies_in("8:20")) == ((8, 8), (8, 20))


@pytest.mark.parametrize("name", game_names())
def test_games_have_sets_of_positions(name):
    sets = position_sets(name)
    assert "sampled" in sets
    for kind in sets:
        game, entries = read_positions(name, None, f"{name}/{kind}")
        positions = [position for _, position in entries]
        assert len(positions) == 50 or kind != "sampled"
        assert len({game.position_text(position) for position in positions}) == len(positions) > 20
        assert not any(game.outcome(position) is not None for position in positions)


def test_sets_are_found_by_name(tmp_path, monkeypatch):
    _, entries = read_positions("chess", None, "bratko-kopec")
    assert len(entries) == 24
    with pytest.raises(CutnodeError, match="of chess are bratko-kopec, sampled"):
        read_positions("chess", None, "bratko")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sampled").write_text("5\n")
    assert read_positions("tictactoe", None, "sampled")[1] == [("5", TICTACTOE.parse("5"))]


@searches
def test_drawn_positions_are_written_and_read(tmp_path):
    file = tmp_path / "drawn.txt"
    sample = ("tictactoe", "5", "--positions", 4, "--plies", 2, "--seed", 9)
    assert run_cutnode("lab", "sample", *sample, "--out", file).exit_code == 0
    first, *lines = file.read_text().splitlines()
    command = "cutnode lab sample tictactoe 5 --positions 4 --plies 2 --seed 9"
    assert first.startswith("# Drawn by cutnode") and first.endswith(command)
    assert run_cutnode("lab", "sample", *sample).stdout.splitlines()[1:] == lines
    options = ("--depth", 2, "--runs", 1, "--workers", 1, "--json")
    of_file = json.loads(run_cutnode("lab", "depths", "tictactoe", "--file", file, *options).stdout)
    drawn = json.loads(run_cutnode("lab", "depths", *sample, *options).stdout)
    assert of_file["settings"]["positions"] == drawn["settings"]["positions"] == lines
    assert drawn["settings"]["positions_from"] == command
    result = run_cutnode("lab", "depths", *sample, *options, "--file", file)
    assert result.output == "cutnode: --positions and --file exclude each other\n"


# Studies


@pytest.fixture(scope="module")
def study():
    return ablation(SOME, 5, **FEW)


def of_step(study, step):
    return [sample for sample in study.samples if sample["step"] == step]


@searches
def test_rows_sum_up_their_samples(study):
    steps = [row["step"] for row in study.rows]
    assert {sample["step"] for sample in study.samples} == {*steps, "exact"}
    texts = study.settings["positions"]
    for row in study.rows:
        samples = of_step(study, row["step"])
        assert [sample["position"] for sample in samples] == texts
        assert row["nodes"] == sum(sample["nodes"] for sample in samples)
        assert row["seconds"] == pytest.approx(sum(sample["seconds"] for sample in samples))
    start = SOME[1]
    alone = Searcher(start, techniques=("table",)).search(start, depth=5)
    sample = of_step(study, "+ table")[1]
    assert (sample["nodes"], sample["value"]) == (alone.nodes, alone.value)
    assert sample["move"] == TICTACTOE.move_text(start, alone.best_move)


@searches
def test_gains_have_intervals_and_a_test(study):
    for more, fewer, step in (
        ("search", "+ table", "+ table"),
        ("- killers", "+ killers", "- killers"),
        ("minimax", "alpha-beta", "alpha-beta"),
    ):
        a, b = ([sample["nodes"] for sample in of_step(study, name)] for name in (more, fewer))
        row = next(row for row in study.rows if row["step"] == step)
        ends = geometric_mean_ratio(a, b)
        assert (row["gain"], row["gain_low"], row["gain_high"]) == ends
        assert row["p"] == wilcoxon(np.log(a), np.log(b))
        assert row["gain"] == pytest.approx(geometric_mean(np.divide(a, b)))
    assert any(note.startswith("Intervals: 95 %") for note in study.notes)


@searches
def test_one_position_has_no_intervals_over_positions():
    columns = {column.name: column for column in ablation(SOME[:1], 3, **FEW).columns}
    assert "p" not in columns and not any(column.interval for column in columns.values())
    study = depths(SOME[:1], 4, **FEW)
    last = study.rows[-1]
    nodes = [row["nodes"] for row in study.rows]
    ends = growth_factor([1, 2, 3, 4], nodes)
    assert (last["branching"], last["branching_low"], last["branching_high"]) == ends


@searches
def test_timings_have_a_spread():
    study = depths(SOME[:2], 3, techniques=(), runs=5)
    for sample in study.samples:
        assert sample["runs"] >= 5
        assert 0 < sample["seconds_low"] <= sample["seconds"] <= sample["seconds_high"]
    assert all(row["spread"] >= 0 for row in study.rows)
    assert all("spread" not in row for row in depths(SOME[:2], 3, **FEW).rows)


@searches
@pytest.mark.parametrize(
    "arguments",
    [
        ("depths", "tictactoe", "--depth", 2, "--most-nodes", 2000),
        ("ablation", "connect4", "1234567", "--depth", 1, "--techniques", "table,deepening"),
        ("ablation", "tictactoe", "1524736", "--depth", 9, "--most-nodes", 1),
    ],
)
def test_small_studies_divide_by_nothing(arguments):
    result = run_cutnode("lab", *arguments, "--runs", 1, "--json")
    assert result.exit_code == 0, result.output
    assert "NaN" not in result.stdout and "Infinity" not in result.stdout
    json.loads(result.stdout)


# Processes


@pytest.fixture
def all_work_is_shared(monkeypatch):
    monkeypatch.setattr("cutnode.lab.laboratory.WORTHWHILE", 0)


@pytest.mark.slow
@pytest.mark.long
@searches
@pytest.mark.usefixtures("all_work_is_shared")
def test_processes_count_the_same():
    most = 1500  # which is too little for some rows
    alone, shared = (ablation(SOME, 4, workers=n, most_nodes=most, **FEW) for n in (1, 2))

    def counted(study):
        names = ("step", "position", "nodes", "value", "move", "first_cutoffs")
        samples = [[sample.get(name) for name in names] for sample in study.samples]
        return samples, [row.get("nodes") for row in study.rows]

    assert counted(alone) == counted(shared)
    assert None in counted(alone)[1] and counted(alone)[1][-1] is not None
    assert not any(note.startswith("Times: up to 2") for note in alone.notes)
    assert any(note.startswith("Times: up to 2 searches ran at once") for note in shared.notes)


@searches
@pytest.mark.usefixtures("all_work_is_shared")
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_row_may_take_less_than_the_most_nodes(workers):
    nodes = depths(SOME, 1, **FEW).rows[0]["nodes"]
    for more, rows in ((0, 0), (1, 1)):
        study = depths(SOME, 1, workers=workers, most_nodes=nodes + more, **FEW)
        assert len(study.rows) == rows


@searches
def test_minimal_graphs_of_several_positions():
    options = {"searches": ("plain",), "table_mb": 4}
    together = minimal_graph(SOME[:3], (3,), **options)
    alone = [minimal_graph(position, (3,), **options) for position in SOME[:3]]
    for number, row in enumerate(together.rows):
        rows = [study.rows[number] for study in alone]
        assert row["leaves"] == sum(each["leaves"] for each in rows)
        if "above_tree" in row:
            means = geometric_mean([each["above_tree"] for each in rows])
            assert row["above_tree"] == pytest.approx(means)


@pytest.mark.once
@searches
@pytest.mark.usefixtures("all_work_is_shared")
def test_what_was_measured_is_kept_when_processes_are_interrupted():
    def progress(now, done, of):
        if now == "+ table":
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    study = ablation(SOME, 4, workers=2, progress=progress, **FEW)
    assert [row["step"] for row in study.rows] == ["minimax", "alpha-beta", "search"]
    assert study.notes[-1] == INTERRUPTED
    assert not active_children()


def test_a_process_that_ends_is_reported():
    with Processes(ending, 2) as processes:
        assert list(processes.answers([0, 1])) == [0, -1]
        with pytest.raises(CutnodeError, match=r"a process ended unexpectedly \(exit code 3\)"):
            list(processes.answers([1, 2, 3]))
        assert list(processes.answers([5])) == [-5]
    assert not active_children()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes end otherwise")
def test_a_killed_process_is_reported(monkeypatch):
    gc.freeze()  # what other tests left is not looked through
    with Processes(dying, 1) as processes:
        [(process, group)] = processes.answers(["live"])
        assert group == process != os.getpgrp()  # a terminal's signals do not reach it
        with pytest.raises(CutnodeError, match=r"unexpectedly \(exit code -9\)"):
            list(processes.answers(["die"]))
        [(process, _)] = processes.answers(["live"])
        [child] = active_children()
        os.kill(process, signal.SIGKILL)
        child.join()  # it ends between two tasks
        with pytest.raises(CutnodeError, match=r"unexpectedly \(exit code -9\)") as caught:
            list(processes.answers(["live"]))
        caught.value.itself = caught.value  # a cycle, freed by the garbage collector
    del caught
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", lambda event: ignored.append(event.exc_value))
    gc.collect()
    gc.unfreeze()
    assert not ignored
    assert not active_children()


@pytest.mark.once
@searches
@pytest.mark.usefixtures("all_work_is_shared")
@pytest.mark.parametrize(
    "ended_by", ["a killed process", pytest.param("SIGTERM", marks=pytest.mark.slow)]
)
def test_a_study_ended_from_outside_is_kept_and_resumed(ended_by, tmp_path, monkeypatch):
    file, whole = tmp_path / "a.jsonl", tmp_path / "a.json"
    words = ["lab", "ablation", "tictactoe", "--positions", "6", "--depth", "4", "--runs", "1"]
    words += ["--techniques", "table,killers", "--workers", "2", "--quiet", "--json"]
    words += ["--out", str(file), "--out", str(whole)]
    add_row = Study.add_row

    def end_soon(study, row):
        add_row(study, row)
        if row["step"] != "search":
            return
        if ended_by == "SIGTERM":
            signal.raise_signal(signal.SIGTERM)
        for child in active_children() if ended_by == "a killed process" else ():
            os.kill(child.pid, signal.SIGKILL)
            child.join()

    monkeypatch.setattr(Study, "add_row", end_soon)
    ended = run_cutnode(*words)
    assert ended.exit_code == (128 + signal.SIGTERM if ended_by == "SIGTERM" else 1)
    assert "these are the results so far" in ended.stderr
    for text in (ended.stdout, whole.read_text()):
        assert [row["step"] for row in json.loads(text)["rows"]][-1] == "search"
    kept = read_study(file)
    assert kept.stopped and len(kept.samples) >= 6
    assert bool(kept.failure) == (ended_by != "SIGTERM")
    monkeypatch.undo()
    again = run_cutnode(*words, "--resume")
    assert again.exit_code == 0
    resumed = json.loads(again.stdout)
    assert [row["step"] for row in resumed["rows"]][-1] == "- killers"
    assert resumed["notes"][0].startswith("Resumed: ")
    assert not active_children()


def test_where_p_and_the_interval_disagree_both_are_explained():
    columns = Column("step"), Column("gain", "", ",.2f", interval=True), Column("p", "", ".2g")
    interval = {"gain": 1.2, "gain_low": 1.1, "gain_high": 1.3}
    rows = [
        {"step": "+ apart", "p": 0.06, **interval},
        {"step": "+ alike", "p": 0.01, **interval},
        {"step": "+ other", "p": 0.01, "gain": 1.2, "gain_low": 0.98, "gain_high": 1.3},
        {"step": "+ none", "p": 0.9, "gain": 1.0, "gain_low": 0.9, "gain_high": 1.3},
        {"step": "+ alone", "p": 0.9, "gain": 1.0},
    ]
    study = Study("a", "b", {}, columns, rows)
    note_disagreement(study, "gain", "p")
    [note] = study.notes
    told = "p and the interval of gain disagree: + apart (p 0.06, 1.1 to 1.3); + other (p 0.01, "
    assert note.startswith(f"{told}0.98 to 1.3). ")
    assert "signed-rank" in note and "geometric mean" in note
    assert note in page(study, None).replace("&#x27;", "'")
    agreeing = Study("a", "b", {}, columns, rows[1:2])
    note_disagreement(agreeing, "gain", "p")
    assert not agreeing.notes


def test_an_answer_that_cannot_be_sent_is_reported():
    with pytest.raises(CutnodeError, match=r"cannot be sent to other processes .*: use 1 worker"):
        Workbench(2, lambda positions, what: what, SOME, len)


@pytest.mark.parametrize("workers", [0, 1000])
def test_numbers_of_workers_that_make_no_sense(workers):
    for experiment in (ablation, depths):
        with pytest.raises(CutnodeError, match=rf"workers must be 1\.\.256, got {workers}"):
            experiment(SOME, 3, workers=workers)


# Node statistics


def counted_nodes(*arguments):
    """Return the rows of the study by part and name; they are compiled in a separate process."""
    command = [sys.executable, "-W", "error", "-m", "cutnode", "lab", "nodes", *map(str, arguments)]
    output = subprocess.check_output([*command, "--json", "--quiet"], text=True, cwd=ROOT)
    study = json.loads(output)
    return study, {(row["part"], row["of"]): row for row in study["rows"]}


@searches
@pytest.mark.slow
@pytest.mark.long
def test_nodes_are_those_of_the_search():
    """Observed or not, the search visits the same nodes, and the counts of all parts add up."""
    study, rows = counted_nodes("tictactoe", "5", "--depth", 8, "--table-mb", 1)
    start = TICTACTOE.parse("5")
    counts = Searcher(start, table=1).search(start, depth=8).statistics
    for part, of, count in (
        ("nodes", "PV", counts.pv_nodes),
        ("nodes", "all", counts.all_nodes),
        ("nodes", "leaves", counts.leaves),
        ("cutoffs", "first move", counts.first_cutoffs),
        ("cutoff by move", "1", counts.first_cutoffs),
        ("table", "hits", counts.hits),
    ):
        assert rows[part, of]["count"] == count
    index = [row["count"] for (part, _), row in rows.items() if part == "cutoff by move"]
    assert sum(index) == counts.cutoffs
    kinds = [rows["first move", kind]["count"] for kind in KINDS]
    depths = [row["count"] for (_, of), row in rows.items() if of.startswith("depth ")]
    assert sum(kinds) == sum(depths) == counts.first_cutoffs
    assert rows["nodes", "PV"]["minimal"] <= rows["nodes", "PV"]["count"]
    assert {sample["position"] for sample in study["samples"]} == {".../.x./..."}


@searches
@pytest.mark.slow
@pytest.mark.long
def test_perfect_order_has_the_nodes_of_the_critical_tree():
    options = ("--depth", 4, "--techniques", "")
    _, rows = counted_nodes("uniform:3x4,ordered", *options)
    for kind in ("PV", "cut", "all", "leaves"):
        row = rows["nodes", kind]
        assert row["count"] == row["minimal"] and row["above"] == 1
    assert rows["cutoff by move", "1"]["share"] == 1


def test_critical_trees_of_mean_widths():
    assert critical_levels([3, 3, 3]) == critical_tree(3, 3)
    assert critical_levels([1.5, 4]) == [(1, 0, 0), (1, 0.5, 0), (1, 3, 0.5)]
