"""Searched trees: recordings match the search, shown parts fit, and drawings parse.

This file is also a game: the textbook tree.  Rules: one of three moves at the root, one of three
after it; then the game is over, with the value of the leaf.
"""

from __future__ import annotations

import gc
import json
import re
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

import pytest
from commands import run_cutnode
from toys import duel, gamble, isola, pig

from cutnode import (
    CutnodeError,
    GameError,
    Searcher,
    alphabeta,
    legal_moves,
    load_game,
    minimax,
    record_tree,
    search,
    to_dot,
    to_json,
    to_mermaid,
    to_svg,
)
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.choices import RECORDED_SEARCHES
from cutnode.contract.dispatch import is_plain
from cutnode.contract.loading import plain_copy
from cutnode.contract.notation import Notation
from cutnode.tree import recording

pytestmark = pytest.mark.once

# S. Russell and P. Norvig, "Artificial Intelligence: A Modern Approach" (4th edition, 2021),
# figure 5.2: minimax 3; figure 5.5: alpha-beta never looks at the leaves 4 and 6.
LEAVES = (3, 12, 8), (2, 4, 6), (14, 5, 2)
MAX_MOVES, MAX_PLIES = 3, 2


class Place(NamedTuple):
    """A node, given by the moves that led to it."""

    path: tuple[int, ...] = ()


def moves(position, buffer, at):
    buffer[at : at + 3] = 0, 1, 2
    return at + 3


def play(position, move):
    return Place((*position.path, move))


def outcome(position):
    if len(position.path) < 2:
        return False, 0
    first, second = position.path
    return True, LEAVES[first][second]


def key(position):
    return hash(position)


def start(variant=""):
    return Place()


def position_text(position):
    return "".join(map(str, position.path))


def move_text(position, move):
    return "abc"[move] + "123"[len(position.path)]


# The textbook


def test_a_recorded_search_leaves_nothing_behind() -> None:
    def recorders() -> int:
        gc.collect()
        return sum(type(each) is recording._Recorder for each in gc.get_objects())

    gc.freeze()  # what other tests left is not looked through
    try:
        for _ in range(3):
            record_tree(load_game("tictactoe").start(), 2)
        assert recorders() == 0
    finally:
        gc.unfreeze()


def test_textbook():
    tree = record_tree(Place(), 2, search="alphabeta")
    root = tree.root
    assert (tree.value, tree.pv, tree.nodes, root.nodes) == (3, ("a1", "a2"), 11, 11)
    assert (root.player, root.kind, root.bound, root.best) == ("max", "pv", "exact", "a1")
    first, second, third = root.children
    assert [node.player for node in root.children] == ["min"] * 3
    assert [node.window for node in root.children] == [(None, None), (3, None), (3, None)]
    assert [(node.value, node.bound) for node in root.children] == [
        (3, "exact"),
        (2, "upper"),
        (2, "upper"),
    ]
    assert [node.kind for node in root.children] == ["pv", "cut", "cut"]
    assert [node.reason for node in root.children] == [
        "all moves searched",
        "cutoff by a2",
        "cutoff by c2",
    ]
    assert [left.moves for left in second.unsearched] == [("b2", "c2")]
    assert not first.unsearched and not third.unsearched
    leaves = [[leaf.value for leaf in node.children] for node in root.children]
    assert leaves == [[3, 12, 8], [2], [14, 5, 2]]
    assert {leaf.reason for node in root.children for leaf in node.children} == {"game over"}
    assert [node.move for node in root.walk() if node.principal] == ["", "a1", "a2"]
    assert third.best == "c2" and third.window == (3, None)


def test_textbook_by_minimax():
    tree = record_tree(Place(), 2, search="minimax")
    assert (tree.value, tree.nodes, sum(1 for _ in tree.root.walk())) == (3, 13, 13)
    assert [node.value for node in tree.root.children] == [3, 2, 2]
    assert {node.bound for node in tree.root.walk()} == {"exact"}


def test_horizon():
    root = record_tree(Place(), 1, search="alphabeta").root
    assert [(node.reason, node.kind, node.value) for node in root.children] == [
        ("depth reached", "leaf", 0)
    ] * 3


# The recording matches the search

