"""Skirmish: rules compared with naive ones, invariants, claims, search, notation."""

from __future__ import annotations

import copy
import random
import re

import pytest
from data import FOLDER, rows
from hypothesis import given
from marks import compiled_only
from positions import VARIANTS, moves_by, order_scores, reached

from cutnode import Searcher, legal_moves, minimax, solve
from cutnode.contract.verbs import (
    bounds,
    evaluate,
    features,
    key,
    noisy,
    outcome,
    play,
    plies_left,
    skip,
    turn,
)
from cutnode.games.skirmish import (
    mirrored,
    move_text,
    parse_position,
    position_text,
    start,
)
from cutnode.kernels.scores import WIN

pytestmark = pytest.mark.once

# The rules in the simplest form: cells are pairs, everything is in dicts and lists.

SETUPS = {
    "6x6": ("c1", "b1 c2 d1", "b2 e2 f3", 60),
    "5x5": ("c1", "b1 c2 d1", "b2 e2 c3", 50),
    "4x4": ("b1", "a1 b2 c1", "d2", 16),
}
NAMES = {"f": "fire", "w": "water", "g": "grass"}
BEATS = {("fire", "grass"), ("grass", "water"), ("water", "fire")}


class World:
    """A game played by the texts of its actions."""

    def __init__(self, variant):
        base, units, crystals, self.turns = SETUPS[variant]
        self.size = int(variant[0])
        self.bases = [base, self.opposite(base)]
        self.base_hits = [5, 5]
        self.units = {}
        for cell, element in zip(units.split(), ("fire", "water", "grass"), strict=True):
            self.units[cell] = [0, element, 3]
            self.units[self.opposite(cell)] = [1, element, 3]
        self.ore = {c: 3 for cell in crystals.split() for c in (cell, self.opposite(cell))}
        self.gold = [2, 2]
        self.building = [[], []]
        self.player, self.actions = 0, 1

    def cells(self):
        """Return all cells, from the top left to the bottom right."""
        return [f"{c}{r}" for r in range(self.size, 0, -1) for c in "abcdef"[: self.size]]

    def read(self, text):
        """Set everything from the text of a position."""
        drawn, *parts = text.split()
        ore, gold, queues, actions, turns = (part.partition("=")[2] for part in parts)
        self.units = {}
        for cell, symbol in zip(self.cells(), re.findall(r"\w\d|\.", drawn), strict=True):
            if symbol[0] in "Bb":
                self.base_hits["Bb".index(symbol[0])] = int(symbol[1])
            elif symbol != ".":
                self.units[cell] = [int(symbol.islower()), NAMES[symbol[0].lower()], int(symbol[1])]
        crystals = [cell for cell in self.cells() if cell in self.ore]
        self.ore = dict(zip(crystals, map(int, ore), strict=True))
        self.gold = list(map(int, gold.split(",")))
        self.building = [
            [[NAMES[entry[0]], int(entry[1])] for entry in re.findall(r"\w\d", queue)]
            for queue in queues.split(",")
        ]
        self.actions, self.turns = int(actions), int(turns)
        self.player = self.turns % 2

    def opposite(self, cell):
        return f"{cell[0]}{self.size + 1 - int(cell[1])}"

    def beside(self, cell):
        column, row = "abcdef".index(cell[0]), int(cell[1])
        near = ((column, row + 1), (column + 1, row), (column - 1, row), (column, row - 1))
        return [f"{'abcdef'[c]}{r}" for c, r in near if 0 <= c < self.size and 1 <= r <= self.size]

    def result(self):
        """Return None, the winner, or a draw."""
        for player in (0, 1):
            if self.base_hits[player] == 0:
                return 1 - player
        if self.turns:
            return None
        left = list(self.base_hits)
        for player, _, hits in self.units.values():
            left[player] += hits
        return "draw" if left[0] == left[1] else int(left[1] > left[0])

    def allowed(self):
        found = {"end"}
        for cell, (player, _, _) in self.units.items():
            if player != self.player:
                continue
            for other in self.beside(cell):
                if other in self.units or other in self.bases:
                    owner = self.units[other][0] if other in self.units else self.bases.index(other)
                    if owner != player:
                        found.add(f"{cell}x{other}")
                else:
                    found.add(f"{cell}-{other}")
            if self.ore.get(cell):
                found.add(f"mine {cell}")
        if self.gold[self.player] >= 2 and len(self.building[self.player]) < 2:
            found |= {"build fire", "build water", "build grass"}
        return found

    def act(self, text):
        first, second = text[:2], text[3:]
        if text == "end":
            self.actions = 1
        elif text[:4] == "mine":
            self.ore[text[5:]] -= 1
            self.gold[self.player] += 1
        elif text[:5] == "build":
            self.gold[self.player] -= 2
            self.building[self.player].append([text[6:], 2])
        elif text[2] == "-":
            self.units[second] = self.units.pop(first)
        elif second in self.bases:
            self.base_hits[1 - self.player] -= 1
        else:
            attacker, attacked = self.units[first], self.units[second]
            attacked[2] -= 2 if (attacker[1], attacked[1]) in BEATS else 1
            if attacked[2] <= 0:
                del self.units[second]
        self.actions -= 1
        if self.actions == 0:
            self.begin_turn()

    def begin_turn(self):
        self.player = 1 - self.player
        self.actions = 2
        self.turns -= 1
        if self.turns == 0:
            return
        building = self.building[self.player]
        for entry in building:
            entry[1] = max(0, entry[1] - 1)
        row = self.bases[self.player][1]
        zone = [f"{column}{row}" for column in "abcdef"[: self.size]]
        for cell in zone:
            free = cell not in self.units and cell not in self.bases
            if free and building and building[0][1] == 0:
                self.units[cell] = [self.player, building.pop(0)[0], 3]

    def text(self):
        """Return the same text as a position's."""

        def symbol(cell):
            if cell in self.bases:
                player = self.bases.index(cell)
                return f"{'Bb'[player]}{self.base_hits[player]}"
            if cell not in self.units:
                return "."
            player, element, hits = self.units[cell]
            return f"{element[0] if player else element[0].upper()}{hits}"

        cells = self.cells()
        rows = (cells[at : at + self.size] for at in range(0, len(cells), self.size))
        drawn = "/".join("".join(map(symbol, row)) for row in rows)
        ore = "".join(str(self.ore[cell]) for cell in cells if cell in self.ore)
        queues = ",".join(
            "".join(f"{element[0]}{turns}" for element, turns in queue) or "-"
            for queue in self.building
        )
        gold = ",".join(map(str, self.gold))
        return (
            f"{drawn} ore={ore} gold={gold} build={queues} "
            f"actions={self.actions} turns={self.turns}"
        )


