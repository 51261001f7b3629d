"""Learned evaluations: reading boards, windows, weights, files, self-play, training."""

from __future__ import annotations

import copy
import functools
import importlib.util
import itertools
import json
import os
import shutil
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from commands import run_cutnode
from toys import nim

from cutnode import CutnodeError, GameError, Searcher, legal_moves, load_game, solve
from cutnode.batches.searching import BatchSearcher
from cutnode.cli.main import main
from cutnode.compiler.jit import Evaluator, Position, jit_enabled, kernel
from cutnode.contract.cells import Grid, Hexagons
from cutnode.contract.notation import contents_of
from cutnode.contract.positions import Packed, as_words
from cutnode.contract.verbs import NO_MOVE, chance, chance_outcome, features, outcome, play
from cutnode.kernels.batch_search import FOUND
from cutnode.kernels.evaluation import OWN, estimate
from cutnode.kernels.learned import MOST_STONES, NONE, TURN
from cutnode.kernels.patterns import LANES, LEVELS, MOVE_COUNT, Patterns, write_places
from cutnode.kernels.scores import WIN
from cutnode.kernels.self_play import ANY_MOVE, STEP, advance, decide
from cutnode.storage.arrays import read_arrays, write_arrays
from cutnode.storage.evaluations import (
    KIND,
    chosen_evaluation,
    evaluation_recipe,
    evaluation_text,
    installed_file,
    load_evaluation,
    save_evaluation,
)
from cutnode.tablebases import Settings, Tablebase, build_tablebase
from cutnode.training import fitting, objectives, symmetries
from cutnode.training.acceptance import install_if_proven, prove, unproven_file, usual_plies
from cutnode.training.boards import read_board, sampled_positions
from cutnode.training.designs import Term, design_for, with_terms
from cutnode.training.fits import stage_table, staged
from cutnode.training.games import (
    Labelled,
    compare,
    labelled,
    play_games,
    values_in,
    values_of,
)
from cutnode.training.rebuilding import rebuild
from cutnode.training.records import prepare_folder, read_games, write_games
from cutnode.training.results import Training
from cutnode.training.symmetries import image_of_bits, symmetries_of
from cutnode.training.training import Trainer, train
from cutnode.training.windows import MARKS, automorphisms, lines, windows_of

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not jit_enabled(), reason="games are learned in compiled code"),
]


@kernel
def scored(position: Position, evaluation: Evaluator) -> int:
    return estimate(evaluation, position)


@functools.cache
def sampled(game, count=60, seed=0):
    return [position for position, _ in sampled_positions(game.start(), count, seed)]


@functools.cache
def board_of(game):
    return read_board(game.start())


@functools.cache
def designed(game):
    return design_for(game.start())


def drawn(design, stages=2, seed=0):
    """Return an evaluation with random weights."""
    chosen = np.random.default_rng(seed)
    table = np.minimum(np.arange(MOST_STONES + 1) // 8, stages - 1)
    weights = chosen.integers(-900, 900, (stages, design.size)).astype(np.int16)
    weights[:, 0] = 0
    return design.evaluation(table, weights)


# Reading boards from positions


@pytest.mark.parametrize(
    ("name", "fields", "side", "seen"),
    [
        ("tictactoe", ("mine", "theirs"), None, None),
        ("connect4:5x4", ("mine", "theirs", "my_wins", "their_wins"), None, None),
        ("breakthrough:4x5", ("mine", "theirs"), None, None),
        ("draughts", ("men", "kings", "their_men", "their_kings"), None, None),
        ("hex:4x4", None, "second_moves", None),
        ("dobutsu", ("mine", "theirs"), None, "second"),
        ("kalah:3x2", ("mine", "theirs"), None, "second"),
        pytest.param("skirmish", None, "turn", None, marks=pytest.mark.slow),
    ],
)
def test_boards_are_found_in_positions(name, fields, side, seen):
    game = load_game(name)
    reading = board_of(game)
    names = type(game.start())._fields
    if fields is not None:
        assert tuple(names[field] for field in reading.fields) == fields
    sides = {NONE: None, TURN: "turn"} | dict(enumerate(names))
    assert sides[reading.side] == side
    assert (names[reading.seen] if reading.seen >= 0 else None) == seen
    assert reading.bitboards == (name not in ("dobutsu", "kalah:3x2", "skirmish"))


@pytest.mark.parametrize("name", ["tictactoe", "connect4:5x4", "hex:4x4", "draughts"])
def test_bits_say_what_stands_on_cells(name):
    game = load_game(name)
    reading = board_of(game)
    for position, side in sampled_positions(game.start(), 100, seed=7):
        meaning = reading.meanings[side if reading.side >= 0 else 0]
        said = [0] * len(reading.board.places)
        for (plane, bit), (cell, content) in meaning.items():
            if int(position[reading.fields[plane]]) >> bit & 1:
                said[cell] = content
        seen = contents_of(position)
        if name in ("tictactoe", "connect4:5x4") and side:
            seen = [(0, 2, 1)[content] for content in seen]
        if name == "hex:4x4" and side:
            seen = [(0, 2, 1)[content] for content in seen]
        if name == "draughts":
            dark = {cell for cell, _ in meaning.values()}
            own = enumerate(contents_of(position._replace(second=False)))
            seen = [content if cell in dark else 0 for cell, content in own]
        assert said == seen


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *(("tictactoe", 8), ("connect4:5x4", 2), ("breakthrough:4x5", 2), ("hex:4x4", 2)),
        *(("dobutsu", 2), ("draughts", 1), ("kalah:3x2", 1)),
    ],
)
def test_symmetries_are_those_of_the_game(name, number):
    game = load_game(name)
    assert len(symmetries_of(board_of(game), sampled(game, 30))) == number


