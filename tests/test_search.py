"""Depth-limited search: every exact set of techniques returns the score of plain minimax."""

from __future__ import annotations

import functools
import itertools
from random import Random

import pytest
from marks import compiled_only
from toys import boxes, duel, isola

from cutnode import (
    CutnodeError,
    Evaluation,
    Searcher,
    Table,
    alphabeta,
    compiled,
    game_names,
    legal_moves,
    load_game,
    minimax,
)
from cutnode.contract.bits import Bits, mix
from cutnode.contract.choices import DRIVERS
from cutnode.contract.derived import is_free_move
from cutnode.contract.dispatch import defines
from cutnode.contract.stop import DEPTH_IN
from cutnode.contract.verbs import canonical, moves_again, outcome, play
from cutnode.kernels.techniques import EXACT, TECHNIQUES, choose, fits


@compiled
def hashed(position):
    """Return a pseudo-random evaluation, the same for equivalent positions."""
    word, _ = canonical(position)
    return int(mix(Bits(word)) % Bits(201)) - 100


HASHED = Evaluation(hashed)
DEPTHS = {"tictactoe": 5, "uniform": 5, "isola": 5, "duel": 6, "breakthrough": 3}
DEPTHS |= {
    "clobber": 3,
    "cram": 3,
    "nogo": 3,
    "domineering": 3,
    "go": 2,
    "hex": 2,
    "mnk": 2,
    "morris": 2,
    "qubic": 2,
    "skirmish": 1,
    "y": 2,
}
GAMES = {
    **{name: load_game(name).start() for name in game_names()},
    "boxes": boxes.start(),
    "isola": isola.Position(),
    "duel": duel.Position(),
}
GAMES = {name: start for name, start in GAMES.items() if not defines(type(start), "chance")}

QUICK = {"tictactoe"}
"""The games of the quick tests in compiled code: each takes many seconds to compile."""


def positions_of(start, name, count=4):
    """Return the start, and positions after random moves, some of them near the end."""
    random = Random(name)
    found = [start]
    while len(found) < count:
        position = start
        for _ in range(random.randrange(12)):
            moves = legal_moves(position)
            if not moves:
                break
            position = play(position, random.choice(moves))
        found.append(position)
    return found


def sets_of(cls):
    """Return each exact technique alone, each left out, and random sets."""
    suited = {name for name in EXACT if fits(cls, TECHNIQUES[name])}
    needs = {"symmetry": {"table"}, "enhanced_cutoffs": {"table"}, "aspiration": {"deepening"}}
    sets = [set(), suited]
    for name in suited:
        sets.append({name} | needs.get(name, set()))
        sets.append({other for other in suited if name not in {other, *needs.get(other, ())}})
    random = Random(1)
    for _ in range(10):
        chosen = {name for name in suited if random.random() < 0.6}
        sets.append({name for name in chosen if needs.get(name, set()) <= chosen})
    return [frozenset(techniques) for techniques in sets]


def value_of_line(engine, position, line, depth):
    """Return the score at the end of a line, for the player to move at its start."""
    same, ply, actions = True, 0, 0
    for move in line:
        assert move in legal_moves(position)
        child = play(position, move)
        same = same == moves_again(position, child)
        is_free = is_free_move(position, move, child, actions, engine.turns)
        depth, actions = (depth, actions + 1) if is_free else (depth - 1, 0)
        position = child
        ply += 1
    over, value = outcome(position)
    if over:
        if engine.win and value:
            value = (1 if value > 0 else -1) * (engine.win - engine.step * ply)
    else:
        assert depth == 0
        value = engine.evaluation(position)
    return value if same else -value


def marks_of(name, often):
    """Return the marks: each game and each evaluation compiles everything once more."""
    return [pytest.mark.slow] if name in often else [pytest.mark.slow, pytest.mark.long]


