"""Tuning search parameters for a game: by the moves chosen, or by the games won.

Fewer nodes to a depth are not an aim in themselves, since pruning everything has the fewest.
Tuning by moves minimises the *loss*: the value that moves chosen with a node limit give away,
judged by a reference search with many times the nodes.  The reference search is exact if that
gets it deeper than the judged search; otherwise it uses the default techniques.  Scores are
converted to points per game by the logistic Elo curve, in which a ``UNIT`` of the game is worth
100 Elo.  SPSA (:mod:`cutnode.lab.spsa`) minimises the loss on half of the positions, and the
other half validates the result.

Tuning by games lets the settings of both points of a step play each other, a pair of games from
each of some positions, and steps towards the winner.  It needs thousands of games, and finds
improvements that no single move shows.

Either way, the tuned search then plays the default one until an SPRT decides.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from random import Random
from statistics import fmean
from typing import Any

from cutnode.contract.choices import AIMS
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import CutnodeError, require_at_least
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import position_text
from cutnode.contract.text import quoted
from cutnode.contract.verbs import outcome
from cutnode.kernels.declarations import Parameter
from cutnode.kernels.profiles import profile_of
from cutnode.kernels.techniques import (
    EXACT,
    SHORT,
    TECHNIQUES,
    choose,
    find_parameter,
    parameters_of,
)
from cutnode.lab.judging import Answers, Judge, Point, Task, losses_of, map_locally
from cutnode.lab.laboratory import with_interval
from cutnode.lab.measuring import ABOUT_INTERVALS, require_workers
from cutnode.lab.plots import (
    COLOURS,
    DASHES,
    GREY,
    PAGE,
    PALETTE,
    add_line_legend,
    set_axes,
)
from cutnode.lab.provenance import game_source
from cutnode.lab.spsa import Spsa
from cutnode.lab.statistics import bootstrap_mean, share
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.playing.elo import CONFIDENCE as NORMAL
from cutnode.playing.elo import POINTS, Sprt, elo_difference, expected_score, mean_and_error
from cutnode.playing.matches import make_openings, match
from cutnode.runtime.processes import Processes
from cutnode.runtime.running import Limits

DEFAULT, TUNED = "default", "tuned"
"""The names of the rows."""

SCREENED = 40
"""The positions on which parameters are screened."""

SENSITIVE = 0.02
"""The least share of changed moves with which a screened parameter is tuned."""

MOST_PARAMETERS = 8
"""The most screened parameters that are tuned."""

STEPS = 4
"""The divisor of a parameter's value that gives the unit of its steps."""

BATCH = 40
"""The positions of an iteration, in each of which both points choose a move."""

PAIRS = 8
"""The pairs of games that the two points of an iteration play."""

PAIR_NOISE = 0.5
"""The approximate standard deviation of both players' score difference in a pair, per game."""

CHUNK = 10
"""The pairs of games of one sample of the match."""

PARTS = 4
"""The parts into which a batch is split for the processes; each part compiles into one search."""

COLUMNS = (
    Column("setting"),
    Column("set", "parameter values, in the syntax of a player's set="),
    Column("loss", "mean loss per move in points per game, on held-out positions", ".4f", True),
    Column("move", "share of held-out positions with a best move", ".0%", True),
    Column("depth", "mean completed depth in plies", ".2f"),
    Column("elo", "Elo difference from the default", "+.0f", True),
    Column("score", "points per game against the default", ".3f"),
    Column("games", "games of the match", "d"),
    Column("llr", "SPRT: log-likelihood ratio (LLR) of H1 (least_elo) to H0 (0 Elo)", "+.2f"),
)

OF_MATCHES = {"elo", "score", "games", "llr"}
OF_MOVES = {"loss", "move", "depth"}