def test_a_symmetry_leaves_the_end_of_the_game_as_it_is(tmp_path, monkeypatch):
    """Moves alone do not distinguish the corners; wins do."""
    path = tmp_path / "corner.py"
    path.write_text(OWN_GAME[: OWN_GAME.index("@compiled\ndef outcome")] + CORNER)
    corner = load_game(str(path))
    reading = read_board(corner.start())
    found = symmetries_of(reading, sampled(corner, 30))
    assert found == [tuple(range(16)), tuple(4 * (n % 4) + n // 4 for n in range(16))]
    # Without games, only the game's own declarations count.
    monkeypatch.setattr(symmetries, "_goes_the_same_way", lambda *given: False)
    assert len(symmetries_of(reading, sampled(corner, 30))) == 1
    game = load_game("hex:4x4")
    assert len(symmetries_of(board_of(game), sampled(game, 30))) == 2


CORNER = """
@compiled
def outcome(position):
    over = position.mine | position.theirs == Bits(0xFFFF)
    return over, 1 if position.mine & Bits(1) else -1
"""


@pytest.mark.parametrize("name", ["dobutsu", "connect4:5x4"])
def test_images_of_bits_lay_out_what_stands_on_cells(name):
    reading = board_of(load_game(name))
    samples = sampled(load_game(name), 30, seed=5)
    mirror = symmetries_of(reading, samples)[1]
    images = image_of_bits(reading, mirror)
    assert {images[image] for image in images.values()} == images.keys()
    assert all(images[image] == bit for bit, image in images.items())  # twice restores all


def test_a_game_without_a_board_says_what_to_write():
    with pytest.raises(GameError, match=r"declares no board.*CELLS = Grid"):
        read_board(load_game(nim.__file__).start())


def test_rules_in_plain_python_are_refused():
    with pytest.raises(GameError, match="put @compiled before its rules"):
        read_board(load_game("tictactoe", plain=True).start())


def test_games_of_chance_are_read_where_players_decide():
    samples = sampled(load_game("ur"))
    assert all(chance(position) == 0 for position in samples)
    reading = board_of(load_game("ur"))
    assert reading.raw and not reading.bitboards  # the words also include waiting pieces


# Windows


def test_windows_of_three_by_three():
    board = Grid(3, 3)
    every = automorphisms(board)
    assert len(every) == 8
    found = windows_of(board, 3, 1, every, set(range(9)))
    assert sorted(len(window.cells) for window in found) == [3] * 8 + [9]
    kinds = {window.shared for window in found}
    assert len(kinds) == 4  # edges, middle lines, diagonals, and the board


def test_long_rows_are_covered_by_overlapping_windows():
    board = Grid(1, 15)
    (row,) = {window[:1] + window[-1:] for window in lines(board, 15)}
    assert row == (0, 14)
    parts = lines(board, 8)
    assert all(len(part) == 8 for part in parts)
    fives = [set(range(start, start + 5)) for start in range(11)]
    assert all(any(five <= set(part) for part in parts) for five in fives)


def test_lines_of_hexagons_have_three_directions():
    found = lines(Hexagons((4,) * 4), 4)
    assert sum(len(line) == 4 for line in found) == 4 + 4 + 1


# Scores


def windows_numbers(design, position, side):
    """Return the numbers of all windows, from the contents of the cells."""
    reading = design.reading
    contents = [0] * len(reading.board.places)
    marks = [0] * len(reading.board.places)
    for (plane, bit), (cell, content) in reading.meanings[side].items():
        if int(position[reading.fields[plane]]) >> bit & 1:
            contents[cell] = content
    for (plane, bit), (cell, mask) in reading.marks.items():
        if int(position[reading.fields[plane]]) >> bit & 1:
            marks[cell] |= mask
    for window in design.windows:
        base = design.base(window)
        digits = [
            marks[cell] if window.reads == MARKS else design.digit[cell][contents[cell]]
            for cell in window.cells
        ]
        whole = base ** len(digits) * side
        yield whole + sum(digit * base**at for at, digit in enumerate(digits))


@pytest.mark.parametrize("name", ["tictactoe", "connect4:5x4", "hex:4x4"])
def test_numbers_are_what_stands_in_windows(name):
    game = load_game(name)
    design = designed(game)
    empty = design.empty()
    for position, side in sampled_positions(game.start(), 40, seed=3):
        side = side if design.sides == 2 else 0
        _, places = empty.numbers(position)
        found = places[1 : 1 + len(design.windows)] - design.first[1 : 1 + len(design.windows)]
        assert list(found) == list(windows_numbers(design, position, side))
        assert places[0] == 1 + side
        assert not places[1 + len(design.windows) :].any()


@pytest.mark.parametrize(
    "name",
    ["tictactoe", "hex:4x4", "dobutsu", pytest.param("skirmish", marks=pytest.mark.slow)],
)
def test_compiled_scores_are_those_of_plain_python(name):
    game = load_game(name)
    cls = type(game.start())
    design = designed(game)
    run = None
    for seed in range(2):  # weights are data: the code is the same
        evaluation = drawn(design, seed=seed)
        run = run or scored.specialise(cls, evaluation)
        for position in sampled(game, 60, seed):
            assert run(position, evaluation) == evaluation(position)


def test_weights_in_other_places_have_code_of_their_own():
    game = load_game("tictactoe")
    cls = type(game.start())
    one = drawn(designed(game))
    more = np.zeros((len(one.weights), 7), np.int16)
    weights = np.concatenate([more, one.weights], axis=1)
    other = Patterns(cls, one.shape, one.added, one.first + 7, one.stages, weights)
    assert other.type != one.type and other.shape == one.shape
    run, run_other = (scored.specialise(cls, evaluation) for evaluation in (one, other))
    for position in sampled(game, 20, 1):
        assert run_other(position, other) == run(position, one) == one(position) == other(position)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("kalah:3x2", [0, 1, 2, 3, 4, 5, 8, 9, 10, 11]), ("tictactoe", [MOVE_COUNT]), ("ur", None)],
)
def test_terms_count_what_the_game_says(name, numbers):
    """They count differing ``features``, or moves; the same compiled and in plain Python."""
    game = load_game(name)
    start = game.start()
    design = with_terms(start, designed(game))
    if numbers is None:
        assert design is None  # no features, and moves that depend on dice
        return
    assert [term.number for term in design.terms] == numbers
    evaluation = drawn(design)
    run = scored.specialise(type(start), evaluation)
    each = 1 + LANES * evaluation.shape.vectors + len(numbers)
    samples = sampled(game)
    found = np.zeros(len(samples) * each, np.int32)
    write_places.specialise(type(start), evaluation)(start, evaluation, as_words(samples), found)
    for position, row in zip(samples, found.reshape(-1, each), strict=True):
        assert run(position, evaluation) == evaluation(position)
        assert list(row[1:]) == list(evaluation.numbers(position)[1])
        told = features(position)
        for term, place in zip(design.terms, row[-len(numbers) :], strict=True):
            amount = told[term.number] if term.number >= 0 else len(legal_moves(position))
            assert (place - evaluation.first[-len(numbers)]) % LEVELS == amount