def check_exact_techniques(positions, depth, evaluation, *, ties=True, sets=None):
    """Check that every set of exact techniques returns minimax's score, with right moves and lines.

    In some games (not *ties*) a position's score depends on how it was reached.  If *sets* are
    given, each searches with one driver, alternately for the quickest win and for any win.
    """
    cls = type(positions[0])
    table = Table(1)

    @functools.cache
    def wanted(position, depth, soonest, depth_in):
        counted = {"evaluation": evaluation, "depth_in": depth_in}
        return minimax(position, depth, soonest=soonest, **counted).value

    for number, techniques in enumerate(sets or sets_of(cls)):
        depth_in = DEPTH_IN[number % 2]
        ways = list(itertools.product((True, False), DRIVERS))
        for soonest, driver in [ways[number // 2 % len(ways)]] if sets else ways:
            engine = Searcher(
                cls,
                table=table,
                techniques=techniques,
                exact=True,
                driver=driver,
                soonest=soonest,
                evaluation=evaluation,
                depth_in=depth_in,
            )
            for position in positions:
                if number % 3 == 0:
                    engine.clear()
                value = wanted(position, depth, soonest, depth_in)
                result = engine.search(position, depth=depth)
                assert result.exact
                context = (sorted(techniques), driver, soonest, depth_in, position)
                assert result.value == value, context
                if outcome(position)[0]:
                    assert result.best_move is None
                    continue
                child = play(position, result.best_move)
                if is_free_move(position, result.best_move, child, 0, engine.turns):
                    continue
                reached = wanted(child, depth - 1, soonest, depth_in)
                if not (engine.win and soonest and abs(reached) > 25000) and ties:
                    again = moves_again(position, child)
                    assert (reached if again else -reached) == value, context
                    if "table" not in techniques and driver == "alphabeta":
                        end = value_of_line(engine, position, result.pv, depth)
                        assert end == value, context


@compiled_only
@pytest.mark.parametrize(
    ("name", "evaluation", "ways"),
    [
        *((name, HASHED, "some ways") for name in sorted(QUICK)),
        *(
            pytest.param(name, HASHED, "all ways", marks=marks_of(name, (*QUICK, "breakthrough")))
            for name in sorted(GAMES)
        ),
        *(pytest.param(name, None, "all ways", marks=marks_of(name, ())) for name in GAMES),
    ],
    ids=lambda value: value if isinstance(value, str) else "hashed" if value else "own",
)
def test_exact_techniques_score_as_minimax(name, evaluation, ways):
    """With every driver, for the quickest win and for any win; the quick test takes turns."""
    positions = positions_of(GAMES[name], name)
    sets = sets_of(type(positions[0])) if ways == "some ways" else None
    depth = DEPTHS.get(name, 4)
    check_exact_techniques(positions, depth, evaluation, ties=name != "duel", sets=sets)


SMALL = {
    "breakthrough": ("breakthrough:3x4", "", 3),
    "chess": ("chess", "4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1", 2),
    "clobber": ("clobber:4x3", "", 3),
    "connect4": ("connect4:4x4", "", 4),
    "cram": ("cram:4x3", "", 3),
    "dobutsu": ("dobutsu", "", 2),
    "domineering": ("domineering:4x3", "", 3),
    "draughts": ("draughts:6x6", "", 3),
    "go": ("go:2x2", "", 3),
    "hex": ("hex:3", "", 3),
    "kalah": ("kalah:3x2", "", 3),
    "kayles": ("kayles:9", "", 3),
    "mnk": ("mnk:3x3x3", "", 3),
    "morris": ("morris:three", "", 2),
    "nogo": ("nogo:3x3", "", 3),
    "othello": ("othello:4x4", "", 3),
    "oware": ("oware", "", 2),
    "qubic": ("qubic", "111 222 112 223 121 232 211", 1),
    "skirmish": ("skirmish", "", 1),
    "tictactoe": ("tictactoe", "", 3),
    "toads": ("toads:2,2,2", "", 4),
    "uniform": ("uniform:3x6", "", 3),
    "y": ("y:3", "", 3),
}
"""A small variant or a late position of each game without chance, and an affordable depth."""


def test_every_game_has_a_small_variant():
    assert SMALL.keys() == GAMES.keys() & set(game_names())


@pytest.mark.once
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in ("qubic", "skirmish") else [])
        for name in SMALL
    ],
)
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_exact_techniques_score_as_minimax_in_plain_python(name, every):
    """Every shipped game runs the same functions, which need not be compiled for this.

    The quick tests give each game all techniques, none, and every eighth of the other sets.
    """
    variant, text, depth = SMALL[name]
    game = load_game(variant, plain=True)
    start = game.parse(text) if text else game.start()
    none, every_one, *others = sets_of(type(start))
    sets = [none, every_one, *others[list(SMALL).index(name) % every :: every]]
    check_exact_techniques(positions_of(start, name, 3), depth, HASHED, sets=sets)


