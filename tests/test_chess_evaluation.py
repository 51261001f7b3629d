"""The evaluation of chess, its weights file, and the tuner."""

import random
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from cutnode import CutnodeError, GameError, Searcher, legal_moves
from cutnode.contract.counting import NOWHERE
from cutnode.games.chess import (
    Position,
    adjust,
    check,
    opponent_planes,
    outcome,
    parse_position,
    planes,
    play,
    start,
    tuning,
)
from cutnode.games.chess.boards import board_of, turned
from cutnode.games.chess.evaluation import (
    END_SHARE,
    FULL_SCALE,
    FULL_SHARE,
    PHASE_SHARE,
    PHASES,
    evaluate,
    evaluate_material,
    evaluate_squares,
    phase_of,
    scale_of,
    standing,
    worth_of,
)
from cutnode.games.chess.kings import danger_worth
from cutnode.games.chess.labels import LABELLED, UNKNOWN, evaluations, fens, rows_nearby
from cutnode.games.chess.weights import (
    LINEAR,
    SIZE,
    WEIGHTS,
    WEIGHTS_FILE,
    end_of,
    middle_of,
    packed,
    read_weights,
    start_of,
    weights_text,
)
from cutnode.games.chess.weights_by_hand import first_weights
from cutnode.kernels.scores import MOST_ESTIMATE
from cutnode.storage.evaluations import chosen_evaluation, installed_file

pytestmark = pytest.mark.once


def played(seed, plies):
    """Return the positions of a random game."""
    generator = random.Random(seed)
    position = start()
    for _ in range(plies):
        choices = legal_moves(position)
        if not choices:
            return
        position = play(position, generator.choice(choices))
        yield position


BOARD = LABELLED.names[:8]
POSITIONS = [position for seed in range(4) for position in list(played(seed, 120))[::3]]


def value(board, mover="w"):
    return evaluate(parse_position(f"{board} {mover} - - 0 1"))


def mirrored(word):
    """Return the board with its files in the opposite order."""
    return sum(1 << (square ^ 7) for square in range(64) if word >> square & 1)


def test_players_are_judged_alike():
    for board in (
        "r1bqk2r/pp2bppp/2n1pn2/3p4/3P4/2N2N2/PP2BPPP/R1BQ1RK1",
        "8/5k2/3p4/1p1Pp3/pP2Pp2/P4P2/8/6K1",
    ):
        exchanged = "/".join(reversed(board.swapcase().split("/")))
        assert value(board, "w") == value(exchanged, "b")
        assert value(board, "b") == value(exchanged, "w")


def test_left_and_right_are_judged_alike():
    for position in POSITIONS:
        image = position._replace(**{name: mirrored(getattr(position, name)) for name in BOARD})
        assert evaluate(image) == evaluate(position)


def test_features_times_weights_are_the_evaluation():
    for position in POSITIONS:
        mine, theirs = [0] * SIZE, [0] * SIZE
        noted = worth_of(position, mine, theirs)
        assert noted == worth_of(position, NOWHERE, NOWHERE)
        linear = sum((mine[n] - theirs[n]) * WEIGHTS[n] for n in range(LINEAR))
        danger, other = (
            sum(trace[n] * WEIGHTS[n] for n in range(LINEAR, SIZE)) for trace in (mine, theirs)
        )
        assert noted == linear + danger_worth(danger) - danger_worth(other)


def rows_of(positions):
    rows = np.zeros(len(positions), LABELLED)
    for row, position in zip(rows, positions, strict=True):
        for name in BOARD:
            row[name] = getattr(position, name)
    return rows


@pytest.mark.long
@pytest.mark.slow
def test_the_tuner_sees_what_the_search_sees():
    features = tuning.features_of(rows_of(POSITIONS))
    scores, gradient = np.zeros(len(POSITIONS)), np.zeros((SIZE, 2))
    weights, targets = read_weights().astype(float), np.full(len(POSITIONS), 0.5)
    tuning.scored(features, weights, 0.004, targets, scores, gradient)
    expected = np.array([evaluate(position) for position in POSITIONS])
    assert np.abs(scores - expected).max() < 3  # the search rounds
    step = np.zeros((SIZE, 2))
    step[start_of("bishop")] = step[start_of("danger")] = 0.01, 0
    above, below = (
        tuning.error_of(features, weights + side * step, 0.004, targets) for side in (1, -1)
    )
    assert above - below == pytest.approx(2 * (gradient * step).sum(), rel=0.01)


