"""Othello's pattern evaluation, compared with reading the board square by square."""

import numpy as np
import pytest
from click.testing import CliRunner
from numba import njit
from positions import final_value

from cutnode import popcount
from cutnode.compiler.jit import jit_enabled
from cutnode.games.othello import Position, patterns, training
from cutnode.games.othello.discs import reach
from cutnode.games.othello.patterns import (
    PATTERNS,
    SIZE,
    STAGES,
    WEIGHTS,
    pattern_score,
    stage_of,
    weighed,
)

pytestmark = pytest.mark.once

WORD = np.uint64 if jit_enabled() else int


def boards(count, seed):
    """Return discs of the mover and of the opponent, on any squares."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        cells = generator.choice(3, 64, p=generator.dirichlet((4, 2, 2)))
        yield tuple(
            int(np.packbits(cells == disc, bitorder="little").view(np.uint64)[0]) for disc in (1, 2)
        )


def moved(square, across, down, turned):
    column, row = square % 8 ^ 7 * across, square // 8 ^ 7 * down
    return 8 * column + row if turned else 8 * row + column


def image(discs, *symmetry):
    return sum(1 << moved(square, *symmetry) for square in range(64) if discs >> square & 1)


def slow_score(mine, theirs):
    """Evaluate each place of each pattern, lowest digit first, by ``PATTERNS`` and symmetry."""
    weights = WEIGHTS.array.reshape(STAGES, SIZE)[stage_of(popcount(mine | theirs))]
    total, start = 0, 0
    for pattern in PATTERNS.values():
        seen = set()
        for symmetry in np.ndindex(2, 2, 2):
            place = [moved(square, *symmetry) for square in pattern]
            if frozenset(place) not in seen:
                seen.add(frozenset(place))
                digits = [(mine >> s & 1) + 2 * (theirs >> s & 1) for s in place]
                total += weights[start + sum(3**n * digit for n, digit in enumerate(digits))]
        start += 3 ** len(pattern)
    for own, other in ((mine, theirs), (theirs, mine)):
        total += weights[start + popcount(reach(own, other))]
        start += patterns.MOST_MOVES
    return int(total + weights[start + popcount(mine | theirs)])


@njit
def compiled_score(mine, theirs):
    return weighed(WEIGHTS, mine, theirs)


def test_score_is_that_of_a_reading_square_by_square():
    for mine, theirs in boards(300, 1):
        expected = slow_score(mine, theirs)
        assert pattern_score(Position(mine, theirs, False)) == expected
        assert compiled_score(WORD(mine), WORD(theirs)) == expected


def test_symmetric_boards_have_equal_scores():
    for mine, theirs in boards(20, 2):
        scores = {
            pattern_score(Position(image(mine, *symmetry), image(theirs, *symmetry), False))
            for symmetry in np.ndindex(2, 2, 2)
        }
        assert len(scores) == 1


def test_indices_are_those_of_the_score():
    places = np.zeros(len(training.FIRST) + 3, np.int64)
    for mine, theirs in boards(20, 3):
        training.indices(WORD(mine), WORD(theirs), places)
        first = SIZE * stage_of(popcount(mine | theirs))
        score = sum(WEIGHTS[first + place] for place in places)
        assert score == pattern_score(Position(mine, theirs, False))


def test_weights_are_packed_and_read(tmp_path):
    weights = np.random.default_rng(4).integers(-32768, 32767, (STAGES, SIZE)).astype(np.int16)
    weights = weights[:, np.minimum(patterns.MIRRORED, np.arange(SIZE))]
    path = tmp_path / "weights.npz"
    path.write_bytes(patterns.packed(weights))
    assert (patterns.read_weights(path) == weights).all()


def test_every_stage_is_weighed():
    assert [stage_of(count) for count in (0, 4, 7, 8, 59, 60, 63, 64)] == [
        0,
        0,
        0,
        1,
        13,
        14,
        14,
        14,
    ]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not jit_enabled(), reason="nothing is compiled")
def test_training(tmp_path, monkeypatch):
    """Games are reproducible, their last positions have final values, and weights fit them."""
    monkeypatch.setattr(training, "CHUNK", 200)
    folder, weights = tmp_path / "games", tmp_path / "weights.npz"

    def run(*words):
        result = CliRunner().invoke(training.main, [*map(str, words)])
        assert result.exit_code == 0, result.output

    options = ("--games", 1000, "--depth", 1, "--solved", 6, "--untrained")
    run("play", folder, *options)
    written = {path: path.read_bytes() for path in folder.glob("*.npy")}
    assert len(written) == 5
    run("fit", folder, "--weights", weights, "--steps", 8, "--penalty", 200)
    learnt, held, _ = training.read_positions(folder)
    before = list(training.errors(held, training.untrained()))
    after = list(training.errors(held, patterns.read_weights(weights)))
    for stage in range(11, STAGES):
        assert after[stage][2] < 0.9 * before[stage][2]
    assert "5 x games-0: depth 1" in weights.with_suffix(".txt").read_text()
    solved = [p for p in learnt if 1 <= 64 - popcount(int(p["mine"] | p["theirs"])) <= 4]
    for mine, theirs, value in solved[:50]:
        assert final_value(Position(int(mine), int(theirs), False)) == value
    (folder / "games-0-00003.npy").unlink()
    run("play", folder, *options)
    assert {path: path.read_bytes() for path in folder.glob("*.npy")} == written