def test_near_amounts_share_a_weight():
    """So do unseen amounts; levels start at amounts that occur."""
    design = with_terms(load_game("tictactoe").start(), designed(load_game("tictactoe")))
    steps = design.terms[0].steps
    assert steps[0] == 0 and steps[-1] == 9 and len(steps) <= 10
    tied = design.tied[-LEVELS:] - design.tied[-LEVELS]
    assert list(tied[:10]) == [max(step for step in steps if step <= n) for n in range(10)]
    assert set(tied[9:]) == {9}
    rough = replace(design, terms=(Term(MOVE_COUNT, 40.0, (0, 100)),))
    evaluation = drawn(rough)
    few, more, all_nine = (load_game("tictactoe").parse(moves) for moves in ("15243", "152", ""))
    for position, number in ((few, 160), (more, 240), (all_nine, 255)):
        assert evaluation.numbers(position)[1][-1] == evaluation.first[-1] + number
        places = evaluation.numbers(position)[1]
        assert set(rough.tied[places[-1:]] - evaluation.first[-1]) == {100}


def test_scores_of_symmetric_positions_are_equal():
    game = load_game("tictactoe")
    design = designed(game)
    evaluation = drawn(design)
    scores = {text: evaluation(game.parse(text)) for text in ("1", "3", "7", "9", "12", "98", "15")}
    assert scores["1"] == scores["3"] == scores["7"] == scores["9"]
    assert scores["12"] == scores["98"] != scores["15"]


def test_places_of_many_positions():
    game = load_game("tictactoe")
    cls, evaluation = type(game.start()), designed(game).empty()
    samples = sampled(game)
    lanes = LANES * evaluation.shape.vectors
    found = np.zeros(len(samples) * (1 + lanes), np.int32)
    write_places.specialise(cls, evaluation)(game.start(), evaluation, as_words(samples), found)
    for row, position in zip(found.reshape(-1, 1 + lanes), samples, strict=True):
        assert row[0] == 9 - len(legal_moves(position))
        assert list(row[1:]) == list(evaluation.numbers(position)[1])


# Files


@pytest.fixture(scope="module")
def learned():
    return drawn(designed(load_game("tictactoe")))


def test_files_give_back_terms(tmp_path):
    start = load_game("tictactoe").start()
    counting = drawn(with_terms(start, designed(load_game("tictactoe"))))
    save_evaluation(tmp_path / "a.weights", counting, {})
    again = load_evaluation(tmp_path / "a.weights", type(start))
    assert (again.meaning, again(start)) == (counting.meaning, counting(start))