def test_pieces_on_squares_are_kept():
    for position in POSITIONS:
        board = board_of(position)
        assert position.placed == standing(board, NOWHERE) - standing(turned(board), NOWHERE)


def test_estimates_are_within_bounds():
    for position in POSITIONS:
        assert abs(evaluate(position)) < MOST_ESTIMATE
    queens = parse_position("QQQQQQQ1/QQ6/8/8/8/6p1/4K1pp/7k w - - 0 1")
    assert 5000 < evaluate(queens) < MOST_ESTIMATE


@pytest.mark.parametrize(
    "better, worse",
    [
        ("8/4k3/P7/8/8/8/4K3/8", "8/4k3/8/8/P7/8/4K3/8"),  # further advanced
        ("8/8/8/k7/3P4/8/3K4/8", "8/8/8/3k4/3P4/8/3K4/8"),  # not blocked
        ("4k3/8/8/8/8/8/3PP3/4K3", "4k3/8/8/8/8/4P3/4P3/4K3"),  # not doubled
        ("r4rk1/5ppp/8/8/8/8/5PPP/R4RK1", "r4rk1/5ppp/8/8/8/8/8/R4RK1"),  # a shield
        ("3q2k1/5ppp/8/8/3N4/8/5PPP/3Q2K1", "3q2k1/5ppp/8/8/8/8/5PPP/N2Q2K1"),  # centralized
        ("4k3/pppp4/8/8/8/8/PPP5/R3K3", "4k3/pppp4/8/8/8/8/PPPP4/R3K3")[::-1],
    ],
)
def test_what_is_better(better, worse):
    assert value(better) > value(worse)


def test_where_it_is_hard_to_win():
    assert value("8/8/4k3/8/8/3NK3/8/8") == 0
    same, opposite = "8/5pk1/6p1/2b5/8/4B3/1P3PK1/8", "8/5pk1/6p1/3b4/8/4B3/1P3PK1/8"
    assert scale_of(board_of(parse_position(f"{same} w - - 0 1")), True) > 40
    assert scale_of(board_of(parse_position(f"{opposite} w - - 0 1")), True) < 40
    assert scale_of(board_of(start()), True) == FULL_SCALE


def test_a_bare_king_is_driven_to_where_it_can_be_mated():
    assert value("8/8/8/8/8/1k6/8/K5NN", "b") == 0
    assert value("8/8/8/3k4/8/3K4/8/7R") < value("3k4/8/3K4/8/8/8/8/7R")
    assert value("k7/8/1K6/8/8/8/8/4BN2") < value("7k/8/6K1/8/8/8/8/4BN2")


