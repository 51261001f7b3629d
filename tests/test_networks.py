"""Learned networks: fresh and incremental scores, searches, files, models, and the fit."""

from __future__ import annotations

import copy
import functools
import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest

from cutnode import GameError, Searcher, legal_moves, load_game, minimax
from cutnode.compiler.jit import Evaluator, Position, jit_enabled, kernel
from cutnode.contract.positions import as_words
from cutnode.contract.verbs import evaluate, opponent_planes, outcome, planes, play
from cutnode.kernels.evaluation import kept_bytes, learned_score
from cutnode.kernels.learned import MOST_STONES, NONE
from cutnode.kernels.networks import (
    MOST_OUTPUT,
    MOST_WIDTH,
    ONE,
    OUTPUT_ONE,
    Inputs,
    Network,
)
from cutnode.storage.evaluations import evaluation_recipe, load_evaluation, save_evaluation
from cutnode.training import fitting, objectives
from cutnode.training.boards import sampled_positions
from cutnode.training.models import NetworkModel, PatternModel, models_for

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="games are learned in compiled code")

GAMES = ["chess", "connect4:5x4", "hex:4x4", "draughts:6x6", "skirmish:4x4"]
LARGE = ["chess", "draughts", "skirmish"]
"""The games in which plain Python takes long."""


@kernel
def score_at(position: Position, evaluation: Evaluator, slot: int) -> int:
    return learned_score(evaluation, position, slot)


@functools.cache
def model_of(game):
    (model,) = (each for each in models_for(game.start()) if each.name == "a network")
    return model


def drawn(model, seed=0):
    """Return a network with random weights."""
    return Network.drawn(model.cls, model.shape, seed, stages=2)


def line_of(game, seed, plies=40):
    """Return the positions of the first plies of a random game."""
    position, chosen = game.start(), random.Random(seed)
    for _ in range(plies):
        if outcome(position)[0]:
            return
        yield position
        position = play(position, chosen.choice(legal_moves(position)))


@pytest.mark.once
@pytest.mark.parametrize(
    "name",
    [
        *(name for name in GAMES if name not in LARGE),
        *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE),
    ],
)
def test_updated_scores_are_those_from_scratch_and_of_plain_python(name):
    game = load_game(name)
    network = drawn(model_of(game))
    run = score_at.specialise(model_of(game).cls, network)
    size = kept_bytes(network)
    kept = np.zeros(9 * size + 64, np.uint8)
    first = kept.ctypes.data + -kept.ctypes.data % 64
    for seed in range(2):  # the end of a game and the start of the next have little in common
        for number, position in enumerate(line_of(game, seed, plies=16)):
            wanted = network(position)
            assert run(position, network, 0) == wanted
            # As on the line, with a ply repeated, and with the previous ply not evaluated.
            for ply in (number % 8, number % 8, 5):
                assert run(position, network, first + size * (ply + 1)) == wanted


@pytest.mark.once
@pytest.mark.parametrize("weight", [MOST_OUTPUT, -MOST_OUTPUT])
def test_the_widest_network_has_room_for_its_largest_sum(weight):
    game = load_game("breakthrough:4x5")
    model = model_of(game)
    shape = model.shape._replace(width=MOST_WIDTH)
    inputs = np.full((shape.sides, shape.rows, MOST_WIDTH), ONE)
    outputs = np.full((1, MOST_WIDTH), weight)
    stages = np.zeros(MOST_STONES + 1)
    network = Network(model.cls, shape, inputs, outputs, np.zeros(1), stages, 1.0)
    run = score_at.specialise(model.cls, network)
    wanted = MOST_WIDTH * weight / OUTPUT_ONE
    assert run(game.start(), network, 0) == network(game.start()) == pytest.approx(wanted, abs=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("chess", marks=pytest.mark.long), "hex:4x4"])
def test_searches_with_a_network_find_what_minimax_finds(name):
    game = load_game(name)
    network = drawn(model_of(game))
    searcher = Searcher(game, evaluation=network, table=1, exact=True)
    for position in list(line_of(game, 5))[2:14:2]:
        for depth in range(1, 4):
            found = searcher.search(position, depth=depth)
            assert found.value == minimax(position, depth, evaluation=network).value


def test_the_own_estimate_is_a_part_of_the_score():
    game = load_game("breakthrough:4x5")
    alone = model_of(game)
    network, both = drawn(alone), drawn(alone.with_own())
    run = score_at.specialise(alone.cls, both)
    for position, _ in sampled_positions(game.start(), 20):
        assert both(position) == network(position) + evaluate(position)
        assert run(position, both, 0) == both(position)