def tune(
    game: Game | str,
    positions: Sequence[Any],
    *,
    parameters: Iterable[str] | None = None,
    by: str = "moves",
    nodes: int = 1000,
    iterations: int = 60,
    pairs: int = 200,
    move_seconds: float | None = None,
    move_nodes: int | None = None,
    plies: int = 4,
    least_elo: float = 20.0,
    seed: int = 0,
    workers: int = 1,
    positions_from: str = "",
    progress: Progress = no_progress,
) -> Study:
    """Tune search parameters for a game, and play the tuned search against the default.

    *parameters* are names or patterns such as ``late_move_reductions.*`` or ``lmr.*``; by default,
    the parameters of selective techniques to which the game's moves are sensitive.  *by* is
    ``"moves"`` (the loss of the moves chosen in the positions) or ``"games"`` (the results of games
    from the positions).  Each search has a limit of *nodes*.  After *iterations* of SPSA, a match
    of at most *pairs* of games is played (0: none), with *move_seconds* (by default 0.05) or
    *move_nodes* for each move, after *plies* random ones, until an SPRT of *least_elo* against 0
    decides.  The values are accepted if they gain at least *least_elo* and the confidence interval
    is above 0; a note then shows the profile to write in the game.
    :class:`CutnodeError` for arguments that make no sense.
    """
    game = load_game(game) if isinstance(game, str) else game
    cls = type(game.start())
    positions = list(positions)
    if len(positions) < 2:
        raise CutnodeError("tuning needs at least 2 positions: one to fit, one to validate")
    for position in positions:
        if outcome(position)[0]:
            raise CutnodeError(f"the game is over in {quoted(position_text(position))}")
    if by not in AIMS:
        raise CutnodeError(f"tuning is by {' or '.join(AIMS)}, got {quoted(by)}")
    Limits(nodes)
    if move_seconds is None and move_nodes is None:
        move_seconds = 0.05
    Limits(move_nodes, move_seconds)
    require_at_least(iterations, 1, "iterations")
    require_at_least(pairs, 0, "pairs")
    require_at_least(plies, 0, "plies")
    require_workers(workers)
    if not 0 < least_elo < math.inf:
        raise CutnodeError(f"least_elo must be positive and finite, got {least_elo:g}")
    names = None if parameters is None else list(parameters)
    candidates = parameters_for(cls, names)
    texts = [position_text(position) for position in positions]
    settings = {
        "game": game_source(cls),
        "positions": texts,
        "positions_from": positions_from,
        "parameters": names,
        "by": by,
        "nodes": nodes,
        "iterations": iterations,
        "pairs": pairs,
        "move_seconds": move_seconds,
        "move_nodes": move_nodes,
        "plies": plies,
        "least_elo": least_elo,
        "seed": seed,
        "workers": workers,
    }
    unused = (set() if pairs else OF_MATCHES) | (set() if by == "moves" else OF_MOVES)
    timed = move_seconds is not None
    study = Study(
        "tune",
        "Search parameters tuned for a game",
        {name: value for name, value in settings.items() if value is not None},
        tuple(
            replace(column, timed=timed and column.name in OF_MATCHES)
            for column in COLUMNS
            if column.name not in unused
        ),
        progress=progress,
    )
    judge = Judge(game.source, nodes, tuple(texts))
    tuning = _Tuning(study, judge, candidates, values_of(cls, candidates), seed)
    with study.kept():
        with Processes(judge.begin, workers) as others:
            if workers > 1:
                tuning.answers = others.answers
            tuning.find(by, iterations, screened=names is None)
        if pairs and tuning.worth_playing():
            limit = f"nodes={move_nodes}" if move_nodes else f"seconds={move_seconds:g}"
            tuning.play(game, limit, pairs, plies, least_elo, workers)
    tuning.sum_up(game, pairs, least_elo)
    return study


def tuned_parameters(study: Study) -> dict[str, float]:
    """Return the values that a tuning study found; :class:`CutnodeError` if it has none."""
    for row in study.rows:
        if study.name == "tune" and row.get("setting") == TUNED:
            pairs = (pair.partition("=") for pair in filter(None, str(row["set"]).split("+")))
            return {find_parameter(name)[0]: float(value) for name, _, value in pairs}
    raise CutnodeError("it has no tuned parameters: it must be a study of `cutnode lab tune`")


