"""Hex: solved openings and puzzles, rules, claims about values, symmetry, estimates."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from data import FOLDER, rows
from hypothesis import given
from positions import moves_by, reached, texts_of

from cutnode import Table, alphabeta, legal_moves, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.boards import remade
from cutnode.contract.verbs import (
    bounds,
    candidates,
    canonical,
    canonical_move,
    evaluate,
    key,
    outcome,
    play,
    random_result,
    settled,
)
from cutnode.games.hex import filled, move_text, parse_move
from cutnode.games.hex.cells import beside, chain, neighbours, twice_beside
from cutnode.games.hex.filling import dead

pytestmark = pytest.mark.once

parse_position, position_text, start = texts_of("hex")

OPENINGS = {variant: text.split("/") for variant, text in rows(FOLDER / "hex_openings.txt")}
PUZZLES = rows(FOLDER / "hex_puzzles.txt", 4)

STEPS = ((0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1), (1, 0))
"""The steps to the neighbours 0 to 5 of a cell: rows down, and columns to the right."""


def around(position, cell):
    """Return the neighbours of a cell in order; None beyond the edge."""
    row, column = divmod(cell, position.WIDTH)
    places = [(row + down, column + right) for down, right in STEPS]
    inside = [0 <= r < position.HEIGHT and 0 <= c < position.WIDTH for r, c in places]
    return [
        r * position.WIDTH + c if ok else None for (r, c), ok in zip(places, inside, strict=True)
    ]


def cells_of(board):
    return {cell for cell in range(board.bit_length()) if board >> cell & 1}


def connected(position, stones, from_cells, to_cells):
    """Return whether stones connect two sets of cells, by a search of the graph of cells."""
    seen, waiting = set(), list(stones & from_cells)
    while waiting:
        cell = waiting.pop()
        if cell not in seen:
            seen.add(cell)
            waiting += [other for other in around(position, cell) if other in stones]
    return bool(seen & to_cells)


def winners(position):
    """Return whether the first and whether the second player has connected his edges."""
    width, area = position.WIDTH, position.AREA
    first, second = cells_of(board_of(position, 0)), cells_of(board_of(position, 1))
    return (
        connected(position, first, {*range(width)}, {*range(area - width, area)}),
        connected(position, second, {*range(0, area, width)}, {*range(width - 1, area, width)}),
    )


def board_of(position, player):
    """Return the stones of a player."""
    letters = position_text(position).split()[0].replace("/", "")
    return sum(1 << cell for cell, letter in enumerate(letters) if letter == "xo"[player])


def all_values(start):
    """Return the winner of every placing of stones, for both movers: True for the first player."""
    area, found = start.AREA, {}
    for contents in itertools.product((1, 2, 0), repeat=area):
        first, second = (
            sum(1 << cell for cell, content in enumerate(contents) if content == player)
            for player in (1, 2)
        )
        empty = [cell for cell, content in enumerate(contents) if not content]
        for second_moves in (False, True):
            if empty:
                wins = [
                    found[first, second | 1 << cell, False]
                    if second_moves
                    else found[first | 1 << cell, second, True]
                    for cell in empty
                ]
                value = all(wins) if second_moves else any(wins)
            else:
                value = bool(chain(start, first & start.TOP_ROW, first) & start.BOTTOM_ROW)
            found[first, second, second_moves] = value
    return found


def placed(start, first, second, second_moves):
    top = chain(start, first & start.TOP_ROW, first)
    left = chain(start, second & start.LEFT_COLUMN, second)
    return remade(start, first, second, top, left, second_moves)


# Values


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "variant", ["1", "2", "3x2", "2x3", "5x1", "1x5", pytest.param("3", marks=pytest.mark.slow)]
)
def test_all_positions(variant):
    """The bounds and candidates claimed for every position of a small board."""
    empty = start(variant)
    values, classes = all_values(empty), {}
    for (first, second, second_moves), first_wins in values.items():
        position = placed(empty, first, second, second_moves)
        if winners(position)[second_moves]:
            continue  # the mover has already won
        assert values[(*filled(position), second_moves)] == first_wins
        assert classes.setdefault(settled(position)[1], first_wins) == first_wins
        check_claims(position, lambda p, v=first_wins: v)
        lower, upper = bounds(position, -1, 1)
        if lower < upper:
            good = moves_by(candidates, position)
            children = [play(position, move) for move in good]
            of_children = {
                values[board_of(child, 0), board_of(child, 1), child.second_moves]
                for child in children
            }
            assert (first_wins != second_moves) == ((not second_moves) in of_children)


def check_claims(position, first_wins):
    value = 1 if first_wins(position) != position.second_moves else -1
    lower, upper = bounds(position, -1, 1)
    assert lower <= value <= upper


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize("variant", ["4", "5"])
def test_openings(variant):
    table, empty = Table(16), start(variant)
    text = "".join(OPENINGS[variant])
    for move in legal_moves(empty):
        value = solve(play(empty, move), table=table).value
        assert value == (-1 if text[move] == "W" else 1)


@pytest.mark.parametrize("variant", ["1", "2", "3", "4"])
def test_openings_of_small_boards_in_plain_python(variant):
    """Bounds decide nearly all of them."""
    empty = load_game(f"hex:{variant}", plain=True).start()
    text = "".join(OPENINGS[variant])
    for move in legal_moves(empty):
        lower, upper = bounds(play(empty, move), -1, 1)
        assert lower <= (-1 if text[move] == "W" else 1) <= upper


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
def test_openings_of_7x7():
    """The openings that are proven with a few hundred nodes."""
    empty, text = start("7"), "".join(OPENINGS["7"])
    for move in (parse_move(empty, cell) for cell in ("d1", "f1", "f2", "e3", "d4")):
        result = solve(play(empty, move), engine="pn", weak=True, nodes=5000)
        assert result.value == (-1 if text[move] == "W" else 1)


QUICK_PUZZLES = [fact for fact in PUZZLES if int(fact[0]) == 5]


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize(
    ("variant", "text", "winner", "wins"),
    [
        pytest.param(*fact, id=fact[1], marks=[] if fact in QUICK_PUZZLES else pytest.mark.long)
        for fact in PUZZLES
        if int(fact[0]) <= 6
    ],
)
def test_puzzles(variant, text, winner, wins):
    position, table = parse_position(text, variant), Table(64)
    assert solve(position, table=table).value == (1 if text[-1] == winner else -1)
    if wins:
        children = {move: play(position, move) for move in legal_moves(position)}
        good = {move for move, child in children.items() if solve(child, table=table).value == -1}
        assert good >= {parse_move(position, text) for text in wins.split()}


# Rules


@pytest.mark.parametrize(("text", "mover"), [("3", "x"), ("3", "o"), ("7x4", "o"), ("9x8", "x")])
def test_results_of_random_games(text, mover):
    """The win rate is the same as in games played out from a position with some stones."""
    dice, position = Random(text + mover), start(text)
    stones = dice.sample(range(position.AREA), position.AREA // 3)
    first, second = (sum(1 << cell for cell in stones[side::2]) for side in (0, 1))
    position = remade(
        position,
        first,
        second,
        chain(position, first & position.TOP_ROW, first),
        chain(position, second & position.LEFT_COLUMN, second),
        mover == "o",
    )
    assert not outcome(position)[0]
    games = 600
    drawn = sum(random_result(position, dice.getrandbits(64)) > 0 for _ in range(games))
    played = 0
    for _ in range(games):
        end = position
        while not outcome(end)[0]:
            end = play(end, dice.choice(legal_moves(end)))
        played += end.second_moves != position.second_moves
    share = (drawn + played) / (2 * games)
    assert abs(drawn - played) <= 4 * (2 * games * share * (1 - share)) ** 0.5


@given(reached("hex"))
def test_the_end_of_a_game(position):
    first, second = winners(position)
    assert outcome(position) == ((True, -1) if first or second else (False, 0))
    assert not (first and second)


@given(reached("hex"))
def test_neighbours(position):
    for cell in range(position.AREA):
        ring = around(position, cell)
        assert cells_of(neighbours(position, 1 << cell)) == {*ring} - {None}
        planes = [cells_of(plane) for plane in beside(position, 1 << cell)]
        for direction, other in enumerate(ring):
            assert planes[(direction + 3) % 6] == ({other} - {None})
    stones = board_of(position, 0)
    for cell in cells_of(twice_beside(position, stones)):
        assert sum(other in cells_of(stones) for other in around(position, cell)) > 1


# Irrelevant cells


def is_dead(ring):
    """Return whether a cell is dead by its neighbours: ``x``, ``o``, ``.``, or the board's edge."""
    for player in "xo":
        mine = [place in (player, ".") for place in ring]
        for first, last in itertools.combinations(range(6), 2):
            ways = [ring[first + 1 : last], ring[last + 1 :] + ring[:first]]
            apart = all(any(place != player for place in way) for way in ways)
            if mine[first] and mine[last] and apart:
                return False
    return True


