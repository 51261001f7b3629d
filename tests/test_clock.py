"""Time management: arithmetic."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutnode.kernels import clock
from cutnode.kernels.clock import (
    LONGEST_SHARE,
    MOVES_AHEAD,
    SETTLED,
    SHORTEST,
    Clock,
    allot,
    seconds_per_tick,
    settle,
)

seconds = st.floats(-10, 10_000)
increments = st.floats(0, 100)
overheads = st.floats(0, 1)
controls = st.none() | st.integers(-1, 100)


@given(left=seconds, increment=increments, moves_to_go=controls, overhead=overheads)
def test_never_more_than_is_left(left, increment, moves_to_go, overhead):
    time = allot(left, increment, moves_to_go, overhead=overhead)
    assert 0 <= time.soft <= time.hard and time.hard > 0
    if left > 0:
        assert time.hard <= max(left - overhead, min(SHORTEST, left / 2))
    else:
        assert time.hard == SHORTEST


@given(left=seconds, more=increments, increment=increments, overhead=overheads)
def test_more_time_is_more_time(left, more, increment, overhead):
    less = allot(left, increment, overhead=overhead)
    for other in (
        allot(left + more + SHORTEST, increment, overhead=overhead),
        allot(left, increment + more, overhead=overhead),
    ):
        if left > 0:
            assert other.soft >= less.soft and other.hard >= less.hard
    if left > 0:
        costly = allot(left, increment, overhead=overhead + more)
        assert costly.soft <= less.soft and costly.hard <= less.hard


@given(left=st.floats(0.1, 1000), moves=st.integers(1, 60))
def test_more_moves_to_go_is_less_time(left, moves):
    assert allot(left, 0, moves + 1).soft <= allot(left, 0, moves).soft


def test_shares():
    time = allot(3.5)
    assert time.soft == pytest.approx(3.5 / MOVES_AHEAD)
    assert time.hard == pytest.approx(LONGEST_SHARE * time.soft)
    assert allot(10, 0, 40) == allot(10)
    assert allot(10, 0, 0) == allot(10, 0, -3) == allot(10)
    assert allot(10, 1, 10).soft == pytest.approx((10 + 9) / 10)


def test_the_last_move_before_more_time_has_all_of_it():
    time = allot(2.0, 5.0, 1, overhead=0.05)
    assert time.soft == time.hard == pytest.approx(1.95)


def test_one_choice_needs_no_thought():
    assert allot(60, choices=1).soft == 0 < allot(60, choices=2).soft


@pytest.mark.parametrize("left", [0, -1, 1e-9])
def test_a_clock_that_is_over(left):
    for increment in (0, 1):
        assert 0 < allot(left, increment, overhead=0.1).hard <= SHORTEST


@pytest.mark.parametrize(("left", "increment"), [(1.0, 0.01), (1.0, 0.0), (0.05, 0.05), (60, 0.6)])
def test_a_long_game_never_runs_out(left, increment):
    """Even if each move takes its hard limit, and half of the overhead."""
    overhead = 0.02
    for _ in range(300):
        spent = allot(left, increment, overhead=overhead).hard + overhead / 2
        if increment >= overhead or left > 2 * overhead:
            assert spent < left
        left += increment - spent
        if left <= overhead:
            break


def test_settled_moves_take_less():
    factors = [settle([7] * count, [0.0] * count) for count in range(1, 10)]
    assert factors[: len(SETTLED)] == list(SETTLED)
    assert factors[-1] == SETTLED[-1]
    assert settle([7, 7, 7, 3], [0.0] * 4) == SETTLED[0] == settle([], [])
    assert settle([3, 3, 3, 7, 7], [0.0] * 5) == SETTLED[1]


def test_a_falling_score_takes_more():
    """The score is compared with the one two depths earlier; a rising score changes nothing."""
    calm = settle([1, 1, 1], [0.0, 80.0, 0.0])
    assert settle([1, 1, 1], [0.0, 0.0, 50.0]) == calm
    worried = settle([1, 1, 1], [0.0, 0.0, -50.0])
    assert calm < worried < settle([1, 1, 1], [0.0, 0.0, -500.0]) == 2 * calm
    assert settle([1, 1, 1], [0.0, 0.0, -30000.0]) == 2 * calm


def test_patience_ends_with_the_time():
    assert Clock(None).patience() == Clock(1000.0).patience()
    assert 0 < Clock(1e-9).patience() <= 0.001
    assert Clock(0.005).patience() <= 0.005


@pytest.mark.parametrize("seconds", [0.0005, 0.015, 0.25, 3.0])
def test_looks_come_until_the_limit_and_not_long_after(monkeypatch, seconds):
    now = 0.0
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: now))
    watched, looks = Clock(seconds), 0
    while not watched.is_over(0):
        now += watched.patience()
        looks += 1
    assert seconds <= now <= seconds + 2 * clock.SHORTEST_LOOK
    assert looks <= 2 + max(10, seconds / clock.LOOK)
    assert not watched.is_over(1)  # the next position has its own time


@pytest.mark.parametrize("interrupted", range(1, 11))
def test_another_process_between_two_clocks_does_not_change_the_length_of_a_tick(
    monkeypatch, interrupted
):
    now, calls = 0.0, 0

    def sleep(seconds):
        nonlocal now
        now += seconds

    def read():
        nonlocal calls
        calls += 1
        sleep(1.0 if calls == interrupted else 1e-6)
        return round(now * 1e9)

    named = SimpleNamespace(perf_counter=lambda: now, sleep=sleep)
    monkeypatch.setattr(clock, "time", named)
    assert seconds_per_tick(read) == pytest.approx(1e-9, rel=1e-3)
