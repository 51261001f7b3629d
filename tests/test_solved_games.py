"""Tablebases of whole games and endings, compared with published results."""

from __future__ import annotations

from collections import Counter

import pytest
from data import FOLDER, rows

from cutnode import CutnodeError, Table, load_game, solve
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.dispatch import defines
from cutnode.contract.positions import coerce
from cutnode.runtime.running import Limits
from cutnode.search.loops import LoopSolver
from cutnode.search.solving import Goal, Resources
from cutnode.tablebases.layer_tables import Directory
from cutnode.tablebases.solving import LayerWork, Settings, solve_layers
from cutnode.tablebases.spaces import enumerated, indexed
from cutnode.tablebases.tablebase import Tablebase

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not jit_enabled(), reason="many positions"),
]


def solved(name, *layers):
    """Solve the layers of a game with these names, and all layers that they lead to."""
    start = coerce(load_game(name).start())
    space = indexed(start) if defines(type(start), "index") else enumerated(start, 1 << 24)
    directory, settings = Directory(len(space.sizes), space.keys), Settings(threads=2)
    wanted = [space.number_of(layer) for layer in layers] or range(len(space.sizes))
    solve_layers(
        space,
        directory,
        wanted,
        lambda number: LayerWork(space, number, directory, settings).solve(),
    )
    return Tablebase(space, directory, metric="dtm", name=name)


ENDINGS = Counter[tuple[str, str]]()
"""The won, drawn and lost positions of each ending, whoever is to move."""

for ending, _, *numbers in rows(FOLDER / "chess_endings.txt"):
    for result, number in zip(("wins", "draws", "losses"), numbers, strict=True):
        ENDINGS[ending, result] += int(number)

MATES = [(text, int(plies)) for text, plies in rows(FOLDER / "chess_mates.txt")]


SMALL = ("quixo:3x3",)


def assert_as_published(base, *names):
    layers = {layer["layer"]: layer for layer in base.layers()}
    for name in names:
        for result in ("wins", "draws", "losses"):
            assert layers[name][result] == ENDINGS[name, result], (name, result)
    return layers


def signed(entry):
    return int(entry.value) * (entry.distance or 0)


def mates_in(base):
    """Count the published positions that a tablebase has, and how often it agrees."""
    chess = load_game("chess")
    known = [(base.entry(chess.parse(text)), plies) for text, plies in MATES]
    return [(signed(entry), plies) for entry, plies in known if entry is not None]


@pytest.mark.slow
@pytest.mark.long
def test_chess_with_three_men():
    base = solved("chess", "KQvK", "KRvK", "KPvK")
    layers = assert_as_published(base, "KQvK", "KRvK", "KPvK")
    assert (layers["KQvK"]["longest"], layers["KRvK"]["longest"]) == (20, 32)
    found = mates_in(base)
    assert len(found) == 2 and all(ours == plies for ours, plies in found)
    assert base.verify(threads=2).wrong == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "names, longest",
    [
        (("KBNvK",), 66),
        (("KQvKR",), 70),
        (("KRvKN",), 80),
        (("KQRvK", "KBBvK", "KNNvK"), None),
    ],
)
def test_chess_with_four_men(names, longest):
    """Mates in 33, 35 and 40 moves are the longest of their endings."""
    base = solved("chess", *names)
    twice = {"KBBvK", "KNNvK", "KQQvK", "KRRvK"}  # the published counts tell men of a kind apart
    layers = assert_as_published(base, *(set(names) - twice))
    if longest is not None:
        assert layers[names[0]]["longest"] == longest
    found = mates_in(base)
    assert found and all(ours == plies for ours, plies in found)
    assert base.verify(threads=2).wrong == 0


@pytest.mark.parametrize(
    ("name", "winner", "plies"),
    [
        pytest.param(*fact[:3], marks=[] if fact[0] in SMALL else [pytest.mark.long])
        for fact in rows(FOLDER / "small_games.txt")
    ],
)
def test_small_games(name, winner, plies):
    base = solved(f"toys.{name}")
    value = 1 if winner == "first" else -1
    assert signed(base.entry(load_game(f"toys.{name}").start())) == value * int(plies)
    assert base.verify(threads=2).wrong == 0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "layers"), [("three", ()), pytest.param("", ("3-3",), marks=pytest.mark.long)]
)
def test_morris(variant, layers):
    base = solved(f"morris:{variant}" if variant else "morris", *layers)
    assert base.verify(threads=2).wrong == 0


def test_solve_needs_no_tablebase_for_a_few_men():
    chess = load_game("chess")
    result = solve(chess.parse("8/8/8/8/8/2k5/1R6/K7 w - - 0 1"))
    assert (result.value, result.depth) == (1, 31)
    drawn = solve(chess.parse("8/8/8/8/8/2k5/8/K6B w - - 0 1"))
    assert (drawn.value, drawn.pv) == (0, ())


@pytest.mark.long
def test_draughts_with_four_kings():
    base = solved("draughts", "2k-2k", "2m-1k")
    layers = {layer["layer"]: layer for layer in base.layers()}
    assert layers["2k-2k"]["positions"] == 215_760
    assert base.verify(threads=2).wrong == 0


@pytest.mark.long
def test_dobutsu_without_captured_men():
    base = solved("dobutsu:vanish")
    assert base.entry(load_game("dobutsu:vanish").start()).value == 0
    assert base.verify(threads=2).wrong == 0


@pytest.mark.long
def test_dobutsu():
    """The whole game: six minutes of processor time and a gigabyte."""
    dobutsu = load_game("dobutsu")
    base = solved("dobutsu")
    assert base.stats()["longest"] == 173
    assert signed(base.entry(dobutsu.start())) == -78
    for text, plies in rows(FOLDER / "dobutsu_values.txt"):
        assert signed(base.entry(dobutsu.parse(text))) == int(plies)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "layers", "nodes"),
    [("chess", ("KQvK", "KRvK"), 4_000), ("draughts", ("2k-1k", "2m-1m"), 1_000)],
)
def test_proofs_by_search_against_tablebases(name, layers, nodes):
    """A hundred thousand proofs with repetitions as draws: no bound is wrong, some are tight."""
    base = solved(name, *layers)
    solver = LoopSolver(Resources(base.cls, Table(16)), memory=1)
    proven = compared = 0
    for layer in layers:
        for number in range(base.space.sizes[base.space.number_of(layer)]):
            try:
                position = base.position_at(layer, number)
            except CutnodeError:  # not every index has a position
                continue
            value = base.entry(position).value
            result = solver.prove(Goal(position, weak=False), Limits(nodes))
            assert result.lower <= value <= result.upper, position
            compared += 1
            proven += result.proven
    print(f"{name}: {proven:,} of {compared:,} proven")
    assert proven > compared // 20
