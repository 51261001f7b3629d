"""Tablebases: every entry compared with a naive solver, files, restarts, and refusals."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from commands import run_cutnode
from marks import LONG, compiled_only
from toys import bargain, chase, hazard, hazard_numbered, pursuit

from cutnode import (
    CutnodeError,
    Engine,
    GameError,
    PositionError,
    Prover,
    analyse,
    iterate,
    legal_moves,
    load_game,
    solve,
)
from cutnode.batches.running import run_batch
from cutnode.cli import template
from cutnode.contract.loading import plain_copy
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import canonical, moves_again, outcome, play
from cutnode.games import draughts
from cutnode.kernels.codes import FAR, new_codes, write_codes
from cutnode.kernels.scores import WIN
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.tablebases.builder import LayerBuilder
from cutnode.tablebases.building import build_tablebase, compress_tablebase
from cutnode.tablebases.compression import compressed, expanded
from cutnode.tablebases.files import Folder
from cutnode.tablebases.layer_tables import Directory, codes_in
from cutnode.tablebases.retrograde import RetrogradeLayer, known_codes, restore_codes
from cutnode.tablebases.solving import LayerWork, Settings, solve_layers
from cutnode.tablebases.spaces import StoppedError, enumerated, indexed
from cutnode.tablebases.tablebase import Tablebase

DRAUGHTS = load_game("draughts:4x4", plain=True).start()


def reachable(start):
    """Return the reachable positions, one of each class, and their successors."""
    found = {canonical(start)[0]: start}
    waiting, edges = [start], {}
    while waiting:
        position = waiting.pop()
        over, value = outcome(position)
        children = []
        for move in () if over else legal_moves(position):
            child = play(position, move)
            word = canonical(child)[0]
            children.append((word, moves_again(position, child)))
            if word not in found:
                found[word] = child
                waiting.append(child)
        edges[canonical(position)[0]] = (over, value, children)
    return found, edges


def solved_by_sweeps(edges):
    """Return win, draw or loss with distance, by repeatedly sweeping all positions."""
    known = {
        word: ((value > 0) - (value < 0), 0) for word, (over, value, _) in edges.items() if over
    }
    drawn = {word for word, (value, _) in known.items() if value == 0}
    known = {word: entry for word, entry in known.items() if word not in drawn}
    distance = 0
    while distance <= max((far for _, far in known.values()), default=0):
        fresh = {}
        for word, (over, _, children) in edges.items():
            if over or word in known:
                continue
            seen = [
                (known[child][0] if same else -known[child][0], known[child][1])
                for child, same in children
                if child in known
            ]
            wins = [far for value, far in seen if value > 0]
            if wins:
                fresh[word] = 1, min(wins) + 1
            elif len(seen) == len(children):
                fresh[word] = -1, max(far for _, far in seen) + 1
        known.update(fresh)
        distance += 1
    return {word: known.get(word, (0, None)) for word in edges}


def in_memory(position, layers=None, **settings):
    """Return a tablebase in memory, without files: of all layers, or of some by name."""
    position = coerce(position)
    settings = Settings(**settings)
    if hasattr(sys.modules[type(position).__module__], "index"):
        space = indexed(position)
        names = space.names if layers is None else layers
        wanted = [space.number_of(name) for name in names]
    else:
        space, wanted = enumerated(position, 1 << 20), [0]
    directory = Directory(len(space.sizes), space.keys)
    solve_layers(
        space,
        directory,
        wanted,
        lambda number: LayerWork(space, number, directory, settings).solve(),
    )
    return Tablebase(space, directory, metric=settings.metric, name="this")


@pytest.fixture(scope="module")
def pursued():
    return in_memory(pursuit.Position(), threads=2)


PURSUIT = plain_copy(pursuit)
"""For searches, whose kernels take longer to compile."""


@pytest.fixture(scope="module")
def pursued_plainly():
    return in_memory(PURSUIT.Position())


# Values


@pytest.mark.once
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("toy", [pursuit, chase])
def test_every_distance_against_sweeps(toy, threads):
    """Solved by retreats, and by lists of all moves; with layers, cycles, and second turns."""
    base = in_memory(toy.Position(), threads=threads)
    positions, edges = reachable(toy.Position())
    naive = solved_by_sweeps(edges)
    assert {value for value, _ in naive.values()} == {-1, 0, 1}
    for word, position in positions.items():
        entry = base.entry(position)
        assert (entry.value, entry.distance) == naive[word], position


@pytest.mark.once
@pytest.mark.parametrize(
    "start",
    [chase.Position(), pursuit.Position(), DRAUGHTS],
    ids=["chase", "pursuit", "draughts"],
)
def test_without_memory_for_moves_backwards_all_positions_are_looked_at_again(start, monkeypatch):
    """In layers as well, where wins by leaving are found before quicker ones that stay."""
    layers = ["1m1k-1m"] if start is DRAUGHTS else None
    base = in_memory(start, layers)
    monkeypatch.setattr("cutnode.tablebases.retrograde.LARGEST_EDGES", 0)
    monkeypatch.setattr("cutnode.tablebases.retrograde.defines", lambda *_: False)
    swept = in_memory(start, layers, threads=2)
    assert swept.distances() == base.distances()
    assert [table.symbols.tolist() for table in swept.directory.layers.values()] == [
        table.symbols.tolist() for table in base.directory.layers.values()
    ]


@pytest.mark.once
def test_a_stopped_sweep_resumes_with_more_memory(tmp_path, monkeypatch):
    """A sweep decides some positions early, from which the list of moves continues."""
    monkeypatch.setattr("cutnode.tablebases.retrograde.defines", lambda *_: False)
    space, folder = indexed(DRAUGHTS), Folder(tmp_path)
    little = Settings(memory=2 * max(space.sizes))
    small = LayerBuilder(folder, space, little)
    number = space.number_of("1m1k-1m")
    whole = in_memory(DRAUGHTS, ["1m1k-1m"])
    for table in whole.directory.layers.values():
        if table.number != number:
            small.directory.add(table)
    work = small.work(number)
    sweep, seen = RetrogradeLayer.sweep, []

    def stopped_sweep(layer, distance):
        if len(seen) == 2:
            raise StoppedError("stopped")
        seen.append(distance)
        return sweep(layer, distance)

    monkeypatch.setattr(RetrogradeLayer, "sweep", stopped_sweep)
    with pytest.raises(StoppedError):
        work.solve()
    monkeypatch.setattr(RetrogradeLayer, "sweep", sweep)
    again = LayerWork(space, number, small.directory, Settings())
    again.restore(*work.state())
    assert again.solve().counts == whole.directory.layers[number].counts


def test_codes_of_any_distance():
    """Usual ones take a byte, others are kept apart; all are saved and restored."""
    cls, wanted = pursuit.Position, np.arange(-(1 << 15), 1 << 15)
    codes, again = new_codes(cls, len(wanted)), new_codes(cls, len(wanted))
    write_codes.specialise(cls)(codes, wanted - wanted[0], wanted)
    assert codes_in(cls, codes, 0, len(wanted)).tolist() == wanted.tolist()
    alternating = np.array([code for code in range(-190, 190) if (code > 0) != code % 2])
    assert (codes.near[alternating - wanted[0]] != FAR).all()
    restore_codes(again, known_codes(codes))
    assert codes_in(cls, again, 0, len(wanted)).tolist() == wanted.tolist()


@pytest.mark.once
@compiled_only
def test_holes_take_no_place(monkeypatch):
    """Layers have the same tables with and without places for their holes, and resume."""
    start, layer = load_game("dobutsu:vanish").start(), "1 elephants, 2 giraffes, 0 chicks"
    base = in_memory(start, [layer])
    monkeypatch.setattr("cutnode.tablebases.retrograde.LARGE", 1)
    monkeypatch.setattr("cutnode.tablebases.retrograde.SAMPLED", 1)
    number = base.space.number_of(layer)
    table = base.directory.layers[number]
    directory = Directory(len(base.space.sizes))
    for known in base.directory.layers.values():
        if known.number != number:
            directory.add(known)
    stopped, resumed = (
        LayerWork(base.space, number, directory, Settings(threads=2)) for _ in range(2)
    )
    passes = iter(range(3))
    with pytest.raises(StopIteration):
        stopped.solve(lambda: next(passes))
    codes = stopped.layer.codes
    assert table.counts["positions"] < len(codes.near) < table.counts["positions"] + 64
    resumed.restore(*stopped.state())
    for work in stopped, resumed:
        found = work.solve()
        assert found.counts == table.counts
        assert found.symbols.array().tolist() == table.symbols.tolist()


@pytest.mark.parametrize("metric", ["dtc", "wdl"])
def test_other_metrics_have_the_same_values(pursued, metric):
    base = in_memory(pursuit.Position(), metric=metric)
    assert base.verify(threads=2).wrong == 0
    for position in reachable(pursuit.Position())[0].values():
        entry, full = base.entry(position), pursued.entry(position)
        assert entry.value == full.value
        assert (entry.distance is None) == (metric == "wdl" or not full.value)
        if entry.distance is not None:
            assert entry.distance <= full.distance


@pytest.mark.once
def test_points_with_loops_against_thresholds():
    """Infinite play is worth nothing; a player's value is the points that he can force."""
    base = in_memory(bargain.Position(), threads=2)
    positions, edges = reachable(bargain.Position())
    values = dict.fromkeys(positions, 0)
    values.update({word: value for word, (over, value, _) in edges.items() if over})
    for threshold in range(9, 0, -1):
        decided = {
            word: (value > 0) - (value < 0)
            for word, value in values.items()
            if (edges[word][0] and abs(value) >= threshold) or abs(value) > threshold
        }
        changed = True
        while changed:
            changed = False
            for word, (over, _, children) in edges.items():
                if over or word in decided:
                    continue
                signs = [-decided.get(child, 0) for child, _ in children]
                if 1 in signs or all(sign == -1 for sign in signs):
                    decided[word] = 1 if 1 in signs else -1
                    values[word] = decided[word] * threshold
                    changed = True
    assert len(set(values.values())) > 4
    for word, position in positions.items():
        assert base.entry(position).value == values[word]
    assert base.verify().wrong == 0