GAMES = {
    "tictactoe": ("519", 5),
    "connect4": ("4455", 5),
    "kalah": ("", 4),
    "breakthrough:5x5": ("", 3),
}


def everything(position, depth, **options):
    """Return a tree that is shown completely."""
    return record_tree(position, depth, plies=99, width=999, size=99_999, **options)


@pytest.mark.skipif(not jit_enabled(), reason="nothing is compiled")
def test_the_nodes_are_those_of_compiled_searches():
    position = load_game("tictactoe").parse("19")
    assert not is_plain(type(position))
    for options in ({}, {"exact": True}, {"exact": True, "driver": "mtdf"}):
        tree, compiled = record_tree(position, 6, **options), search(position, depth=6, **options)
        assert (tree.nodes, tree.value) == (compiled.nodes, compiled.value)
    for name, run in (("alphabeta", alphabeta), ("minimax", minimax)):
        tree, compiled = record_tree(position, 4, search=name), run(position, 4)
        assert (tree.nodes, tree.value) == (compiled.nodes, compiled.value)
        assert tree.root.nodes == tree.nodes


@pytest.mark.parametrize("name", GAMES)
def test_recording_changes_nothing(name):
    text, depth = GAMES[name]
    position = load_game(name, plain=True).parse(text)
    result = Searcher(position).search(position, depth=depth)
    tree = record_tree(position, depth)
    assert (tree.nodes, tree.value) == (result.nodes, result.value)
    assert tree.root.best == result.to_dict()["best_move"]
    assert list(tree.pv) == result.to_dict()["lines"][0]["pv"][: len(tree.pv)]
    assert search(position, depth=depth).nodes == result.nodes


@pytest.mark.parametrize("search", ["alphabeta", "minimax"])
@pytest.mark.parametrize("name", GAMES)
def test_plain_trees_are_whole(name, search):
    """Each node occurs once, and each value is the best of its children's values."""
    text, depth = GAMES[name]
    depth = 2 if name.startswith("breakthrough") else 3
    tree = everything(load_game(name, plain=True).parse(text), depth, search=search)
    nodes = list(tree.root.walk())
    assert len(nodes) == tree.nodes == tree.root.nodes
    for node in nodes:
        assert (node.kind == "leaf") == (not node.children)
        assert node.nodes == 1 + sum(child.nodes for child in node.children)
        if node.children:
            values = [child.value for child in node.children]
            assert node.value == (max(values) if node.player == "max" else min(values))
        if search == "minimax":
            assert node.bound == "exact" and not node.unsearched
        else:
            assert (node.kind == "cut") >= bool(node.unsearched)


@pytest.mark.parametrize("options", [{}, {"driver": "mtdf"}, {"techniques": ["pvs", "deepening"]}])
def test_bounds_hold(options):
    """In an exact search, each node's bound agrees with plain minimax."""
    game = load_game("kalah:4x3", plain=True)
    tree = everything(game.parse(""), 3, exact=True, **options)
    checked = 0
    for node in tree.root.walk():
        if node.bound == "none" or node.move == "null move":
            continue
        truth = minimax(game.parse(node.position), node.depth).value
        truth = truth if node.player == "max" else -truth
        low = node.value if node.bound in ("exact", "lower") else -99
        high = node.value if node.bound in ("exact", "upper") else 99
        assert low <= truth <= high
        checked += 1
    assert checked > 40


def test_nodes_are_those_of_the_children_and_ones_own():
    for name, (text, depth) in GAMES.items():
        tree = everything(load_game(name, plain=True).parse(text), depth)
        for node in tree.root.walk():
            assert node.nodes >= 1 + sum(child.nodes for child in node.children)
            assert node.more == node.more_nodes == 0


# Reasons

REASONS = {
    "game over",
    "depth reached",
    "table cutoff",
    "cutoff by a child in the table",
    "no win can be quick enough",
    "null move cutoff",
    "reverse futility",
    "all moves searched",
    "unpromising moves skipped",
    "all noisy moves searched",
    "quiet position",
    "stands pat",
    "razoring",
}


def told(*trees):
    """Return all reasons in some trees, for ends and for moves left out."""
    nodes = [node for tree in trees for node in tree.root.walk()]
    return {node.reason for node in nodes}, {u.reason for node in nodes for u in node.unsearched}