def test_patterns_of_dead_cells_are_all_there_are():
    for ring in itertools.product("xo.", repeat=6):
        first, second = (tuple(int(place == player) for place in ring) for player in "xo")
        assert bool(dead(first, second)) == is_dead(list(ring))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("..../..../..../.... x", "..../..../..../.... x"),
        # At the edge: x captures a4 and b4, then the rest of both rows.
        ("..../..../.x../.... x", "..../..../.xxx/xxxx x"),
        ("..../..../o.../.... x", "o.../o.../o.../.... x"),
    ],
)
def test_what_is_filled(text, after):
    position, expected = parse_position(text, "4"), parse_position(after, "4")
    assert filled(position) == (board_of(expected, 0), board_of(expected, 1))


# Symmetry and estimates


@given(reached("hex"))
def test_half_a_turn_keeps_the_class(position):
    board, mover = position_text(position).split()
    image = parse_position(f"{board[::-1]} {mover}", position.VARIANT)
    assert canonical(image)[0] == canonical(position)[0]
    assert (key(image) == key(position)) == (image == position)
    assert evaluate(image) == evaluate(position) or outcome(position)[0]
    if not outcome(position)[0]:
        moves = {canonical_move(position, move, 1) for move in legal_moves(position)}
        assert moves == set(legal_moves(image))