@pytest.mark.parametrize("name", ["toys.bargain", "toys.pursuit"])
def test_positions_without_moves_are_named(name, monkeypatch):
    game = load_game(name, plain=True)
    monkeypatch.setattr(game.module, "moves", lambda position, buffer, at: at)
    with pytest.raises(GameError, match="has no moves, but the game is not over"):
        in_memory(game.start())


@compiled_only
@pytest.mark.parametrize(
    "variant",
    [
        *(pytest.param(variant, marks=LONG) for variant in ("finkel-2", "blitz-1", "masters-1")),
        pytest.param("finkel-1", marks=pytest.mark.slow),
    ],
)
def test_dice_against_value_iteration(variant):
    start = load_game(f"ur:{variant}").start()
    base, iterated = in_memory(start, threads=2), iterate(start)
    assert base.entry(start).value == pytest.approx(iterated.value, abs=2e-9)
    assert base.verify(threads=2).wrong == 0
    error = base.stats()["error"]
    assert error <= 1e-9
    rng = np.random.default_rng(1)
    for number in rng.integers(0, base.space.sizes[-1], 50):
        position = base.position_at(base.space.names[-1], int(number))
        with contextlib.suppress(PositionError):  # not all of them are reachable
            value = iterated.value_of(position)
            assert base.entry(position).value == pytest.approx(value, abs=2e-9)