def test_files_give_back_what_was_saved(learned, tmp_path):
    path = tmp_path / "a.weights"
    save_evaluation(path, learned, {"seed": 3})
    again = load_evaluation(path, learned.cls)
    assert again.meaning == learned.meaning
    assert again(load_game("tictactoe").parse("153")) == learned(
        load_game("tictactoe").parse("153")
    )
    assert evaluation_recipe(path) == {"seed": 3}
    with pytest.raises(
        GameError, match=r"weights for tictactoe \(positions of mine, theirs\), not for"
    ):
        load_evaluation(path, type(load_game("breakthrough:4x5").start()))
    data = path.read_bytes()
    path.write_bytes(data[:-5000] + bytes([data[-5000] ^ 1]) + data[-4999:])
    with pytest.raises(GameError, match="is damaged"):
        load_evaluation(path, learned.cls)
    with pytest.raises(GameError, match="cannot be read: No such file"):
        load_evaluation(tmp_path / "b.weights", learned.cls)


def test_copies_have_memory_of_their_own(learned):
    again = copy.deepcopy(learned)
    assert again.meaning == learned.meaning
    assert again.address != learned.address


def test_weights_of_another_board_are_refused(learned, tmp_path, monkeypatch):
    path = tmp_path / "a.weights"
    save_evaluation(path, learned, {})
    monkeypatch.setattr(sys.modules[learned.cls.__module__], "CELLS", Grid(3, 3, contents=OTHERS))
    with pytest.raises(GameError, match="weights for another board than tictactoe has now"):
        load_evaluation(path, learned.cls)


OTHERS = {".": "empty", "a": "first player", "b": "second player"}


def test_a_board_that_is_too_small_is_refused(tmp_path):
    path = tmp_path / "tiny.py"
    path.write_text(TINY)
    with pytest.raises(GameError, match="the board of tiny is too small"):
        design_for(load_game(str(path)).start())


TINY = """
from typing import NamedTuple
from cutnode import Bits, compiled
from cutnode.contract.cells import Grid
CELLS = Grid(1, 2)
MAX_MOVES = MAX_PLIES = 2
class Position(NamedTuple):
    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)
    second: bool = False
@compiled
def cell(position, index):
    mine = 2 if position.second else 1
    if position.mine >> Bits(index) & Bits(1):
        return mine
    return 3 - mine if position.theirs >> Bits(index) & Bits(1) else 0
@compiled
def moves(position, buffer, at):
    for index in range(2):
        if not (position.mine | position.theirs) >> Bits(index) & Bits(1):
            buffer[at] = index
            at += 1
    return at
@compiled
def play(position, move):
    return Position(position.theirs, position.mine | Bits(1) << Bits(move), not position.second)
@compiled
def outcome(position):
    return position.mine | position.theirs == Bits(3), 0
"""


def test_weights_beside_a_game_are_its_evaluation(learned, tmp_path):
    source = installed_file(learned.cls).with_name("tictactoe.py")
    shutil.copy(source, tmp_path / "my_game.py")
    game = load_game(str(tmp_path / "my_game.py"))
    cls = type(game.start())
    assert installed_file(cls) == tmp_path / "my_game.weights"
    assert chosen_evaluation(cls, None) is OWN
    other = drawn(designed(game))
    save_evaluation(tmp_path / "my_game.weights", other, {})
    assert chosen_evaluation(cls, None).meaning == other.meaning
    assert chosen_evaluation(cls, "own") is OWN
    assert chosen_evaluation(cls, str(tmp_path / "my_game.weights")).meaning == other.meaning
    with pytest.raises(GameError, match=r"was learned for my_game\w*, not for tictactoe"):
        chosen_evaluation(learned.cls, other)


def test_variants_have_files_of_their_own():
    game = load_game("connect4:5x4")
    assert installed_file(type(game.start())).name == "connect4-5x4.weights"
    assert installed_file(type(load_game("hex").start())).parent.name == "games"


# Games


def test_moves_of_many_games_at_once():
    game = load_game("tictactoe")
    start = game.start()
    run = advance.specialise(type(start))
    steps = np.zeros(4, STEP)
    steps["random"] = np.arange(4, dtype=np.uint64)
    words = np.tile(as_words([start]), 4)
    positions = [start] * 4
    buffer = np.zeros(70_000, np.int64)
    for line in itertools.zip_longest(*([0, 1, 3, 4, 6], [4, 0], [0, 4, 8]), fillvalue=65535):
        steps["move"] = [*line, ANY_MOVE]
        run(start, words, steps, buffer)
        for number, move in enumerate(line):
            if move != 65535:
                positions[number] = play(positions[number], move)
    found = [tuple(map(int, row)) for row in words.reshape(4, 2)]
    assert found[:3] == [tuple(map(int, position)) for position in positions[:3]]
    assert list(steps["over"][:3]) == [1, 0, 0]
    assert list(steps["second"][:3]) == [1, 0, 1]
    assert steps["value"][0] > 0
    assert found[3][0] | found[3][1]