@pytest.mark.parametrize("variant", VARIANTS["skirmish"])
def test_games_are_as_naive_rules_say(variant):
    """Whole games of random actions, and some that attack whenever possible."""
    ended = set()
    for seed in range(16):
        dice = random.Random(seed)
        world, position = World(variant or "6x6"), start(variant)
        while True:
            assert position_text(position) == world.text()
            assert parse_position(world.text(), variant) == position
            over, value = outcome(position)
            result = world.result()
            assert over == (result is not None)
            assert turn(position) == world.player
            if over:
                wanted = 0 if result == "draw" else 1 if result == turn(position) else -1
                assert value == wanted
                ended.add((result, world.turns > 0))
                break
            texts = {move_text(position, move): move for move in legal_moves(position)}
            assert texts.keys() == world.allowed()
            attacks = sorted(text for text in texts if "x" in text)
            eager = (
                attacks if attacks and seed % 3 else sorted(texts.keys() - {"end"}) * 9 + ["end"]
            )
            chosen = dice.choice(eager)
            world.act(chosen)
            position = play(position, texts[chosen])
    assert len(ended) > 2


def naive_lines(world, depth):
    """Return the number of lines of *depth* actions."""
    if depth == 0 or world.result() is not None:
        return int(depth == 0)
    if depth == 1:
        return len(world.allowed())
    total = 0
    for action in world.allowed():
        child = copy.deepcopy(world)
        child.act(action)
        total += naive_lines(child, depth - 1)
    return total


