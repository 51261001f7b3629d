"""Small games as users write them, solved as published: hexapawn, quixo, teeko."""

from __future__ import annotations

from itertools import combinations

import pytest
from data import FOLDER, rows
from toys import quixo, teeko

from engine import Bits, legal_moves, load_game
from engine.contract.verbs import canonical, outcome, play

FACTS = rows(FOLDER / "small_games.txt")

QUICK = {"hexapawn:3x3", "hexapawn:3x4", "hexapawn:4x3", "hexapawn:5x3", "quixo:3x3"}


def images(position):
    """How many positions are equivalent to one."""
    if not hasattr(position, "STRIDE"):
        return 1
    places = position.STRIDE * position.SIZE

    def turned(cubes, symmetry):
        chosen = (place for place in range(places) if cubes >> place & 1)
        return sum(1 << quixo.turned(position, place, symmetry) for place in chosen)

    return len({(turned(position.mine, s), turned(position.theirs, s)) for s in range(8)})


def solved(start):
    """For each class of positions that can be reached one of it, its value, and the plies."""
    found, children, waiting = {}, {}, [start]
    while waiting:
        position = waiting.pop()
        word = canonical(position)[0]
        if word in found:
            continue
        found[word] = position
        over = outcome(position)[0]
        following = [] if over else [play(position, move) for move in legal_moves(position)]
        children[word] = [canonical(child)[0] for child in following]
        waiting += following
    known = {word: (outcome(p)[1], 0) for word, p in found.items() if outcome(p)[0]}
    before = -1
    while before < len(known):
        before, seen = len(known), dict(known)
        for word, following in children.items():
            if word in seen:
                continue
            lost = [seen[child][1] for child in following if seen.get(child, (0, 0))[0] < 0]
            if lost:
                known[word] = 1, 1 + min(lost)
            elif all(seen.get(child, (0, 0))[0] > 0 for child in following):
                known[word] = -1, 1 + max(seen[child][1] for child in following)
    return found, known


@pytest.mark.parametrize(
    ("name", "winner", "plies", "wins", "losses"),
    [
        pytest.param(*fact, marks=[] if fact[0] in QUICK else [pytest.mark.slow, pytest.mark.long])
        for fact in FACTS
    ],
)
def test_solved_games(name, winner, plies, wins, losses):
    start = load_game(f"toys.{name}", plain=True).start()
    found, known = solved(start)
    value = 1 if winner == "first" else -1
    assert known[canonical(start)[0]] == (value, int(plies))
    sides = {1: 0, -1: 0}
    for word, (value, _) in known.items():
        sides[value] += images(found[word])
    assert len(found) == len(known)
    assert sides == {1: int(wins), -1: int(losses)}


def test_quixo_lines():
    """A line of both signs is one of the other player's."""
    game = load_game("toys.quixo")
    assert outcome(game.parse("xxx/ooo/...")) == (True, 1)
    assert outcome(game.parse("ooo/x.x/...")) == (True, -1)
    assert outcome(game.parse("o.o/x.x/...")) == (False, 0)


@pytest.mark.parametrize(
    ("move", "after"),
    [
        # Seen by the other then, whose cubes are x.  A row, or a column, moves on.
        ("a4-d4", ".xoo/..../x..o/ooxo"),
        ("a4-a1", "..xo/x.../o..o/ooxo"),
        ("b4-b1", "o.xo/..../xo.o/ooxo"),
        ("d1-a1", "o.xo/..../x..o/ooox"),
    ],
)
def test_quixo_moves(move, after):
    game = load_game("toys.quixo:4x4")
    position = game.parse("x.ox/..../o..x/xxox")
    child = play(position, game.notation.parse_move(position, move))
    assert game.notation.position_text(child) == after


def test_teeko_moves():
    game = load_game("toys.teeko")
    position = game.parse("xo.../oo.../...x./..o../..xx.")
    texts = [game.notation.move_text(position, move) for move in legal_moves(position)]
    assert [text for text in texts if text.startswith("a5")] == []
    assert {text for text in texts if text.startswith("c1")} == {"c1-b1", "c1-b2", "c1-d2"}
    assert outcome(game.parse("xo.../ox.../..x../..oox/.....")) == (False, 0)
    assert outcome(game.parse("x..../.ox../.xo../x..o./....o"))[0]


def test_teeko_patterns():
    """44 of them: 28 rows of four, 16 squares."""
    cells = [6 * row + column for row in range(5) for column in range(5)]
    winning = [
        men for men in combinations(cells, 4) if teeko.has_won(Bits(sum(1 << n for n in men)))
    ]
    assert len(winning) == 44