def exchanged(position):
    """Exchange the players: mirror the board at its long diagonal; the other player is to move."""
    board, mover = position_text(position).split()
    lines = zip(*board.translate(str.maketrans("xo", "ox")).split("/"), strict=True)
    text = "/".join("".join(line) for line in lines)
    variant = f"{position.HEIGHT}x{position.WIDTH}"
    return parse_position(f"{text} {'xo'['xo'.index(mover) ^ 1]}", variant)


@given(reached("hex"))
def test_players_are_exchanged_by_a_mirror(position):
    other = exchanged(position)
    assert exchanged(other) == position
    assert outcome(other) == outcome(position)
    assert evaluate(other) == evaluate(position)


def test_a_bridge_is_a_connection():
    assert bounds(parse_position(".../.x./... o", "3"), -1, 1) == (-1, -1)
    assert bounds(parse_position(".../x../... o", "3"), -1, 1) == (-1, -1)
    assert bounds(parse_position("x../.../... o", "3"), -1, 1) == (1, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("...../...../.x.../...../..... o", -1),
        ("...../...../..x../...../..... o", -1),
        ("...../.x.../...../...../..x.. o", -1),
        ("....../..x.../....../....../....../...... x", 1),
        ("......./......./......./...x.../......./......./....... x", 1),
    ],
)
def test_stones_that_connect_the_edges_alone(text, value):
    """Each has several connections with an edge, and none of them is safe by itself."""
    position = parse_position(text, str(text.count("/") + 1))
    for same in (position, exchanged(position)):
        assert bounds(same, -1, 1) == (value, value)


def test_must_play():
    """Where x threatens to connect, o has to play in the intersection of the carriers."""
    position = parse_position("....x/..o../..x../xo.../..... o", "5")
    moves = [move_text(position, move) for move in moves_by(candidates, position)]
    assert len(moves) < 12 < len(legal_moves(position)) and "c4" in moves


def test_dominated_cells_are_no_candidates():
    """Each cell along the first player's edges is captured by a move on the row next to it."""
    moves = {move_text(start("5"), move) for move in moves_by(candidates, start("5"))}
    assert " ".join(sorted(moves)) == "a3 a4 b3 b4 c2 c3 c4 d2 d3 e2 e3"


def test_random_positions_of_4x4():
    """Positions compared with a search without claims, in plain Python."""
    dice, empty = Random(4), start("4")
    known = {}

    def first_wins(position):
        if position not in known:
            over = outcome(position)[0]
            children = [] if over else [play(position, move) for move in legal_moves(position)]
            if over:
                known[position] = position.second_moves
            elif position.second_moves:
                known[position] = all(map(first_wins, children))
            else:
                known[position] = any(map(first_wins, children))
        return known[position]

    for _ in range(40):
        position = empty
        for move in dice.sample(range(16), 8):
            if not outcome(position)[0]:
                position = play(position, move)
        check_claims(position, first_wins)
        if not outcome(position)[0] and bounds(position, -1, 1) == (-1, 1):
            good = [play(position, move) for move in moves_by(candidates, position)]
            wins = [first_wins(child) != position.second_moves for child in good]
            assert any(wins) == (first_wins(position) != position.second_moves)


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
@pytest.mark.parametrize("variant", ["5", "6", "4x6"])
def test_claims_of_random_positions(variant):
    """Bounds and candidates compared with plain alpha-beta on the rest of a board."""
    dice, empty = Random(variant), start(variant)

    def value(position):
        return alphabeta(position).value

    for _ in range(400):
        position = empty
        while position is empty or outcome(position)[0]:
            stones = dice.sample(range(empty.AREA), empty.AREA - 10)
            sides = [sum(1 << cell for cell in stones[side::2]) for side in (0, 1)]
            position = placed(empty, *sides, dice.random() < 0.5)
        expected = value(position)
        lower, upper = bounds(position, -1, 1)
        assert lower <= expected <= upper
        if lower < upper:
            good = [play(position, move) for move in moves_by(candidates, position)]
            assert (expected == 1) == any(value(child) == -1 for child in good)


# Notation


def test_drawing():
    assert str(parse_position("b2c3", "3")) == "\n".join(
        ["1 . . .", "2  . x .", "3   . . o", "    a b c", "x to move"]
    )