@pytest.mark.slow
def test_reasons_of_the_search():
    trees = [
        everything(load_game(name, plain=True).parse(text), depth, evaluation="own")
        for name, text, depth in (
            ("connect4", "4455", 6),
            ("connect4", "4444", 7),
            ("kalah", "", 5),
            ("kalah", "", 7),
            ("breakthrough", "", 4),
        )
    ]
    reasons, left = told(*trees)
    assert reasons >= REASONS
    assert any(re.fullmatch(r"cutoff by \w+ \(table move\)", reason) for reason in reasons)
    assert any(re.fullmatch(r"cutoff by \w+ \(killer\)", reason) for reason in reasons)
    assert left == {"cutoff", "futile", "late moves", "cannot raise alpha, says the table"}
    notes = {note for tree in trees for node in tree.root.walk() for note in node.notes}
    assert notes >= {"searched again with another window", "searched again, deeper", "reduced"}
    assert any(node.move == "null move" for node in trees[-1].root.walk())


def test_all_moves_are_accounted_for():
    """Moves that are not searched are listed, so that no legal move is missing."""
    for name, text, depth in (("kalah", "", 5), ("breakthrough", "", 4)):
        game = load_game(name, plain=True)
        for node in everything(game.parse(text), depth).root.walk():
            moves_told = [child.move for child in node.children if child.move != "null move"]
            for left in node.unsearched:
                moves_told += left.moves
            assert len(set(moves_told)) == len(moves_told)
            if node.reason.startswith(("cutoff by ", "all moves", "unpromising")):
                position = game.parse(node.position)
                if node.depth:
                    assert len(moves_told) == len(legal_moves(position))


def test_repetition():
    found = everything(duel.Position(), 5, search="alphabeta")
    assert "repetition" in told(found)[0]
    assert "repetition" in told(everything(duel.Position(), 6, exact=True))[0]


def test_turns_of_several_actions():
    """The player of a node is the one who moves there, whatever the parity of its ply."""
    tree = everything(isola.Position(), 2, search="minimax", depth_in="actions")
    assert [node.player for node in tree.root.children] == ["max"] * len(tree.root.children)
    values = [node.value for node in tree.root.children]
    assert tree.value == max(values)


GAMES_OF_CHANCE = [pig.Position(), gamble.start()]


@pytest.mark.parametrize("start", GAMES_OF_CHANCE, ids=["pig", "gamble"])
@pytest.mark.parametrize("search", ["search", "minimax"])
def test_chance(start, search):
    exact = {"exact": True} if search == "search" else {}
    tree = everything(start, 3, search=search, depth_in="actions", **exact)
    events = [node for node in tree.root.walk() if node.kind == "chance"]
    assert events and all(node.player == "chance" for node in events)
    for node in events:
        shares = [float(child.move.partition("(")[2].removesuffix(")")) for child in node.children]
        if search == "minimax":
            mean = sum(p * child.value for p, child in zip(shares, node.children, strict=True))
            assert mean == pytest.approx(node.value, abs=0.01 * (1 + abs(node.value)))
    expected = everything(start, 3, search="minimax", depth_in="actions").value
    assert tree.value == pytest.approx(expected)


def test_star_cutoffs():
    reasons, left = told(*(everything(start, 5, depth_in="actions") for start in GAMES_OF_CHANCE))
    assert reasons >= {"Star1 cutoff", "Star2 cutoff", "all outcomes searched"}
    assert left == {"cutoff", "not tried"}


# Limits


@pytest.fixture(scope="module")
def big():
    return load_game("kalah", plain=True).start()


@pytest.mark.parametrize(("plies", "width", "size"), [(0, 1, 1), (2, 3, 99), (6, 2, 20), (9, 9, 1)])
def test_limits_of_what_is_shown(big, plies, width, size):
    tree = record_tree(big, 5, plies=plies, width=width, size=size)
    nodes = list(tree.root.walk())
    assert len(nodes) <= size
    assert max(node.ply for node in nodes) <= plies
    assert max(len(node.children) for node in nodes) <= width
    for node in nodes:
        below = sum(child.nodes for child in node.children) + node.more_nodes
        assert node.nodes >= 1 + below
    line = [node for node in nodes if node.principal]
    assert len(line) == min(plies + 1, size, len(tree.pv) + 1)