def test_chance_decides_as_often_as_its_odds_say():
    game = load_game("ur")
    start, count = game.start(), 4000
    words = np.tile(as_words([start]), (count, 1))
    steps = np.zeros(count, STEP)
    steps["random"] = np.arange(count) << 32
    decide.specialise(type(start))(start, words.reshape(-1), steps)
    rolled = [chance_outcome(start, n) for n in range(chance(start))]
    for odds, position in rolled:
        share = (words == as_words([position])).all(axis=1).mean()
        assert abs(share - odds) < 5 * (odds * (1 - odds) / count) ** 0.5
    assert not steps["over"].any() and not steps["second"].any()


@pytest.mark.slow
def test_games_of_chance_leave_positions_before_it():
    game = load_game("ur")
    start = game.start()
    searcher = BatchSearcher(game, table=1, evaluation="own")
    played = play_games(start, searcher, nodes=30, longest_opening=8, seed=1, seconds=2, games=32)
    assert len(played) > 1000 and set(played.results) == {-100, 100}
    assert all(chance(position) for position in Packed(played.words[:200].reshape(-1), start))
    assert np.corrcoef(played.scores, played.results)[0, 1] > 0.1


@pytest.fixture(scope="module")
def searcher():
    return BatchSearcher(load_game("tictactoe"), table=1)


@pytest.mark.slow
def test_games_leave_labelled_positions(searcher):
    start = load_game("tictactoe").start()
    found = play_games(start, searcher, nodes=2000, longest_opening=4, seed=1, seconds=3, games=40)
    assert len(found) > 100
    positions = [type(start)(*map(int, words)) for words in found.words]
    assert not any(outcome(position)[0] for position in positions)
    assert set(np.sign(found.results)) <= {-1, 0, 1}
    # Enough nodes to prove any position, whatever the preceding random moves.
    for position, result in zip(positions[:200], found.results, strict=False):
        assert solve(position).value == result


def rows_of(second, games, exact):
    return [
        (np.array([[number]], np.uint64), np.zeros(1), *(np.array([value]) for value in row))
        for number, row in enumerate(zip(second, games, exact, strict=True))
    ]


def test_what_is_proven_is_the_result_of_what_came_before():
    # Two games, alternating plies; the first is won after a mistake, the second abandoned.
    second = [0, 0, 1, 1, 0, 0, 1]
    games = [0, 1, 0, 1, 0, 1, 0]
    exact = [np.nan, np.nan, np.nan, -1, 0, np.nan, np.nan]
    found = labelled(rows_of(second, games, exact), {0: 1}, 1)
    assert list(found.words[:, 0]) == [0, 2, 4, 6, 1, 3]  # the result of the last one is unknown
    assert list(found.results) == [0, 0, 0, -1, 1, -1]
    points = labelled(rows_of([0, 1, 0], [0, 0, 0], [np.nan, 6, np.nan]), {0: 9}, 1)
    assert list(points.results) == [-6, 6, 9]
    assert len(labelled([], {}, 1)) == 0


def test_scores_that_are_proven_are_values():
    decisive, points = (type(load_game(name).start()) for name in ("hex:4x4", "kalah:3x2"))
    assert list(values_of(decisive, np.array([WIN - 3, 0, 5 - WIN]))) == [1, 0, -1]
    assert list(values_of(points, np.array([3, 0, -8]))) == [3, 0, -8]


@pytest.mark.slow
def test_results_in_a_tablebase_are_its_values(searcher, tmp_path):
    start = load_game("tictactoe").start()
    build_tablebase(start, tmp_path / "tables", settings=Settings(threads=1))
    base = Tablebase.open(tmp_path / "tables")
    found = play_games(
        start, searcher, nodes=5, longest_opening=3, seed=1, seconds=2, games=20, tablebase=base
    )
    assert set(found.results) == {-1, 0, 1}
    assert list(found.results) == list(values_in(base, Packed(found.words.reshape(-1), start)))


@pytest.mark.slow
def test_a_search_that_sees_more_wins_the_comparison(searcher):
    start = load_game("tictactoe").start()
    blind = BatchSearcher(load_game("tictactoe"), table=1, techniques=())
    alike = compare(
        start, (searcher, searcher), pairs=20, nodes=(500, 500), longest_opening=3, seed=0
    )
    assert sum(alike) == 20
    assert alike[2] == 20  # one searcher on both sides: each pair is even
    counts = compare(
        start, (searcher, blind), pairs=20, nodes=(500, 500), longest_opening=3, seed=0
    )
    assert sum(counts) == 20


def test_games_are_kept_in_files(tmp_path):
    pytest.importorskip("pyarrow")
    cls = type(load_game("tictactoe").start())
    played = some_games()
    words = played.words
    folder = tmp_path / "games"
    assert read_games(folder, cls) == []
    prepare_folder(folder)
    for seed in (4, 5):
        write_games(folder, cls, played, {"seed": seed})
    found = read_games(folder, cls)
    assert [recipe["seed"] for _, recipe in found] == [4, 5]
    first, second = sorted(folder.iterdir())
    assert (first.name[:11], second.name[:11]) == ("games-0001-", "games-0002-")
    for again, _ in found:
        assert (again.words == words).all()
        assert list(again.games) == [0, 0, 0, 1, 1, 1]
        assert list(again.scores) == list(played.scores)
        assert list(again.expected) == pytest.approx(list(played.expected))
    with pytest.raises(CutnodeError, match="has positions of tictactoe, not of hex:4"):
        read_games(folder, type(load_game("hex:4x4").start()))
    second.write_bytes(second.read_bytes()[:200])
    with pytest.raises(CutnodeError, match=r"games-0002-.* holds no games to learn from"):
        read_games(folder, cls)
    (tmp_path / "file").touch()
    with pytest.raises(CutnodeError, match="cannot be made"):
        prepare_folder(tmp_path / "file" / "games")