def test_dice_without_indices():
    """Each reachable position has the value that value iteration finds."""
    start = load_game("toys.race", plain=True).start()
    base, iterated = in_memory(start), iterate(start)
    for number in range(base.space.sizes[0]):
        position = base.position_at("all", number)
        assert base.entry(position).value == pytest.approx(iterated.value_of(position), abs=2e-9)
    assert base.verify().wrong == 0


def random_graph(rng, cut):
    """Return nodes of :mod:`toys.hazard` whose play ends: every cycle has dice that may leave it.

    Nodes from *cut* on lead only to such nodes; finished ones, which must not be asked, lead
    anywhere.
    """
    size = cut + rng.randint(3, 7)
    kinds = [rng.choice(("over", "over", "dice", "dice", "player")) for _ in range(size)]
    kinds[-1] = "over"
    ends = [node for node in range(size) if kinds[node] == "over"]
    graph = []
    for node, kind in enumerate(kinds):
        first = cut if node >= cut else 0
        allowed = [child for child in range(first, size) if kinds[child] != "player"]
        if kind == "player":
            allowed += [child for child in range(node + 1, size) if kinds[child] == "player"]
        elif kind == "dice":
            allowed = [*range(first, size)]
        else:
            allowed = [*range(size)]
        children = rng.choices(allowed, k=rng.randint(kind != "over", 3))
        odds: list[float] = []
        if kind == "dice":
            children.append(rng.choice([end for end in ends if end >= first]))
            weights = [rng.choice((0, 1, 2, 3)) for _ in children[1:]] + [1]
            odds = [weight / sum(weights) for weight in weights]
        elif kind == "over" and rng.randint(0, 1):
            odds = [1 / len(children) for _ in children]
        value = rng.randint(-5, 5) if kind == "over" else None
        graph.append(hazard.Node(rng.randint(0, 1), value, tuple(odds), tuple(children)))
    return graph


def values_by_sweeps(graph):
    """Return each node's value for its player, by iterating until none changes."""
    values = [0.0 if node.value is None else float(node.value) for node in graph]
    changed = 1.0
    while changed > 1e-13:
        changed = 0.0
        for at, node in enumerate(graph):
            if node.value is not None:
                continue
            ahead = [
                values[child] if graph[child].mover == node.mover else -values[child]
                for child in node.children
            ]
            value = max(ahead)
            if node.odds:
                value = sum(odds * each for odds, each in zip(node.odds, ahead, strict=True))
            changed = max(changed, abs(value - values[at]))
            values[at] = value
    return values


