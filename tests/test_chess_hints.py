"""The hints of chess: quiet moves out of danger, into danger, and checks."""

import random

import pytest

from cutnode import legal_moves
from cutnode.contract.verbs import check, gain, hint, play
from cutnode.games.chess import move_text, parse_move, parse_position, position_text, start
from cutnode.games.chess.generator import KING, kind_of, source_of, target_of
from cutnode.games.chess.hints import CHECK, SAVED

pytestmark = pytest.mark.once

REFERENCE = pytest.importorskip("chess")

KNIGHT, BISHOP, ROOK, QUEEN = SAVED[1:]

MINOR = (REFERENCE.PAWN, REFERENCE.KNIGHT, REFERENCE.BISHOP)
LESS = ((), MINOR[:1], MINOR[:1], MINOR, (*MINOR, REFERENCE.ROOK), ())
"""The kinds of pieces that are worth less, by kind."""


def hint_of(fen, text):
    position = parse_position(fen)
    return hint(position, parse_move(position, text))


@pytest.mark.parametrize(
    ("fen", "move", "worth"),
    [
        ("4k3/8/8/3p4/4N3/8/8/4K3 w - - 0 1", "Ng3", KNIGHT),
        ("4k3/8/8/3p4/4N3/8/8/4K3 w - - 0 1", "Nd6+", KNIGHT + CHECK),
        ("4k3/4p3/8/8/4N3/8/8/4K3 w - - 0 1", "Nf6+", CHECK - KNIGHT),
        ("4k3/8/8/3p4/4B3/8/8/4K3 w - - 0 1", "Bf3", BISHOP),
        ("7k/8/8/3n4/8/4R3/8/4K3 w - - 0 1", "Rd3", ROOK),
        ("4k3/8/8/8/8/1n5R/8/4K3 w - - 0 1", "Rh1", 0),
        ("4k3/8/8/r7/8/8/Q7/4K3 w - - 0 1", "Qb1", QUEEN),
        ("4k3/8/8/q7/8/8/R7/3K4 w - - 0 1", "Rb2", 0),
        ("4k3/8/3P4/8/8/8/8/4K3 w - - 0 1", "d7+", CHECK),
        ("4k3/8/8/3p4/4N3/8/8/4K3 w - - 0 1", "Kd2", 0),
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "O-O-O+", 0),
    ],
)
def test_hints(fen, move, worth):
    assert hint_of(fen, move) == worth


def test_black_is_hinted_at_the_same_moves():
    assert hint_of("4k3/8/8/4n3/3P4/8/8/4K3 b - - 0 1", "Ng6") == KNIGHT


def test_checks_and_dangers_are_as_the_rules_find_them():
    generator = random.Random(7)
    for _ in range(2):
        position = start()
        for _ in range(80):
            for move in legal_moves(position):
                if kind_of(move) <= KING and gain(position, move) <= 0:
                    compare(position, move)
            choices = legal_moves(position)
            if not choices:
                break
            position = play(position, generator.choice(choices))


def compare(position, move):
    """Assert that a quiet move's hint is what the child's rules and the attackers' worths say."""
    kind = kind_of(move)
    saved = SAVED[kind] if kind < KING else 0
    expected = saved * (
        threatened(position, source_of(move), kind) - threatened(position, target_of(move), kind)
    )
    found = hint(position, move)
    gives = found - expected
    assert gives in (0, CHECK), move_text(position, move)
    # A discovered check is not seen, and a piece may block its own line.
    assert gives == 0 or check(play(position, move))


def threatened(position, square, kind):
    """Return whether a piece of less worth attacks a square."""
    board = REFERENCE.Board(position_text(position))
    white = board.turn
    attackers = board.attackers(not white, square if white else square ^ 56)
    return any(board.piece_type_at(attacker) in LESS[kind] for attacker in attackers)
