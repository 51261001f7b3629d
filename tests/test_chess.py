"""Chess: perft, moves and texts compared with python-chess, keys, draws, illegal positions."""

from __future__ import annotations

import warnings
from random import Random

import pytest
from commands import run_cutnode
from data import FOLDER, rows

from cutnode import (
    NO_MOVE,
    CutnodeError,
    PositionError,
    Record,
    Searcher,
    legal_moves,
    load_game,
    perft,
)
from cutnode.compiler.jit import Position, jit_enabled, kernel
from cutnode.contract.notes import notes_to
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import (
    check,
    drawn,
    key,
    moves,
    noisy,
    outcome,
    play,
    recurrence,
    reversible,
)
from cutnode.games import chess
from cutnode.games.chess import move_text, parse_move, parse_position, position_text, set_up, start
from cutnode.games.chess.epd import parse_record
from cutnode.games.chess.generator import PASSANT, PROMOTION, QUEENING, kind_of, target_of
from cutnode.games.chess.notation import LONGEST_TEXT, placement_of, uci
from cutnode.kernels.node import SearchMemory, rank_moves
from cutnode.kernels.ordering import bring_best, ranked_move
from cutnode.storage.lines import positions_in

pytestmark = pytest.mark.once

PERFT = [(fen, [int(n) for n in lines.split()]) for fen, lines in rows(FOLDER / "chess_perft.txt")]
SIX = PERFT[:7]
"""The six standard positions; one of them occurs also with colours reversed."""

MOST_LINES = 10_000_000 if jit_enabled() else 3000
KIWIPETE = PERFT[1][0]


def deepest(counts, most=MOST_LINES):
    """Return the greatest depth with at most *most* lines, and the number of lines."""
    return max((depth, n) for depth, n in enumerate(counts, 1) if n <= most or depth == 1)


# Counting


@pytest.mark.slow
@pytest.mark.parametrize(("fen", "counts"), PERFT)
def test_perft(fen, counts):
    depth, lines = deepest(counts)
    assert perft(parse_position(fen), depth) == lines


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many lines")
@pytest.mark.parametrize(("fen", "counts"), SIX)
def test_perft_of_standard_positions(fen, counts):
    assert perft(parse_position(fen), len(counts)) == counts[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("fen", "counts"), PERFT)