@pytest.mark.parametrize("driver", DRIVERS)
def test_all_exact_techniques_in_small(driver):
    engine = Searcher(GAMES["tictactoe"], exact=True, table=1, driver=driver)
    for position in positions_of(GAMES["tictactoe"], "tictactoe", 6):
        for depth in range(4):
            wanted = minimax(position, depth).value
            assert engine.search(position, depth=depth).value == wanted


@pytest.mark.slow
def test_best_first_searches_evaluate_no_leaf_that_alphabeta_does_not():
    """SSS* dominates alpha-beta: G. Stockman (1979); in its MTD form, A. Plaat et al. (1996)."""
    for seed in range(5):
        tree = load_game(f"uniform:4x6,random,seed={seed}", plain=True).start()
        plain = alphabeta(tree, 6)
        engine = Searcher(tree, exact=True, techniques=["table"], driver="sss", table=1)
        result = engine.search(tree, depth=6)
        assert result.value == plain.value
        assert result.statistics.leaves <= plain.leaves


@pytest.mark.slow
@pytest.mark.long
@compiled_only
def test_plain_alphabeta_counts():
    """Nodes of textbook alpha-beta on 7x6, columns from the left; all wins score the same."""
    start = load_game("connect4").start()
    engine = Searcher(start, techniques=(), evaluation="cells", soonest=False)
    for depth, nodes, value in ((6, 11_767, 0), (8, 204_037, -1), (10, 2_666_528, 0)):
        result = engine.search(start, depth=depth)
        assert (result.nodes, result.value) == (nodes, value)


@pytest.mark.slow
@pytest.mark.long
@compiled_only
def test_everything_on_needs_few_nodes():
    """Half as many as the best public library measured: 11,474 nodes at 8, 97,012 at 12."""
    start = load_game("connect4").start()
    engine = Searcher(start, evaluation="cells", soonest=False, exact=True)
    for depth, nodes in ((8, 11_474), (10, 33_839), (12, 97_012)):
        engine.clear()
        assert engine.search(start, depth=depth).nodes < nodes / 2


def test_choice_suits_the_game():
    assert "order" not in choose(type(GAMES["tictactoe"]), None)
    assert choose(type(GAMES["connect4"]), None, exact=True) <= EXACT


def test_depth_is_counted_in_turns_or_actions():
    """In Isolation a turn is a step and a closed cell: two actions."""
    start = GAMES["isola"]
    for turns in (1, 2):
        in_turns = minimax(start, turns)
        in_actions = minimax(start, 2 * turns, depth_in="actions")
        assert (in_turns.value, in_turns.nodes) == (in_actions.value, in_actions.nodes)
    with pytest.raises(CutnodeError, match="must be one of turns, actions, got 'plies'"):
        Searcher(start, depth_in="plies")


def test_free_moves_in_a_row_are_limited():
    """Completing the last box but one gives another move: free once (``MAX_ACTIONS`` is 1)."""
    position = boxes.parse_position("ABcDEFg +0 1")
    child = play(position, 2)
    assert moves_again(position, child)
    assert is_free_move(position, 2, child, 0, True)
    assert not is_free_move(position, 2, child, 1, True)
    assert not is_free_move(position, 2, child, 0, False)