# Fit and training


def test_the_slope_of_a_logistic_function_is_found():
    chosen = np.random.default_rng(0)
    scores = chosen.normal(0, 300, 20_000)
    results = chosen.random(20_000) < 1 / (1 + np.exp(-scores / 170))
    assert fitting.logistic_slope(scores, results) == pytest.approx(1 / 170, rel=0.05)
    assert fitting.logistic_slope(np.zeros(5), np.ones(5)) == 0


def test_stages_have_as_many_positions_each():
    table = stage_table(staged(np.arange(90) % 30))
    assert all(abs(count - 30) <= 3 for count in np.bincount(table[np.arange(90) % 30]))
    assert table[0] == 0
    assert table[MOST_STONES] == 2


jax_only = pytest.mark.skipif(
    not (importlib.util.find_spec("jax") and importlib.util.find_spec("optax")),
    reason="needs the extra train",
)


@jax_only
@pytest.mark.slow
def test_the_fit_finds_weights_that_are_there():
    chosen = np.random.default_rng(1)
    size, count = 50, 2
    wanted = chosen.normal(0, 1, (count, size))
    places = chosen.integers(0, size, (40_000, 6)).astype(np.int32)
    stages = chosen.integers(0, count, 40_000).astype(np.int32)
    sums = wanted[stages[:, None], places].sum(axis=1)
    held = np.arange(len(sums)) % 10 == 0
    target = sums.astype(np.float32)
    examples = objectives.Examples(places, stages, np.zeros_like(target), target, held)
    found = fitting.fit_patterns(examples, fitting.Course(False), size=size, count=count)
    assert found.error < 0.05 * sums.var()
    odds = (1 / (1 + np.exp(-sums))).astype(np.float32)
    examples = examples._replace(targets=odds)
    found = fitting.fit_patterns(examples, fitting.Course(True), size=size, count=count)
    least = -(odds * np.log(odds) + (1 - odds) * np.log(1 - odds))[held].mean()
    assert found.error < 1.05 * least
    few = objectives.Examples(*(column[:30] for column in examples))
    with pytest.raises(CutnodeError, match="30 positions are too few"):
        fitting.fit_patterns(few, fitting.Course(True), size=size, count=count)


@jax_only
@pytest.mark.slow
@pytest.mark.parametrize(
    ("errors", "least", "epochs"),
    [
        ((10, 30, 25, 20, 15, 9, 8, 7, 6), 6, 8),
        ((10, 30, 25, 26, 27), 10, 4),
        ((10, 9, 11, 12), 9, 3),
        ((10, 8, 9, 7, 9, 9), 7, 5),
    ],
)
def test_a_fit_from_known_weights_may_lose_some_of_them_first(errors, least, epochs):
    """It ends after two epochs without a new least error, which known weights do not set."""
    begun, left = [], iter(errors)
    objective = SimpleNamespace(
        begin_epoch=begun.append,
        gradient=lambda parameters, rows: (np.ones(1, np.float32),),
        error=lambda parameters, rows: next(left) * len(rows),
    )
    column = np.arange(8192) % 2 == 0
    examples = objectives.Examples(column, column, column, column, column)
    start = (np.zeros(1, np.float32),)
    course = fitting.Course(True, epochs=8)
    (found,), error = fitting._descended(
        start, objective, examples, course, spread=1.0, largest=4096
    )
    assert (error, len(begun)) == (least, epochs)
    assert (found == 0).all() == (least == errors[0])


def test_training_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "optax", None)
    result = run_cutnode("train", "tictactoe")
    assert result.exit_code == 2
    assert "pip install 'cutnode[train]'" in result.output


def test_a_file_that_is_not_understood_is_of_another_version(learned, tmp_path):
    path = tmp_path / "a.weights"
    save_evaluation(path, learned, {})
    about, arrays = read_arrays(path, KIND, GameError, map=False)
    shape = about["shape"]
    for wrong in (
        {"kind": "trees"},
        {"shape": shape | {"colour": 3}},
        {"shape": {name: shape[name] for name in list(shape)[1:]}},
        {"sizes": {}},
        {"board": None, "fields": None},
    ):
        kept = {name: about[name] for name in about if name not in ("arrays", "checksums")}
        if "board" in wrong:
            kept.pop("game")
        write_arrays(path, KIND, kept | wrong, arrays)
        with pytest.raises(
            GameError, match=r"cannot be read: made by another version of cutnode\?"
        ):
            load_evaluation(path, learned.cls)


