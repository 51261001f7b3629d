"""Canonical values of positions, by the values of their parts, and tables of them in files."""

from __future__ import annotations

import functools
import itertools
import threading
from random import Random

import pytest
from data import FOLDER, rows
from marks import LONG, compiled_only
from positions import FALL_APART, any_boards, nimber
from toys import hexapawn

from cutnode import (
    CutnodeError,
    GameError,
    Table,
    ValueTable,
    alphabeta,
    load_game,
    solve,
    value_of,
)
from cutnode.cgt import Value
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import outcome, swapped

pytestmark = pytest.mark.once

KNOWN = rows(FOLDER / "canonical_values.txt")
WINS = {(1, 1): "N", (1, -1): "L", (-1, 1): "R", (-1, -1): "P"}
"""The outcome classes, by the values for the mover and for the other player if he moves."""

PLAIN = 8
"""The most cells of a board to evaluate in plain Python."""


def cells_of(name):
    width, height = map(int, name.partition(":")[2].split("x"))
    return width * height


@pytest.mark.parametrize(("name", "text", "value"), KNOWN)
def test_published_values(name, text, value):
    plain = cells_of(name) <= PLAIN
    if not (plain or jit_enabled()):
        pytest.skip("too large for plain Python")
    game = load_game(name, plain=plain)
    position = game.start() if text == "vertical" else game.parse(text)
    found = value_of(position)
    assert found == Value(value)
    assert value_of(swapped(position)) == -found


@functools.cache
def value_of_row(row):
    """Return the value of a row of stones by their moves, x being Left's."""
    sides = {"x": [], "o": []}
    for at, other in itertools.permutations(range(len(row)), 2):
        if abs(at - other) == 1 and {row[at], row[other]} == {"x", "o"}:
            after = list(row)
            after[other], after[at] = row[at], "."
            left = (value_of_row(part) for part in "".join(after).split("."))
            sides[row[at]].append(sum(left, Value()))
    return Value.from_options(*sides.values())


@compiled_only
def test_rows_of_stones():
    """All rows of up to 10 stones in Clobber."""
    game, table = load_game("clobber:10x1"), ValueTable("clobber:10x1")
    for length in range(2, 11):
        for stones in itertools.product("xo", repeat=length):
            row = "".join(stones)
            position = game.parse(f"{row:.<10} x")
            assert value_of(position, values=table) == value_of_row(row), row


@functools.cache
def value_of_cells(free):
    """Return the value of a set of cells in Domineering by its moves, Vertical being Left."""
    sides = []
    for down, right in ((1, 0), (0, 1)):
        dominoes = ({(y, x), (y + down, x + right)} for y, x in free)
        sides.append([value_of_cells(free - two) for two in dominoes if two <= free])
    return Value.from_options(*sides)


