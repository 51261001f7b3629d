"""Small games as users write them, solved as published: hexapawn, quixo, suicide chess, teeko."""

from __future__ import annotations

from itertools import combinations, permutations, product
from random import Random

import pytest
from data import FOLDER, rows
from test_tablebases import in_memory
from toys import quixo, suicide, teeko

from cutnode import Bits, PositionError, legal_moves, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.verbs import canonical, index, outcome, play

pytestmark = pytest.mark.once

FACTS = rows(FOLDER / "small_games.txt")

QUICK = {"hexapawn:3x3", "hexapawn:3x4", "hexapawn:4x3", "hexapawn:5x3"}


def images(position):
    """Return the number of positions that are equivalent to a position."""
    if not hasattr(position, "STRIDE"):
        return 1
    places = position.STRIDE * position.SIZE

    def turned(cubes, symmetry):
        chosen = (place for place in range(places) if cubes >> place & 1)
        return sum(1 << quixo.turned(position, place, symmetry) for place in chosen)

    return len({(turned(position.mine, s), turned(position.theirs, s)) for s in range(8)})


def solved(start):
    """Return a representative of each reachable class of positions, its value, and the plies."""
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
    """If a move makes lines of both signs, the opponent's line counts."""
    game = load_game("toys.quixo")
    assert outcome(game.parse("xxx/ooo/...")) == (True, 1)
    assert outcome(game.parse("ooo/x.x/...")) == (True, -1)
    assert outcome(game.parse("o.o/x.x/...")) == (False, 0)


@pytest.mark.parametrize(
    ("move", "after"),
    [
        # Seen by the opponent then, whose cubes are x.  A row or a column shifts.
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


QUICK_ENDINGS = [["suicide", "K", "K"]]

compiled_only = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(not jit_enabled(), reason="many positions"),
]


@pytest.mark.parametrize(
    ("rules", "mover", "other", "wins", "draws", "losses", "longest_win", "longest_loss"),
    [
        pytest.param(*fact, marks=[] if fact[:3] in QUICK_ENDINGS else compiled_only)
        for fact in rows(FOLDER / "suicide.txt")
    ],
)
def test_endings_of_suicide(rules, mover, other, wins, draws, losses, longest_win, longest_loss):
    """All positions of one man against another, including positions with a capture."""
    plain = [rules, mover, other] in QUICK_ENDINGS
    start = load_game(f"toys.suicide:{rules}", plain=plain).start()
    kinds = [suicide.KINDS.index(man) for man in (mover, other)]
    base = in_memory(start, ["v".join(suicide.KINDS[kind] for kind in sorted(kinds))])
    found = {1: [], 0: [], -1: []}
    for mine, theirs in permutations(range(64), 2):
        position = type(start)(mine, theirs, *kinds)
        if index(position) >= 0:
            entry = base.entry(position)
            found[entry.value].append(entry.distance)
    images = 1 if rules == "suicide" else 2
    numbers = [len(found[value]) / images for value in (1, 0, -1)]
    assert numbers == [int(wins), int(draws), int(losses)]
    if longest_win:
        assert (max(found[1]), max(found[-1])) == (int(longest_win), int(longest_loss))


def placed(board, cls):
    """Return the position for a python-chess board with two men."""
    men = {}
    for square, piece in board.piece_map().items():
        view = 0 if board.turn else 56
        kind = suicide.KINDS.index(piece.symbol().upper())
        men[piece.color == board.turn] = square ^ view, kind
    (mine, kind), (theirs, other) = men[True], men[False]
    return cls(mine, theirs, kind, other)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="many positions")
def test_values_of_suicide():
    chess = pytest.importorskip("chess.variant")
    start = load_game("toys.suicide").start()
    base = in_memory(start, threads=2)
    for fen, known in rows(FOLDER / "suicide_values.txt"):
        position = placed(chess.SuicideBoard(f"{fen} 0 1"), type(start))
        entry = base.entry(position)
        if known in ("win", "loss"):
            assert entry.value == (1 if known == "win" else -1), fen
        else:
            assert entry.value * entry.distance == int(known), fen
        result = solve(position)
        assert (result.value, result.depth) == (entry.value, entry.distance), fen
    assert base.verify(threads=2).wrong == 0


@pytest.mark.parametrize("rules", ["suicide", "giveaway"])
def test_moves_of_suicide(rules):
    """Random games of all pairs of men, compared with python-chess, and en passant captures."""
    chess = pytest.importorskip("chess")
    boards = {"suicide": "SuicideBoard", "giveaway": "GiveawayBoard"}
    new = getattr(pytest.importorskip("chess.variant"), boards[rules])
    cls = type(load_game(f"toys.suicide:{rules}", plain=True).start())
    rng, ends, passed = Random(rules), set(), 0
    starts = [("Pp", (8 + file, 25 + file)) for file in range(7)]
    starts += [(men, rng.sample(range(8, 56), 2)) for men in product("KQRBNP", "kqrbnp")]
    starts += [("Pp", (12, 20)), *(("Pp", rng.sample(range(8, 56), 2)) for _ in range(20))]
    for men, squares in starts:
        board = new(None)
        for letter, square in zip(men, squares, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        position = placed(board, cls)
        for _ in range(40):
            known, view = {}, 0 if board.turn else 56
            for move in board.legal_moves:
                kind = chess.piece_symbol(move.promotion or board.piece_type_at(move.from_square))
                known[64 * suicide.KINDS.index(kind.upper()) + (move.to_square ^ view)] = move
                passed += board.is_en_passant(move)
            value = board.is_variant_win() - board.is_variant_loss()
            assert outcome(position) == (not known, value)
            if not known:
                ends.add(value)
                break
            assert sorted(legal_moves(position)) == sorted(known)
            number = rng.choice(sorted(known))
            position = play(position, number)
            board.push(known[number])
    assert ends == ({0, 1} if rules == "suicide" else {1}) and passed


def test_variants_of_suicide():
    with pytest.raises(PositionError, match="is not suicide or giveaway"):
        load_game("toys.suicide:losing").start()