def some_nodes(graph, rng):
    """Return nodes to index: all but some finished ones and some that lead to indexed ones."""
    kept = set(range(len(graph)))
    for at in rng.sample(range(len(graph)), len(graph) // 2):
        ahead = {child for child in graph[at].children if graph[child].value is None}
        before = [node for node, each in enumerate(graph) if at in each.children]
        passed = [node for node in before if graph[node].value is None and node not in kept]
        if graph[at].value is not None or (ahead <= kept - {at} and not passed):
            kept.remove(at)
    return sorted(kept)


@pytest.mark.parametrize("seed", range(40))
def test_finished_positions_of_games_of_chance_lead_nowhere(seed, monkeypatch):
    """Random graphs, with and without indices, compared with independently computed values."""
    rng = random.Random(seed)
    cut = rng.randint(0, 6)
    graph = random_graph(rng, cut)
    values = values_by_sweeps(graph)
    monkeypatch.setattr(hazard, "GRAPH", graph)
    monkeypatch.setattr(hazard, "ASKED", [])

    start = hazard.Position()
    iterated, base = iterate(start), in_memory(start)
    for number in range(base.space.sizes[0]):
        position = base.position_at("all", number)
        assert iterated.value_of(position) == pytest.approx(values[position.node], abs=2e-9)
        assert base.entry(position).value == pytest.approx(values[position.node], abs=2e-9)
    assert (base.verify().compared, base.verify().wrong) == (base.space.sizes[0], 0)

    nodes = some_nodes(graph, rng)
    layers = [node for node in nodes if node >= cut], [node for node in nodes if node < cut]
    monkeypatch.setattr(hazard_numbered, "LAYERS", layers)
    monkeypatch.setattr(hazard_numbered, "LAYER_SIZES", tuple(map(len, layers)))
    base = in_memory(hazard_numbered.Position())
    for node, value in enumerate(values):
        entry = base.entry(hazard_numbered.Position(node))
        assert entry.value == pytest.approx(value, abs=2e-9)
    assert (base.verify().compared, base.verify().wrong) == (sum(map(len, layers)), 0)
    assert hazard.ASKED == []


@pytest.mark.slow
@pytest.mark.long
def test_ur_with_three_pieces():
    """Published: Finkel with three pieces (see ur_values.txt for the others)."""
    start = load_game("ur:finkel-3").start()
    base = in_memory(start, threads=2)
    assert base.entry(start).value == pytest.approx(iterate(start).value, abs=2e-9)
    assert base.verify(threads=2).wrong == 0


def test_games_without_loops_too():
    base = in_memory(load_game("tictactoe").start())
    assert len(base) == 5478
    assert base.entry(load_game("tictactoe").start()).value == 0
    assert base.entry(load_game("tictactoe").parse("12")).value == 1
    positions, edges = reachable(load_game("tictactoe").start())
    naive = solved_by_sweeps(edges)
    for word, position in positions.items():
        entry = base.entry(position)
        assert (entry.value, entry.distance) == naive[word]


def test_verification_finds_what_is_wrong(pursued):
    base = in_memory(pursuit.Position())
    assert base.verify().compared == sum(layer["positions"] for layer in base.layers())
    table = base.directory.layers[1]
    table.symbols[5] ^= np.uint64(0b101)
    found = base.verify(threads=2)
    assert found.wrong > 0
    assert found.examples[0][0] == "two"
    layer, number = found.examples[0]
    assert type(base.position_at(layer, number)) is pursuit.Position


def test_moves_and_lines(pursued):
    for position in list(reachable(pursuit.Position())[0].values())[:200]:
        entry = pursued.entry(position)
        moves = pursued.moves(position)
        if outcome(position)[0]:
            assert not moves
            continue
        assert sorted(moves) == sorted(legal_moves(position))
        best = next(iter(moves.values()))
        assert (best.value, best.distance) == (entry.value, entry.distance)
        if entry.value:
            line = pursued.line(position)
            assert len(line) == entry.distance


# Files


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "base"
    assert build_tablebase(pursuit.Position(), target) == "done"
    return target


def test_a_folder_is_opened_and_gives_the_same(folder, pursued):
    base = Tablebase.open(folder)
    assert base.distances() == pursued.distances()
    assert base.verify(threads=2).wrong == 0
    assert len(base) == len(pursued)
    for position in list(reachable(pursuit.Position())[0].values())[::7]:
        assert base.entry(position) == pursued.entry(position)


@compiled_only
def test_positions_without_indices_are_kept_with_the_values(tmp_path):
    build_tablebase(chase.Position(), tmp_path / "base")
    base = Tablebase.open(tmp_path / "base")
    assert base.verify().wrong == 0
    assert base.distances() == in_memory(chase.Position()).distances()


def test_a_build_resumes_where_it_was_stopped(tmp_path, monkeypatch):
    """It may be stopped at any moment: within a layer, or between layers."""
    monkeypatch.setattr("cutnode.tablebases.builder.SAVE_SECONDS", 0.0)
    whole = in_memory(pursuit.Position()).distances()
    for stop_after in range(0, 40, 3):
        target = tmp_path / str(stop_after)
        stop, seen = threading.Event(), []

        def look(progress, stop=stop, seen=seen, stop_after=stop_after):
            seen.append(progress)
            if len(seen) > stop_after:
                stop.set()

        reason = build_tablebase(pursuit.Position(), target, stop=stop, progress=look)
        assert reason in ("stopped", "done")
        assert build_tablebase(pursuit.Position(), target) == "done"
        assert Tablebase.open(target).distances() == whole
        assert not list(target.glob("*.partial"))


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from cutnode.tablebases import builder, building
from cutnode.contract.verbs import *
from cutnode import load_game
builder.SAVE_SECONDS = 0.0
start = load_game("ur:finkel-2").start()
building.build_tablebase(start, {target!r}, progress=lambda p: print("on", flush=True))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals")
def test_a_killed_build_is_resumed(tmp_path):
    target = tmp_path / "base"
    script = KILLED.format(tests=str(Path(__file__).parent), target=str(target))
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(0.05)
        process.kill()
        process.communicate()
    start = load_game("ur:finkel-2").start()
    assert build_tablebase(start, target) == "done"
    base = Tablebase.open(target)
    assert base.entry(start).value == pytest.approx(iterate(start).value, abs=2e-9)
    assert base.verify().wrong == 0


def test_two_builds_do_not_share_a_folder(tmp_path):
    seen = []

    def second(progress):
        if not seen:
            with pytest.raises(CutnodeError, match="another process is building") as error:
                build_tablebase(pursuit.Position(), tmp_path)
            seen.append(error)

    build_tablebase(pursuit.Position(), tmp_path, progress=second)
    assert seen


def test_folders_and_files_that_are_refused(folder, tmp_path):
    with pytest.raises(CutnodeError, match=r"no tablebase in .*missing"):
        Tablebase.open(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CutnodeError, match="has no solved layer"):
        Tablebase.open(tmp_path / "empty")
    file = folder / "layer-0001.tb"
    data = bytearray(file.read_bytes())
    data[4099] ^= 1
    file.write_bytes(data)
    with pytest.raises(CutnodeError, match=r"layer-0001.tb is damaged"):
        Tablebase.open(folder)
    file.write_bytes(data[:4200])
    with pytest.raises(CutnodeError, match="is truncated"):
        Tablebase.open(folder)
    file.write_bytes(b"something else altogether")
    with pytest.raises(CutnodeError, match="is not a cutnode tablebase layer"):
        Tablebase.open(folder)
    with pytest.raises(CutnodeError, match="is not a cutnode tablebase layer"):
        build_tablebase(pursuit.Position(), folder)


def test_compressed_files(folder, pursued, monkeypatch):
    before = Tablebase.open(folder).stats()
    assert run_cutnode("tablebase", "compress", folder, "--game", "toys.pursuit").exit_code == 0
    found = Tablebase.open(folder)
    assert found.stats() == before and found.verify().wrong == 0
    start = pursuit.Position()
    assert found.moves(start) == pursued.moves(start)
    assert compress_tablebase(folder) == 0
    assert build_tablebase(start, folder) == "done"
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(CutnodeError, match=r"pip install 'cutnode\[compress\]'"):
        Tablebase.open(folder)


def test_only_what_pays_is_compressed():
    words = np.random.default_rng(1).integers(0, 1 << 63, 300_000).astype(np.uint64)
    assert compressed(words) is None
    packed, frames = compressed(words // (1 << 40))
    assert expanded(packed, frames, len(words)).tolist() == (words // (1 << 40)).tolist()


def test_other_rules_are_refused(folder, monkeypatch):
    monkeypatch.setattr("cutnode.storage.arrays.rules_digest", lambda cls, modules=(): "another")
    with pytest.raises(CutnodeError, match=r"was made by other rules of toys\.pursuit"):
        Tablebase.open(folder)


@compiled_only
def test_a_folder_of_another_game_or_metric_is_not_resumed(folder, tmp_path):
    with pytest.raises(CutnodeError, match=r"is about toys\.pursuit, not tictactoe"):
        build_tablebase(load_game("tictactoe").start(), folder)
    with pytest.raises(CutnodeError, match="has a tablebase with metric dtm, not wdl"):
        build_tablebase(pursuit.Position(), folder, settings=Settings(metric="wdl"))
    with pytest.raises(CutnodeError, match=r"is about toys\.pursuit, not tictactoe"):
        Tablebase.open(folder).entry(load_game("tictactoe").start())


def test_a_position_beyond_the_layers_is_no_entry(tmp_path):
    build_tablebase(pursuit.Position(), tmp_path, layers=["one"])
    base = Tablebase.open(tmp_path)
    assert list(base.directory.layers) == [0]
    assert base.entry(pursuit.Position()) is None
    assert base.moves(pursuit.Position()) == {}
    with pytest.raises(PositionError, match=r"is not in .*, which has the layers one"):
        base.probe(pursuit.Position())
    build_tablebase(pursuit.Position(), tmp_path, through="two")
    assert list(Tablebase.open(tmp_path).directory.layers) == [0, 1]


# Faulty games, and faulty requests


@compiled_only
def test_too_large(tmp_path):
    with pytest.raises(CutnodeError, match=r"more than .* positions of connect4 can be reached"):
        build_tablebase(
            load_game("connect4").start(), tmp_path / "a", settings=Settings(memory=1 << 22)
        )
    with pytest.raises(CutnodeError, match="layer 1-1 of ur has 217 indices and takes"):
        in_memory(load_game("ur").start(), ["1-1"], memory=1000)


def test_what_does_not_fit_into_memory_is_on_disk(folder, pursued, tmp_path, monkeypatch):
    build_tablebase(pursuit.Position(), tmp_path / "base", settings=Settings(memory=100))
    found = Tablebase.open(tmp_path / "base")
    assert found.stats() == {**Tablebase.open(folder).stats(), "bytes": found.stats()["bytes"]}
    assert sorted(path.name for path in (tmp_path / "base").iterdir()) == [
        *(f"layer-{number:04}.tb" for number in range(3)),
        "lock",
    ]

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(CutnodeError, match=r"cannot reserve .* MiB in .*: No space left"):
        build_tablebase(pursuit.Position(), tmp_path / "full", settings=Settings(memory=100))


def test_dice_on_disk(tmp_path):
    """Values are bit-identical wherever their arrays are."""
    start = load_game("toys.race", plain=True).start()
    space = enumerated(start, 1 << 20)
    size = space.sizes[0]
    directory = Directory(1, space.keys)
    tables = [
        LayerWork(space, 0, directory, Settings(memory=memory), folder=tmp_path).solve()
        for memory in (8 * size, 1 << 30)
    ]
    assert tables[0].symbols.array().tolist() == tables[1].symbols.array().tolist()
    assert tables[0].meanings.tolist() == tables[1].meanings.tolist()


def test_what_is_asked_wrongly(tmp_path):
    with pytest.raises(CutnodeError, match="has no layer 'four'; there are 3: one, two, three"):
        build_tablebase(pursuit.Position(), tmp_path, layers=["four"])
    with pytest.raises(CutnodeError, match="metric must be one of dtm, dtc, wdl"):
        Settings(metric="dtz")
    with pytest.raises(CutnodeError, match="tolerance must be positive"):
        Settings(tolerance=0)
    with pytest.raises(CutnodeError, match="threads must be 1 to"):
        build_tablebase(pursuit.Position(), tmp_path, settings=Settings(threads=0))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"LAYER_SIZES": (729, 729, 200)}, "play leads to a later layer, to an index out of range"),
        ({"LAYER_SIZES": None}, "defines index, so it must also define LAYER_SIZES"),
        ({"LAYER_SIZES": ((1, 2), 3)}, "must be a tuple with the number of indices"),
        ({"LAYER_NAMES": ("a", "a", "b")}, "must be 3 different names"),
    ],
)
def test_wrong_layers_of_a_game(change, message, monkeypatch):
    for name, value in change.items():
        monkeypatch.setattr(pursuit, name, value)
    with pytest.raises((GameError, ValueError), match=message):
        in_memory(pursuit.Position())


