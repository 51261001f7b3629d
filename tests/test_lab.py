"""The laboratory: its counts equal the counts of the searches, and its commands print them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from commands import FROM_HERE, run_cutnode
from marks import compiled_only
from toys.techniques import ideas

from cutnode import Searcher, Technique, alphabeta, legal_moves, load_game, minimax
from cutnode.cli.lab import lab
from cutnode.contract.errors import CutnodeError
from cutnode.contract.verbs import play
from cutnode.kernels.techniques import EXACT, choose, in_order
from cutnode.lab.ablation import ablation
from cutnode.lab.depths import depths
from cutnode.lab.laboratory import Laboratory
from cutnode.lab.measuring import plan
from cutnode.lab.page import page
from cutnode.lab.study import INTERRUPTED, Column, Study
from cutnode.lab.tables import latex_table, markdown_table

pytestmark = compiled_only

ROOT = Path(__file__).parent.parent
TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")
SOME = [TICTACTOE.parse(text) for text in ("", "5", "1", "2", "15", "1593")]
FEW = ("table", "deepening", "enhanced_cutoffs", "killers", "late_move_reductions")


def steps(study):
    return {row["step"]: row for row in study.rows}


# Ablation


@pytest.fixture(scope="module")
def study():
    """Tic-tac-toe to the end, with a few techniques."""
    return ablation([TICTACTOE.start()], 9, techniques=FEW, runs=1)


def test_rows_add_techniques_in_turn_and_take_each_away(study):
    assert [row["step"] for row in study.rows] == [
        *("minimax", "alpha-beta", "search"),
        *(f"+ {name}" for name in FEW),
        *(f"- {name}" for name in FEW),
    ]
    assert set(study.notes) >= {"- table also removes enhanced_cutoffs, which needs it."}


def test_rows_have_no_figures_but_those_of_the_columns(study):
    names = {column.name for column in study.columns}
    for row in study.rows:
        assert row.keys() <= names
    assert "549,946" in [study.text(study.rows[0], column) for column in study.columns]


def test_counts_are_those_of_the_searches(study):
    start = TICTACTOE.start()
    rows = steps(study)
    assert rows["minimax"]["nodes"] == minimax(start, 9).nodes == 549_946
    assert rows["alpha-beta"]["nodes"] == alphabeta(start, 9).nodes
    sets = {
        "search": (),
        "+ deepening": ("table", "deepening"),
        "+ late_move_reductions": FEW,
        "- table": ("deepening", "killers", "late_move_reductions"),
        "- killers": ("table", "deepening", "enhanced_cutoffs", "late_move_reductions"),
    }
    for step, techniques in sets.items():
        engine = Searcher(start, techniques=techniques)
        assert rows[step]["nodes"] == engine.search(start, depth=9).nodes


def test_gains_follow_from_the_counts(study):
    rows = steps(study)
    nodes = {step: row["nodes"] for step, row in rows.items()}
    everything = "+ late_move_reductions"
    for more, fewer, step in (
        ("minimax", "alpha-beta", "alpha-beta"),
        ("search", "+ table", "+ table"),
        ("- killers", everything, "- killers"),
    ):
        assert rows[step]["gain"] == pytest.approx(nodes[more] / nodes[fewer])
    assert rows[everything]["fewer"] == pytest.approx(nodes["alpha-beta"] / nodes[everything])
    assert rows["+ table"]["ebf"] == nodes["+ table"] ** (1 / 9)
    for row in study.rows:
        assert row["seconds"] > 0 and row["rate"] > 0
        assert 0 <= row.get("first", 0) <= 1


def test_exact_sets_always_agree_with_the_exact_result(study):
    for step, row in steps(study).items():
        if not step.startswith("- ") and step != "+ late_move_reductions":
            assert row["value"] == 1
            assert row.get("move", 1) == 1


def test_agreement_of_selective_techniques():
    techniques = (
        "table",
        "deepening",
        "late_move_reductions",
        "internal_iterative_reduction",
        "late_move_pruning",
    )
    study = ablation(SOME, 5, techniques=techniques, runs=1)
    engine = Searcher(SOME[0], techniques=techniques)
    values = moves = 0
    for position in SOME:
        engine.clear()
        result = engine.search(position, depth=5)
        exact = {move: -minimax(play(position, move), 4).value for move in legal_moves(position)}
        values += result.value == minimax(position, 5).value
        moves += exact[result.best_move] == max(exact.values())
    row = steps(study)["+ late_move_pruning"]
    assert (row["value"], row["move"]) == (values / len(SOME), moves / len(SOME))


def test_positions_are_added_up():
    options = {"techniques": ("table", "killers"), "runs": 1}
    together = ablation(SOME, 4, **options)
    alone = [ablation([position], 4, **options) for position in SOME]
    for number, row in enumerate(together.rows):
        assert row["nodes"] == sum(study.rows[number]["nodes"] for study in alone)
    assert len(together.settings["positions"]) == len(SOME)


def test_the_same_settings_count_the_same():
    first = ablation([TICTACTOE.parse("5")], 5, runs=2)
    settings = {**first.settings}
    game = load_game(settings.pop("game"))
    positions = [game.parse(text) for text in settings.pop("positions")]
    again = ablation(positions, settings.pop("depth"), **settings)
    assert [row["nodes"] for row in first.rows] == [row["nodes"] for row in again.rows]
    assert first.settings == again.settings


def test_exact_leaves_selective_techniques_out():
    study = ablation([TICTACTOE.start()], 3, exact=True, runs=1)
    assert set(study.settings["techniques"]) <= EXACT
    assert len(study.settings["techniques"]) > 5


def test_what_takes_too_many_nodes_is_given_up():
    study = ablation([TICTACTOE.start()], 9, techniques=("table",), runs=1, most_nodes=10_000)
    rows = steps(study)
    assert rows["minimax 3 deep"]["nodes"] == minimax(TICTACTOE.start(), 3).nodes
    assert rows["alpha-beta"] == {"step": "alpha-beta"}
    assert rows["search"] == {"step": "search"}
    assert rows["+ table"]["nodes"] <= 10_000
    assert rows["+ table"].get("fewer") is None
    assert any("searched to depth 3" in note for note in study.notes)
    assert any(note.startswith("search takes more") for note in study.notes)


@pytest.mark.parametrize(("depth", "affordable"), [(30, 5), (4, 4)])
def test_minimax_goes_as_deep_as_is_affordable(depth, affordable):
    start = CONNECT4.start()
    experiment = plan([start], depth, runs=1)
    with Laboratory(experiment, Study("", "", {}, ())) as laboratory:
        found, expected = laboratory.minimax(100_000)
    assert (found.depth, found.nodes) == (affordable, minimax(start, affordable).nodes)
    assert expected > 7**25 if depth > affordable else expected == found.nodes


@pytest.mark.parametrize(
    ("positions", "depth", "options", "message"),
    [
        ([], 3, {}, "no positions"),
        ([TICTACTOE.parse("14253")], 3, {}, "the game is over in xxx/oo./..."),
        ([TICTACTOE.start(), CONNECT4.start()], 3, {}, "must all be of the same game"),
        ([TICTACTOE.start()], 0, {}, "1..63, got 0"),
        ([TICTACTOE.start()], 64, {}, "1..63, got 64"),
        ([TICTACTOE.start()], 3, {"runs": 0}, "runs must be at least 1"),
        ([TICTACTOE.start()], 3, {"most_nodes": 0}, "a node limit must be at least 1"),
    ],
)
def test_tasks_that_make_no_sense(positions, depth, options, message):
    for experiment in (ablation, depths):
        with pytest.raises(CutnodeError, match=message):
            experiment(positions, depth, **options)


# Depths


def test_depths_are_searched_from_nothing():
    start = TICTACTOE.start()
    study = depths([start], 5, exact=True, runs=1)
    engine = Searcher(start, exact=True)
    for depth, row in enumerate(study.rows, 1):
        engine.clear()
        result = engine.search(start, depth=depth)
        assert (row["depth"], row["nodes"], row["score"]) == (depth, result.nodes, result.value)
        assert row["move"] == TICTACTOE.notation.move_text(start, result.best_move)
    assert row["growth"] == pytest.approx(row["nodes"] / study.rows[-2]["nodes"])


def test_depths_of_several_positions_have_no_move():
    study = depths([TICTACTOE.start(), TICTACTOE.parse("5")], 3, runs=1)
    assert not {"move", "score"} & {column.name for column in study.columns}
    assert not {"move", "score"} & study.rows[0].keys()


def test_depths_end_where_nodes_do():
    study = depths([TICTACTOE.start()], 9, runs=1, most_nodes=100)
    assert 1 <= len(study.rows) < 9
    assert study.notes[0] == (
        f"Depth {len(study.rows) + 1} takes more than --most-nodes 100: it was abandoned."
    )


# The commands

LAB = ("lab", "ablation", "tictactoe", "--depth", 4, "--techniques", "table,killers", "--runs", 1)


def test_table():
    result = run_cutnode(*LAB)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "What each technique of the search saves: tictactoe, .../.../..., depth 4"
    rows = [line.split() for line in lines if line.startswith((" + ", " - ", " alpha"))]
    assert [row[:2] for row in rows[1:]] == [
        ["+", "table"],
        ["+", "killers"],
        ["-", "table"],
        ["-", "killers"],
    ]
    nodes = alphabeta(TICTACTOE.start(), 4).nodes
    assert rows[0][:2] == ["alpha-beta", f"{nodes:,}"]
    assert "fewer   alpha-beta's nodes / nodes" in lines


def test_json():
    data = json.loads(run_cutnode(*LAB, "--json").output)
    assert data["settings"]["techniques"] == ["table", "killers"]
    assert data["settings"]["positions"] == [".../.../..."]
    assert data["rows"][1]["nodes"] == alphabeta(TICTACTOE.start(), 4).nodes
    assert data["machine"].keys() >= {"processor", "python", "numba"}


def test_csv():
    lines = run_cutnode(*LAB, "--format", "csv").output.splitlines()
    assert "# depth: 4" in lines
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert [row["step"] for row in rows][:3] == ["minimax", "alpha-beta", "search"]
    assert all(int(row["nodes"]) > 0 for row in rows)


def test_positions_of_a_file():
    arguments = ("lab", "depths", "tictactoe", "--depth", 3, "--runs", 1, "--json", "--file", "-")
    data = json.loads(run_cutnode(*arguments, stdin="1 ; a corner\n\n5\n").output)
    assert data["settings"]["positions"] == ["x../.../...", ".../.x./..."]


def test_depths_at_the_command_line():
    output = run_cutnode("lab", "depths", "tictactoe", "5", "--depth", 8, "--exact").output
    row = next(line for line in output.splitlines() if line.startswith("     8 ")).split()
    assert row[5] == "0" and row[6] == "proven"


def test_without_leaves_techniques_out():
    data = json.loads(run_cutnode(*LAB, "--without", "killers", "--json").output)
    assert data["settings"]["techniques"] == ["table"]


BAD_INPUT = {
    ("--techniques", "tabel"): "there is no technique 'tabel' (did you mean 'table'?)",
    ("--techniques", "symmetry,table"): "tictactoe does not allow symmetry",
    ("--techniques", "aspiration"): "aspiration makes no sense without deepening",
    ("--techniques", ""): "an ablation needs at least one technique",
    (
        "--techniques",
        "late_move_pruning",
        "--exact",
    ): "late_move_pruning is selective: an exact search does not use it",
    ("--evaluation", "discs"): "tictactoe has no evaluation 'discs'",
    ("--json", "--format", "csv"): "--json and --format exclude each other",
    ("--out", "no_such_folder/a.html"): "no_such_folder/a.html cannot be written: there is no",
    ("--out", "a.txt"): "a.txt cannot be written: its name must end in .csv, .json,",
    ("--out", "a.csv", "--out", "a.csv"): "a.csv would be written twice",
    ("--columns", "node"): "unknown column 'node' (did you mean 'nodes'?)",
    ("--resume",): "--resume needs the --out FILE.jsonl of the interrupted study",
    ("--out", "a.gif"): "a.gif cannot be written: its name must end in .csv, .json,",
    ("--file", "-", "5"): "a position and --file exclude each other",
    ("14253",): "the game is over in xxx/oo./...: there is nothing to search",
    ("--table-mb", "999999999"): "a table of 999999999 MiB does not fit",
}
BAD_USAGE = {
    ("--depth", "0"): "0 is not in the range 1<=x<=63",
    ("--depth", "64"): "64 is not in the range 1<=x<=63",
    ("--most-nodes", "-1"): "-1 is not in the range x>=1",
    ("--runs", "nan"): "'nan' is not a valid integer",
    ("--dept", "3"): "--depth",
}


@pytest.mark.parametrize(("args", "message"), BAD_INPUT.items())
def test_bad_input(args, message):
    result = run_cutnode("lab", "ablation", "tictactoe", "--depth", 3, *args)
    assert result.exit_code == 2
    assert result.output.startswith(f"cutnode: {message}")
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(("args", "message"), BAD_USAGE.items())
def test_bad_usage(args, message):
    for experiment in ("ablation", "depths"):
        result = run_cutnode("lab", experiment, "tictactoe", "--depth", 3, *args)
        assert result.exit_code == 2
        assert message in result.output


@pytest.mark.parametrize("name", sorted(lab.commands))
def test_help_tells_every_option(name):
    result = run_cutnode("lab", name, "--help")
    assert result.exit_code == 0
    for parameter in lab.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert parameter.opts[0] in result.output


def test_other_commands_do_not_load_the_laboratory():
    code = (
        "import sys, cutnode.cli.proving; print([name for name in sys.modules if name in "
        "('matplotlib', 'rich', 'cutnode.lab.ablation', 'cutnode.lab.study')])"
    )
    environment = os.environ | FROM_HERE
    command = (sys.executable, "-c", code)
    assert subprocess.check_output(command, env=environment, text=True) == "[]\n"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["killers", "table", "deepening"], ["killers", "table", "deepening"]),
        (["enhanced_cutoffs", "killers", "table"], ["killers", "table", "enhanced_cutoffs"]),
        (["killers", "table", "killers"], ["killers", "table"]),
        ({"pvs", "killers", "table"}, ["table", "killers", "pvs"]),
    ],
)
def test_techniques_keep_their_order_but_follow_what_they_need(given, shown):
    study = ablation([TICTACTOE.parse("15")], 2, techniques=given, runs=1)
    assert study.settings["techniques"] == shown
    assert [row["step"] for row in study.rows][3:] == [f"{s} {n}" for s in "+-" for n in shown]


def test_an_ellipsis_stands_where_the_others_come():
    start = TICTACTOE.start()
    usual = in_order(type(start), None)
    others = [name for name in usual if name not in ("pvs", "killers")]
    assert in_order(type(start), ["pvs", ..., "killers"]) == ("pvs", *others, "killers")
    assert in_order(type(start), ["..."]) == usual == plan([start], 2).techniques


@pytest.mark.parametrize("name", ["chess", "connect4", "othello", "ur", "tictactoe"])
def test_each_step_of_the_default_ablation_can_be_searched(name):
    cls = type(load_game(name).start())
    usual = in_order(cls, None)
    for count in range(len(usual) + 1):
        assert choose(cls, usual[:count]) == frozenset(usual[:count])


def test_a_row_that_did_not_act_says_so_and_why():
    study = ablation(SOME, 3, techniques=FEW, runs=1)
    rows = steps(study)
    for sign in "+-":
        assert rows[f"{sign} enhanced_cutoffs"]["effect"] == "did not act"
        assert rows[f"{sign} enhanced_cutoffs"]["gain"] == 1
        assert "effect" not in rows[f"{sign} deepening"]
    why = "it needs a remaining depth of at least 4 (enhanced_cutoffs.depth), and the search is"
    assert f"enhanced_cutoffs did not act: {why} 3 plies deep." in study.notes
    assert not any(note.startswith("deepening did not act") for note in study.notes)
    shown = [markdown_table(study), latex_table(study), study.to_csv(), page(study, None)]
    assert all("did not act" in text for text in shown)
    assert "did not act" in json.dumps(study.to_dict()["rows"])


def test_a_lower_parameter_lets_a_technique_act():
    lower = {"enhanced_cutoffs.depth": 2}
    study = ablation(SOME, 3, techniques=FEW[:3], parameters=lower, runs=1)
    assert "effect" not in steps(study)["+ enhanced_cutoffs"]


def test_a_table_shows_what_has_figures():
    study = Study("a", "b", {}, (Column("x"), Column("y"), Column("z")), [{"x": "1", "z": "2"}])
    assert [column.name for column in study.table_columns] == ["x", "z"]
    assert study.to_columns()["y"] == [None]


@pytest.mark.parametrize("code", ["an error of the machine", "Ctrl-C"])
def test_an_experiment_keeps_what_it_has(code):
    def progress(now: str, done: int, of: int) -> None:
        if now == "+ killers":
            raise KeyboardInterrupt if code == "Ctrl-C" else CutnodeError(code)

    study = ablation([TICTACTOE.start()], 3, techniques=FEW, runs=1, progress=progress)
    assert [row["step"] for row in study.rows][-1] == "+ enhanced_cutoffs"
    assert study.stopped and study.notes[-1] == INTERRUPTED
    assert study.failure == ("" if code == "Ctrl-C" else code)


def test_an_error_before_anything_was_measured_is_raised():
    study = Study("a", "b", {}, ())
    with pytest.raises(CutnodeError, match="lost"), study.kept():
        raise CutnodeError("lost")


def test_techniques_from_outside_are_exact_or_selective_as_they_say():
    own = [each for each in vars(ideas).values() if isinstance(each, Technique)]
    exact = next(each for each in own if each.exact and not each.needs)
    selective = next(each for each in own if not each.exact and not each.needs)
    start = load_game("tictactoe", plain=True).parse("15")
    study = ablation([start], 2, techniques=[selective, exact], runs=1, workers=1)
    kinds = {row["step"]: row["kind"] for row in study.rows if row["step"].startswith("+ ")}
    assert list(kinds.items()) == [
        (f"+ {selective.name}", "selective"),
        (f"+ {exact.name}", "exact"),
    ]