def test_planes_of_chess_are_the_same_for_mirrored_wings_and_colours():
    game = load_game("chess")
    texts = (
        "4k3/2p5/8/3n4/8/5Q2/P7/6K1 w - - 0 1",
        "3k4/5p2/8/4n3/8/2Q5/7P/1K6 w - - 0 1",
        "1k6/7p/2q5/8/4N3/8/5P2/3K4 b - - 0 1",
    )
    first, *others = (planes(game.parse(text)) for text in texts)
    assert all(other == first for other in others)
    assert sum(plane.bit_count() for plane in first) == 6


def test_the_opponent_has_the_planes_that_he_has_as_mover():
    game = load_game("chess")
    board = "4k3/2p5/8/3n4/8/5Q2/P7/6K1"
    position, other = (game.parse(f"{board} {mover} - - 0 1") for mover in "wb")
    assert opponent_planes(position) == planes(other)
    assert opponent_planes(other) == planes(position)


def test_files_give_back_networks(tmp_path):
    network = drawn(model_of(load_game("hex:4x4")))
    path = tmp_path / "a.weights"
    save_evaluation(path, network, {"seed": 3})
    again = load_evaluation(path, network.cls)
    assert again.meaning == network.meaning
    assert again.shape == network.shape
    assert evaluation_recipe(path) == {"seed": 3}
    other = copy.deepcopy(network)
    assert other.meaning == network.meaning
    assert other.address != network.address


def test_parts_that_do_not_fit_are_refused():
    model = model_of(load_game("breakthrough:4x5"))
    network = drawn(model)
    parts = network.arrays
    with pytest.raises(GameError, match="do not fit together"):
        Network(model.cls, model.shape, **(parts | {"shifts": np.zeros(3)}))
    with pytest.raises(GameError, match="output weights beyond 127"):
        Network(model.cls, model.shape, **(parts | {"outputs": parts["outputs"] * 200}))
    for width in (0, 20, 272):
        with pytest.raises(GameError, match=rf"16, 32, ... 256 neurons, got {width}"):
            Network(
                model.cls,
                model.shape._replace(width=width),
                np.zeros((1, model.shape.rows, width)),
                np.zeros((1, width)),
                np.zeros(1),
                network.stages * 0,
                1.0,
            )
    wide = Inputs((), 17, 32, NONE, own=False)
    inputs = np.zeros((1, wide.rows, 32))
    with pytest.raises(GameError, match="more than 1024 bits"):
        Network(model.cls, wide, **(parts | {"inputs": inputs}))


# Models


def test_models_of_games():
    names = {name: [m.name for m in models_for(load_game(name).start())] for name in GAMES[:2]}
    both = ["a network", "a network and the game's own"]
    assert names["chess"] == both
    alone = ["patterns", "patterns and terms", both[0]]
    assert names["connect4:5x4"] == [*alone, *(f"{name} and the game's own" for name in alone)]


def test_planes_that_no_network_can_read_are_refused(tmp_path):
    with pytest.raises(GameError, match="chess is plain Python, too slow to learn from"):
        models_for(load_game("chess", plain=True).start())
    for number in (0, 17):
        path = tmp_path / f"planes_{number}.py"
        source = Path(load_game("tictactoe").module.__file__).read_text()
        words = "position.mine, " * number
        path.write_text(f"{source}\n\n@compiled\ndef planes(position):\n    return ({words})\n")
        with pytest.raises(GameError, match=f"planes of {number} words; a network reads 1 to 16"):
            models_for(load_game(str(path)).start())


def test_models_read_what_evaluations_see():
    for name in ("hex:4x4", "connect4:5x4", "chess"):
        start = load_game(name).start()
        samples = [position for position, _ in sampled_positions(start, 30)]
        model = model_of(load_game(name))
        network = drawn(model)
        inputs, stones = model.read(start, as_words(samples).reshape(len(samples), -1))
        views = model.shape.views
        bits = np.unpackbits(inputs, axis=1, bitorder="little").reshape(len(samples), views, -1)
        assert (bits.sum(axis=2) == stones[:, None]).all()
        rows = network.inputs[:, :-1].reshape(-1, model.shape.width)
        for position, seen, count in zip(samples, bits, stones, strict=True):
            total = np.stack([rows[row == 1].sum(axis=0) for row in seen]) + network.inputs[0, -1]
            if model.shape.sides == 2 and position[model.shape.side]:
                total += network.inputs[1, -1] - network.inputs[0, -1]
            active = np.clip(total, 0, 255).astype(int).reshape(-1)
            stage = network.stages[count]
            output = int((active * active * network.outputs[stage]).sum())
            score = (output * network.factor >> 32) + network.shifts[stage]
            assert network.completed(position, int(score)) == network(position)