# The command


@compiled_only
def test_the_command(tmp_path):
    target = tmp_path / "base"
    built = run_cutnode("tablebase", "build", "tictactoe", "--out", target, "--json")
    assert built.exit_code == 0, built.output
    numbers = json.loads(built.stdout)
    assert numbers["positions"] == 5478
    assert numbers["wins"] + numbers["draws"] + numbers["losses"] == 5478
    assert json.loads(run_cutnode("tablebase", "stats", target, "--json").stdout) == numbers
    assert "positions         5,478" in run_cutnode("tablebase", "stats", target, "--layers").stdout
    found = json.loads(run_cutnode("tablebase", "probe", target, "12", "--json").stdout)
    assert (found["value"], found["distance"]) == (1, 5)
    assert found["moves"]["5"] == {"value": 1, "distance": 5}
    assert "wins in 5 plies" in run_cutnode("tablebase", "probe", target, "12").stdout
    assert run_cutnode("tablebase", "verify", target).stdout == "5,478 entries compared, 0 wrong\n"
    assert json.loads(run_cutnode("tablebase", "verify", target, "--json").stdout)["wrong"] == 0
    listed = json.loads(run_cutnode("tablebase", "layers", "ur:finkel-2", "--json").stdout)
    assert listed == {"1-1": 217, "2-1": 2956, "2-2": 9696}