def test_what_is_hidden_is_summed_up(big):
    whole, part = everything(big, 3), record_tree(big, 3, width=2)
    assert part.root.more == len(whole.root.children) - 2
    shown = {child.move for child in part.root.children}
    hidden = [child.nodes for child in whole.root.children if child.move not in shown]
    assert part.root.more_nodes == sum(hidden)
    assert part.root.best in shown


def test_limit_of_nodes(big):
    for name in RECORDED_SEARCHES:
        with pytest.raises(CutnodeError, match=r"visits more than 50 nodes"):
            record_tree(big, 5, search=name, nodes=50)
    count = record_tree(big, 3).nodes
    assert record_tree(big, 3, nodes=count).nodes == count
    with pytest.raises(CutnodeError, match=r"visits more than"):
        record_tree(big, 3, nodes=count - 1)


def test_nothing_to_search():
    game = load_game("tictactoe", plain=True)
    over = game.parse("14253")
    for name in RECORDED_SEARCHES:
        root = record_tree(over, 3, search=name).root
        assert (root.reason, root.bound, root.kind) == ("game over", "exact", "leaf")
        root = record_tree(game.parse("1"), 0, search=name).root
        assert (root.reason, root.children) == ("depth reached", ())


BAD = {
    "search": ("best", "search must be one of search, alphabeta, minimax, got 'best'"),
    "plies": (-1, "plies must be at least 0, got -1"),
    "width": (0, "width must be at least 1, got 0"),
    "size": (1.5, "size must be a whole number, got 1.5"),
    "nodes": (0, "nodes must be at least 1, got 0"),
    "techniques": (["tables"], "there is no technique 'tables'"),
    "evaluation": ("best", "has no evaluation 'best'"),
    "depth_in": ("moves", "depth_in must be one of turns, actions, got 'moves'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(big, name):
    value, message = BAD[name]
    with pytest.raises(CutnodeError, match=message):
        record_tree(big, 2, **{name: value})


def test_bad_arguments_together(big):
    with pytest.raises(CutnodeError, match=r"depth must be 0\.\.63 plies, got 64"):
        record_tree(big, 64)
    with pytest.raises(CutnodeError, match="minimax has no techniques to choose from"):
        record_tree(big, 2, search="minimax", exact=True)
    with pytest.raises(GameError, match="alpha-beta does not support games of chance"):
        record_tree(pig.Position(), 2, search="alphabeta")
    with pytest.raises(GameError, match="unknown game '4455'"):
        record_tree("4455", 2)


# Drawings


@pytest.fixture
def awkward(monkeypatch):
    """A tree whose moves have names that are awkward for every drawing."""
    names = ('"<&>\\', "#1;]}|-->", "- 1. end `x`")
    game = plain_copy(load_game("tictactoe").module)
    monkeypatch.setattr(game, "move_text", lambda position, move: names[move % 3])
    return record_tree(Notation(game).parse_position("519"), 4, plies=2, width=2)


def number_of_boxes(tree):
    stubs = sum(
        len(node.unsearched) + (node.more > 0) for node in tree.root.walk() if node.children
    )
    return sum(1 for _ in tree.root.walk()) + stubs


def test_json(awkward):
    data = json.loads(to_json(awkward))
    assert data == json.loads(json.dumps(awkward.to_dict()))
    assert data["root"]["children"][0]["move"] == awkward.root.children[0].move
    assert data["root"]["window"] == list(awkward.root.window)


def test_svg(awkward):
    root = ElementTree.fromstring(to_svg(awkward))
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    boxes = root.findall(f"{space}g")
    assert len(boxes) == number_of_boxes(awkward)
    assert len(root.findall(f"{space}path")) == len(boxes) - 1
    texts = [text.text for text in root.iter(f"{space}text")]
    assert any(text.startswith('"<&>\\  ') for text in texts)
    places = [
        tuple(float(box.get(name)) for name in ("x", "y", "width", "height"))
        for box in root.iterfind(f"{space}g/{space}rect")
    ]
    width, height = float(root.get("width")), float(root.get("height"))
    for number, (x, y, w, h) in enumerate(places):
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
        for left, top, across, down in places[:number]:
            assert x >= left + across or left >= x + w or y >= top + down or top >= y + h


DOT_STRING = r'"(?:[^"\\]|\\.)*"'


def test_dot(awkward):
    text = to_dot(awkward)
    bare = re.sub(DOT_STRING, "STRING", text)
    assert '"' not in bare and bare.count("{") == bare.count("}") == 1
    nodes = re.findall(r"^  (n\d+) \[label=STRING, ", bare, re.M)
    edges = re.findall(r"^  (n\d+) -> (n\d+)(?: \[[^]]*\])?;$", bare, re.M)
    assert len(nodes) == len(set(nodes)) == number_of_boxes(awkward)
    assert sorted(child for _, child in edges) == sorted(set(nodes) - {"n0"})
    assert '\\"<&>\\\\  ' in text


def test_mermaid(awkward):
    lines = to_mermaid(awkward).splitlines()
    assert lines[2] == "flowchart LR"
    shape = r'  (n\d+)(?:\["(.*)"\]|\("(.*)"\)):::(?:pv|cut|all|leaf|stub)'
    nodes = [match for line in lines if (match := re.fullmatch(shape, line))]
    assert len(nodes) == number_of_boxes(awkward)
    edges = [line for line in lines if re.fullmatch(r"  n\d+ (==>|-->|-\.-) n\d+", line)]
    assert len(edges) == len(nodes) - 1
    for match in nodes:
        label = re.sub("<br/>|#[0-9]+;", "", match[2] or match[3])
        assert not re.search(r'["<>&#;`\[\]{}|\\]', label)
    assert any("#34;#60;#38;#62;#92;" in line for line in lines)


def test_mermaid_has_limits(big):
    tree = everything(big, 4, search="alphabeta")
    with pytest.raises(CutnodeError, match="Mermaid draws at most 500 lines"):
        to_mermaid(tree)
    assert ElementTree.fromstring(to_svg(tree)) is not None


# On the command line


def test_command_writes_mermaid_to_standard_output():
    result = run_cutnode(
        "tree", "tictactoe", "519", "--depth", 3, "--plies", 1, "--without", "table"
    )
    assert result.exit_code == 0
    assert result.output.splitlines()[2] == "flowchart LR"


@pytest.mark.parametrize(
    ("ending", "beginning"),
    [("svg", "<svg "), ("dot", "digraph "), ("gv", "digraph "), ("json", "{"), ("mmd", "%% ")],
)
def test_command_writes_files(tmp_path, ending, beginning):
    file = tmp_path / f"tree.{ending}"
    args = ("tictactoe", "519", "--depth", 2, "--search", "alphabeta")
    assert run_cutnode("tree", *args, "--out", file).output == ""
    assert file.read_text().startswith(beginning)
    assert [*tmp_path.iterdir()] == [file]
    assert run_cutnode("tree", *args, "--format", "json", "--out", file).exit_code == 0
    assert json.loads(file.read_text())["nodes"] > 1


BAD_COMMANDS = {
    ("tictactoe", "--depth", "2", "--out", "tree.png"): "the file must end in .mmd, ",
    ("tictactoe", "--depth", "2", "--out", "no/tree.svg"): "no/tree.svg cannot be written: ",
    ("tictactoe", "--depth", "2", "--search", "minimax", "--exact"): "minimax has no techniques",
    ("tictactoe", "--depth", "2", "--search", "minimax", "--without", "table"): (
        "minimax has no techniques"
    ),
    ("tictactoe", "--depth", "9", "--search", "minimax"): "this search visits more than 100,000 ",
    ("tictactoe", "0", "--depth", "2"): "move 1 of '0': '0' is not a cell",
    (
        "tictactoe",
        "--depth",
        "2",
        "--exact",
        "--techniques",
        "late_move_pruning",
    ): "late_move_pruning is selective",
}


@pytest.mark.parametrize(("args", "message"), BAD_COMMANDS.items())
def test_bad_input(args, message):
    result = run_cutnode("tree", *args)
    assert result.exit_code == 2
    assert result.output.startswith(f"cutnode: {message}") and result.output.count("\n") == 1
