"""The command line: what it prints where, how it fails, and that its help is complete."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import EntryPoint, PackageNotFoundError, version
from pathlib import Path

import click
import jsonschema_rs
import pytest
from click.shell_completion import ZshComplete
from click.testing import Result
from commands import FROM_HERE, run_cutnode
from marks import compiled_only

import cutnode
from cutnode.cli.completion import Bash
from cutnode.cli.exit_codes import ended_from_outside
from cutnode.cli.live import _at_a_glance, progress_bar
from cutnode.cli.main import GROUP, OWN_COMMANDS, added_commands, main
from cutnode.cli.options import FLAGS
from cutnode.cli.output import output_schema
from cutnode.compiler import progress
from cutnode.compiler.jit import jit_enabled
from cutnode.runtime.options import PROOF_OPTIONS
from cutnode.search.handles import Progress

ROOT = Path(__file__).parent.parent
TICTACTOE = (ROOT / "games" / "tictactoe.py").read_text()
COMMAND = (sys.executable, "-m", "cutnode")
LATE = "2252576253462244111563365343671351441"  # five cells are free; the value is -1
LATE_TOO = "7422341735647741166133573473242566"  # the value is 1
SEARCHED = "52677675164321472411331752454"  # the value is 0, and no bound shows it at once


def started(*args: object, **options: object) -> subprocess.Popen[str]:
    """Start the command as a process of its own."""
    environment = os.environ | FROM_HERE
    return subprocess.Popen([*COMMAND, *map(str, args)], env=environment, text=True, **options)


def parsed(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.output.splitlines()]


@pytest.fixture
def positions(tmp_path):
    """A file of positions, with everything else that such a file may contain."""
    file = tmp_path / "positions.txt"
    lines = ["\ufeff# a comment ; 1", "", f"{LATE} ; -1", "  ", f"  {LATE_TOO}", f"{SEARCHED};0\r"]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


# solve


def test_solve_prints_board_and_result():
    result = run_cutnode("solve", "tictactoe", "5")
    assert result.exit_code == 0
    board, facts = result.output.split("\n\n")
    assert board == ". . .\n. x .\n. . ."
    names = [line.split()[0] for line in facts.splitlines()]
    assert names == ["value", "best", "line", "nodes"]
    assert "(draw)" in facts


def test_solve_starts_at_the_start():
    assert run_cutnode("solve", "tictactoe").output.startswith(". . .\n. . .\n. . .\n\nvalue  0")


def test_analyse_adds_the_value_of_every_move():
    output = run_cutnode("analyse", "tictactoe", 5).output
    assert "\nscores 1: 0, 2: -1, 3: 0, 4: -1, 6: -1, 7: 0, 8: -1, 9: 0\n" in output


def scores(data: dict[str, object]) -> dict[str, object]:
    return {each["move"]: each["value"] for each in data["moves"]}


@functools.cache
def validator():
    return jsonschema_rs.validator_for(output_schema())


SHAPES = {
    ("solve", "tictactoe", "15"): ("x../.o./...", 0, 7),
    ("analyse", "connect4", LATE): (None, -1, 4),
    ("analyse", "connect4", "--nodes", "200"): (None, None, None),
    ("solve", "toys.race", "3 2 2"): ("3 2 2", -50, None),
    ("solve", "toys.race", "5 5 0", "--tolerance", "1e-6"): ("5 5 0", None, None),
    ("solve", "kayles:9"): ("|||||||||", 1, 9),
    ("search", "tictactoe", "1425"): ("xx./oo./...", 29999, 1),
    ("search", "tictactoe", "--engine", "mcts", "--playouts", "50"): (".../.../...", None, None),
    ("mate", "tictactoe", "1425", "--proof"): ("xx./oo./...", 1, 1),
    ("explain", "tictactoe", "1425", "6"): ("xx./oo./...", 1, None),
    ("review", "tictactoe", "5 2"): (".../.../...", None, None),
    ("perft", "tictactoe", "--depth", "2", "--divide"): (".../.../...", None, None),
    ("show", "tictactoe", "14253"): ("xxx/oo./...", -1, 0),
    ("match", "tictactoe", "random", "random", "--pairs", "1"): (".../.../...", None, None),
}


@pytest.mark.parametrize("args", SHAPES)
def test_json_has_one_shape(args):
    (data,) = parsed(run_cutnode(*args, "--json"))
    validator().validate(data)
    position, value, distance = SHAPES[args]
    assert data["verb"] == args[0]
    assert position in (None, data["position"])
    assert value in (None, data["value"])
    assert data["distance"] == distance
    assert len(data["line"]) == len(data["line_numbers"])
    if data["line"]:
        assert (data["move"], data["move_number"]) == (data["line"][0], data["line_numbers"][0])


def test_json_of_every_command_is_in_the_schema():
    with_json = {args[0] for args in SHAPES}
    assert {*output_schema()["properties"]["verb"]["enum"]} == with_json


def test_page_of_json_explains_every_key():
    page = (ROOT / "engine" / "docs" / "reference" / "json.md").read_text()
    assert all(f"`{key}`" in page for key in output_schema()["properties"])
    assert all(f"`{verb}`" in page for verb in output_schema()["properties"]["verb"]["enum"])


def test_json_says_what_was_asked_and_what_it_means():
    (data,) = parsed(run_cutnode("solve", "connect4", LATE, "--json"))
    assert (data["given"], data["value"], data["proven"], data["bounds"]) == (
        LATE,
        -1,
        True,
        [-1, -1],
    )
    assert data["meaning"].startswith("first player (x) wins") and data["moves"] == []
    (data,) = parsed(run_cutnode("solve", "tictactoe", "--json"))
    assert data["given"] == ""
    (data,) = parsed(run_cutnode("analyse", "tictactoe", "15", "-j"))
    assert scores(data).keys() == set("2346789")
    assert max(scores(data).values()) == data["value"] == 0


def test_weak_gives_a_sign():
    (data,) = parsed(run_cutnode("solve", "connect4", "4455", "--weak", "--json"))
    assert (data["value"], data["details"]["weak"]) == (1, True)


def test_board_is_a_position():
    (data,) = parsed(run_cutnode("solve", "tictactoe", "xx./oo./...", "--json"))
    assert (data["position"], data["value"]) == ("xx./oo./...", 1)


def test_a_question_is_answered_or_named():
    facts = run_cutnode("solve", "connect4", LATE, "--at-least", 0).output
    assert "\nanswer no: value >= 0\n" in facts
    limited = ("--engine", "pn", "--nodes", 100)
    result = run_cutnode("solve", "connect4", "--at-least", 3, *limited)
    assert result.exit_code == 3 and "\nanswer open: value >= 3\n" in result.output
    assert re.search(r"\nopen   value >= 3: proof number \d+, disproof number \d+\n", result.output)
    (data,) = parsed(run_cutnode("solve", "connect4", "--at-least", 3, *limited, "--json"))
    assert (data["details"]["at_least"], data["details"]["answer"]) == (3, None)
    assert data["details"]["target"] == 3 and len(data["details"]["numbers"]) == 2


def test_questions_about_a_file(positions):
    result = run_cutnode("solve", "connect4", "--file", positions, "--at-least", 0)
    assert [line.split()[1] for line in result.output.splitlines()] == ["no", "yes", "yes"]
    assert result.exit_code == 0


def test_finished_position_has_no_move():
    (data,) = parsed(run_cutnode("analyse", "connect4", "1212121", "--json"))
    assert (data["value"], data["move"], data["moves"], data["line"]) == (-18, None, [], [])
    assert data["distance"] == 0


def test_variant_after_a_colon():
    result = run_cutnode("show", "connect4:5x4", "3")
    assert "1 2 3 4 5\n" in result.output
    assert "moves  1 2 3 4 5\n" in result.output


def test_game_of_a_file(tmp_path):
    file = tmp_path / "noughts.py"
    file.write_text(TICTACTOE)
    assert "text   x../.../..." in run_cutnode("show", file, 1).output


def test_module_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "parlour").mkdir()
    (tmp_path / "parlour" / "crosses.py").write_text(TICTACTOE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert "text   x../.../..." in run_cutnode("show", "parlour.crosses", 1).output


@pytest.mark.parametrize("limit", [("--nodes", 500), ("--seconds", 0.01)])
def test_limit_before_the_proof_is_exit_3(limit):
    result = run_cutnode("solve", "connect4", *limit)
    assert result.exit_code == 3
    assert "value  unknown  (between " in result.output
    result = run_cutnode("solve", "connect4", *limit, "--json")
    assert result.exit_code == 3
    (data,) = parsed(result)
    assert (data["value"], data["proven"]) == (None, False)
    assert data["bounds"][0] < data["bounds"][1]


def test_limit_before_every_move_is_valued_is_exit_3():
    limits = "--nodes", cutnode_nodes(SEARCHED) + 1
    assert run_cutnode("solve", "connect4", SEARCHED, *limits).exit_code == 0
    result = run_cutnode("analyse", "connect4", SEARCHED, *limits)
    assert result.exit_code == 3
    assert ": ?" in result.output


def cutnode_nodes(position: str, verb: str = "solve") -> int:
    return int(parsed(run_cutnode(verb, "connect4", position, "--json"))[0]["statistics"]["nodes"])


def test_limits_far_away_change_nothing():
    result = run_cutnode("solve", "tictactoe", "--nodes", 10**30, "--seconds", 1e9, "--threads", 2)
    assert result.exit_code == 0


# solve --file


def test_file_gives_a_line_for_each_position(positions):
    result = run_cutnode("solve", "connect4", "--file", positions)
    assert result.exit_code == 0
    rows = [line.split() for line in result.output.splitlines()]
    assert [row[:2] for row in rows] == [[LATE, "-1"], [LATE_TOO, "1"], [SEARCHED, "0"]]
    assert {len(row) for row in rows} == {5}
    assert int(rows[2][3]) > 0 and float(rows[2][4]) > 0


def test_file_in_json_echoes_the_positions(positions):
    data = parsed(run_cutnode("solve", "connect4", "--file", positions, "--json"))
    assert [(one["given"], one["value"]) for one in data] == [
        (LATE, -1),
        (LATE_TOO, 1),
        (SEARCHED, 0),
    ]
    assert all(not one["moves"] and one["line"] for one in data)


def test_analyse_of_a_file(positions):
    data = parsed(run_cutnode("analyse", "connect4", "--file", positions, "--json"))
    assert [max(scores(one).values()) for one in data] == [-1, 1, 0]
    line = run_cutnode("analyse", "connect4", "-f", positions).output.splitlines()[0]
    assert line.split()[5:] == ["6:-1", "7:-2"]


def test_file_of_one_line_is_a_batch():
    result = run_cutnode("solve", "tictactoe", "--file", "-", stdin="5\n")
    assert result.output.split()[:2] == ["5", "0"]


@pytest.mark.parametrize("verb", ["solve", "analyse"])
def test_cold_positions_do_not_help_each_other(verb):
    def nodes(*more):
        twice = f"{SEARCHED}\n{SEARCHED}\n"
        arguments = verb, "connect4", "--file", "-", "--json", *more
        return [one["statistics"]["nodes"] for one in parsed(run_cutnode(*arguments, stdin=twice))]

    alone = cutnode_nodes(SEARCHED, verb)
    assert nodes("--cold") == [alone, alone]
    warm = nodes()
    assert warm[0] == alone > warm[1]


def test_threads_share_a_file(positions):
    data = parsed(run_cutnode("solve", "connect4", "--file", positions, "--json", "--threads", 2))
    assert [one["value"] for one in data] == [-1, 1, 0]


def test_limit_of_one_position_is_exit_3_for_the_file():
    result = run_cutnode(
        "solve", "connect4", "--file", "-", "--nodes", 1000, stdin=f"{LATE}\n44\n{LATE_TOO}"
    )
    assert result.exit_code == 3
    values = [line.split()[1] for line in result.output.splitlines()]
    assert values[0] == "-1" and ".." in values[1] and values[2] == "1"


# solve, games of chance


def test_solve_by_value_iteration():
    result = run_cutnode("solve", "toys.race", "3 2 2")
    assert result.exit_code == 0
    assert result.output.startswith("mine=3\ntheirs=2\nroll=2\n\nvalue  ")
    assert "\nscores 1: " in result.output and "\nbest   2\n" in result.output
    assert "\nthen   " in run_cutnode("solve", "toys.race", "5 5 0", "--tolerance", "1e-6").output


def test_value_iteration_in_json():
    (data,) = parsed(run_cutnode("solve", "toys.race", "3 2 2", "--json"))
    assert (data["game"], data["position"], data["move"]) == ("toys.race", "3 2 2", "2")
    assert data["proven"] and data["bounds"][0] <= data["value"] <= data["bounds"][1]
    assert data["value"] == scores(data)["2"]


def test_value_iteration_of_a_file():
    lines = run_cutnode("solve", "toys.race", "--file", "-", stdin="1 5 1 ; won\n5 1 0\n").output
    won, other = (line.split() for line in lines.splitlines())
    assert (won[:5], other[4]) == (["1", "5", "1", "100", "1"], "-")
    found = parsed(
        run_cutnode("solve", "toys.race", "--file", "-", "--json", stdin="1 5 1\n5 1 0\n")
    )
    assert [data["position"] for data in found] == ["1 5 1", "5 1 0"]


def test_bounds_that_stay_apart_are_exit_3():
    result = run_cutnode("solve", "toys.ruin:fear")
    assert result.exit_code == 3
    assert "value  unknown  (between -100 and 100: bounds stay apart)" in result.output
    result = run_cutnode(
        "solve",
        "toys.ruin:fear",
        "--file",
        "-",
        stdin="chips=2 second=False tossed=False\nchips=5 second=True tossed=False\n",
    )
    assert result.exit_code == 3 and " -100..100 " in result.output


@pytest.mark.parametrize(
    ("game", "option", "words"),
    [
        *(
            (
                "toys.race",
                option,
                f"toys.race is a game of chance: {option[0]} does not apply; value iteration",
            )
            for option in (
                *(("--weak",), ("--cold",), ("--nodes", "9")),
                *(("--threads", "1"), ("--table-mb", "256"), ("--engine", "pn")),
                *(("--at-least", "1"), ("--proof", "nowhere/file")),
            )
        ),
        ("tictactoe", ("--tolerance", "1"), "tictactoe is not a game of chance: --tolerance does"),
        ("tictactoe", ("--positions", "9"), "is not a game of chance: --positions does not"),
        ("tictactoe", ("--at-least", "1", "--weak"), "weak and at_least exclude each other"),
        (
            "tictactoe",
            ("--at-least", "40000"),
            "values of tictactoe are -32000 to 32000, got 40000",
        ),
        ("tictactoe", ("--proof", "no/where"), "no/where cannot be written: there is no folder"),
        ("toys.race", ("--positions", "9"), "more than 9 positions can be reached from here"),
    ],
)
def test_options_that_do_not_apply(game, option, words):
    position = "5 5 0" if game == "toys.race" else ""
    result = run_cutnode("solve", game, position, *option)
    assert result.exit_code == 2 and result.stdout == ""
    assert words in result.stderr and len(result.stderr.splitlines()) == 1


# Canonical values


def test_canonical_values():
    output = run_cutnode("solve", "domineering:3x3", "--value").output
    assert "value        ±1  (Left is the player to move)" in output
    assert "class        N  (whoever begins wins)" in output
    assert "temperature  1\nmean         0" in output
    (data,) = parsed(run_cutnode("solve", "kayles:9", "|||||....", "--value", "--json"))
    facts = {"canonical_value": "*4", "nimber": 4, "birthday": 4, "terms": 1, "mean": "0"}
    assert facts.items() <= data["details"].items() and data["value"] == 1
    rows = "|||||....\n|.|......\n"
    both = run_cutnode("solve", "kayles:9", "--value", "--file", "-", stdin=rows)
    assert both.output == "|||||....  *4\n|.|......  0\n"


@pytest.mark.parametrize(
    ("game", "options", "code", "words"),
    [
        ("tictactoe", (), 2, "tictactoe defines neither parts nor swapped: only games of normal"),
        ("domineering", ("--weak",), 2, "--value and --weak exclude each other"),
        ("domineering", ("--threads", "2"), 2, "--value and --threads exclude each other"),
        (
            "domineering:3x3",
            ("--nodes", "20"),
            3,
            "no value of .../.../... vertical yet: node",
        ),
    ],
)
def test_values_that_are_not_found(game, options, code, words):
    result = run_cutnode("solve", game, "--value", *options)
    assert result.exit_code == code
    assert words in result.stderr and len(result.stderr.splitlines()) == 1


def test_values_of_parts_in_a_file(tmp_path):
    file = tmp_path / "kayles.values"
    first, again = (
        parsed(run_cutnode("solve", "kayles:9", "--value", "--values", file, "--json"))[0]
        for _ in range(2)
    )
    assert first["details"] == again["details"]
    assert again["statistics"]["nodes"] == 0 < first["statistics"]["nodes"]
    (data,) = parsed(run_cutnode("solve", "kayles:9", "--values", file, "--json"))
    assert data["details"]["nimber"] == 4
    lines = run_cutnode("solve", "kayles:9", "--values", file, "--file", "-", stdin="|||||||||\n")
    assert lines.output.split()[:2] == ["|||||||||", "1"]


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        ("kayles:9", ("--engine", "pn"), "--values is for --engine sums"),
        ("tictactoe", (), "--values is for --engine sums"),
        ("kayles:9", (), "cannot be read: No such file"),
    ],
)
def test_values_in_a_file_are_refused(game, options, words, tmp_path):
    result = run_cutnode("solve", game, "--values", tmp_path / "none.values", *options)
    assert result.exit_code == 2
    assert words in result.stderr and len(result.stderr.splitlines()) == 1


# search


def test_search_prints_board_and_result():
    result = run_cutnode("search", "tictactoe", "5", "--depth", 4, "--exact")
    assert result.exit_code == 0
    board, facts = result.output.split("\n\n")
    assert board == ". . .\n. x .\n. . ."
    assert [line.split()[0] for line in facts.splitlines()] == ["value", "best", "depth", "nodes"]
    assert "depth  4  (depth limit)" in facts


def test_search_of_a_second_is_the_default():
    result = run_cutnode("search", "tictactoe", "1425")
    assert "wins in 1 ply" in result.output
    assert "(proven)" in result.output


@pytest.mark.skipif(not jit_enabled(), reason="plain Python has one thread")
def test_search_with_threads():
    (data,) = parsed(
        run_cutnode("search", "connect4", "44", "--depth", 9, "--threads", 2, "--json")
    )
    assert data["details"]["depth"] == 9


def test_search_in_json():
    arguments = "search", "connect4", "44", "--depth", 5, "--json", "--lines", 2, "--seed", 1
    (data,) = parsed(run_cutnode(*arguments))
    assert (data["given"], data["details"]["depth"]) == ("44", 5)
    assert data["reason"] == "depth limit"
    assert [each["line"][0] for each in data["moves"]] == [each["move"] for each in data["moves"]]
    assert len(data["moves"]) == 2
    (again,) = parsed(run_cutnode(*arguments))
    assert again["statistics"]["nodes"] == data["statistics"]["nodes"]


def test_search_of_a_file(positions):
    arguments = "search", "connect4", "--file", positions, "--depth", 3
    rows = [line.split() for line in run_cutnode(*arguments).output.splitlines()]
    assert [row[0] for row in rows] == [LATE, LATE_TOO, SEARCHED]
    assert {len(row) for row in rows} == {6}
    alone = run_cutnode("search", "connect4", SEARCHED, "--depth", 3, "--json")
    assert int(rows[2][4]) == parsed(alone)[0]["statistics"]["nodes"]


@pytest.mark.slow
@pytest.mark.long
def test_search_with_chosen_techniques():
    def nodes(*options):
        arguments = "search", "connect4", "--depth", 6, "--evaluation", "own", "--json"
        return parsed(run_cutnode(*arguments, *options))[0]["statistics"]["nodes"]

    assert nodes("--techniques", "") == 16630
    assert nodes("--exact", "--driver", "mtdf") < 4000
    assert nodes("--exact", "--without", "table") > nodes("--exact")


def test_search_tells_what_it_counted():
    output = run_cutnode("search", "tictactoe", "--depth", 5, "--statistics").output
    counts = output.partition("\n  nodes  ")[2].splitlines()[1:]
    counted = dict(line.rsplit(maxsplit=1) for line in counts)
    assert int(counted["  cutoffs"].replace(",", "")) > 0
    assert float(counted["  effective branching"]) > 1


# check and new


def test_check_finds_nothing():
    result = run_cutnode("check", "tictactoe", "--rules", "--games", 5)
    assert result.exit_code == 0
    *summary, last = result.output.splitlines()
    assert last == "tictactoe: nothing found in 5 random games"
    assert summary[0].startswith("games     5 at random, of ")
    assert any(
        re.fullmatch(r"last move its player won (\d) of \1 decided games", s) for s in summary
    )


def test_check_as_json():
    (data,) = parsed(run_cutnode("check", "tictactoe", "--rules", "--games", 5, "--json"))
    assert data["findings"] == data["warnings"] == []
    assert data["summary"]["games"] == sum(data["summary"]["wins"]) + data["summary"]["draws"] == 5


def test_check_says_what_breaks_the_contract(tmp_path):
    file = tmp_path / "odd_crosses.py"
    file.write_text(TICTACTOE.replace("(position.theirs << Bits(9))", "position.theirs"))
    result = run_cutnode("check", file, "--rules")
    assert result.exit_code == 4
    assert re.search("key at '.*': .* have the same key", result.output)


def test_new_game_passes_the_check(tmp_path):
    file = tmp_path / "my_first_game.py"
    assert run_cutnode("new", file).exit_code == 0
    assert run_cutnode("check", file, "--rules").exit_code == 0
    before = file.read_text()
    assert f"{file} already exists" in complaint(run_cutnode("new", file))
    assert file.read_text() == before


@pytest.mark.slow
def test_new_game_is_solved(tmp_path):
    file = tmp_path / "my_second_game.py"
    assert run_cutnode("new", file).exit_code == 0
    assert "the player to move wins" in run_cutnode("solve", file, "1/2/2").output


@pytest.mark.parametrize("name", ["my_game", "my-game.py", "1.py", "", "json.py"])
def test_new_game_needs_a_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "is not a name for a game" in complaint(run_cutnode("new", name))
    assert list(tmp_path.iterdir()) == []


# perft


@pytest.mark.parametrize(("depth", "lines"), [(0, 1), (2, 72), (9, 127872), (10, 0), (10**30, 0)])
def test_perft(depth, lines):
    result = run_cutnode("perft", "tictactoe", "--depth", depth)
    assert (result.exit_code, result.output) == (0, f"{lines}\n")


def test_perft_divides():
    output = run_cutnode("perft", "tictactoe", "1234567", "--depth", 1, "--divide").output
    assert output == "0\n"
    output = run_cutnode("perft", "tictactoe", "1237", "--depth", 2, "--divide").output
    assert output == "20\n" + "".join(f"  {cell}: 4\n" for cell in (4, 5, 6, 8, 9))


def test_perft_in_json():
    (data,) = parsed(run_cutnode("perft", "tictactoe", "1237", "--depth", 2, "--divide", "--json"))
    assert (data["given"], data["details"]) == ("1237", {"depth": 2, "lines": 20})
    assert {each["move"]: each["lines"] for each in data["moves"]} == dict.fromkeys("45689", 4)
    (data,) = parsed(run_cutnode("perft", "tictactoe", "--depth", 1, "--json"))
    assert data["moves"] == []


def test_perft_counts_finished_games():
    """Move 7 wins."""
    arguments = "perft", "tictactoe", "1245", "--depth", 2
    assert run_cutnode(*arguments).output == "16\n"
    assert run_cutnode(*arguments, "--finished").output == "17\n"
    (data,) = parsed(run_cutnode(*arguments, "--finished", "--divide", "--json"))
    lines = {each["move"]: each["lines"] for each in data["moves"]}
    assert lines == {"3": 4, "6": 4, "7": 1, "8": 4, "9": 4}


def test_perft_of_a_file():
    arguments = "perft", "tictactoe", "--depth", 1, "--file", "-"
    assert run_cutnode(*arguments, stdin="1\n12 ; two\n").output == "1   8\n12  7\n"


# show and games


def test_show():
    output = run_cutnode("show", "tictactoe", "159").output
    assert output == "x . .\n. o .\n. . x\n\ntext   x../.o./..x\nmoves  2 3 4 6 7 8\n"


def test_show_of_a_finished_game():
    assert "moves  none: the game is over\n" in run_cutnode("show", "tictactoe", "14253").output


def test_show_before_an_event_of_chance():
    assert "moves  none: chance decides\n" in run_cutnode("show", "toys.race", "5 5 0").output


def test_show_of_a_file():
    result = run_cutnode("show", "tictactoe", "--file", "-", stdin="1\n2\n")
    assert result.output.count("text ") == 2
    result = run_cutnode("show", "tictactoe", "--file", "-", "--json", stdin="1\n")
    (data,) = parsed(result)
    assert (data["given"], data["position"]) == ("1", "x../.../...")
    assert [each["move"] for each in data["moves"]] == list("23456789")
    assert not data["details"]["over"]


def test_games():
    output = run_cutnode("games").output
    assert [line.split()[0] for line in output.splitlines()] == cutnode.game_names()
    assert "Connect Four" in output
    listed = parsed(run_cutnode("games", "--json"))
    assert [game["name"] for game in listed] == cutnode.game_names()
    assert all(game["about"] for game in listed)


def test_variants_that_are_listed_are_variants():
    for game in parsed(run_cutnode("games", "--json")):
        for variant in game["variants"]:
            cutnode.load_game(f"{game['name']}:{variant}")


def test_a_game_that_cannot_be_read_does_not_hide_the_others(monkeypatch, tmp_path):
    (tmp_path / "damaged.py").write_text("def f(:\n")
    (tmp_path / "tictactoe.py").write_text(TICTACTOE)
    monkeypatch.setattr("cutnode.contract.collection.FOLDER", tmp_path)
    result = run_cutnode("games")
    assert result.exit_code == 2
    assert "Tic-tac-toe" in result.output
    assert "cannot read 'damaged': SyntaxError: invalid syntax (" in result.output


# Help


def test_help_tells_every_command():
    output = run_cutnode("--help").output
    for name in OWN_COMMANDS:
        assert f"\n  {name} " in output
    assert "Exit codes: 0 all done and proven, 1 " in output


@pytest.mark.parametrize("name", OWN_COMMANDS)
def test_help_tells_every_option(name):
    command = main.get_command(click.Context(main), name)
    result = run_cutnode(name, "--help")
    assert result.exit_code == 0
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert parameter.opts[0] in result.output
        elif name != "batch":  # batch takes the options of solve
            assert f"\n  {parameter.name.upper()} " in result.output


@pytest.mark.parametrize("text", [None, "raise RuntimeError"])
def test_a_folder_named_games_does_not_hide_the_games(tmp_path, text):
    (tmp_path / "games").mkdir()
    if text is not None:
        (tmp_path / "games" / "__init__.py").write_text(text)
    process = started("show", "tictactoe", cwd=tmp_path, stdout=subprocess.PIPE)
    assert "text   .../.../..." in process.communicate()[0]


def test_a_count_deeper_than_any_game_ends_at_once():
    for game, finished in (("connect4", False), ("tictactoe", True)):
        flags = ["--finished"] if finished else []
        result = run_cutnode("perft", game, "--depth", 2**32, *flags)
        assert result.output == ("255168\n" if finished else "0\n")


def every_command(command=main, path=()):
    """Return the commands of this package and their subcommands, as words."""
    yield path
    for name in command.commands if path and isinstance(command, click.Group) else ():
        yield from every_command(command.commands[name], (*path, name))
    for name in () if path else OWN_COMMANDS:
        yield from every_command(main.get_command(click.Context(main), name), (name,))


def test_help_and_version_load_neither_the_compiler_nor_a_game():
    """All commands run in one process."""
    code = (
        "import json, sys\n"
        "from click.testing import CliRunner\n"
        "from cutnode.cli.main import main\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    result = CliRunner().invoke(main, words)\n"
        "    assert result.exit_code == 0 and result.output, (words, result.output)\n"
        "heavy = {'numba', 'numpy', 'rich'}\n"
        "print(sorted(heavy & {*sys.modules}))"
    )
    asked = [[*words, "--help"] for words in every_command()]
    assert len(asked) > len(OWN_COMMANDS) + 10
    asked += [["--version"], ["games"], ["games", "--json"]]
    environment = os.environ | FROM_HERE
    command = [sys.executable, "-c", code, json.dumps(asked)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


COMPLETED = {
    ("solve", "conn"): ["connect4"],
    ("solve", "connect4:8"): ["connect4:8x7"],
    ("solve", "my_g"): ["my_game.py"],
    ("solve", "somewhere/"): ["somewhere/else.py"],
    ("search", "connect4", "--evaluation", "c"): ["cells"],
    ("search", "connect4", "--techniques", "table,kil"): ["table,killers"],
    ("search", "connect4", "--engine", "m"): ["mcts"],
    ("play", "chess", "--level", "ex"): ["expert"],
    ("match", "chess", "level=h"): ["level=hard"],
    ("lab", "literature", "pear"): ["pearl"],
    ("tablebase", "bu"): ["build"],
    ("sol",): ["solve"],
}


@pytest.mark.parametrize("words", COMPLETED)
def test_completion(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_game.py").touch()
    (tmp_path / "somewhere").mkdir()
    (tmp_path / "somewhere" / "else.py").touch()
    monkeypatch.setenv("COMP_WORDS", " ".join(("cutnode", *words)))
    shell = ZshComplete(main, {}, "cutnode", "_CUTNODE_COMPLETE")
    found = shell.get_completions([*words[:-1]], words[-1])
    assert [item.value for item in found] == COMPLETED[words]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("cutnode", "solve", "connect4", ":", "8"), "plain,8x7"),
        (("cutnode", "solve", "othello", ":"), "plain,8x8\nplain,6x6\nplain,4x4"),
        (("cutnode", "solve", "connect4:8x7", "--dep"), ""),
    ],
)
def test_bash_breaks_words_at_colons(words, answer, monkeypatch):
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    assert Bash(main, {}, "cutnode", "_CUTNODE_COMPLETE").complete() == answer


def test_completion_loads_neither_the_compiler_nor_a_game():
    environment = os.environ | FROM_HERE | {"_CUTNODE_COMPLETE": "bash_complete"}
    environment |= {"COMP_WORDS": "cutnode search connect4 --evaluation ", "COMP_CWORD": "4"}
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(sorted({'numba', 'numpy', 'games'} & {*sys.modules})))\n"
        "from cutnode.cli.main import main\n"
        "main(prog_name='cutnode')"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.check_output(command, env=environment, text=True).splitlines()
    assert "plain,cells" in found and "plain,aggressive" in found and found[-1] == "[]"


def test_help_fits_80_columns():
    for words in every_command():
        lines = run_cutnode(*words, "-h").output.splitlines()
        assert all(len(line) <= 80 for line in lines), words


OF_TWO_MEANINGS = {
    "--engine",
    "--format",
    "--games",
    "--plies",
    "--proof",
    "--resume",
    "--search",
    "--searches",
    "--warm",
}


def test_options_are_declared_once():
    sources = [path.read_text() for path in (ROOT / "engine" / "cutnode" / "cli").glob("*.py")]
    declared = [
        name
        for source in sources
        for name in re.findall(r'^[ @\w.(=]*"(--[a-z0-9-]+)"', source, re.M)
    ]
    declared += [FLAGS.get(name, f"--{name.replace('_', '-')}") for name in PROOF_OPTIONS]
    assert len(declared) > 70
    assert {name for name in declared if declared.count(name) > 1} == OF_TWO_MEANINGS


def test_version():
    try:
        installed = version("cutnode")
    except PackageNotFoundError:
        pytest.skip("not installed")
    assert run_cutnode("--version").output == f"cutnode {installed}\n"


# Bad input: one line, exit 2

FLOATING = "......./......./......./......./...x.../......."
BOTH = "......./......./......./......./oooo.../xxxx..."
COUNTS = "......./......./......./......./......./xx....."
ROWS = "......./xo....."
SYMBOL = "......./......./......./......./......./xz....."
BAD_POSITIONS = {
    "48": "move 2 of '48': '8' is not a column; columns are 1..7",
    "4a": "'a' is not a column",
    "4444444": "move 7 of '4444444': column 4 is full",
    "12121212": "move 8 of '12121212': column 2 is played after the game is over",
    FLOATING: "row 5 from the top, column 4 has an empty cell below it",
    COUNTS: "2 x and 0 o: x moves first",
    BOTH: "has four in a line already and so has the other",
    ROWS: "the board has 2 rows; a board of 7x6 has 6",
    SYMBOL: "'z' in row 6 from the top, column 2",
}
SOLVE = "solve", "connect4"
SECONDS = "invalid value for '-s' / '--seconds'"
BAD_INPUT = {
    ("solve", "conect4"): "unknown game 'conect4' (did you mean 'connect4'?)",
    ("solve", ""): "unknown game ''; games are breakthrough",
    ("solve", ".."): "unknown game '..'",
    ("solve", "no_such.game"): "cannot load 'no_such.game': No module named 'no_such'",
    ("solve", "os.path"): "os.path is not a game: it does not define moves",
    ("solve", str(ROOT / "README.md")): (
        f"cannot load '{ROOT / 'README.md'}': the name of a game's file must end in .py"
    ),
    ("solve", "no_such_game.py"): "there is no file 'no_such_game.py'",
    ("show", "connect4:9x9"): "a board of 9x9 does not fit",
    ("show", "connect4:large"): "'large' is not a board size; write WIDTHxHEIGHT",
    ("show", "tictactoe:4x4"): "tictactoe has no variant '4x4'",
    (*SOLVE, "--table-mb", "999999999"): "a table of 999999999 MiB does not fit",
    (*SOLVE, "--seconds", "nan"): f"{SECONDS}: nan is not a finite number",
    ("train", "connect4", "--seconds", "nan"): f"{SECONDS}: nan is not a finite number",
    (*SOLVE, "44", "--file", "-"): "a position and --file exclude each other",
    (*SOLVE, "--file", "no_such_file"): "no_such_file cannot be read: No such file or directory",
    (*SOLVE, "--file", "."): ". cannot be read: Is a directory",
    (*SOLVE, "--file", "-"): "standard input holds no positions",
    ("search", "connect4", "--techniques", "tabel"): "there is no technique 'tabel' (did you",
    ("search", "connect4", "--without", "killer"): "there is no technique 'killer' (did you",
    (
        "search",
        "connect4",
        "--techniques",
        "null_move",
    ): "connect4 does not allow null_move: it does not",
    (
        "search",
        "connect4",
        "--techniques",
        "enhanced_cutoffs",
    ): "enhanced_cutoffs makes no sense without table",
    (
        "search",
        "connect4",
        "--exact",
        "--techniques",
        "late_move_pruning",
    ): "late_move_pruning is selective",
    ("search", "connect4", "--depth", "64"): "invalid value for '-d' / '--depth': 64 is not in",
    ("search", "connect4", "--seconds", "inf"): f"{SECONDS}: inf is not a finite number",
    (
        "search",
        "connect4",
        "--seconds",
        "nan",
    ): f"{SECONDS}: nan is not a finite number",
    ("search", "connect4", "--evaluation", "cell"): "connect4 has no evaluation 'cell' (did you",
    (*SOLVE, "--", "-4"): "move 1 of '-4': '-' is not a column",
}
BAD_USAGE = {
    ("win",): "no such command 'win'",
    ("solve",): "missing argument 'GAME'",
    ("perft", "connect4"): "missing option '-d' / '--depth'",
    ("perft", "connect4", "--depth", "-1"): "-1 is not in the range x>=0",
    ("perft", "connect4", "--depth", "two"): "'two' is not a valid integer",
    (*SOLVE, "-4"): "no such option",
    (*SOLVE, "4", "4"): "got unexpected extra argument",
    (*SOLVE, "--nodes", "0"): "0 is not in the range x>=1",
    (*SOLVE, "--seconds", "0"): "0.0 is not in the range x>0",
    (*SOLVE, "--threads", "0"): "0 is not in the range 1<=x<=1024",
    (*SOLVE, "--table-mb", "-1"): "-1 is not in the range x>=1",
}


def complaint(result: Result, code: int = 2) -> str:
    """Return the last line of the output of a command that failed properly."""
    assert result.exit_code == code
    assert "Traceback" not in result.output
    return result.output.splitlines()[-1]


@pytest.mark.parametrize(("position", "message"), BAD_POSITIONS.items())
def test_bad_position(position, message):
    for verb in ("solve", "show"):
        result = run_cutnode(verb, "connect4", position)
        assert complaint(result).startswith("cutnode: ")
        assert message in result.output
        assert result.output.count("\n") == 1


@pytest.mark.parametrize(("position", "message"), BAD_POSITIONS.items())
def test_bad_position_of_a_file_is_named_before_anything_is_solved(tmp_path, position, message):
    file = tmp_path / "positions.txt"
    file.write_text(f"# late\n{LATE}\n\n{position} ; 0\n")
    result = run_cutnode("solve", "connect4", "--file", file)
    assert complaint(result).startswith(f"cutnode: {file}, line 4: ")
    assert message in result.output
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(("args", "message"), BAD_INPUT.items())
def test_bad_input(args, message):
    assert complaint(run_cutnode(*args)).startswith(f"cutnode: {message}")


@pytest.mark.parametrize(("args", "message"), BAD_USAGE.items())
def test_bad_usage(args, message):
    line = complaint(run_cutnode(*args))
    assert line.startswith("cutnode: ") and message in line and " --help" in line
    assert "Usage:" in run_cutnode().output


@pytest.mark.parametrize("code", ["latin-1", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_files_of_any_code_and_line_ends(tmp_path, code, end):
    file = tmp_path / "positions.txt"
    text = "4\u00e9"
    file.write_bytes(end.join(["124 ; caf\u00e9", "", text]).encode(code))
    wrong = (
        f"{file}, line 3: {complaint(run_cutnode('show', 'tictactoe', text)).partition(': ')[2]}\n"
    )
    assert (
        run_cutnode("perft", "tictactoe", "--depth", 1, "--file", file).stderr
        == f"cutnode: {wrong}"
    )
    result = run_cutnode("perft", "tictactoe", "--depth", 1, "--file", file, "--skip-bad", "--json")
    assert (result.exit_code, json.loads(result.stdout)["position"]) == (0, "xo./x../...")
    assert result.stderr == f"cutnode: skipped {wrong}cutnode: skipped 1 line of {file}\n"


SKIPPING = [
    ("solve", "tictactoe", "--file"),
    ("match", "tictactoe", "depth=1", "depth=2", "--file"),
    ("batch", "tictactoe"),
    ("lab", "depths", "tictactoe", "--depth", 1, "--quiet", "--json", "--file"),
]


@pytest.mark.parametrize("command", SKIPPING, ids=lambda command: command[0])
def test_lines_that_cannot_be_read(tmp_path, command):
    file = tmp_path / "positions.txt"
    file.write_text("rubbish\n1245\n11\n1452\n")
    assert complaint(run_cutnode(*command, file)).startswith(f"cutnode: {file}, line 1: ")
    result = run_cutnode(*command, file, "--skip-bad")
    told = [line for line in result.stderr.splitlines() if "skipped" in line]
    assert result.exit_code == 0 and len(told) == 3
    for number, line in zip((1, 3), told, strict=False):
        assert line.startswith(f"cutnode: skipped {file}, line {number}: ")
    assert told[-1] == f"cutnode: skipped 2 lines of {file}"
    if command[0] == "lab":
        wanted = f"{file} without 2 unreadable lines"
        assert json.loads(result.stdout)["settings"]["positions_from"] == wanted


def test_a_batch_without_bad_lines_is_resumed(tmp_path):
    file, journal = tmp_path / "positions.txt", tmp_path / "journal"
    file.write_text("rubbish\n1245\n1452\n")
    command = ("batch", "tictactoe", file, "--skip-bad", "--journal", journal)
    first, again = run_cutnode(*command), run_cutnode(*command)
    assert first.exit_code == again.exit_code == 0 and "skipped 1 line of" in again.stderr
    kept = [json.loads(line)["position"] for line in first.stdout.splitlines()]
    assert kept == [json.loads(line)["position"] for line in again.stdout.splitlines()]
    assert len(kept) == 2


def test_notes_are_told_on_standard_error():
    result = run_cutnode("show", "chess", "4k3/8/8/8/8/8/8/4K3 w K - 0 1")
    assert result.exit_code == 0
    note = "cutnode: note: castling K is read as -: king or rook is not at home for K\n"
    assert result.stderr == note


RULE = "def outcome(position):\n"
LISTED = "            at += 1\n    return at\n"
PLAYED = "return Position(position.theirs, position.mine | (Bits(1) << Bits(move)))"
BROKEN = {
    "attribute": (
        RULE,
        f"{RULE}    return position.thairs\n",
        ".outcome does not compile: Position has no field 'thairs' (did you mean 'theirs'?), in ",
    ),
    "name": (
        RULE,
        f"{RULE}    return unheard_of\n",
        ".outcome does not compile: name 'unheard_of' is not defined",
    ),
    "operand": (
        RULE,
        f"{RULE}    return position.mine + 'x'\n",
        ".outcome does not compile: it makes or compares texts: rules can use numbers and tuples",
    ),
    "function": (
        RULE,
        f"{RULE}    return move_text(position, 0)\n",
        ".outcome does not compile: move_text is a function that is not compiled: put @compiled ",
    ),
    "result": (
        RULE,
        f"{RULE}    return position.mine == FULL\n",
        ".outcome returns bool; the contract is tuple[bool, int]",
    ),
    "child": (
        PLAYED,
        "return position.theirs, position.mine",
        ".play returns a tuple of Bits, Bits; the contract is a Position",
    ),
    "field": (
        "position.mine | (Bits(1) << Bits(move)))",
        "1 << move)",
        ".play returns a Position whose field theirs is a signed integer, but it is annotated "
        "Bits: wrap it, Bits(...)",
    ),
    "class": (
        PLAYED,
        "return Other(position.theirs, 0)\n\n\nclass Other(NamedTuple):\n"
        "    mine: Bits\n    theirs: int\n",
        ".play returns a tuple of class Other; the contract is a Position",
    ),
    "replaced": (
        PLAYED,
        "return position._replace(nobodys=position.theirs)",
        ".play does not compile: Position has no field 'nobodys', in ",
    ),
    "nothing": (LISTED, LISTED.replace("return at", "pass"), ".moves returns nothing"),
    "parameters": (
        RULE,
        "def outcome(position, ply):\n",
        ".outcome takes 2 parameters; the contract is outcome(position)",
    ),
    "plain": (f"@compiled\n{RULE}", RULE, " is only partly compiled: put @compiled before outcome"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_rules_that_do_not_compile(tmp_path, name):
    old, new, reason = BROKEN[name]
    assert old in TICTACTOE
    file = tmp_path / f"broken_{name}.py"
    file.write_text(TICTACTOE.replace(old, new))
    code = 2 if name in ("parameters", "plain") else 4
    line = complaint(run_cutnode("perft", file, "--depth", 2), code)
    assert line.startswith(f"cutnode: broken_{name}{reason}")
    if name in ("attribute", "operand", "function", "replaced"):
        assert f"broken_{name}.py, line " in line


# Functions for people that fail

PLAIN_RULES = (
    TICTACTOE.replace("@compiled\n", "").replace(
        "    theirs: Bits = Bits(0)\n",
        "    theirs: Bits = Bits(0)\n\n    def __str__(self) -> str:\n        return 'x'\n",
    )
    + """