# Parameters


def parameters_for(cls: Any, names: Sequence[str] | None) -> dict[str, Parameter]:
    """Return the parameters that *names* match; by default, of all selective techniques in use."""
    used = choose(cls, None)
    every = {
        full: parameter
        for full, _, parameter in parameters_of(TECHNIQUES.values())
        if full.partition(".")[0] in used
    }
    if names is None:
        found = {name: each for name, each in every.items() if name.partition(".")[0] not in EXACT}
        if not found:
            raise CutnodeError(
                f"the search of {game_name(cls)} has no selective technique with parameters: name "
                f"parameters of other techniques, such as history.bonus"
            )
        return found
    found = {}
    for name in names:
        first, dot, last = name.partition(".")
        full = f"{SHORT.get(first, first)}{dot}{last}"
        fitting = [known for known in every if fnmatchcase(known, full)]
        if not fitting and any(sign in full for sign in "*?["):
            raise CutnodeError(
                f"no parameter of the search of {game_name(cls)} matches {quoted(name)}"
            )
        if not fitting:
            full, _ = find_parameter(name)
            raise CutnodeError(
                f"{name} has no effect: {game_name(cls)} is searched without "
                f"{full.partition('.')[0]}"
            )
        found |= {known: every[known] for known in fitting}
    if not found:
        raise CutnodeError("no parameters to tune")
    return found


def values_of(cls: Any, parameters: Mapping[str, Parameter]) -> dict[str, float]:
    """Return the values of parameters in searches of a game."""
    profile = profile_of(cls).suited_to(choose(cls, None))
    return {
        name: profile.values.get(name, parameter.default) for name, parameter in parameters.items()
    }


def text_of(point: Point) -> str:
    """Return values in the syntax of a player's ``set=``."""
    short = {name: abbreviation for abbreviation, name in SHORT.items()}
    parts = ((*name.partition("."), value) for name, value in point.items())
    return "+".join(
        f"{short.get(technique, technique)}.{name}={value:g}" for technique, _, name, value in parts
    )


def unit_of(parameter: Parameter, value: float) -> float:
    """Return the unit of a parameter's steps: a change that matters."""
    size = max(abs(value), abs(parameter.default))
    size = size / STEPS or (parameter.most - parameter.least) / (6 * STEPS)
    return float(max(1, round(size))) if parameter.is_integer else size


def rounded(parameter: Parameter, value: float) -> float:
    """Return the nearest value that the parameter can have."""
    value = min(max(value, parameter.least), parameter.most)
    return round(value) if parameter.is_integer else round(value, 3)