@pytest.fixture
def versions(tmp_path):
    """A function that loads versions of a file called ``game.py``, one after the other."""

    def load(old="", new=""):
        sys.modules.pop("game", None)
        path = tmp_path / str(len(list(tmp_path.iterdir()))) / "game.py"
        path.parent.mkdir()
        path.write_text(OWN_GAME.replace(old, new) if old else OWN_GAME)
        os.utime(path, (0, 0))
        return load_game(str(path))

    yield load
    sys.modules.pop("game", None)


def test_weights_are_of_the_rules_and_not_of_their_text(versions, tmp_path):
    """A comment or faster rules change nothing; another end of the game does."""
    game = versions()
    cls = type(game.start())
    weights = tmp_path / "game.weights"
    save_evaluation(weights, drawn(designed(game)), {})
    assert evaluation_text(cls, OWN) == "no estimate"
    assert evaluation_text(cls, load_evaluation(weights, cls)) == "weights of game.weights"
    same = versions("@compiled\ndef play", "# A move.\n@compiled\ndef play")
    assert load_evaluation(weights, type(same.start())).cls is type(same.start())
    other = versions("True, 1", "True, -1")
    with pytest.raises(GameError, match="for other rules of game than those that run: train"):
        load_evaluation(weights, type(other.start()))


def test_data_is_of_the_rules(versions, tmp_path):
    pytest.importorskip("pyarrow")
    cls = type(versions().start())
    write_games(tmp_path, cls, some_games(), {"seed": 1})
    assert len(read_games(tmp_path, cls)) == 1
    cls = type(versions("True, 1", "True, -1").start())
    with pytest.raises(CutnodeError, match="was played by other rules of game than those that run"):
        read_games(tmp_path, cls)
    (tmp_path / "file").touch()
    with pytest.raises(CutnodeError, match="is a file: games are kept in a folder"):
        prepare_folder(tmp_path / "file")


def some_games():
    words = np.arange(12, dtype=np.uint64).reshape(6, 2)
    return Labelled(
        words, np.arange(6), np.array([1, -1] * 3), np.repeat([0, 1], 3), np.linspace(0, 1, 6)
    )


def test_ctrl_c_leaves_the_games_that_ended(monkeypatch):
    start = load_game("tictactoe").start()
    asked = []

    class Interrupted:
        def search(self, words, nodes):
            asked.append(len(words))
            if len(asked) == 8:
                raise KeyboardInterrupt
            found = np.zeros(len(words) // 2, FOUND)
            found["move"] = NO_MOVE - 1
            for row, position in zip(found, Packed(words, start), strict=True):
                row["move"] = legal_moves(position)[0]
            return found

    found = play_games(
        start, Interrupted(), nodes=1, longest_opening=0, seed=1, seconds=60, games=20
    )
    assert found.interrupted and 0 < found.count <= 20


def test_a_game_that_never_ends_is_told_so(tmp_path):
    path = tmp_path / "endless.py"
    path.write_text(OWN_GAME[: OWN_GAME.index("@compiled\ndef moves")] + ENDLESS)
    with pytest.raises(GameError, match="no random game of endless ended within 400 plies"):
        usual_plies(load_game(str(path)).start())


ENDLESS = """
@compiled
def moves(position, buffer, at):
    buffer[at] = 0
    return at + 1

@compiled
def play(position, move):
    return Position(position.theirs, position.mine ^ Bits(1))

@compiled
def outcome(position):
    return False, 0
"""


@jax_only
@pytest.mark.parametrize("seconds", [20, float("nan"), float("inf")])
def test_a_training_takes_a_minute(seconds):
    with pytest.raises(CutnodeError, match="must be at least 60 and finite, got"):
        train(load_game("tictactoe"), seconds=seconds)


@jax_only
def test_what_is_there_is_looked_at_first(learned, tmp_path):
    """Weights of another game, or of another version, are refused before any learning."""
    path = tmp_path / "a.weights"
    save_evaluation(path, learned, {})
    hexagons = load_game("hex:4x4")
    with pytest.raises(GameError, match=r"weights for tictactoe .* not for hex:4"):
        train(hexagons, out=path)
    path.rename(unproven_file(path))
    with pytest.raises(GameError, match="a training would start from it: move it away"):
        train(hexagons, out=path)
    with pytest.raises(CutnodeError, match="does not say how its weights were fitted"):
        rebuild(load_game("tictactoe"), unproven_file(path), data=tmp_path)
    with pytest.raises(CutnodeError, match="is already in use"):
        shutil.copy(unproven_file(path), path)
        prove(load_game("tictactoe"), path, out=path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--prove", "a.weights", "--data", "d"], "--data cannot be combined with --prove"),
        (
            ["--rebuild", "a.weights", "--seconds", "70"],
            "--seconds cannot be combined with --rebuild",
        ),
        (["--rebuild", "a.weights"], "--rebuild needs --data FOLDER"),
        (["--prove", "no.weights"], "no.weights cannot be read: No such file"),
    ],
)
def test_commands_without_training_take_few_options(given, said):
    result = run_cutnode("train", "tictactoe", *given)
    assert result.exit_code == 2
    assert said in result.output