def test_images_are_positions_of_the_game():
    """Images shown to a network are positions as likely as the originals."""
    game = load_game("connect4:5x4")
    model = model_of(game)
    assert len(model.images) == 2
    position = game.parse("1124")
    image = game.parse("5542")
    rows, _ = model.read(game.start(), as_words([position, image]).reshape(2, -1))
    first, second = np.unpackbits(rows, axis=1, bitorder="little")
    assert any((first[other] == second).all() for other in model.images)


# The fit

jax_only = pytest.mark.skipif(
    not (importlib.util.find_spec("jax") and importlib.util.find_spec("optax")),
    reason="needs the extra train",
)


@jax_only
@pytest.mark.slow
@pytest.mark.parametrize("views", [1, 2])
def test_the_fit_finds_what_no_sum_of_inputs_says(views):
    chosen = np.random.default_rng(1)
    words = chosen.integers(0, 4, (40_000, views)).astype(np.uint64)  # two bits, and which differ
    odd = (np.bitwise_count(words) & 1).astype(np.float32)
    better = odd[:, 0] - 0.5 if views == 1 else odd[:, 0] - odd[:, 1]
    targets = 1 / (1 + np.exp(-4 * better))
    nothing = np.zeros(len(words), np.float32)
    held = np.arange(len(words)) % 10 == 0
    inputs = words.view(np.uint8)
    examples = objectives.Examples(inputs, nothing.astype(np.int32), nothing, targets, held)
    found = fitting.fit_network(
        examples, fitting.Course(True, epochs=20), width=8, views=views, count=1, most=(1.98, 1.98)
    )
    least = -(targets * np.log(targets) + (1 - targets) * np.log(1 - targets)).mean()
    assert found.error < 1.02 * least
    assert np.abs(found.inputs).max() <= 1.98


@jax_only
@pytest.mark.slow
@pytest.mark.parametrize("kind", [PatternModel, NetworkModel])
def test_what_is_fitted_is_what_plays(kind):
    """A game of points is learned, alone and on top of an evaluation that knows a part."""
    game = load_game("othello:4x4")
    start = game.start()
    samples = [position for position, _ in sampled_positions(start, 8000)]
    model = next(each for each in models_for(start) if isinstance(each, kind))
    wanted = np.array([mobility(position) for position in samples], np.float32)
    inputs, stones = model.read(start, as_words(samples).reshape(len(samples), -1))
    held = np.arange(len(samples)) % 10 == 0
    base = np.zeros_like(wanted)
    examples = objectives.Examples(inputs, np.zeros(len(samples), np.int32), base, wanted, held)
    fitted = model.fit(examples, fitting.Course(False, epochs=20), count=1)
    evaluation = model.evaluation(fitted, np.zeros(MOST_STONES + 1, np.int64), 1.0)
    found = np.array([evaluation(position) for position in samples])
    assert np.mean((found - wanted)[held] ** 2) < 0.6 * wanted[held].var()
    assert not outcome(start)[0]
    assert stones.min() >= 4
    if kind is NetworkModel:
        unit = float(evaluation.unit[0])
        again = model.evaluation(model.layers(evaluation, unit), evaluation.stages, unit)
        assert again.meaning == evaluation.meaning


@pytest.mark.once
@pytest.mark.parametrize("decisive", [False, True])
@pytest.mark.parametrize("views", [1, 2])
def test_the_gradient_of_a_network_is_its_slope(views, decisive):
    """A small step along each layer changes the error as the gradient predicts, also in parts."""
    chosen = np.random.default_rng(views)
    few, planes, width, stages = 60, 2, 16, 3
    words = chosen.integers(0, 1 << 63, (few, views * planes), np.uint64)
    words &= chosen.integers(0, 1 << 63, words.shape, np.uint64)
    columns = chosen.integers(0, stages, few).astype(np.int32), *chosen.random((2, few), np.float32)
    examples = objectives.Examples(words.view(np.uint8), *columns, np.zeros(few, bool))
    found = objectives.NetworkObjective(examples, decisive, views=views, spread=0.7)
    shapes = (64 * planes, width), (width,), (stages, views * width), (stages,)
    layers = [chosen.normal(0, 0.1, shape).astype(np.float32) for shape in shapes]
    rows = np.arange(few)
    gradient = found.gradient(layers, rows)
    halves = [found.gradient(layers, half) for half in np.split(rows, 2)]
    for number, part in enumerate(gradient):
        way = np.float32(1e-3 / np.abs(part).max()) * part
        ahead, back = (
            [layer + side * way if at == number else layer for at, layer in enumerate(layers)]
            for side in (1, -1)
        )
        slope = (found.error(ahead, rows) - found.error(back, rows)) / (2 * few)
        assert slope == pytest.approx(float((part * way).sum()), rel=0.02)
        assert part == pytest.approx((halves[0][number] + halves[1][number]) / 2, abs=1e-5)


def mobility(position):
    return 2 * position.mine.bit_count() - 3 * (position.theirs & 0xFF).bit_count()
