"""A game with rules alone has texts, a first position and a key, by the contract's defaults."""

import pytest
from nim import nim
from toys import bare

from cutnode import GameError, PositionError, load_game, perft, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.conformance import check
from cutnode.contract.default_keys import key_of_fields
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.positions import coerce


def written(tmp_path, name, source):
    path = tmp_path / f"{name}.py"
    path.write_text(source)
    return str(path)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("plain", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_rules_alone_are_a_game(plain):
    game = load_game("toys.bare", plain=plain)
    start = game.start()
    assert start == bare.Position(0, 0)
    assert position_text(start) == "mine=0 theirs=0" and str(start) == "mine=0\ntheirs=0"
    assert game.parse("mine=16 theirs=1") == game.parse("4 0") == game.parse("4, 0")
    assert move_text(start, 4) == "4"
    assert perft(start, 3) == 9 * 8 * 7
    assert solve(start).value == 0
    assert check(game) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine=1", "is not a position; write all fields, as in mine=0 theirs=0"),
        ("theirs=1 mine=0", "write all fields"),
        ("mine=-1 theirs=0", "mine must be from 0 to 18446744073709551615 (Bits), got -1"),
        ("mine='x' theirs=0", "mine is annotated Bits, got 'x'"),
        ("mine=__import__ theirs=0", "is not a position: ValueError"),
        ("4 4", "move 2 of '4 4': '4' is not a legal move; 0, 1, 2, 3, 5"),
        ("0 3 1 4 2 5", "there are none"),
    ],
)
def test_texts_that_are_no_position(text, message):
    with pytest.raises(PositionError, match=r"\A.*\Z") as caught:
        load_game("toys.bare").parse(text)
    assert message in str(caught.value)


def test_no_variants():
    with pytest.raises(PositionError, match="bare has no variant '4x4'"):
        load_game("toys.bare:4x4").start()


def test_plain_rules_alone(tmp_path):
    game = load_game(written(tmp_path, "bare_plain", nim(heap=7, most=2)))
    assert solve(game.start()).value == 1
    assert game.parse("left=3") == game.parse("2 2")
    assert check(game) == []


def test_fields_without_defaults(tmp_path):
    with pytest.raises(GameError, match=r"give left of \w+ a default, or define start\(variant\)"):
        load_game(written(tmp_path, "bare_start", nim(heap=None, most=2)))


def test_missing_rules(tmp_path):
    with pytest.raises(GameError, match="it does not define outcome"):
        load_game(written(tmp_path, "bare_rules", nim(heap=7, most=2).partition("def out")[0]))


class Small(bare.NamedTuple):
    a: int
    b: int
    c: bool
    d: bool


class Wide(bare.NamedTuple):
    a: bare.Bits
    b: bare.Bits
    c: float


@pytest.mark.parametrize(
    "positions",
    [
        [
            Small(a, b, c, d)
            for a in (-9, -1, 0, 1, 9)
            for b in (-9, 0, 7)
            for c in (0, 1)
            for d in (0, 1)
        ],
        [Small(a << 40, b << 50, c, False) for a in range(-3, 4) for b in range(5) for c in (0, 1)],
        [Wide(a, b << 60, c) for a in range(4) for b in range(4) for c in (-0.5, 0.0, 1.0, 1e300)],
    ],
)
def test_default_keys_tell_positions_apart_compiled_or_not(positions):
    positions = [coerce(position) for position in positions]
    words = [key_of_fields(position) for position in positions]
    assert len(set(words)) == len(positions)
    assert all(0 <= word < 1 << 64 for word in words)
    if jit_enabled():
        import numba

        from cutnode.contract.positions import position_type

        run = numba.njit(lambda position: key_of_fields(position))
        run.compile((position_type(type(positions[0])),))
        assert [int(run(position)) for position in positions] == words


def test_small_fields_stand_side_by_side():
    assert key_of_fields(Small(0, 0, True, True)) == 3 << 62
    assert key_of_fields(bare.Position(5, 2)) == 5 | 2 << 32


def test_start_is_no_text(tmp_path):
    own = "\n\ndef parse_position(text, variant=''):\n    return Position(left=int(text))\n"
    game = load_game(written(tmp_path, "bare_parsing", nim(heap=7, most=2) + own))
    assert game.parse("") == game.parse(" ") == game.start() != game.parse("3")
