"""Chess's additions to the search: exchanges, checks, draws by rule, and the game so far."""

from random import Random

import pytest

from cutnode import Searcher, legal_moves, load_game, minimax
from cutnode.contract.verbs import drawn, exchange, gain, noisy, outcome, play, recurrence, skip
from cutnode.games.chess import Position, parse_move, parse_position, position_text, start
from cutnode.games.chess.exchange import WORTH
from cutnode.games.chess.generator import CASTLING, KING, PROMOTION, kind_of
from cutnode.games.chess.notation import uci
from cutnode.kernels.scores import WIN

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def engine():
    return Searcher(Position, table=8)


@pytest.fixture(scope="module")
def exact():
    return Searcher(Position, table=8, exact=True)


def random_position(random, plies):
    position = start()
    for _ in range(plies):
        if outcome(position)[0]:
            return start()
        position = play(position, random.choice(legal_moves(position)))
    return position


# Exactness

ENDINGS = (
    "8/8/8/8/8/3k4/3q4/3K4 w - - 0 1",
    "8/2k5/8/8/8/8/1R6/K7 w - - 96 80",
    "7k/5Q2/8/8/8/8/8/K7 w - - 99 90",  # mate with the last move that counts
    "8/8/4k3/8/8/3BK3/4p3/8 w - - 0 1",  # after the capture, the remaining material cannot win
    "8/8/4k3/8/8/3BK3/4p3/8 b - - 97 60",
    "k7/2Q5/8/8/8/8/8/K7 b - - 0 1",
    "8/8/8/8/8/5k2/5p2/5K2 w - - 0 1",
)


@pytest.mark.parametrize("fen", ENDINGS)
def test_exact_search_is_minimax_in_endings_in_plain_python(fen):
    position = load_game("chess", plain=True).parse(fen)
    exact = Searcher(position, table=1, exact=True)
    for depth in (1, 2):
        assert exact.search(position, depth=depth).value == minimax(position, depth).value


MATES_IN_TWO = (
    "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1",  # P. Morphy
    "8/1p3Qb1/p5pk/P1p1p1p1/1P2P1P1/2P1N2n/5P1P/4qB1K w - - 0 1",
)


@pytest.mark.parametrize("fen", MATES_IN_TWO)
def test_an_exact_search_reduces_nothing(exact, fen):
    """Whatever the profile of chess says of techniques that an exact search does without."""
    assert exact.search(parse_position(fen), depth=3).value == WIN - 3


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("fen", ENDINGS)
def test_exact_search_is_minimax_in_endings(exact, fen):
    position = parse_position(fen)
    for depth in (1, 2, 3, 4):
        assert exact.search(position, depth=depth).value == minimax(position, depth).value


@pytest.mark.slow
@pytest.mark.long
def test_exact_search_is_minimax_after_random_games(exact):
    random = Random(5)
    for _ in range(20):
        position = random_position(random, random.randrange(2, 80))
        clock = random.choice([position.clock, 95, 97, 98])
        position = position._replace(clock=clock)
        for depth in (1, 2, 3):
            assert exact.search(position, depth=depth).value == minimax(position, depth).value


# Exchanges


def taken_back(board, square, taken):
    """Return the most that the side to move wins by capturing a piece worth *taken* on a square.

    Pieces are moved by hand, so pins do not count; a king takes only what is not guarded.
    """
    takers = sorted(
        board.attackers(board.turn, square), key=lambda at: WORTH[board.piece_type_at(at) - 1]
    )
    for at in takers:
        piece = board.remove_piece_at(at)
        value = WORTH[piece.piece_type - 1]
        board.turn = not board.turn
        guarded = board.attackers(board.turn, square)
        if piece.piece_type - 1 == KING and guarded:
            return 0
        return max(0, taken - taken_back(board, square, value))
    return 0


def worth_of_move(board, move):
    """Return the static exchange value of a move of python-chess."""
    board = board.copy(stack=False)
    piece = board.remove_piece_at(move.from_square)
    victim = board.piece_at(move.to_square)
    won = WORTH[victim.piece_type - 1] if victim else 0
    if piece.piece_type == 1 and not victim and (move.to_square - move.from_square) % 8:
        won = WORTH[0]
        board.remove_piece_at(move.to_square ^ 8)
    stands = WORTH[piece.piece_type - 1]
    if move.promotion:
        stands = WORTH[move.promotion - 1]
        won += stands - WORTH[0]
    board.set_piece_at(move.to_square, piece)
    board.turn = not board.turn
    return won - taken_back(board, move.to_square, stands)


@pytest.mark.parametrize(
    ("fen", "move", "value"),
    [
        ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -", "Rxe5", 100),
        ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -", "Nxe5", -225),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6", "exd6", 100),
        ("4k3/2p5/8/3pP3/8/8/8/4K3 w - d6", "exd6", 0),
        ("3r2k1/4P3/8/8/8/8/8/4K3 w - -", "exd8=Q+", 500 + 975 - 100),
        ("4k3/P7/8/8/8/8/8/4K3 w - -", "a8=Q+", 875),
        ("1n2k3/P7/8/8/8/8/8/4K3 w - -", "axb8=N", 325 + 225),
        ("r3k3/8/8/8/8/8/8/R3K2R w KQq -", "O-O", 0),
        ("r3k3/8/8/8/8/8/8/R3K2R w KQq -", "Rxa8+", 500),
    ],
)
def test_exchanges_by_hand(fen, move, value):
    position = parse_position(fen)
    move = parse_move(position, move)
    assert exchange(position, move, value)
    assert not exchange(position, move, value + 1)