@compiled_only
def test_the_command_says_what_is_wrong(tmp_path):
    missing = run_cutnode("tablebase", "probe", tmp_path / "no")
    assert missing.exit_code == 2 and "there is no tablebase in" in missing.stderr
    run_cutnode("tablebase", "build", "tictactoe", "--out", tmp_path)
    wrong = run_cutnode("tablebase", "probe", tmp_path, "1 1")
    assert wrong.exit_code == 2 and "Traceback" not in wrong.output
    other = run_cutnode("tablebase", "stats", tmp_path, "--game", "connect4")
    assert other.exit_code == 2 and "is about tictactoe, not connect4" in other.stderr
    infinite = run_cutnode(
        "tablebase", "build", "kalah", "--out", tmp_path / "k", "--memory-mb", "4"
    )
    assert infinite.exit_code == 2 and "allow more memory" in infinite.stderr
    assert os.listdir(tmp_path / "k") == ["lock"]


# Use


def test_a_search_answers_from_a_tablebase(pursued_plainly):
    engine = Engine(PURSUIT.Position, tablebase=pursued_plainly)
    for position in list(reachable(PURSUIT.Position())[0].values())[::11]:
        if outcome(position)[0]:
            continue
        entry = pursued_plainly.entry(position)
        result = engine.search(position, depth=4, lines=2)
        assert (result.proven, result.reason, result.nodes) == (True, "tablebase", 0)
        expected = WIN - entry.distance if entry.value else 0
        assert result.value == entry.value * expected
        assert list(pursued_plainly.moves(position))[:2] == [line.move for line in result.lines]
        solved = engine.solve(position)
        assert (solved.value, solved.depth) == (entry.value, entry.distance or 0)


