"""Books of the first positions of games: their values, and how much they shorten a proof."""

from __future__ import annotations

import json
import random
import threading

import numpy as np
import pytest
from click.testing import CliRunner, Result
from marks import compiled_only

from cutnode import CutnodeError, Engine, Table, analyse, legal_moves, load_game, solve, solve_many
from cutnode.batches.books import Book, build_book
from cutnode.cli.book import book as book_command
from cutnode.contract.verbs import canonical, moves_again, play

TINY = load_game("tictactoe")
GAME = load_game("connect4")
MIDDLE = GAME.parse("44444326555535")


@pytest.fixture(scope="module")
def tiny() -> Book:
    return build_book(TINY, 4, threads=1, table=1)[0]


@pytest.fixture(scope="module")
def middle() -> Book:
    return build_book(GAME, 3, start=MIDDLE, table=16)[0]


def reached(position, plies):
    """Return all positions after at most *plies* plies, by class."""
    found, layer = {}, [position]
    for _ in range(plies + 1):
        found |= {canonical(each)[0]: each for each in layer}
        layer = [play(each, move) for each in layer for move in legal_moves(each)]
    return found


def test_a_book_has_all_positions(tiny):
    wanted = reached(TINY.start(), 4)
    assert tiny.keys.tolist() == sorted(wanted)
    assert [canonical(position)[0] for position in tiny.positions] == tiny.keys.tolist()
    assert (len(tiny), tiny.plies) == (1 + 9 + 72 + 252 + 756, 4)
    assert repr(tiny) == "<book of tictactoe: 1,090 positions, 4 plies>"


def test_its_values_are_those_of_proofs(tiny):
    assert tiny.proven.all()
    assert solve_many(list(tiny.positions)).values.tolist() == tiny.lower.tolist()


@pytest.mark.once
@compiled_only
def test_its_moves_keep_the_values(middle):
    """In both frames of a position."""
    values = solve_many(list(middle.positions), table=Table(16))
    assert values.values.tolist() == middle.lower.tolist() == middle.upper.tolist()
    assert middle.answer(MIDDLE)[:2] == (solve(MIDDLE).value,) * 2
    generator = random.Random(5)
    some = [middle.positions[n] for n in generator.sample(range(len(middle)), 40)]
    for position in (*some, *map(mirrored, some)):
        lower, upper, move = middle.answer(position)
        assert lower == upper
        if legal_moves(position):
            child = play(position, move)
            value = solve(child, table=Table(1)).value
            assert lower == (value if moves_again(position, child) else -value)


def mirrored(position):
    text = GAME.notation.position_text(position)
    return GAME.parse("/".join(row[::-1] for row in text.split("/")))


@pytest.mark.once
@compiled_only
def test_counts_and_values_that_were_published():
    """Classes after 1, 2 and 5 plies: OEIS A013582.  A 4x4 board is drawn (J. Tromp)."""
    sizes = [len(build_book(GAME, plies, nodes=1, table=1)[0]) for plies in (0, 1, 2, 4, 5)]
    assert [sizes[1] - sizes[0], sizes[2] - sizes[1], sizes[4] - sizes[3]] == [4, 25, 2144]
    board = load_game("connect4:4x4")
    book, _ = build_book(board, 20, table=1)
    assert book.proven.all()
    assert (book.plies, book.answer(board.start())[:2]) == (16, (0, 0))


def test_what_is_not_in_a_book(tiny):
    assert tiny.answer(TINY.parse("xo./xo./x..")) is None
    with pytest.raises(CutnodeError, match="a book is about tictactoe, not connect4"):
        tiny.answer(MIDDLE)


def test_a_proof_finds_a_book_in_its_table(tiny):
    table = Table(1)
    tiny.fill(table)
    helped = solve(TINY.start(), table=table)
    assert helped.value == 0
    assert helped.nodes < solve(TINY.start()).nodes / 100


def test_searches_and_proofs_take_a_book(tiny):
    start = TINY.start()
    assert solve(start, book=tiny, table=Table(1)).nodes < 10
    assert analyse(start, book=tiny, table=Table(1)).scores == dict.fromkeys(range(9), 0)
    with Engine(TINY, book=tiny, table=1) as engine:
        assert engine.solve(start).nodes < 10
        found = engine.search(start, depth=9)
        assert (found.reason, found.depth, found.best_move) == ("book", 1, tiny.answer(start)[2])
        later = TINY.parse("xo./xo./...")
        assert (engine.search(later, depth=9).reason, later in tiny.positions) == ("book", True)
        assert engine.search(play(later, 6), depth=9).reason == "proven"
        assert engine.search(start, depth=2, lines=2).reason == "depth limit"
    with pytest.raises(CutnodeError, match="a book is about tictactoe, not connect4"):
        Engine(GAME, book=tiny, table=1)
    with pytest.raises(CutnodeError, match="a book is about tictactoe, not connect4"):
        solve(MIDDLE, book=tiny)