@jax_only
@pytest.mark.slow
def test_weights_are_rebuilt_from_the_recipe(tmp_path):
    """Bit for bit, for two fits, the second from the first's weights; not with less data."""
    game = load_game("tictactoe")
    folder, path = tmp_path / "games", tmp_path / "a.weights"
    trainer = Trainer(game.start(), OWN, 50, 1, 3, print, folder, None, 60.0)
    for _ in range(2):
        trainer.remember()
        trainer.generation(0.5)
        trainer.tried_at = 1 << 30
    assert len(trainer.chosen.fitting.steps) == 2
    trainer.kept = trainer.chosen
    save_evaluation(path, trainer.chosen.evaluation, trainer.recipe())
    again = rebuild(game, path, data=folder)
    assert again.same and not again.versions
    assert str(again).endswith("positions: the same, bit for bit")
    recipe = trainer.recipe()
    recipe["fitting"]["seed"] += 1
    recipe["libraries"]["jax"] = "0.1"
    save_evaluation(path, trainer.chosen.evaluation, recipe)
    result = CliRunner().invoke(
        main, ["train", "tictactoe", "--rebuild", str(path), "--data", str(folder), "--json"]
    )
    assert result.exit_code == 3
    found = json.loads(result.output)
    assert not found["same"] and "numbers differ" in found["differences"][0]
    assert "was 0.1" in found["versions"][0]
    next(folder.iterdir()).unlink()
    with pytest.raises(CutnodeError, match=r"lacks .* of the positions .*: games-000"):
        rebuild(game, path, data=folder)


@pytest.mark.slow
def test_weights_that_are_not_better_are_not_installed(learned, tmp_path):
    path = tmp_path / "b.weights"
    save_evaluation(path, learned, {"nodes": 4})
    found = prove(load_game("tictactoe"), path, seconds=1, out=tmp_path / "a.weights", threads=1)
    assert found.reason == f"not proven stronger: not installed; the weights are in {path}"
    assert path.exists() and not (tmp_path / "a.weights").exists()


def test_weights_that_won_are_installed(learned, tmp_path):
    target = tmp_path / "a.weights"
    test = SimpleNamespace(decision=lambda pairs: "elo1")
    won = SimpleNamespace(reason="decided", pairs=(0, 0, 0, 0, 9), sprt=test)
    for weights, stays in ((unproven_file(target), False), (tmp_path / "b.weights", True)):
        save_evaluation(weights, learned, {})
        result = Training("tictactoe", 400, proof=won)
        install_if_proven(result, weights, target)
        assert result.file == str(target) and target.exists()
        assert weights.exists() == stays
    result = Training("tictactoe", 400, interrupted=True)
    install_if_proven(result, weights, target)
    assert result.reason == f"not proven: the weights are in {weights}"


@jax_only
def test_weights_need_a_file_that_is_one(tmp_path):
    with pytest.raises(CutnodeError, match=r"must end in \.weights, got .*a\.npz"):
        train(load_game("tictactoe"), out=tmp_path / "a.npz")
    with pytest.raises(CutnodeError, match="must not have a comma"):
        train(load_game("tictactoe"), out=tmp_path / "a,b.weights")


OWN_GAME = '''
"""Three in a row without an evaluation."""
from typing import NamedTuple
from cutnode import Bits, compiled, lowest_index, without_lowest, popcount
from cutnode.contract.cells import Grid

CELLS = Grid(4, 4)
DECISIVE = True
MAX_MOVES = MAX_PLIES = 16
VALUE_LIMIT = 1
LINES = tuple(
    sum(1 << 4 * (y + n * dy) + x + n * dx for n in range(3))
    for y in range(4) for x in range(4) for dx, dy in ((1, 0), (0, 1), (1, 1), (-1, 1))
    if 0 <= x + 2 * dx < 4 and y + 2 * dy < 4
)

class Position(NamedTuple):
    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)

@compiled
def cell(position, index):
    mark = Bits(1) << Bits(index)
    first = popcount(position.mine | position.theirs) % 2 == 0
    if position.mine & mark:
        return 1 if first else 2
    if position.theirs & mark:
        return 2 if first else 1
    return 0

@compiled
def moves(position, buffer, at):
    free = Bits(0xFFFF) & ~(position.mine | position.theirs)
    while free:
        buffer[at] = lowest_index(free)
        free = without_lowest(free)
        at += 1
    return at

@compiled
def play(position, move):
    return Position(position.theirs, position.mine | (Bits(1) << Bits(move)))

@compiled
def outcome(position):
    for line in LINES:
        if position.theirs & Bits(line) == Bits(line):
            return True, 1
    return position.mine | position.theirs == Bits(0xFFFF), 0
'''
"""Three in a row lose."""


@jax_only
@pytest.mark.long
@pytest.mark.slow
def test_a_game_of_ones_own_learns_from_its_board_alone(tmp_path):
    path = tmp_path / "misere.py"
    path.write_text(OWN_GAME)
    result = run_cutnode("train", str(path), "--seconds", "60", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["generations"]
    assert found["elo_at_equal_nodes"] is None or found["elo_at_equal_nodes"] > 0
    game = load_game(str(path))
    assert Searcher(game).search(game.start(), nodes=1000).pv[0] in range(16)