@pytest.mark.parametrize(
    ("variant", "text", "counts"),
    [(row[0], row[1], row[2:]) for row in rows(FOLDER / "perft" / "skirmish.txt")],
)
def test_perft_is_of_naive_rules(variant, text, counts):
    """The first counts of the data file, all of which were made in this way."""
    world = World(variant or "6x6")
    if text:
        world.read(text)
        assert world.text() == text
    for count in counts[:3]:
        depth, lines = map(int, count.split())
        assert naive_lines(world, depth) == lines


# Invariants


@given(reached("skirmish"))
def test_boards_fit_together(position):
    units = position.mine | position.theirs
    assert position.mine & position.theirs == 0
    assert not units & (position.BASES[0] | position.BASES[1]) and not units & ~position.BOARD
    assert position.fire & position.water == 0
    assert (position.fire | position.water) & ~units == 0
    assert position.hits | position.more_hits == units
    assert (position.ore | position.more_ore) & ~position.CRYSTALS == 0
    assert 0 <= position.my_base <= 5 and 0 <= position.their_base <= 5
    assert position.my_gold >= 0 and position.their_gold >= 0
    assert position.actions in (1, 2) and 0 <= position.turns <= position.TURNS


def wealth(position):
    """Return gold, ore, and the cost of units on the board and in queues."""
    ore = position.ore.bit_count() + 2 * position.more_ore.bit_count()
    built = sum(bool(q >> 4 * n) for q in (position.my_queue, position.their_queue) for n in (0, 1))
    units = (position.mine | position.theirs).bit_count()
    return position.my_gold + position.their_gold + ore + 2 * (built + units), units


@given(reached("skirmish"))
def test_wealth_is_lost_by_attacks_alone(position):
    before, units = wealth(position)
    for move in legal_moves(position):
        after, left = wealth(play(position, move))
        lost = before - after
        if "x" in move_text(position, move) and lost:
            assert lost == 2 and left <= units
        else:
            assert lost == 0 and left >= units


@given(reached("skirmish"))
def test_actions_are_counted(position):
    """A turn has at most two actions, and each game ends in time."""
    for move in legal_moves(position):
        child = play(position, move)
        assert plies_left(child) < plies_left(position)
        if turn(child) == turn(position):
            assert (child.actions, child.turns) == (position.actions - 1, position.turns)
        else:
            assert (child.actions, child.turns) == (2, position.turns - 1)
            assert position.actions == 1 or move == position.END


def test_unit_appears_in_the_second_turn():
    position = parse_position("build water")
    seen = []
    for _ in range(4):
        seen.append(position_text(position).split()[0].split("/")[-1])
        position = play(position, position.END)
    assert seen == [".F3B5G3.."] * 3 + ["W3F3B5G3.."]


# Keys and claims


@pytest.mark.parametrize("name", start()._fields)
def test_all_fields_are_part_of_the_key(name):
    position = parse_position("b1-b2 b6-b5 mine b5 mine b2 build fire build water")
    other = position._replace(**{name: getattr(position, name) ^ 1})
    assert key(other) != key(position)


def reflected(position):
    """Exchange the players, on the board turned upside down, one turn later."""
    boards = [mirrored(b, position.SIZE) for b in position[:8]]
    return type(position)(*boards, *position[8:-1], position.turns + 1)


@given(reached("skirmish"))
def test_players_are_equals(position):
    """Both have the same chances: estimates and the number of actions agree."""
    if 0 < position.turns < position.TURNS:
        other = reflected(position)
        assert evaluate(other) == evaluate(position)
        assert features(other) == features(position)
        assert len(legal_moves(other)) == len(legal_moves(position))


def test_bounds_see_bases_that_fall():
    text = "..b{}.../..F1.../....../....../....../..B5... ore=000000 gold=0,0 build=-,- "
    for hits, actions, wanted in ((2, 2, 1), (2, 1, -1), (1, 1, 1), (3, 2, -1)):
        position = parse_position(text.format(hits) + f"actions={actions} turns=4")
        assert bounds(position, -1, 1) == (wanted, 1)
    over = parse_position(text.format(0) + "actions=2 turns=4")
    assert outcome(over) == (True, 1) and bounds(over, -1, 1) == (1, 1)


