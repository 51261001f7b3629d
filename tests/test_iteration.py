"""Value iteration: values against minimax and closed forms, bounds, limits, and errors."""

from __future__ import annotations

import itertools
import json
import pickle
import threading

import pytest
from data import FOLDER, rows
from marks import compiled_only
from toys import duel, race, ruin

from cutnode import (
    CutnodeError,
    GameError,
    PositionError,
    iterate,
    legal_moves,
    load_game,
    minimax,
    solve,
)
from cutnode.contract import dispatch
from cutnode.games import kalah, ur

TICTACTOE = load_game("tictactoe")


@pytest.fixture
def plain(monkeypatch):
    """Run rules and kernels as plain Python, so that rules can be replaced."""
    run_as_plain_python(monkeypatch)


def run_as_plain_python(patch):
    patch.setattr(dispatch, "runs_plainly", lambda module: True)


RACES = [
    race.Position(mine, theirs, roll)
    for mine, theirs, roll in itertools.product(range(1, 6), range(6), range(3))
    if theirs or not roll
]

PIECES = {number: ur.Position(*ur.start(f"finkel-{number}")) for number in (1, 2, 3)}
"""The Royal Game of Ur with few pieces, all of one class."""


# Values


def test_a_race_against_minimax():
    """All positions of a game without cycles, with chance before every move."""
    result = iterate(race.Position())
    assert result.proven and result.upper - result.lower <= 1e-9
    assert result.sweeps == 1
    reached = 0
    for position in RACES:
        try:
            value = result.value_of(position)
        except PositionError:
            continue
        reached += 1
        assert value == pytest.approx(minimax(position).value, abs=1e-12)
    assert reached == result.positions > 50


def test_a_race_by_its_moves():
    result = iterate(race.Position(3, 2, 2))
    assert result.best_move == max(result.scores, key=result.scores.__getitem__)
    assert result.value == result.scores[result.best_move]
    for steps, value in result.scores.items():
        assert value == pytest.approx(-minimax(race.Position(2, 3 - steps, 0)).value)


def ruined(chips):
    """Return the value for light in closed form."""
    ratio = 0.4 / 0.6
    return 200 * (1 - ratio**chips) / (1 - ratio**ruin.CHIPS) - 100


def test_a_closed_form():
    """The gambler's ruin, in which play can cycle."""
    result = iterate(ruin.start())
    assert result.proven and result.sweeps > 10
    for chips, second in itertools.product(range(1, ruin.CHIPS), (False, True)):
        position = ruin.Position(chips, second, False)
        lower, upper = result.bounds_of(position)
        wanted = -ruined(chips) if second else ruined(chips)
        assert lower - 1e-12 <= wanted <= upper + 1e-12
        assert upper - lower <= result.tolerance
        assert result.value_of(position) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("tolerance", [100, 1, 1e-3, 1e-12])