from cutnode.contract.notation import contents_of, play_texts


def start(variant=""):
    return Position()


def parse_position(text, variant=""):
    if "/" in text:
        return from_cells(*CELLS.read(text, ""), start())
    return play_texts(start(), text, text)


def position_text(position):
    return CELLS.text(contents_of(position))


def describe(position, value):
    return str(value)
"""
)
"""Rules whose searches need no compilation."""
FAILING = {
    "start": ("show", "", "start, line N: IndexError: list index out"),
    "parse_position": ("show", "5", "parse_position, line N: IndexError: list index out"),
    "move_text": ("solve", "xxo/oox/x..", "move_text, line N, at 'xxo/oox/x..': IndexError"),
    "position_text": (
        "show",
        "5",
        "position_text, line N, at Position(mine=0, theirs=16): Index",
    ),
    "__str__": ("solve", "xxo/oox/x..", "__str__, line N, at 'xxo/oox/x..': IndexError"),
    "describe": ("solve", "xxo/oox/x..", "describe, line N, at 'xxo/oox/x..': IndexError"),
}


@pytest.mark.parametrize("name", FAILING)
def test_function_for_people_that_fails(tmp_path, name):
    """One line says which function failed and where; the result is printed as well as possible."""
    verb, position, message = FAILING[name]
    source, count = re.subn(rf"( *)def {name}\(.*:\n", r"\g<0>\1    [][0]\n", PLAIN_RULES)
    assert count == 1
    file = tmp_path / f"failing_{name.strip('_')}.py"
    file.write_text(source)
    result = run_cutnode(verb, file, position)
    line = re.sub(r"line \d+", "line N", complaint(result, 4))
    assert line.startswith(f"cutnode: failing_{name.strip('_')}.{message}")
    if verb == "solve":
        assert "\nvalue  0  (" in result.stdout or "\nvalue  1  (" in result.stdout
    assert ("best   move 7" in result.stdout) == (name == "move_text")
    assert ("text   Position(mine=0, theirs=16)" in result.stdout) == (name == "position_text")


def test_moves_that_return_nothing(tmp_path):
    file = tmp_path / "forgetful.py"
    file.write_text(PLAIN_RULES.replace("return at", "return None"))
    result = run_cutnode("check", file)
    assert result.exit_code == 4
    assert "forgetful.moves returns nothing (is a return missing?); the contract" in result.output


def test_rule_that_fails_in_plain_python(tmp_path):
    file = tmp_path / "failing_rule.py"
    file.write_text(PLAIN_RULES.replace("at += 1", "at += 1 // (cell - 3)"))
    line = complaint(run_cutnode("show", file, 5), 4)
    assert re.match(
        r"cutnode: failing_rule.moves, line \d+, at '.../.x./...': ZeroDivisionError", line
    )


# Files that are not modules

UNREADABLE = {
    "syntax": ("x = 1\ndef f(:\n", "SyntaxError: invalid syntax (unreadable_syntax.py, line 2)"),
    "name": ("x = 1\ny\n", "NameError: name 'y' is not defined (unreadable_name.py, line 2)"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_file_that_cannot_be_loaded(tmp_path, name):
    text, message = UNREADABLE[name]
    file = tmp_path / f"unreadable_{name}.py"
    file.write_text(text)
    result = run_cutnode("solve", file)
    assert complaint(result) == f"cutnode: cannot load '{file}': {message}"
    assert result.output.count("\n") == 1


# Interrupts

INTERRUPTIBLE = {
    ("solve", "connect4"): ": interrupted)",
    ("solve", "connect4", "--threads", "2"): ": interrupted)",
    ("analyse", "connect4", "--json"): '"reason": "interrupted"',
    ("search", "connect4", "--seconds", "60"): "(interrupted)",
    ("perft", "connect4", "--depth", "30"): "",
}


@pytest.fixture
def ctrl_c(interrupt_soon):
    """Ctrl-C, soon."""
    cutnode.solve(cutnode.load_game("connect4").parse(LATE))
    cutnode.perft(cutnode.load_game("connect4").start(), 1)
    interrupt_soon()


@pytest.mark.parametrize(("args", "message"), INTERRUPTIBLE.items())
def test_interrupt_is_exit_130_with_what_is_known(ctrl_c, args, message):
    result = run_cutnode(*args)
    assert result.exit_code == 130
    assert message in result.output
    counted = re.findall(r'\bnodes"?:?\s+([\d,]+)', result.stdout)
    assert len(counted) == (args[0] != "perft") and "0" not in counted
    found = "; these are the results so far" * (args[0] != "perft")
    assert result.stderr == f"cutnode: interrupted{found}\n"


@pytest.mark.parametrize("verb", ["solve", "analyse"])
def test_interrupted_file_shows_what_was_begun(ctrl_c, verb):
    result = run_cutnode(verb, "connect4", "--file", "-", stdin=f"{LATE}\n4\n1\n2\n")
    assert result.exit_code == 130
    first, second = (line.split() for line in result.stdout.splitlines())
    assert first[:2] == [LATE, "-1"]
    assert second[0] == "4" and ".." in second[1]


# Processes, pipes and terminals


def test_process_reads_a_pipe_and_keeps_stderr_silent():
    process = started(
        *("solve", "tictactoe", "--file", "-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = process.communicate("5\n51 ; corner\n")
    assert (process.returncode, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()] == [["5", "0"], ["51", "0"]]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("solve", "tictactoe", "0"), 2),
        pytest.param(("solve", "tictactoe", "--nodes", 5), 3, marks=pytest.mark.slow),
    ],
)
def test_exit_codes_of_the_process(args, code):
    process = started(*args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    assert process.returncode == code
    assert bool(out) == (code != 2)
    assert bool(err) == (code == 2)


def test_reader_that_leaves_early_is_no_error(tmp_path):
    file = tmp_path / "positions.txt"
    file.write_text("1\n" * 5000)
    process = started(
        *("show", "tictactoe", "--file", file), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == "x . .\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()


def at_terminal(*args: object) -> str:
    """Return what the command shows at a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = started(*args, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while some := os.read(ours, 4096):
            shown += some
    except OSError:  # how Linux reports that the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return shown.decode()


def test_terminal_shows_boards_in_colour_with_glyphs(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    shown = at_terminal("show", "connect4", 44)
    assert "\x1b[1;31m●\x1b[0m" in shown and "\x1b[1;34m○\x1b[0m second player" in shown
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    shown = at_terminal("show", "connect4", 44)
    assert ". . . x . . ." in shown and "\x1b" not in shown


def test_terminal_shows_how_far_a_search_is():
    shown = at_terminal("search", "connect4", "--seconds", "0.6")
    assert re.search(
        r"depth \d+  value -?\d+  [\d,]+ nodes  [\d,]+/s  table \d+%  \d+\.\d s  \d", shown
    )


def test_status_line_shows_how_far_the_code_is(monkeypatch):
    waiting = Progress(0, None, None, None, (), 0, 2.0, 0.0)
    assert _at_a_glance(None, waiting) == "getting ready, 2 s"
    now = progress.Progress("search_root", "connect4.Position", 7, 9, 1.5)
    monkeypatch.setattr(progress, "running", lambda: now)
    line = "compiling search_root for connect4.Position: 7 of 9 functions, 2 s"
    assert _at_a_glance(None, waiting) == line


@pytest.mark.slow
@compiled_only
def test_terminal_has_one_line_while_a_search_is_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("CUTNODE_CACHE", str(tmp_path))
    shown = at_terminal("search", "tictactoe", "--depth", "1")
    assert "cutnode: compiling" not in shown
    assert re.search(r"compiling search_\w+ for tictactoe.Position: \d+ functions, \d+ s", shown)


def test_log_has_info_lines(monkeypatch):
    monkeypatch.setattr("cutnode.cli.live.LOOK_SECONDS", 0.01)
    arguments = "search", "connect4", "--seconds", "0.2"
    assert run_cutnode(*arguments).stderr == ""
    lines = run_cutnode(*arguments, "--progress").stderr.splitlines()
    told = r"info depth \d+ value -?\d+ nodes \d+ nps \d+ hashfull \d+ time \d+ pv \d"
    assert any(re.match(told, line) for line in lines)
    assert "info value -" in run_cutnode("solve", "connect4", "-s", "0.2", "--progress").stderr


def test_terminal_shows_progress_and_a_summary(positions):
    shown = at_terminal("solve", "connect4", "--file", positions)
    assert "0/3" in shown
    assert "3 of 3 positions solved, " in shown


# How commands are ended


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="pipes close otherwise")
@pytest.mark.parametrize(
    ("words", "both"),
    [
        (("--help",), False),
        (("solve", "tictactoe", "1524"), False),
        pytest.param(("games",), False, marks=pytest.mark.slow),
        pytest.param(("solve", "--help"), False, marks=pytest.mark.slow),
        pytest.param(("lab", "parameters"), False, marks=pytest.mark.slow),
        (("nosuch",), True),
    ],
)
def test_a_reader_that_leaves_ends_it_quietly(words, both):
    """As ``head`` does; with *both*, standard error goes to the same pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        process = started(*words, stdout=closed, stderr=closed if both else subprocess.PIPE)
    with process:
        _, said = process.communicate()
    assert process.returncode == 141
    assert not said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_is_reported():
    with open("/dev/full", "w") as full, started("--help", stdout=full, stderr=-1) as process:
        said = process.communicate()[1]
    assert (process.returncode, said) == (
        2,
        "cutnode: standard output cannot be written: No space left on device\n",
    )


@pytest.mark.parametrize("module", ["click", "cutnode.cli.main", "cutnode.cli.proving", "numba"])
def test_ctrl_c_while_modules_are_imported(module):
    """However long that takes: Ctrl-C comes while a module is being looked for."""
    code = (
        "import runpy, sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "sys.argv[1:] = ['solve', 'tictactoe', '1524']\n"
        "runpy.run_module('cutnode', run_name='__main__')\n"
    )
    environment = os.environ | FROM_HERE
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode in (130, -signal.SIGINT)  # a shell reports 130 for both
    assert result.stderr in ("", "cutnode: interrupted\n")
    assert "value" not in result.stdout


def test_standard_streams_may_be_closed():
    code = "import sys; sys.stdout = sys.stderr = None; from cutnode.cli.start import main; main()"
    environment = os.environ | FROM_HERE
    command = [sys.executable, "-c", code, "show", "tictactoe", "1524"]
    assert subprocess.run(command, env=environment).returncode == 0


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGHUP", None)])
def test_signals_end_it_as_ctrl_c_does(number, monkeypatch):
    class Ended:
        def __str__(self):
            signal.raise_signal(number)
            return ""

    before = signal.getsignal(number)
    monkeypatch.setattr(cutnode, "__version__", Ended())
    result = run_cutnode("--version")
    assert (result.exit_code, result.output) == (128 + number, "cutnode: interrupted\n")
    assert signal.getsignal(number) is before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals")
def test_signals_that_are_ignored_stay_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_from_outside():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals")
def test_an_interrupt_says_which_signal_it_was(monkeypatch):
    """A program that cannot end normally must: ``cutnode uci`` while it compiles."""
    ended = []

    def run(self, lines):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("cutnode.games.chess.uci.Session.run", run)
    monkeypatch.setattr("cutnode.games.chess.uci.os._exit", ended.append)
    assert run_cutnode("uci").exit_code == 143 and ended == [143]


def test_signals_end_a_job_that_ignores_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # conftest.py restores it
    with pytest.raises(KeyboardInterrupt), ended_from_outside():
        signal.raise_signal(signal.SIGTERM)


def test_progress_in_lines_for_a_log(capsys):
    with progress_bar(2, told=True) as tell:
        tell(1, label="a")
        tell(2, label="b")
    assert re.fullmatch(r"cutnode: b, 2 of 2, \d+ s", capsys.readouterr().err.splitlines()[-1])
    with progress_bar(2) as tell:
        tell(2)
    assert capsys.readouterr().err == ""


def test_files_report_progress_to_a_log(positions):
    for command in (("solve", "connect4", "--file", positions), ("batch", "connect4", positions)):
        assert "cutnode: 3 of 3, " in run_cutnode(*command, "--progress").stderr
        assert "cutnode: " not in run_cutnode(*command).stderr


# Commands of games


@click.command()
def hello():
    """Say hello."""
    click.echo("hello")


@pytest.fixture
def commands(monkeypatch):
    """Installed commands: one that works, and some that do not."""
    values = {
        "hello": f"{__name__}:hello",
        "lost": "no_such_module:main",
        "odd": f"{__name__}:ROOT",
        "solve": f"{__name__}:hello",
    }
    points = [EntryPoint(name, value, GROUP) for name, value in values.items()]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    added_commands.cache_clear()
    yield
    added_commands.cache_clear()


def test_games_add_commands(commands):
    result = run_cutnode("hello")
    assert (result.exit_code, result.output) == (0, "hello\n")
    listed = run_cutnode("--help").output
    assert "Say hello." in listed and "lost" in listed and "Cannot be loaded" in listed
    assert "Prove the value" in run_cutnode("solve", "--help").output  # cutnode's own come first


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lost", "lost (no_such_module:main) cannot be loaded: ModuleNotFoundError"),
        ("odd", "cannot be loaded: TypeError: it is "),
    ],
)
def test_commands_that_cannot_be_loaded(commands, name, words):
    result = run_cutnode(name, "--depth", "3")
    assert result.exit_code == 2
    assert words in result.output and len(result.output.splitlines()) == 1