def test_perft_that_makes_every_move(fen, counts):
    depth, lines = deepest(counts, MOST_LINES // 10)
    assert perft(parse_position(fen), depth, bulk=False) == lines


@kernel
def count_picked(position: Position, depth: int, ply: int, top: int, search: SearchMemory) -> int:
    """Count the lines of *depth* moves, each taken from the search's move picker."""
    if depth == 0:
        return 1
    if outcome(position)[0]:
        return 0
    end = moves(position, search.moves, top)
    known = search.moves[(top + end) >> 1]
    rank_moves(position, known, NO_MOVE, ply & 1, ply, top, end, False, search)
    lines = 0
    for at in range(top, end):
        move = ranked_move(bring_best(search.ranked, at, end))
        lines += count_picked(play(position, move), depth - 1, ply + 1, end, search)
    return lines


@pytest.mark.slow
@pytest.mark.long
def test_perft_of_picked_moves():
    engine = Searcher(start())
    count_picked.specialise(chess.Position)
    for fen, counts in PERFT:
        depth, lines = deepest(counts, MOST_LINES // 20)
        position = coerce(parse_position(fen))
        assert count_picked(position, depth, 0, 0, engine.memory.argument) == lines


def test_plain_python_counts_the_same():
    plain = load_game("chess", plain=True)
    for fen, counts in (*SIX[1:], PERFT[-4]):
        depth, lines = deepest(counts, 1500)
        assert perft(plain.parse(fen), depth) == lines


def test_most_moves():
    plain = load_game("chess", plain=True)
    position = plain.parse("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    assert len(legal_moves(position)) == chess.MAX_MOVES == perft(position, 1)


# Against python-chess


def beside(count, plies, seed, chess960):
    """Play random games here and in python-chess, and yield the positions of both."""
    reference = pytest.importorskip("chess")
    random = Random(seed)
    for _ in range(count):
        board, position = reference.Board(), start()
        if chess960:
            number = random.randrange(960)
            board = reference.Board.from_chess960_pos(number)
            position = parse_position(f"960:{number}")
        for _ in range(plies):
            yield board, position, random
            choices = list(board.legal_moves)
            if not choices:
                break
            taking = [move for move in choices if board.is_capture(move) or move.promotion]
            chosen = random.choice(taking if taking and random.random() < 0.3 else choices)
            text = board.uci(chosen)
            board.push(chosen)
            position = play(position, parse_move(position, text))


@pytest.mark.parametrize("chess960", [False, True])
def test_moves_and_texts_as_in_python_chess(chess960):
    for board, position, random in beside(4, 100, 1, chess960):
        assert position_text(position) == board.fen(en_passant="legal")
        assert bool(check(position)) == board.is_check()
        assert outcome(position) == (
            (board.is_checkmate() or board.is_stalemate()),
            -int(board.is_checkmate()),
        )
        dead = board.is_insufficient_material()
        assert bool(drawn(position)) == (dead or board.halfmove_clock >= 100)
        named = {uci(position, move, chess960=chess960): move for move in legal_moves(position)}
        theirs = {board.uci(move): move for move in board.legal_moves}
        assert named.keys() == theirs.keys()
        for text in random.sample(sorted(named), min(4, len(named))):
            san = board.san(theirs[text])
            assert move_text(position, named[text]) == san
            assert parse_move(position, text) == parse_move(position, san) == named[text]


@pytest.mark.parametrize("chess960", [False, True])
def test_sums_are_what_they_are_from_scratch(chess960):
    """The hash, the piece-square sums, and everything else that is updated incrementally."""
    for _, position, _ in beside(4, 120, 2, chess960):
        assert set_up(placement_of(position)) == position
        assert parse_position(position_text(position)) == position


def test_noisy_moves_are_captures_and_queens():
    for _, position, _ in beside(6, 100, 3, False):
        buffer = [0] * chess.MAX_MOVES
        found = buffer[: noisy(position, buffer, 0)]
        assert sorted(found) == sorted(
            move
            for move in legal_moves(position)
            if (
                position.theirs >> target_of(move) & 1 and not PROMOTION <= kind_of(move) < QUEENING
            )
            or kind_of(move) in (PASSANT, QUEENING)
        )


# Keys, repetition, draws


def test_keys_of_the_same_position():
    one = parse_position("Nf3 Nf6 Nc3 Nc6")
    other = parse_position("Nc3 Nc6 Nf3 Nf6")
    assert one == other and key(one) == key(other)
    again = parse_position("Nf3 Nf6 Ng1 Ng8")
    assert again != start() and recurrence(again) == recurrence(start())
    assert recurrence(parse_position("Nf3 Nf6 Rg1 Rg8 Rh1 Rh8 Ng1 Ng8")) != recurrence(start())


def test_keys_of_positions_that_look_alike():
    board = "r3k2r/8/8/3pP3/8/8/8/R3K2R"
    texts = [f"{board} {rest}" for rest in ("w - -", "b - -", "w - d6", "w KQkq -", "w Kkq -")]
    positions = [parse_position(text) for text in texts]
    assert len(set(map(key, positions))) == len({p.zobrist for p in positions}) == len(texts)
    late = parse_position(f"{board} w - - 80 90")
    assert recurrence(late) == recurrence(positions[0]) and key(late) != key(positions[0])


def test_en_passant_is_kept_only_if_it_can_be_played():
    for text, kept in (
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "d6"),
        ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 2", "-"),
        ("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "-"),  # pinned on the file
        ("6k1/8/8/r2pP2K/8/8/8/8 w - d6 0 2", "-"),  # both pawns leave the rank
        ("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", "-"),
    ):
        assert position_text(parse_position(text)).split()[3] == kept
    assert position_text(parse_position("e4 a6 e5 d5")).split()[3] == "d6"
    assert position_text(parse_position("e4")).split()[3] == "-"


@pytest.mark.parametrize(
    ("pieces", "dead"),
    [
        *(("K7/8/8/8/8/8/8/7k", True), ("K7/8/8/3N4/8/8/8/7k", True)),
        *(("K7/8/8/3b4/8/8/8/7k", True), ("K7/8/8/3b1b2/8/8/8/6Bk", False)),
        *(("K7/8/8/3b1b2/8/8/8/5B1k", True), ("K7/8/8/3NN3/8/8/8/7k", False)),
        *(("K7/8/8/3Nb3/8/8/8/7k", False), ("K7/8/8/3P4/8/8/8/7k", False)),
        *(("K7/8/8/3R4/8/8/8/7k", False), ("K7/8/8/3q4/8/8/8/6k1", False)),
    ],
)
def test_pieces_that_cannot_mate(pieces, dead):
    assert bool(drawn(parse_position(f"{pieces} w - -"))) == dead
    assert bool(drawn(parse_position(f"{pieces.swapcase()} b - -"))) == dead


def test_fifty_moves():
    position = parse_position("R6k/8/8/8/8/8/8/K7 b - - 98 100")
    position = play(position, parse_move(position, "Kg7"))
    assert not drawn(position)
    position = play(position, parse_move(position, "Ra7"))
    assert drawn(position) and not outcome(position)[0] and len(legal_moves(position)) > 0
    assert reversible(start(), parse_position("Nf3")) and not reversible(start(), play(start(), 0))
    mated = parse_position("R5k1/5ppp/8/8/8/8/8/K7 b - - 100 100")
    assert outcome(mated) == (True, -1)


def test_a_third_occurrence_ends_a_game_and_a_second_does_not():
    record = Record(start())
    there_and_back = ["Nf3", "Nf6", "Ng1", "Ng8"]
    record.follow(there_and_back)
    assert record.ending() == ""
    record.follow(there_and_back)
    assert (record.ending(), record.score(0)) == ("repetition", 0.5)
    record.take_back()
    record.follow(["d5"])
    assert record.ending() == ""


def test_a_rule_ends_a_game_as_a_draw():
    record = Record(parse_position("8/8/8/4k3/8/8/3p4/3K4 w - - 0 1"))
    record.follow(["Kxd2"])
    assert (record.ending(), record.value(), record.score(1)) == ("rules", 0, 0.5)
    with pytest.raises(CutnodeError, match="not a legal move"):
        record.follow(["Ke4"])


# Positions as text


def test_every_start_of_chess960():
    reference = pytest.importorskip("chess")
    for number in range(960):
        fen = position_text(parse_position(f"960:{number}"))
        assert fen == reference.Board.from_chess960_pos(number).fen()
    assert parse_position("960:518") == start()
    for wrong in ("960:960", "960:-1", "960:", "960:x"):
        with pytest.raises(PositionError):
            parse_position(wrong)


def test_castling_letters():
    def letters(text):
        return position_text(parse_position(f"r3k2r/8/8/8/8/8/8/R1R1K1RR w {text} -")).split()[2]

    assert [letters(text) for text in ("HAha", "KQkq", "qkQK", "-")] == ["KQkq"] * 3 + ["-"]
    assert [letters(text) for text in ("GC", "Ga", "Ck")] == ["GC", "Gq", "Ck"]


@pytest.mark.parametrize(
    ("fen", "note"),
    [
        (
            "1nbqkbnr/pp2p1pp/2p5/3p1p2/3P1B2/5N2/PPP1PPPP/RN2KB1R w KQkq - 0 4",
            "castling KQkq is read as KQk: king or rook is not at home for q",
        ),
        (
            "8/8/4k3/8/8/3QK3/8/8 w KQ - 0 1",
            "castling KQ is read as -: king or rook is not at home for K Q",
        ),
        (  # by X-FEN the rook on b1 could castle, but no start has rooks on b1 and a8
            "r3k2r/8/8/8/8/8/8/1R2K2R w KQkq - 0 1",
            "castling KQkq is read as Kkq: king or rook is not at home for Q",
        ),
        (
            "3rk2r/8/8/8/8/8/4K3/R6R b Qq - 0 1",
            "castling Qq is read as -: king or rook is not at home for Q q",
        ),
        (
            "4k3/8/8/8/8/8/8/RK5R w HC - 0 1",
            "castling HC is read as H: king or rook is not at home for C",
        ),
        (
            "4k3/8/8/8/8/8/8/4K3 w - e6 0 1",
            "en passant e6 is read as -: no pawn can just have passed there",
        ),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d3 0 1", "en passant d3 is read as -"),
        ("4r1k1/8/8/4pP2/8/8/8/4K3 w - e6 0 1", ""),
        (  # the king was already in check when black moved the pawn
            "4k3/8/8/3pP3/8/b7/8/2K5 w - d6 0 1",
            "en passant d6 is read as -",
        ),
    ],
)
def test_what_a_board_does_not_bear_out_is_dropped_with_a_note(fen, note):
    reference = pytest.importorskip("chess")
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        position = parse_position(fen)
    assert [str(each.message)[: len(note)] for each in noted] == [note] * bool(note)
    board = reference.Board(fen, chess960="HC" in fen)
    assert position_text(position) == board.fen()
    assert perft(position, 2) == sum(_replies(board, move) for move in board.legal_moves)


def _replies(board, move):
    board.push(move)
    count = board.legal_moves.count()
    board.pop()
    return count


def test_notes_are_reported_once():
    told = []
    with notes_to(told.append):
        for _ in range(3):
            parse_position("4k3/8/8/8/8/8/8/4K3 w K - 0 1")
        parse_position("4k3/8/8/8/8/8/8/4K3 w Q e6 0 1")
    assert [text.partition(" is ")[0] for text in told] == [
        "castling K",
        "castling Q",
        "en passant e6",
    ]


def test_wrong_castling_and_en_passant_are_refused():
    board = "r3k2r/8/8/8/8/8/8/R3K2R"
    for fields, reason in (
        ("w KX -", "'X' in castling 'KX'"),
        ("w KK -", "castling 'KK' names a side of a player twice"),
        ("w KH -", "castling 'KH' names a side of a player twice"),
        ("w KQkq e9", "en passant 'e9': it is -, or a square such as e3"),
        ("w KQkq x", "en passant 'x'"),
    ):
        with pytest.raises(PositionError, match=reason):
            parse_position(f"{board} {fields} 0 1")


def test_a_semicolon_may_follow_any_field():
    board = "r2qkbnr/ppp1pppp/2np4/8/2PP2b1/5N2/PP2PPPP/RNBQK2R w KQkq"
    wanted = parse_position(f"{board} - 1 4")
    for rest in ("1 4; v=-328", "1 4;", "1 4 ;", "1 4;D1 20; D2 400", "1 4 bm e4;"):
        assert parse_position(f"{board} - {rest}") == wanted
    for rest in ("-;", "-; bm e4;", "-;bm e4"):
        assert parse_position(f"{board} {rest}") == parse_position(f"{board} -")
    assert parse_record(f"{board} - 1 4; v=-328").operations == {"v": ("-328",)}
    assert parse_record(f'{board} - 1 4;id "a;b";bm e3').operations["id"] == ("a;b",)
    assert position_text(parse_position(f"{board} - 3; bm e4")).endswith(" 3 1")


def test_counters_may_be_left_out():
    board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
    assert parse_position(f"{board} w KQkq -") == start()
    assert parse_position(f"{board} w KQkq - bm e4; id x;") == start()
    assert parse_position(f"  {board}  w KQkq -  0 0") == start()
    assert parse_position("") == parse_position(" \n") == start()
    assert parse_position(f"{board} b KQkq - 3 7")[-4:-2] == (3, 13)
    for counters in ("-", "- -", "0", "0 -", "- 1"):
        assert parse_position(f"{board} w KQkq - {counters}") == start()
        assert parse_position(f"{board} w KQkq - {counters} moves e4") == parse_position("e4")
    assert parse_position(f"{board} b KQkq - 3 -")[-4:-2] == (3, 1)
    assert parse_position(f"{board} b KQkq - 3")[-4:-2] == (3, 1)


def test_operations_count_as_counters():
    """The same as python-chess reads and writes EPD."""
    fields = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq -"
    for operations in (
        "hmvc 3; fmvn 7;",
        'bm e5; c0 "a; hmvc 9;"; fmvn 7; hmvc 3;',
        "0 1 hmvc=3; fmvn 7",
    ):
        assert parse_position(f"{fields} {operations}")[-4:-2] == (3, 13)
        [(text, position)] = positions_in(load_game("chess"), [f"{fields} {operations}"], "file")
        assert position[-4:-2] == (3, 13) and ";" not in text
    [(_, numbered)] = positions_in(load_game("chess"), ["960:518 ; the usual start"], "file")
    assert numbered == start()


def test_lines_of_moves():
    wanted = parse_position("r1bqkb1r/pppp1ppp/2n2n2/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4")
    for line in (
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6",
        "1.e4 e5 2.Nf3 Nc6 3.Bb5 Nf6 *",
        "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6",
        "1. e4 1... e5 2. Nf3 Nc6\n3. Bb5 Nf6 1/2-1/2",
        "1. e4 1. ... e5 2. Nf3+- Nc6 \u00b1 3. Bb5 (3. Bc4) {or so} Nf6",
    ):
        assert parse_position(line) == wanted
    with pytest.raises(PositionError, match=r"move 3 of 'e4 e5 Ke3': 'Ke3' is not a legal move"):
        parse_position("e4 e5 Ke3")
    assert parse_position("e4 a6 e5 d5 exd6 e.p.").pawns.bit_count() == 15


def test_promoted_pieces_are_counted_with_the_pawns():
    assert parse_position("k7/8/8/8/8/NN6/PPPPPPPP/K7 w - -")


def test_a_long_text_fails_fast():
    for text in ("e4 " * 100_000, "/" * 100_000, "8/" * 4000, "(" * LONGEST_TEXT):
        with pytest.raises(PositionError):
            parse_position(text)
    with pytest.raises(PositionError):
        parse_move(start(), "e" * 100_000)
    with pytest.raises(PositionError, match="no variant 'x'"):
        start("x")


def test_board():
    assert str(parse_position("r3k2r/8/8/3pP3/8/8/8/4K3 w kq d6 30 40")) == "\n".join(
        (
            *("8 r . . . k . . r", "7 . . . . . . . .", "6 . . . . . . . .", "5 . . . p P . . ."),
            *("4 . . . . . . . .", "3 . . . . . . . .", "2 . . . . . . . .", "1 . . . . K . . ."),
            "  a b c d e f g h",
            "white to move, castling kq, en passant d6, "
            "30 plies without a capture or a move of a pawn",
        )
    )
    assert str(parse_position("e4")).endswith("\nblack to move, castling KQkq")


# Moves as text


def test_disambiguation():
    three = parse_position("8/8/1k6/8/Q6Q/8/8/2K4Q w - - 0 1")
    texts = {move_text(three, move) for move in legal_moves(three)}
    assert {"Qae4", "Qh4e4", "Q1e4"} <= texts
    for move in legal_moves(three):
        assert parse_move(three, move_text(three, move)) == move
    pinned = parse_position("4k3/4r3/8/8/8/2N5/4N3/4K3 w - - 0 1")
    assert move_text(pinned, parse_move(pinned, "c3d5")) == "Nd5"


@pytest.mark.parametrize(
    ("fen", "texts", "san", "uci_text"),
    [
        (KIWIPETE, ("O-O", "0-0", "o-o", "e1g1", "e1h1", "O-O!?"), "O-O", "e1g1"),
        (KIWIPETE, ("O-O-O", "0-0-0+", "e1c1", "e1a1"), "O-O-O", "e1c1"),
        (KIWIPETE, ("Nxd7", "Ne5xd7", "Nd7", "Nexd7", "N5:d7", "e5d7", "e5xd7"), "Nxd7", "e5d7"),
        (KIWIPETE, ("gxh3", "g2xh3", "g2h3", "gh3", "g:h3!"), "gxh3", "g2h3"),
        (
            "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
            ("exd6", "exd6 e.p.", "exd6ep", "exd6+ e.p.!", "e5\u00d7d6", "ed6", "e5d6"),
            "exd6",
            "e5d6",
        ),
        (
            "7k/4P3/8/8/8/8/8/K7 w - - 0 1",
            (
                *("e8Q", "e8=Q+", "e8=q", "e8(Q)", "e8=(Q)", "e8/Q", "Pe7-e8=Q+"),
                *("e7\u2013e8\u2655", "e7e8q"),
            ),
            "e8=Q+",
            "e7e8q",
        ),
        (
            "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1",
            ("Ra8", "Ra8+", "Ra8#", "Ra1-a8", "a1a8", "Ra8 mate!", "Ra8ch"),
            "Ra8#",
            "a1a8",
        ),
    ],
)
def test_moves_are_read_leniently(fen, texts, san, uci_text):
    position = parse_position(fen)
    assert len({parse_move(position, text) for text in texts}) == 1
    move = parse_move(position, texts[0])
    assert (move_text(position, move), uci(position, move)) == (san, uci_text)


def test_moves_may_follow_a_fen():
    fen = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
    assert parse_position(f"{fen} moves e5d6 Kd7") == parse_position(
        "8/3k4/3P4/8/8/8/8/4K3 w - - 1 2"
    )
    assert parse_position(f"{fen} moves") == parse_position(fen)
    assert parse_position(f'{fen} c0 "it moves e5d6";') == parse_position(fen)
    with pytest.raises(PositionError, match="move 2 of 'e5d6 Ke6': 'Ke6' is not a legal move"):
        parse_position(fen.replace(" 0 1", " moves e5d6 Ke6"))


def test_castling_in_chess960():
    position = parse_position("4k3/8/8/8/8/8/8/1R3KR1 w GB - 0 1")
    castling = parse_move(position, "O-O")
    assert uci(position, castling) == uci(position, castling, chess960=True) == "f1g1"
    far = parse_position("4k3/8/8/8/8/8/8/1R3K1R w HB - 0 1")
    assert parse_move(far, "f1h1") == parse_move(far, "O-O") != parse_move(far, "f1g1")
    assert move_text(far, parse_move(far, "f1g1")) == "Kg1"
    assert parse_move(far, "f1c1") == parse_move(far, "f1b1") == parse_move(far, "O-O-O")
    usual = parse_position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    assert uci(usual, parse_move(usual, "O-O"), chess960=True) == "e1h1"


def test_only_moves_of_pieces_are_compared():
    position = parse_position("d4 d5 Nf3 Nf6 e3 e6")
    for text in ("e2e5", "O-O-O"):
        with pytest.raises(PositionError, match=f"'{text}' is not a legal move of white$"):
            parse_move(position, text)


# EPD


def test_records():
    text = '1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - bm Qd1+; id "BK;01"; c0 "a b";'
    record = parse_record(text)
    assert record.best == (parse_move(record.position, "Qd1"),)
    assert (record.avoid, record.name) == ((), "BK;01")
    assert record.operations["c0"] == ("a b",)
    assert str(record) == text and parse_record(str(record)) == record
    said = "4k3/8/8/8/8/8/8/4K2R w K - pm O-O; ce -50;"
    assert str(parse_record(said)) == said
    counted = parse_record("4k3/8/8/8/8/8/8/4K2R w K - hmvc 7; fmvn 40; am O-O Kd1;")
    assert position_text(counted.position).endswith(" 7 40")
    assert [move_text(counted.position, move) for move in counted.avoid] == ["O-O", "Kd1"]
    assert parse_record("4k3/8/8/8/8/8/8/4K2R w K - 3 9 bm Kd1").best


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ("bm Kd4;", "bm: 'Kd4' is not a legal move"),
        ("bm Kd1; bm Ke2;", "the operation bm is there twice"),
        ("b?m Kd1;", "'b\\?m' is not the name of an operation"),
        ("hmvc x;", "'x' is not a counter"),
        ("hmvc;", "is not a counter"),
        ("fmvn -1;", "'-1' is not a counter"),
    ],
)
def test_wrong_records_are_refused(operations, reason):
    with pytest.raises(PositionError, match=reason):
        parse_record(f"4k3/8/8/8/8/8/8/4K2R w K - {operations}")


# On the command line


def test_commands():
    def said(*args):
        result = run_cutnode(*args)
        assert result.exit_code == 0, result.output
        return result.output

    assert said("perft", "chess", "--depth", "3", "--no-bulk").strip() == "8902"
    assert said("perft", "chess", "--fen", KIWIPETE, "--depth", "2").strip() == "2039"
    shown = said("show", "chess", "8/8/8/3k4/8/8/3N4/3K4 w - -")
    assert "moves  Kc1 Ke1" in shown and "over   a draw by the rules" in shown
    assert "over" not in said("show", "chess", "--fen", KIWIPETE)
    result = run_cutnode("show", "chess", KIWIPETE, "--fen", KIWIPETE)
    assert result.exit_code == 2 and "a position and --fen exclude each other" in result.output