@given(reached("skirmish"))
def test_noisy_actions_are_attacks(position):
    if not outcome(position)[0]:
        attacks = [m for m in legal_moves(position) if "x" in move_text(position, m)]
        assert moves_by(noisy, position) == attacks
        assert skip(position) == (True, play(position, position.END))


def test_order():
    text = ".w2b2.../..W3f1../..f3.../...f3../....../..B5... ore=000000 gold=2,0 build=-,- "
    scores = order_scores(parse_position(text + "actions=2 turns=4"))
    ranking = sorted(scores, key=scores.get, reverse=True)
    assert ranking[:3] == ["c5xd5", "c5xc4", "c5xc6"] and ranking[-1] == "end"


@given(reached("skirmish"))
def test_features_are_as_naive_rules_say(position):
    if outcome(position)[0]:
        return
    world = World(position.VARIANT or "6x6")
    world.read(position_text(position))
    mine = counted(world)
    world.player = 1 - world.player
    pairs = zip(mine, counted(world), strict=True)
    assert features(position) == tuple(number for pair in pairs for number in pair)


def counted(world):
    """Return what the player to move has."""
    player, actions = world.player, world.allowed()
    own = {cell: unit for cell, unit in world.units.items() if unit[0] == player}
    attacks = [action for action in actions if action[2] == "x"]
    prey = [(own[a[:2]][1], world.units.get(a[3:], (0, "base"))[1]) for a in attacks]
    return (
        len(actions),
        min(world.gold[player] // 2, 2 - len(world.building[player])),
        world.base_hits[player]
        + sum(hits for _, _, hits in own.values())
        + 3 * len(world.building[player]),
        len(own.keys() | {action[3:] for action in actions if action[2] == "-"}),
        world.gold[player] + sum(world.ore.get(cell, 0) for cell in own),
        sum(2 if pair in BEATS else 1 for pair in prey),
    )


# Search


@pytest.fixture(scope="module")
def engine():
    return Searcher(start("4x4"), exact=True, table=1)


@pytest.mark.slow
@pytest.mark.long
@compiled_only
def test_search_is_minimax_in_small(engine):
    position, dice = start("4x4"), random.Random(5)
    while not outcome(position)[0]:
        for depth in (1, 2, 3):
            assert engine.search(position, depth=depth).value == minimax(position, depth).value
        position = play(position, dice.choice(legal_moves(position)))


@compiled_only
@pytest.mark.slow
@pytest.mark.long
def test_endings_are_solved():
    """The last turn of each game."""
    dice = random.Random(8)
    for _ in range(6):
        position = start("4x4")
        while not outcome(position)[0] and position.turns > 2:
            position = play(position, dice.choice(legal_moves(position)))
        if not outcome(position)[0]:
            assert solve(position).value == minimax(position).value


@pytest.mark.long
@pytest.mark.slow
@compiled_only
def test_a_base_is_brought_down(engine):
    """With two attacks now and one in the next turn."""
    text = ".b3../.F1../..../f3B5.. ore=00 gold=0,0 build=-,- actions=2 turns=4"
    assert engine.search(parse_position(text, "4x4"), depth=7).value == WIN - 5


# Notation


def test_drawing():
    position = parse_position("c2-b2 build fire c5-c4 mine b2")
    assert str(position).splitlines() == [
        "6    .   f3   b5   g3    .    .",
        "5    .   +3    .    .   +3    .",
        "4    .    .   w3    .    .   +3",
        "3    .    .    .    .    .   +3",
        "2    . W3+2    .    .   +3    .",
        "1    .   F3   B5   G3    .    .",
        "     a    b    c    d    e    f",
        "first: base 5, gold 3, building nothing",
        "second: base 5, gold 0, building fire in 2",
        "first to move: 1 action, 58 turns left",
    ]