def test_tolerance(tolerance):
    result = iterate(ruin.start(), tolerance=tolerance)
    assert result.proven and result.upper - result.lower <= tolerance
    assert result.lower <= ruined(ruin.CHIPS // 2) <= result.upper
    assert result.lower <= result.value <= result.upper


def test_more_sweeps_for_less_tolerance():
    sweeps = [iterate(ruin.start(), tolerance=tolerance).sweeps for tolerance in (1, 1e-3, 1e-9)]
    assert sweeps == sorted(set(sweeps))


def test_a_tolerance_beyond_rounding_ends():
    result = iterate(ruin.start(), tolerance=1e-300)
    assert result.upper - result.lower < 1e-12


def test_play_without_end_leaves_bounds_apart():
    """A toss costs a chip, so both players wait; with one chip left a toss loses at once."""
    result = iterate(ruin.start("fear"))
    assert (result.value, result.proven, result.reason) == (None, False, "bounds stay apart")
    assert (result.lower, result.upper) == (-100, 100)
    assert result.meaning() == "between -100 and 100: bounds stay apart"
    assert set(result.scores.values()) == {None}


@pytest.mark.parametrize(
    ("text", "value"), [("", 0), ("15", 0), ("12", 1), ("1526", 1), ("14253", -1)]
)
def test_games_without_chance(text, value):
    position = TICTACTOE.parse(text)
    result = iterate(position)
    assert (result.value, result.chances) == (value, 0)
    if legal_moves(position):
        assert result.scores[result.best_move] == value


def test_all_of_tictactoe():
    """The published number of positions, 5,478; no symmetry of the game merges any here."""
    result = iterate(TICTACTOE.start())
    assert (result.positions, result.finished) == (5_478, 958)


@pytest.mark.long
@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize(
    ("variant", "value"),
    [fact for fact in rows(FOLDER / "kalah_boards.txt") if fact[0] in ("2x1", "2x2", "2x3", "2x4")],
)
def test_players_who_move_again(variant, value):
    position = type(kalah.start("2x4"))(*kalah.start(variant))
    assert iterate(position).value == int(value)


@compiled_only
def test_plain_python_does_the_same():
    for start in (race.Position(), ruin.start(), ruin.start("fear")):
        result = same_but_time(iterate(start))
        with pytest.MonkeyPatch.context() as patch:
            run_as_plain_python(patch)
            assert same_but_time(iterate(start)) == result


def same_but_time(result):
    return {name: value for name, value in result.to_dict().items() if name != "seconds"}


# Limits


def test_limit_of_positions():
    count = iterate(race.Position()).positions
    assert iterate(race.Position(), positions=count).positions == count
    with pytest.raises(CutnodeError, match=f"more than {count - 1} positions can be reached"):
        iterate(race.Position(), positions=count - 1)


def test_a_finished_game():
    result = iterate(race.Position(2, 0, 0))
    assert (result.value, result.best_move, result.scores) == (-100, None, {})
    assert (result.positions, result.finished) == (1, 1)


@compiled_only
def test_room_grows():
    """When its first room is full, the table of states is rebuilt."""
    assert iterate(PIECES[2]).positions > 4 * 4096


@compiled_only
@pytest.mark.parametrize("when", [1e-9, 0.3])
def test_time_limit(when):
    check_early_end(iterate(PIECES[3], seconds=when), "time limit")


@compiled_only
def test_stop():
    stop = threading.Event()
    stop.set()
    check_early_end(iterate(PIECES[3], stop=stop), "stopped")


@compiled_only
def test_interrupt(interrupt_soon):
    iterate(PIECES[3], seconds=1e-9)  # compiles
    interrupt_soon()
    check_early_end(iterate(PIECES[3]), "interrupted")


def check_early_end(result, reason):
    """Check that the bounds hold, at the start and in everything else that can be queried."""
    assert (result.value, result.reason) == (None, reason)
    assert -100 <= result.lower < 3.24022 < result.upper <= 100
    assert len(result.scores) == 5
    assert result.meaning().startswith("between ")
    json.dumps(result.to_dict())
    assert str(result)


# Errors


def test_other_positions():
    result = iterate(race.Position(2, 2, 0))
    with pytest.raises(PositionError, match="'5 5 0' cannot be reached from '2 2 0'"):
        result.value_of(race.Position())
    with pytest.raises(PositionError, match=r"these states are of toys.race, not toys.ruin"):
        result.bounds_of(ruin.start())


def test_repetition_is_refused():
    with pytest.raises(GameError, match=r"toys.duel has repetition: a position that repeats"):
        iterate(duel.Position())


def test_the_exact_solver_names_the_way():
    with pytest.raises(GameError, match=r"toys.race has chance: iterate\(\) solves such games"):
        solve(race.Position())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerance": 0}, "tolerance must be a positive number, got 0"),
        ({"tolerance": float("nan")}, "tolerance must be a positive number, got nan"),
        ({"tolerance": "1"}, "tolerance must be a positive number, got '1'"),
        ({"positions": 0}, "positions must be 1..1,073,741,824, got 0"),
        ({"positions": 1 << 31}, "positions must be 1..1,073,741,824, got 2,147,483,648"),
        ({"positions": 1.5}, "a number of positions must be a whole number, got 1.5"),
        ({"seconds": 0}, "seconds must be positive, got 0"),
        ({"stop": True}, "stop must be a threading.Event, got True"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(CutnodeError) as caught:
        iterate(race.Position(), **options)
    assert words in str(caught.value)


def test_invalid_positions():
    with pytest.raises(CutnodeError):
        iterate("5 5 0")


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"outcome": lambda p: (True, -101)}, "'5 5 0' has a value beyond VALUE_LIMIT = 100"),
        ({"outcome": lambda p: (True, float("nan"))}, "has a value beyond VALUE_LIMIT = 100"),
        (
            {"chance_outcome": lambda p, n: (0.4, race.Position(p.mine, p.theirs, n + 1))},
            "chance_outcome: probabilities must be 0 or more and sum to 1, got [0.4, 0.4]",
        ),
        (
            {"chance_outcome": lambda p, n: (3 * n - 1, race.Position(p.mine, p.theirs, n + 1))},
            "chance_outcome: probabilities must be 0 or more and sum to 1, got [-1, 2]",
        ),
        ({"moves": lambda p, buffer, at: at}, "'5 5 1' has no moves, but the game is not over"),
    ],
)
def test_games_that_break_the_contract(plain, monkeypatch, rules, words):
    monkeypatch.setattr(race, "VALUE_LIMIT", 100, raising=False)
    for name, rule in rules.items():
        monkeypatch.setattr(race, name, rule)
    with pytest.raises(CutnodeError) as caught:
        iterate(race.Position())
    assert str(caught.value).startswith("toys.race") and words in str(caught.value)