def test_distances_that_end_early_are_no_distances_to_the_end(pursued_plainly):
    base = in_memory(PURSUIT.Position(), metric="dtc")
    engine = Engine(PURSUIT.Position, tablebase=base)
    far = max(base.entry(p).distance or 0 for p in reachable(PURSUIT.Position())[0].values())
    for position in list(reachable(PURSUIT.Position())[0].values())[::31]:
        entry = pursued_plainly.entry(position)
        if outcome(position)[0] or not entry.value:
            continue
        result = engine.search(position, depth=4)
        assert (result.value > 0) == (entry.value > 0) and result.proven
        assert abs(result.value) < WIN - far and result.meaning().endswith(" wins")


def test_a_rule_that_draws_is_not_in_a_tablebase():
    """An example is the fifty-move rule: near it, and near a repetition, a search is needed."""
    base = in_memory(DRAUGHTS, ["1k-1m"])
    engine = Engine(type(DRAUGHTS), tablebase=base, threads=1)
    position = next(
        place
        for place in (base.position_at("1k-1m", number) for number in range(0, 84, 7))
        if base.entry(place).distance and base.entry(place).distance > 2
    )
    late = position._replace(quiet=draughts.DRAWN - 1)
    assert engine.search(position, depth=1).reason == "tablebase"
    assert engine.search(position, depth=1, history=[DRAUGHTS]).reason == "tablebase"
    quiet = position._replace(quiet=9)
    after = play(quiet, engine.search(quiet, depth=1).best_move)
    assert engine.search(quiet, depth=1, history=[after]).reason == "tablebase"
    assert engine.search(quiet, depth=1, history=[after, after]).reason != "tablebase"
    assert engine.search(late, depth=1).reason != "tablebase"


def test_lines_of_a_search_end_in_a_tablebase(tmp_path, pursued_plainly):
    """With the table of the last layer, a search sees wins from farther away."""
    build_tablebase(PURSUIT.Position(), tmp_path, through="one")
    part = Tablebase.open(tmp_path)
    plain = Engine(PURSUIT.Position, exact=True)
    engine = Engine(PURSUIT.Position, exact=True, tablebase=part)
    better = 0
    for position in list(reachable(PURSUIT.Position())[0].values()):
        if outcome(position)[0] or part.entry(position) is not None:
            continue
        entry = pursued_plainly.entry(position)
        with_tables = engine.search(position, depth=2)
        without = plain.search(position, depth=2)
        better += bool(with_tables.value) > bool(without.value)
        if with_tables.value:
            assert (with_tables.value > 0) - (with_tables.value < 0) == entry.value
        if without.value:
            assert with_tables.value == without.value
    assert better >= 10


@pytest.fixture(scope="module")
def few_men():
    """Tablebases of four men, and of the three that remain after a capture."""
    return in_memory(DRAUGHTS, ["1m1k-1m1k"]), in_memory(DRAUGHTS, ["1m1k-1m"])


@pytest.mark.once
def test_a_quiescence_search_ends_in_a_tablebase(few_men):
    """After captures, a position of three men is known; without tables it is evaluated."""
    whole, part = few_men
    engine = Engine(DRAUGHTS, tablebase=part, threads=1)
    wins = 0
    for number in range(0, 960, 80):
        with contextlib.suppress(CutnodeError):  # not every index has a position
            position = whole.position_at("1m1k-1m1k", number)
            value = engine.search(position, depth=1).value
            if abs(value) > WIN - 1000:
                assert (value > 0) - (value < 0) == whole.entry(position).value
                wins += 1
    assert wins > 1


def test_playouts_prove_by_a_tablebase(few_men):
    whole, part = few_men
    proven = [0, 0]
    for number in range(0, 960, 48):
        with contextlib.suppress(CutnodeError):  # not every index has a position
            position = whole.position_at("1m1k-1m1k", number)
            for at, base in enumerate((None, part)):
                search = MonteCarlo(DRAUGHTS, tablebase=base, memory=16 << 20)
                result = search.search(position, playouts=60)
                value = whole.entry(position).value
                proven[at] += result.proven
                assert not result.proven or (result.value > 0) - (result.value < 0) == value
    assert proven[0] < proven[1]
    start = load_game("toys.race", plain=True).start()
    with pytest.raises(CutnodeError, match="a game of chance: playouts do not use its tablebase"):
        MonteCarlo(start, tablebase=in_memory(start))


def test_solve_finds_a_tablebase_in_a_folder(tmp_path, pursued):
    build_tablebase(pursuit.Position(), tmp_path)
    result = analyse(pursuit.Position(), tablebase=tmp_path)
    assert result.proven and result.nodes == 0
    assert result.scores == {
        move: entry.value for move, entry in pursued.moves(pursuit.Position()).items()
    }
    with pytest.raises(CutnodeError, match=r"is about toys\.pursuit, not tictactoe"):
        Engine(load_game("tictactoe"), tablebase=tmp_path)
    with pytest.raises(CutnodeError, match="tablebase must be a folder or a Tablebase"):
        Engine(pursuit.Position, tablebase=7)