@compiled_only
def test_a_proof_of_a_position_before_the_book(middle):
    """The book's first positions occur in the middle of the proof."""
    before = GAME.parse("4444432655553")
    table = Table(16)
    middle.fill(table)
    helped, alone = solve(before, table=table), solve(before, table=Table(16))
    assert helped.value == alone.value
    assert helped.nodes < alone.nodes


def test_a_book_of_bounds(tiny):
    weak, _ = build_book(TINY, 4, weak=True, threads=1, table=1)
    signs = np.sign(weak.lower) + np.sign(weak.upper)  # from bounds that leave one outcome
    assert np.sign(signs).tolist() == tiny.lower.tolist()
    assert (weak.lower <= tiny.lower).all() and (tiny.upper <= weak.upper).all()
    limited, _ = build_book(GAME, 2, nodes=20, threads=1, table=1)
    assert not limited.proven.any()
    assert limited.answer(GAME.start())[0] < limited.answer(GAME.start())[1]
    table = Table(1)
    limited.fill(table)


def test_all_of_a_small_game():
    start = TINY.parse("xox/.../...")
    book, _ = build_book(TINY, 30, threads=1, table=1, start=start)
    assert book.plies == 6
    assert book.answer(start)[:2] == (solve(start).value,) * 2


def test_a_stopped_book_is_resumed(tmp_path, tiny):
    stop = threading.Event()
    stop.set()
    options = {"threads": 1, "table": 1, "journal": tmp_path / "journal"}
    _, reason = build_book(TINY, 4, stop=stop, **options)
    assert reason == "stopped"
    book, reason = build_book(TINY, 4, **options)
    assert reason == "done"
    assert np.array_equal(book.lower, tiny.lower)
    again, _ = build_book(TINY, 4, **options)
    assert np.array_equal(again.bests, book.bests)


@pytest.mark.parametrize("mapped", [False, True])
def test_books_come_back_from_files(tiny, tmp_path, mapped):
    path = tmp_path / "tiny.book"
    tiny.save(path)
    book = Book.load(path, map=mapped)
    for name in ("keys", "lower", "upper", "bests"):
        assert np.array_equal(getattr(book, name), getattr(tiny, name))
    assert list(book.positions) == list(tiny.positions)
    assert book.plies == 4
    assert book.answer(TINY.start()) == tiny.answer(TINY.start())
    with pytest.raises(CutnodeError, match=r"tiny\.book is about tictactoe, not connect4"):
        book.answer(MIDDLE)


def test_damaged_books_are_refused(tiny, tmp_path):
    path = tmp_path / "tiny.book"
    tiny.save(path)
    data = path.read_bytes()
    generator = random.Random(1)
    for _ in range(50):
        wrong = bytearray(data)
        wrong[generator.randrange(3000)] ^= 1 << generator.randrange(8)
        path.write_bytes(wrong)
        try:
            assert np.array_equal(Book.load(path).keys, tiny.keys)
        except CutnodeError as error:
            assert any(word in str(error) for word in ("damaged", "is not a", "truncated"))
    path.write_bytes(data[:-4096])
    with pytest.raises(CutnodeError, match="is truncated"):
        Book.load(path)
    Table(1).save(path)
    with pytest.raises(CutnodeError, match="is not a cutnode book"):
        Book.load(path)


def test_invalid_books():
    with pytest.raises(CutnodeError, match="plies must be at least 0, got -1"):
        build_book(TINY, -1)
    with pytest.raises(CutnodeError, match="unknown game 'tictac'"):
        build_book("tictac", 1)
    with pytest.raises(CutnodeError, match="start must be a position of tictactoe, got"):
        build_book(TINY, 1, start=MIDDLE)


@pytest.mark.once
def test_the_commands_build_and_read_books(tmp_path):
    path, journal = str(tmp_path / "tiny.book"), str(tmp_path / "journal")

    def run(*words: str) -> Result:
        return CliRunner().invoke(book_command, words)

    built = run("build", "tictactoe", "--plies", "2", "--out", path, "--journal", journal)
    assert (built.exit_code, built.output) == (0, "")
    shown = json.loads(run("show", path, "--json").stdout)
    assert (shown["game"], shown["plies"], shown["positions"]) == ("tictactoe", 2, 82)
    assert shown["values"] == {"1": 48, "0": 34}
    assert "positions         82\n" in run("show", path).stdout
    other = run("show", path, "--game", "connect4")
    assert f"{path} is about tictactoe, not connect4" in str(other.exception)
    assert run("probe", path, "x../o../...").stdout == "value  1\nbest   2\n"
    found = json.loads(run("probe", path, "--json").stdout)
    assert found == {"position": "", "lower": 0, "upper": 0, "best_move": "1"}
    missing = run("probe", path, "xox/.../...")
    assert (missing.exit_code, missing.stdout) == (3, "not in the book\n")
    assert "is not a cutnode book" in str(run("show", journal).exception)