def test_other_evaluations():
    position = parse_position("rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    assert evaluate_material(position) == 320
    assert evaluate_material(start()) == evaluate_squares(start()) == 0
    assert 200 < evaluate_squares(position) < 500
    assert phase_of(board_of(start())) == 24


def test_two_numbers_in_one():
    for middle in (-30000, -1, 0, 1, 30000):
        for end in (-30000, -1, 0, 1, 30000):
            worth = packed(middle, end)
            assert (middle_of(worth), end_of(worth)) == (middle, end)
            assert (middle_of(-3 * worth), end_of(-3 * worth)) == (-3 * middle, -3 * end)


# The network


@pytest.mark.slow
def test_the_network_beside_the_game_takes_the_place_of_the_features():
    network = chosen_evaluation(type(start()), None)
    assert not network.shape.own
    assert network.shape.views == 2
    searcher = Searcher(type(start()), table=1)
    for position in [*POSITIONS[:40], *(parse_position(text) for text in PAWNLESS)]:
        if not outcome(position)[0]:
            assert searcher.estimate(position) == network(position)
    assert any(network(position) != evaluate(position) for position in POSITIONS)


PAWNLESS = (
    "8/8/8/3k4/8/8/1N6/1N2K3 w - - 0 1",
    "8/8/8/3k4/8/8/1R6/4K3 w - - 0 1",
    "3k4/8/3K4/8/8/8/1R6/8 w - - 0 1",
    "3k4/8/3K4/8/8/8/1R6/8 b - - 0 1",
)


def test_scores_without_pawns_are_adjusted():
    knights, far, near, turned_round = map(parse_position, PAWNLESS)
    assert adjust(knights, 600) == 0
    assert 600 < adjust(far, 600) < adjust(near, 600)
    assert adjust(turned_round, -600) == -adjust(near, 600)
    with_pawn = parse_position("8/8/8/3k4/8/8/1N2P3/1N2K3 w - - 0 1")
    assert adjust(with_pawn, 600) == 600 * (END_SHARE + 2 * PHASE_SHARE) // FULL_SHARE
    assert adjust(with_pawn, -600) >= 0  # a bare king is not ahead
    assert adjust(near, 600) == adjust(near, 900)  # a network knows nothing of bare kings


def test_scores_count_more_the_more_pieces_are_left():
    fewer = parse_position("4k3/pppppppp/8/8/8/8/PPPPPPPP/R3K3 w - - 0 1")
    pawns = parse_position("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1")
    scores = [adjust(position, FULL_SHARE) for position in (pawns, fewer, start())]
    assert scores == [END_SHARE, END_SHARE + 2 * PHASE_SHARE, END_SHARE + PHASES * PHASE_SHARE]
    assert adjust(start(), -FULL_SHARE) == -adjust(start(), FULL_SHARE)


def test_what_a_network_is_taught():
    rows = rows_of(POSITIONS)
    inputs = tuning.PositionInputs(rows)
    wanted = [planes(each) + opponent_planes(each) for each in POSITIONS]
    assert inputs[:].shape == inputs.shape
    assert [tuple(map(int, row)) for row in inputs[:].view(np.uint64)] == wanted
    assert (inputs[[3, 1]] == inputs[:][[3, 1]]).all()
    assert list(tuning.estimates(rows)) == [evaluate(each) for each in POSITIONS]


# The file


def test_weights_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "weights.txt"
    path.write_text(weights_text(first_weights(), "By hand.\n\nSecond."))
    assert np.array_equal(read_weights(path), np.rint(first_weights()).astype(int))
    assert path.read_text().startswith("# By hand.\n#\n# Second.\n\npawn\n")


def edited(path, old, new):
    text = WEIGHTS_FILE.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("\ntempo\n", "\ntempi\n", "has 'tempi', which is not a feature, in line"),
        ("\ntempo\n", "\npawn\n", "has 'pawn', a second time, in line"),
        ("\ntempo\n", "\n", "has 33 weights of 'king'; there are 32"),
        ("\ntempo\n", "\ntempo\n 1/2", "has 2 weights of 'tempo'; there are 1"),
        ("\ntempo\n", "\ntempo\n 1", "has '1' in line"),
        ("\ndanger\n", "\ndanger\n 1/2", "a weight is a number"),
        ("\npawn\n", "\n1/1\npawn\n", "has numbers of no feature in line"),
        ("\ntempo\n", "\ntempo\n 123456/1", "as in 10/-5"),
    ],
)
def test_a_damaged_file_is_an_error(tmp_path, old, new, message):
    with pytest.raises(GameError, match=message):
        read_weights(edited(tmp_path / "weights.txt", old, new))


def test_a_file_of_something_else_is_an_error(tmp_path):
    path = tmp_path / "weights.txt"
    with pytest.raises(GameError, match="cannot be read: No such file"):
        read_weights(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GameError, match="is not a file of weights"):
        read_weights(path)
    path.write_text("")
    with pytest.raises(GameError, match="has 0 weights of 'pawn'"):
        read_weights(path)


# The tuner


def test_a_fit_finds_the_weights_that_made_the_results():
    generator = np.random.default_rng(1)
    number, each = 1500, 6
    places = np.concatenate([np.arange(5), np.arange(LINEAR, LINEAR + 2)])
    truth = np.zeros((SIZE, 2))
    truth[:5] = generator.integers(-150, 150, (5, 2))
    truth[LINEAR : LINEAR + 2, 0] = 130, 70
    features = tuning.Features(
        np.arange(0, each * number + 1, each),
        np.stack([generator.permutation(places)[:each] for _ in range(number)])
        .astype(np.int16)
        .reshape(-1),
        generator.integers(1, 4, each * number).astype(np.int8),
        generator.random(number),
        np.ones((number, 2)),
    )
    features.count[features.index < LINEAR] *= generator.choice([-1, 1])
    scores, gradient = np.zeros(number), np.zeros((SIZE, 2))
    tuning.scored(features, truth, 0.004, np.zeros(number), scores, gradient)
    targets = 1 / (1 + np.exp(-0.004 * scores))
    begin = truth.copy()
    begin[places] = 20, 20
    begin[LINEAR:, 1] = 0
    found = tuning.fit_weights(features, targets, begin, 0.004, 400, 0.0)
    assert np.abs(found - truth).max() < 3