# Proofs in games with cycles


@compiled_only
@pytest.mark.parametrize("toy", [pursuit, chase])
def test_solve_takes_games_that_loop(toy, pursued):
    """It solves the positions that fit into memory."""
    for position in list(reachable(toy.Position())[0].values())[::9]:
        entry = pursued.entry(pursuit.Position(*position))
        result = solve(position)
        assert result.value == entry.value
        assert result.depth == (entry.distance or 0)


@pytest.mark.once
@compiled_only
def test_without_memory_a_proof_is_right_where_it_ends(pursued_plainly):
    """An exact search with repetitions as draws: its proofs are true, and there are many."""
    proven = 0
    positions = list(reachable(PURSUIT.Position())[0].values())[::20]
    for position in positions:
        entry = pursued_plainly.entry(position)
        result = solve(position, memory=1, nodes=1_000)
        assert result.lower <= entry.value <= result.upper
        proven += result.proven
    assert proven > len(positions) // 4


@pytest.mark.slow
@pytest.mark.long
def test_points_that_loop_by_search():
    base = in_memory(bargain.Position())
    for position in reachable(bargain.Position())[0].values():
        result = solve(position, memory=1, nodes=50_000)
        assert result.lower <= base.entry(position).value <= result.upper


def test_limits_of_a_proof_in_memory():
    result = solve(PURSUIT.Position(), memory=1, seconds=0.2)
    assert not result.proven and result.reason == "time limit"
    assert (result.lower, result.upper) == (-1, 1)
    unlimited = load_game("toys.chase", plain=True).start()
    assert solve(unlimited, nodes=100).nodes <= 200


NUMBERED = """
LAYER_SIZES = (512, 512, 512)
PLAIN = True


def layer(position):
    return sum(heap > 0 for heap in position) - (position != (0, 0, 0))


def index(position):
    return position.first + 8 * position.second + 64 * position.third if layer(position) < 2 else -1


def position_at(example, at, number):
    return Position(number % 8, number // 8 % 8, number // 64)
"""


def test_proofs_end_in_a_tablebase(tmp_path):
    """In Nim on three heaps, the tables have the positions with one or two heaps."""
    (tmp_path / "numbered_nim.py").write_text(Path(template.__file__).read_text() + NUMBERED)
    game = load_game(str(tmp_path / "numbered_nim.py"))
    base = in_memory(game.start(), ["0", "1"])
    start = game.parse("3/5/6")
    alone, known = solve(start), solve(start, tablebase=base)
    assert (known.value, known.proven) == (alone.value, True)
    assert known.nodes < alone.nodes / 2
    positions = [game.parse(text) for text in ("3/5/6", "1/2/2", "4/4/0", "0/0/2")]
    batch = run_batch(positions, tablebase=base, threads=1)
    assert batch.values.tolist() == [solve(position).value for position in positions]
    assert batch.nodes[2:].tolist() == [0, 0] and batch.nodes[0] > 0


def test_batches_of_games_that_loop(tmp_path, pursued):
    positions = [
        position
        for position in reachable(pursuit.Position())[0].values()
        if not outcome(position)[0]
    ]
    batch = run_batch(positions, tablebase=pursued, weak=True, journal=tmp_path / "journal")
    wanted = [pursued.entry(position).value for position in positions]
    assert batch.values.tolist() == wanted
    moves = batch.rows["move"].tolist()
    assert moves == [next(iter(pursued.moves(position))) for position in positions]
    with pytest.raises(CutnodeError, match="the journal"):
        run_batch(positions, tablebase=pursued, journal=tmp_path / "journal")
    build_tablebase(pursuit.Position(), tmp_path / "part", through="one")
    with pytest.raises(
        GameError, match=r"does not have '.*': a batch of a game with cycles needs a"
    ):
        run_batch(positions, tablebase=tmp_path / "part")
    told, stop = [], threading.Event()
    stop.set()
    assert run_batch(positions, tablebase=pursued, stop=stop).reason == "stopped"
    run_batch(positions, tablebase=pursued, progress=lambda now: told.append(now.done))
    assert told[-1] == len(positions)
    with pytest.raises(GameError, match="or in a batch with a tablebase that has them all"):
        run_batch(positions)


def test_forced_wins():
    """The prover finds what the tablebase says, including distances and defences."""
    start = load_game("toys.hexapawn:4x3", plain=True).start()
    prover, reader = Prover(start), Prover(start, tablebase=in_memory(start))
    for position in list(reachable(start)[0].values())[::5]:
        found, read = prover.prove(position, 3), reader.prove(position, 3)
        assert (found.moves, found.refuted) == (read.moves, read.refuted)
        assert read.nodes == 0 and len(found.pv) == len(read.pv)
    assert reader.prove(start, 3, proof=True).nodes > 0
    shallow = Prover(start, tablebase=in_memory(start, metric="wdl"))
    assert shallow.prove(start, 3).proven