class _Tuning:
    """A running tuning, with the results so far."""

    def __init__(
        self,
        study: Study,
        judge: Judge,
        parameters: dict[str, Parameter],
        start: dict[str, float],
        seed: int,
    ):
        self.study = study
        self.judge = judge
        self.parameters = parameters
        self.start = start
        self.seed = seed
        self.answers: Answers = map_locally(judge)
        self.losses: list[dict[int, float]] = []
        """The loss of each move of each position, in points per game."""
        numbers = list(range(len(judge.positions)))
        Random(f"{seed} halves").shuffle(numbers)
        self.fitted, self.held = numbers[::2], numbers[1::2]
        self.pairs = min(PAIRS, len(numbers))
        """The pairs of an iteration: at most one for each position, as repeats would be identical.
        """
        self.search: Spsa | None = None
        self.rows: list[dict[str, Any]] = [{"setting": DEFAULT}, {"setting": TUNED}]
        self.counts = [0] * len(POINTS)

    # Searches

    def ask(self, kind: str, points: Sequence[Point], numbers: Sequence[int]) -> list[list[Any]]:
        """Return the samples of positions with each setting, searched in all processes."""
        each = max(1, len(numbers) // PARTS)
        parts = [tuple(numbers[at : at + each]) for at in range(0, len(numbers), each)]
        tasks = [Task(kind, part, (point,)) for point in points for part in parts]
        found = [sample for answer in self.answers(tasks) for sample in answer]
        return [found[at : at + len(numbers)] for at in range(0, len(found), len(numbers))]

    def refer(self) -> None:
        """Judge all moves of all positions by reference searches."""
        every: list[dict[str, Any]] = []
        count = len(self.judge.positions)
        for number, text in enumerate(self.judge.positions):
            sample = self.study.recall(stage="reference", position=text)
            if sample is None:
                self.study.progress("judging moves", number, count)
                [[found]] = self.ask("reference", [{}], [number])
                sample = {"stage": "reference", "position": text} | found
                self.study.add_sample(sample)
            every.append(sample)
        self.losses = losses_of(type(load_game(self.judge.game).start()), every)
        exact = sum(sample["judge"] == "exact" for sample in every)
        deeper = fmean(sample["deeper"] for sample in every)
        self.study.add_note(
            f"Moves were judged by reference searches that were {deeper:.1f} plies deeper on "
            f"average, and exact in {exact:,} of {count:,} positions."
        )

    def loss(self, numbers: Sequence[int], found: Sequence[dict[str, Any]]) -> list[float]:
        """Return the loss of the move found in each position, in points per game."""
        worst = [max(self.losses[number].values()) for number in numbers]
        moves = [sample["move"] for sample in found]
        each = zip(numbers, moves, worst, strict=True)
        return [self.losses[number].get(move, most) for number, move, most in each]

    # Stages

    def find(self, by: str, iterations: int, *, screened: bool) -> None:
        """Fit the parameters by moves or games; if *screened*, only those that change moves."""
        by_moves = by == "moves"
        if by_moves:
            self.refer()
        if screened:
            self.screen()
        if by_moves:
            self.fit(iterations, self.losses_at)
            self.validate()
        else:
            self.fit(iterations, self.play_at, noise=PAIR_NOISE / math.sqrt(self.pairs))
        steps = [sample for sample in self.study.samples if sample["stage"] == "fit"]
        if steps and all(step["up"] == step["down"] for step in steps):
            self.study.add_note(
                "The two points of every step did equally well: try more nodes, other positions or "
                "other parameters."
            )

    def screen(self) -> None:
        """Keep the parameters to which moves are sensitive."""
        numbers = self.fitted[:SCREENED]
        if not numbers:
            return
        [base] = self.ask("moves", [{}], numbers)
        effects: dict[str, float] = {}
        for at, (name, parameter) in enumerate(self.parameters.items()):
            sample = self.study.recall(stage="screen", parameter=name)
            if sample is None:
                self.study.progress(f"trying {name}", at, len(self.parameters))
                unit, value = unit_of(parameter, self.start[name]), self.start[name]
                values = {rounded(parameter, value + sign * unit) for sign in (-1, 1)} - {value}
                points = [{name: each} for each in sorted(values)]
                others = self.ask("moves", points, numbers)
                differ = [
                    found["move"] != before["move"]
                    for other in others
                    for found, before in zip(other, base, strict=True)
                ]
                changed = fmean(differ) if differ else 0.0
                sample = {"stage": "screen", "parameter": name, "changed": changed}
                self.study.add_sample(sample)
            effects[name] = sample["changed"]
        ranked = sorted(effects, key=lambda name: -effects[name])
        kept = [name for name in ranked if effects[name] >= SENSITIVE][:MOST_PARAMETERS]
        if not kept:
            self.study.add_note("No parameter changes moves: there is nothing to tune.")
        self.parameters = {name: self.parameters[name] for name in kept}
        self.start = {name: self.start[name] for name in kept}

    def point_of(self, numbers: Sequence[float]) -> dict[str, float]:
        """Return the parameter values of a point of SPSA."""
        pairs = zip(self.parameters.items(), numbers, strict=True)
        return {
            name: rounded(parameter, number * unit_of(parameter, self.start[name]))
            for (name, parameter), number in pairs
        }

    def losses_at(self, points: Sequence[Point], random: Random) -> tuple[float, float]:
        """Return the mean loss of moves at both points of a step."""
        batch = random.sample(self.fitted, min(BATCH, len(self.fitted)))
        up, down = (fmean(self.loss(batch, f)) for f in self.ask("moves", points, batch))
        return up, down

    def play_at(self, points: Sequence[Point], random: Random) -> tuple[float, float]:
        """Return the points per game that each point of a step loses to the other."""
        batch = random.sample(range(len(self.judge.positions)), self.pairs)
        tasks = [
            Task("games", (number,), tuple(points), random.getrandbits(32)) for number in batch
        ]
        score = fmean(pair["score"] for [pair] in self.answers(tasks))
        return 1 - score, score

    def fit(
        self,
        iterations: int,
        measure: Callable[[Sequence[Point], Random], tuple[float, float]],
        noise: float = 0.0,
    ) -> None:
        """Minimise the loss by SPSA; *measure* returns the loss at two points."""
        if not self.parameters:
            return
        units = {name: unit_of(each, self.start[name]) for name, each in self.parameters.items()}
        self.search = search = Spsa(
            [self.start[name] / unit for name, unit in units.items()],
            iterations=iterations,
            seed=self.seed,
            bounds=[
                (each.least / units[name], each.most / units[name])
                for name, each in self.parameters.items()
            ],
            noise=noise,
        )
        for number, pair in enumerate(search):
            sample = self.study.recall(stage="fit", iteration=number)
            if sample is None:
                self.study.progress("fitting", number, iterations)
                random = Random(f"{self.seed} batch {number}")
                up, down = measure([self.point_of(each) for each in pair], random)
                sample = {"stage": "fit", "iteration": number, "up": up, "down": down}
                sample |= {"values": json.dumps(self.point_of(search.point))}
                self.study.add_sample(sample)
            search.tell(sample["up"], sample["down"])

    def found(self) -> dict[str, float]:
        """Return the values found so far."""
        return dict(self.start) if self.search is None else self.point_of(self.search.mean())

    def validate(self) -> None:
        """Measure the loss of both settings on the held-out positions."""
        points = {DEFAULT: {}, TUNED: self.found()}
        for row in self.rows:
            setting = row["setting"]
            samples = []
            for number in self.held:
                text = self.judge.positions[number]
                key = {"stage": "judge", "setting": setting, "position": text}
                sample = self.study.recall(**key)
                if sample is None:
                    [[found]] = self.ask("moves", [points[setting]], [number])
                    [loss] = self.loss([number], [found])
                    sample = key | found | {"loss": loss}
                    self.study.add_sample(sample)
                samples.append(sample)
            losses = [sample["loss"] for sample in samples]
            row |= with_interval("loss", bootstrap_mean(losses))
            row |= with_interval("move", share([loss == 0 for loss in losses]))
            row["depth"] = fmean(sample["depth"] for sample in samples)

    def worth_playing(self) -> bool:
        """Return whether the values found differ from the default and may be better."""
        default, tuned = self.rows
        return self.found() != self.start and tuned.get("loss", 0) <= default.get("loss", 0)

    def play(
        self,
        game: Game,
        limit: str,
        pairs: int,
        plies: int,
        least_elo: float,
        workers: int,
    ) -> None:
        """Play the tuned search against the default."""
        chosen = text_of(self.found())
        openings = make_openings(game, pairs, plies, self.seed)
        test = Sprt(0, least_elo)
        for at in range(0, pairs, CHUNK):
            sample = self.study.recall(stage="match", pair=at)
            if sample is None:
                self.study.progress("games", 2 * at, 2 * pairs)
                result = match(
                    game,
                    f"set={chosen},{limit}",
                    limit,
                    openings=openings[at : at + CHUNK],
                    seed=self.seed + at,
                    processes=workers,
                )
                if result.reason == "interrupted":
                    raise KeyboardInterrupt
                sample = {"stage": "match", "pair": at, "pairs": json.dumps(result.pairs)}
                self.study.add_sample(sample)
            played = json.loads(sample["pairs"])
            self.counts = [a + b for a, b in zip(self.counts, played, strict=True)]
            if test.decision(self.counts):
                return

    # Summary

    def sum_up(self, game: Game, pairs: int, least_elo: float) -> None:
        """Add the rows and notes to the study."""
        found = self.found()
        default, tuned = self.rows
        accepted = False
        if sum(self.counts):
            mean, error = mean_and_error(self.counts)
            tuned |= {"score": mean, "games": 2 * sum(self.counts)}
            tuned["llr"] = Sprt(0, least_elo).llr(self.counts)
            low, high = mean - NORMAL * error, mean + NORMAL * error
            if error and low > 0 and high < 1:
                ends = elo_difference(low), elo_difference(high)
                tuned |= with_interval("elo", (elo_difference(mean), *ends))
            elif 0 < mean < 1:
                tuned["elo"] = elo_difference(mean)
            accepted = mean >= expected_score(least_elo) and low > 0.5
        self.study.add_row(default | {"set": text_of(self.start)})
        self.study.add_row(tuned | {"set": text_of(found)})
        if "loss" in tuned:
            self.study.add_note(ABOUT_INTERVALS)
        if not pairs or self.study.stopped:
            return
        if not accepted:
            self.study.add_note(
                f"A gain of {least_elo:g} Elo was not shown: keep the default."
                if sum(self.counts)
                else "Nothing better was found: keep the default."
            )
            return
        values = {**profile_of(type(game.start())).values, **found}
        self.study.add_note(f"The tuned search won. Write in the game: PROFILE = {values}")


def draw(study: Study, figure: Any) -> None:
    """Draw the loss at both points of each iteration, and its moving average over ten.

    For tuning by games, where one point wins what the other loses, draw the parameters' values.
    """
    samples = [sample for sample in study.samples if sample["stage"] == "fit"]
    if study.settings.get("by") == "games":
        draw_values(samples, figure)
        return
    figure.set_label(
        "Loss per move in points per game, at both points of each SPSA iteration, on a batch of "
        "the positions; the line is the moving average of ten iterations."
    )
    figure.set_size_inches(PAGE / 2, PAGE / 3)
    axes = figure.subplots()
    numbers = [sample["iteration"] + 1 for sample in samples]
    for side in ("up", "down"):
        losses = [sample[side] for sample in samples]
        axes.plot(numbers, losses, ".", color=GREY, markersize=3)
    means = [(sample["up"] + sample["down"]) / 2 for sample in samples]
    smooth = [fmean(means[max(0, at - 9) : at + 1]) for at in range(len(means))]
    axes.plot(numbers, smooth, color=PALETTE["blue"])
    axes.set_ylim(bottom=0)
    set_axes(axes, x="iteration", y="loss")


def draw_values(samples: Sequence[Mapping[str, Any]], figure: Any) -> None:
    """Draw the parameter values before each iteration, in units from their default."""
    figure.set_label(
        "Parameter values before each SPSA iteration, by games: distance from the default, in "
        "units of about a quarter of it."
    )
    figure.set_size_inches(PAGE, PAGE / 2)
    axes = figure.subplots()
    values = [json.loads(sample["values"]) for sample in samples]
    numbers = range(1, len(values) + 1)
    for number, (name, first) in enumerate(values[0].items() if values else ()):
        unit = unit_of(find_parameter(name)[1], first)
        axes.plot(
            numbers,
            [(each[name] - first) / unit for each in values],
            linestyle=DASHES[number % len(DASHES)],
            color=COLOURS[number % len(COLOURS)],
            label=name,
        )
    add_line_legend(figure, axes, columns=3)
    set_axes(axes, x="iteration", y="units")