@compiled_only
@pytest.mark.parametrize("count", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_boards_of_domineering(count):
    game, table, dice = load_game("domineering:4x4"), ValueTable("domineering:4x4"), Random(1)
    for _ in range(count):
        cells = dice.choices(".#", [3, 2], k=16)
        text = "/".join("".join(cells[row : row + 4]) for row in range(0, 16, 4))
        free = frozenset(divmod(at, 4) for at in range(16) if cells[at] == ".")
        position = game.parse(f"{text} vertical")
        assert value_of(position, values=table) == value_of_cells(free), text


@pytest.mark.parametrize("count", [10, pytest.param(300, marks=LONG)])
@pytest.mark.parametrize("name", [*FALL_APART, "domineering:4x3"])
def test_values_say_who_wins(name, count):
    """Values give the outcomes that alpha-beta finds on the whole board."""
    large = count > 10 and jit_enabled()
    game = load_game(name, plain=not large)
    table = ValueTable(game)
    for position in any_boards(game, count, Random(name)):
        winners = tuple(wins(seen) for seen in (position, swapped(position)))
        assert value_of(position, values=table).outcome == WINS[winners]


def wins(position):
    """Return the value of a position by alpha-beta without parts."""
    over, value = outcome(position)
    return value if over else int(alphabeta(position).value)


@pytest.mark.parametrize("name", ["cram:4x2", "kayles:12", "kayles:dawson,12"])
def test_impartial_positions_are_worth_nimbers(name):
    position = load_game(name, plain=True).start()
    assert value_of(position).nimber == nimber(position)


# Limits, tables and files


def test_limits():
    game = load_game("clobber:3x3", plain=True)
    table, seen = ValueTable(game), []
    with pytest.raises(CutnodeError, match=r"no value of .* yet: node limit, 20 positions looked"):
        value_of(game, nodes=20, values=table)
    stop = threading.Event()
    stop.set()
    with pytest.raises(CutnodeError, match=r"yet: (stopped|time limit), \d+ positions looked at"):
        value_of(game, stop=stop, values=table)
    assert value_of(game, values=table, progress=seen.append) == Value("*")
    assert seen and seen[-1] <= table.positions
    with pytest.raises(CutnodeError, match="nodes must be at least 1, got 0"):
        value_of(game, nodes=0)
    with pytest.raises(CutnodeError, match="progress must be"):
        value_of(game, progress=3)


def test_games_without_values():
    with pytest.raises(GameError, match="tictactoe defines neither parts nor swapped: only games"):
        value_of("tictactoe")
    with pytest.raises(GameError, match="defines neither parts nor swapped"):
        ValueTable(hexapawn.start("3x3"))


@compiled_only
def test_values_too_large():
    table = ValueTable("clobber:4x5", megabytes=1)
    with pytest.raises(CutnodeError, match=r"too large: forms have filled their memory of 1 MiB, "):
        value_of("clobber:4x5", values=table)
    with pytest.raises(CutnodeError, match="megabytes must be at least 1, got 0"):
        ValueTable("clobber:4x5", megabytes=0)


@compiled_only
def test_values_are_kept(tmp_path):
    game = load_game("clobber:4x5")
    position = game.parse("xxo./oxx./..o./..../.... x")
    table = ValueTable(game)
    value = value_of(position, values=table)
    assert table.positions > 0 and len(table) > 50
    table.save(tmp_path / "values")
    again = ValueTable.load(tmp_path / "values")
    assert len(again) == len(table) and repr(again) == repr(table)
    assert value_of(position, values=again) == value and again.positions == 0
    assert value_of(game.parse("xoxo/oxox/xoxo/..../.... x"), values=again) == Value("0")
    assert solve(position, values=again).value == solve(position).value
    with pytest.raises(CutnodeError, match="the values are of clobber:4x5, not kayles"):
        value_of("kayles", values=again)
    with pytest.raises(CutnodeError, match="values must be a ValueTable, got 3"):
        solve(position, values=3)
    with pytest.raises(CutnodeError, match="values are for engine=sums, not pn"):
        solve(position, values=again, engine="pn")


@compiled_only
def test_files_that_are_refused(tmp_path):
    path = tmp_path / "values"
    table = ValueTable("kayles:9")
    value_of("kayles:9", values=table)
    table.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"rules": "', b'"rules": "0', 1))
    with pytest.raises(CutnodeError, match="damaged"):
        ValueTable.load(path)
    path.write_bytes(whole[: -len(whole) // 2])
    with pytest.raises(CutnodeError, match="truncated"):
        ValueTable.load(path)
    Table(1).save(path)
    with pytest.raises(CutnodeError, match=r"is not a cutnode values|is a cutnode table"):
        ValueTable.load(path)


def test_tables_of_plain_games_stay_in_their_process(tmp_path):
    game = load_game("kayles:9", plain=True)
    table = ValueTable(game)
    assert value_of(game, values=table) == Value("*4")
    with pytest.raises(GameError, match="kayles:9 has no key"):
        table.save(tmp_path / "values")


def test_one_call_at_a_time():
    table = ValueTable(load_game("kayles:9", plain=True))
    with table.held(), pytest.raises(CutnodeError, match="another search uses this table"):
        value_of(load_game("kayles:9", plain=True), values=table)