def test_exchanges_are_those_of_a_slow_count():
    chess = pytest.importorskip("chess")
    random = Random(11)
    seen = set()
    for _ in range(50):
        position = random_position(random, random.randrange(6, 90))
        if outcome(position)[0]:
            continue
        board = chess.Board(position_text(position))
        for move in legal_moves(position):
            if kind_of(move) == CASTLING:
                continue
            value = worth_of_move(board, board.parse_uci(uci(position, move)))
            assert exchange(position, move, value), (position, move, value)
            assert not exchange(position, move, value + 1), (position, move, value)
            seen.add(value)
    assert len(seen) > 20


# Checks, draws, and the game so far


@pytest.mark.slow
def test_quiescence_answers_checks(engine):
    """At depth 1, the search sees that a capture lets the opponent mate."""
    mated = parse_position("6k1/5ppp/8/8/8/8/5PPP/1r2R1K1 w - - 0 1")  # Rxb1, or be mated
    assert engine.search(mated, depth=1).best_move == parse_move(mated, "Rxb1")


@pytest.mark.slow
def test_a_mate_is_scored_by_its_distance(engine):
    position = parse_position("7k/8/5K2/6Q1/8/8/8/8 w - - 0 1")
    result = engine.search(position, depth=6)
    assert result.value == WIN - 1 and result.proven


ZUGZWANG = (
    ("8/4N3/8/8/8/2b1p3/p1K1P3/k7 w - -", "Nc6", 3),  # the bishop has to move
    ("8/2R5/8/8/8/5K1p/8/6kr w - -", None, 2),  # the rook has to move
    ("8/8/8/7P/8/p7/BnK5/k1B5 w - -", None, 4),
    ("8/k2N4/2p5/b1K5/8/8/6R1/8 w - -", None, 3),
)
"""Positions that are mate in N moves because no move is as good as a pass would be."""


@pytest.mark.slow
@pytest.mark.parametrize(("fen", "move", "within"), ZUGZWANG)
def test_a_pass_hides_no_mate_by_zugzwang(engine, fen, move, within):
    position = parse_position(fen)
    engine.clear()
    result = engine.search(position, depth=20)
    assert WIN - result.value == 2 * within - 1
    assert move is None or result.best_move == parse_move(position, move)


def test_whoever_has_a_single_piece_does_not_pass():
    for fen, allowed in (
        ("8/8/4k3/8/8/3BK3/4p3/8 w - - 0 1", False),
        ("7k/8/8/3P4/8/8/1R6/K7 w - - 0 1", False),
        ("7k/8/8/3P4/8/8/1RN5/K7 w - - 0 1", True),
        ("7k/8/8/3P4/8/2b5/1RN5/K7 w - - 0 1", True),
        ("7k/8/8/3P4/8/r1b5/2N5/K3R3 w - - 0 1", False),  # in check
    ):
        assert skip(parse_position(fen))[0] == allowed


@pytest.mark.slow
def test_fifty_moves_are_a_draw_but_for_a_mate(engine):
    mate = parse_position("7k/5Q2/6K1/8/8/8/8/8 w - - 99 90")
    assert engine.search(mate, depth=3).value == WIN - 1
    late = parse_position("k7/8/8/8/8/8/1Q6/K7 w - - 99 90")
    assert engine.search(late, depth=5).value == 0
    over = parse_position("k7/8/8/8/8/8/1Q6/K7 w - - 100 90")
    assert drawn(over)
    assert engine.search(over, depth=3).best_move is not None


@pytest.mark.slow
def test_a_bare_minor_piece_is_worth_nothing(engine):
    position = parse_position("8/8/4k3/8/8/3BK3/8/8 w - - 0 1")
    assert drawn(position)
    assert engine.search(position, depth=4).value == 0


def line_of(position, *texts):
    positions = [position]
    for text in texts:
        positions.append(play(positions[-1], parse_move(positions[-1], text)))
    return positions


@pytest.mark.slow
def test_a_third_repetition_is_a_draw_and_a_second_is_not_yet(engine):
    """White, to move, is a queen ahead; returning repeats an earlier position."""
    before = parse_position("6k1/8/8/8/8/8/1Q6/K7 w - - 0 1")
    once = line_of(before, "Qb1", "Kh8", "Qb2+", "Kg8")
    assert recurrence(once[0]) == recurrence(once[4])
    twice = line_of(once[-1], "Qb1", "Kh8", "Qb2+", "Kg8")
    for history in (once[:-1], [*once[:-1], *twice[:-1]]):
        assert engine.search(twice[-1], depth=5, history=history).value > 500
    # One move before the third time: the reply that repeats is worth 0, whoever plays it.
    game = [*once[:-1], *twice[:-1]]
    position = game[-1]
    back = parse_move(position, "Kg8")
    assert legal_moves(position).count(back) == 1
    engine.clear()
    lost = engine.search(position, depth=1, moves=[back])
    saved = engine.search(position, depth=1, moves=[back], history=game[:-1])
    assert lost.value < -500 and saved.value == 0


def test_noisy_moves_are_the_legal_captures_and_queen_promotions():
    random = Random(2)
    for _ in range(40):
        position = random_position(random, random.randrange(0, 100))
        if outcome(position)[0]:
            continue
        legal = legal_moves(position)
        buffer = [0] * 218
        found = buffer[: noisy(position, buffer, 0)]
        queen = PROMOTION + 3
        expected = [
            move
            for move in legal
            if gain(position, move) > 0 and not PROMOTION <= kind_of(move) < queen
        ]
        assert sorted(found) == sorted(expected)