@pytest.mark.long
@pytest.mark.slow
def test_positions_where_something_hangs_are_not_quiet():
    boards = (
        "4k3/8/8/3q4/4P3/8/8/4K3",
        "4k3/8/4p3/3p4/8/8/3R4/4K3",
        "4k3/8/8/8/8/8/PPPPPPPP/4K3",
        "4k3/8/8/3r4/8/8/3Q4/4K3",
    )
    rows = rows_of([parse_position(f"{board} w - - 0 1") for board in boards])
    assert tuning.quiet(rows).tolist() == [False, True, True, False]


def engine_that_says(path, answer):
    """Write a program that answers every ``eval`` with the *answer*, and return its path."""
    path.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"for line in sys.stdin:\n    if line == 'eval\\n':\n        print({answer!r})\n"
    )
    path.chmod(0o755)
    return str(path)


SAYS = "NNUE evaluation        -1.25 (white side)\nFinal evaluation       -1.30 (white side)"


def boards_of(rows):
    return [tuple(map(int, row))[:8] for row in rows[list(BOARD)]]


def test_labels_are_an_engines_evaluations(tmp_path):
    rows = rows_of(POSITIONS)
    assert boards_of(rows_of([parse_position(fen) for fen in fens(rows)])) == boards_of(rows)
    labels = evaluations(engine_that_says(tmp_path / "says", SAYS), rows)
    assert labels.tolist() == [-125] * len(rows)
    silent = engine_that_says(tmp_path / "silent", "Unknown command: 'eval'.")
    with pytest.raises(CutnodeError, match=r"evaluated 0 of .* it must be Stockfish 12 or later"):
        evaluations(silent, rows)
    with pytest.raises(CutnodeError, match=r"none cannot be started .* name it with --engine"):
        evaluations(str(tmp_path / "none"), rows)


@pytest.mark.long
@pytest.mark.slow
def test_positions_near_others_are_those_that_a_search_evaluates():
    rows = rows_of(POSITIONS)
    rows["game"] = np.arange(len(rows))
    found = rows_nearby(rows, 3, seed=1)
    assert len(rows) < len(found) < 3 * len(rows)
    assert set(found["result"]) == {UNKNOWN}
    assert np.array_equal(found, rows_nearby(rows, 3, seed=1))
    assert not set(boards_of(rows)) & set(boards_of(rows_nearby(rows[:1], 9, seed=2)))
    for position in map(parse_position, fens(found)):
        assert legal_moves(position) and not check(position)


@pytest.mark.slow
@pytest.mark.long
def test_games_are_played_and_weights_fitted(tmp_path):
    folder, weights = tmp_path / "games", tmp_path / "weights.txt"

    def run(*words):
        return CliRunner().invoke(tuning.main, [str(word) for word in words])

    assert "has no files of games" in run("fit", folder, "--weights", weights).output
    result = run("play", folder, "--games", 12, "--nodes", 100)
    assert result.exit_code == 0 and "positions" in result.output
    result = run("fit", folder, "--weights", weights, "--steps", 3)
    assert result.exit_code == 0 and "weights these" in result.output
    assert read_weights(weights).shape == (SIZE, 2)
    result = run("network", folder, "--out", tmp_path / "chess.weights", "--width", 16)
    assert '"error of features"' in result.output or "cutnode[train]" in result.output
    wide = ("--width", 16, "--begin", installed_file(Position))
    result = run("network", folder, "--out", tmp_path / "chess.weights", *wide)
    assert "not of a network of 16" in result.output or "cutnode[train]" in result.output
    engine = engine_that_says(tmp_path / "says", SAYS)
    result = run("label", folder, tmp_path / "labelled", "--times", 2, "--engine", engine)
    assert result.exit_code == 0 and result.output.count("positions") == 1
    begun = run("label", folder, tmp_path / "labelled", "--engine", engine)
    assert begun.exit_code == 0 and not begun.output
    assert "must be another folder" in run("label", folder, folder, "--engine", engine).output
    assert (tmp_path / "labelled" / "played.txt").read_text().startswith("Stockfish's evaluation")
    assert "weights these" in run("report", folder, "--weights", weights).output
    (folder / "games-0-00009.npy").write_bytes(b"")
    assert "is not a file of positions" in run("fit", folder, "--weights", weights).output