def test_outcomes_that_never_happen(plain, monkeypatch):
    """They lead nowhere and have no score."""

    def chance_outcome(position, index):
        return float(index), race.Position(position.mine, position.theirs, index + 1)

    monkeypatch.setattr(race, "chance_outcome", chance_outcome)
    result = iterate(race.Position())
    assert (result.value, list(result.scores)) == (100, [1])
    with pytest.raises(PositionError):
        result.value_of(race.Position(5, 5, 1))


# Results


def test_results_are_plain_data():
    result = iterate(race.Position())
    data = json.loads(json.dumps(result.to_dict()))
    assert data["scores"].keys() == {"5 5 1", "5 5 2"}
    assert (data["best_move"], data["proven"]) == (None, True)
    assert data["positions"] == data["decisions"] + data["chances"] + data["finished"]
    rolled = iterate(race.Position(5, 5, 2)).to_dict()
    assert (rolled["best_move"], rolled["scores"].keys()) == ("2", {"1", "2"})


def test_results_are_pickled():
    result = iterate(race.Position())
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert [again.bounds_of(p) for p in RACES[-3:]] == [result.bounds_of(p) for p in RACES[-3:]]


def test_results_print():
    text = str(iterate(race.Position(2, 1, 0)))
    assert text.startswith("value  50  (within 1e-09)\nthen   -100             2 1 1\nthen   100  ")
    assert "states " in text and "sweeps 1 at most, " in text
    assert "best   2\n" in str(iterate(race.Position(5, 5, 2)))
    assert "light wins 53.0049839525 of 100 games" in str(iterate(PIECES[1]))


def test_outcomes_are_seen_by_the_mover():
    """Scores of outcomes are for the player who rolls, whoever moves next."""
    result = iterate(PIECES[1])
    assert result.scores[0] == pytest.approx(-result.value)
    odds = [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]
    mean = sum(p * v for p, v in zip(odds, result.scores.values(), strict=True))
    assert mean == pytest.approx(result.value)
