"""A report on a game's rules, for those who invent games.

It has the size of the game, its exact value where it can be solved, and figures of games that the
engine plays against itself at several strengths: who wins, how long games last, how much the
players have to choose from, how much more nodes win, when games are decided, and which moves and
cells nobody uses.  ``cutnode.lab.verdicts`` sums it up in words and plots.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import cutnode
from cutnode.contract.derived import legal_moves, require_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError, require_at_least, require_integer
from cutnode.contract.loading import Game, load_game
from cutnode.contract.notation import board_of
from cutnode.contract.verbs import canonical, chance, key, outcome, play
from cutnode.lab.selfplay import Ladder, Played, add_chances
from cutnode.lab.sizes import Estimate, Size, compile_sizes, size_of
from cutnode.lab.statistics import Interval, bootstrap_mean, bootstrap_share, share
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.lab.verdicts import draw, summarise
from cutnode.playing.elo import elo_difference
from cutnode.search.loops import has_loops

__all__ = ["design", "draw", "summarise"]

COLUMNS = (
    Column("game"),
    Column("part"),
    Column("of", "figure"),
    Column("figure", "count, mean or share", ",.9g", interval=True),
    Column("n", "games, decisions or walks", ",d"),
    Column("how", "how it was found, and details"),
)

SHARES = {"size": 0.2, "value": 0.2, "play": 0.6}
"""The parts of the time."""

USUAL_COUNTED, USUAL_NODES = 20_000, 100_000
"""The positions that are counted, and the nodes of a proof, for each pair of games, without a limit
of time."""

SHAPE_NODES, SHAPE_DEPTH = 5_000, 12
"""The most positions of the trees whose shapes are compared, and their greatest depth."""

LISTED = 12
"""The most moves that are listed."""

Row = dict[str, Any]

Score = tuple[float, float, float]
"""A mean score and the ends of its interval."""


class Plan:
    """The time for each part; None for reports that are limited otherwise."""

    def __init__(self, seconds: float | None):
        self._end = self._due = None if seconds is None else time.monotonic() + seconds
        self._left = dict(SHARES)

    def deadline(self, part: str) -> float | None:
        """Return when a part has to end: after its share of the time that is left.

        Time by which the part before was late, as when it compiled something, does not count.
        """
        share_of_part = self._left.pop(part)
        if self._end is None or self._due is None:
            return None
        now = time.monotonic()
        self._end += max(0.0, now - self._due)
        whole = share_of_part + sum(self._left.values())
        self._due = now + max(0.0, self._end - now) * share_of_part / whole
        return self._due


@dataclass(slots=True)
class Report:
    """The figures of one game."""

    game: Game
    rows: list[Row] = field(default_factory=list)
    samples: list[Row] = field(default_factory=list)

    def add(
        self, part: str, of: str, figure: float | Interval, n: int | None = None, how: str = ""
    ) -> None:
        """Add a figure, rounded to four digits unless it is a count."""
        middle, low, high = figure if isinstance(figure, tuple) else (figure, None, None)
        row = {"part": part, "of": of, "figure": _rounded(middle), "n": n, "how": how}
        if low is not None and high is not None:
            row |= {"figure_low": _rounded(low), "figure_high": _rounded(high)}
        self.rows.append({name: value for name, value in row.items() if value not in (None, "")})


def design(
    game: Game | str,
    other: str | None = None,
    *,
    seconds: float | None = None,
    pairs: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Study:
    """Report on the rules of a game, or compare them with the rules of another one.

    *seconds* is the time in total after compilation, 60 by default; intervals narrow with it.  With
    *pairs*, each match has that many pairs of games, and the report depends on nothing but the
    *seed*.  *other* is a game's name or file.  Rows have the figures, with 95 % intervals; samples
    have the games, and figures by ply.  Ctrl-C ends it and keeps the figures so far.
    """
    games = [load_game(each) if isinstance(each, str) else each for each in (game, other) if each]
    if seconds is not None and pairs is not None:
        raise CutnodeError("a report is limited by seconds or by pairs, not by both")
    if pairs is not None:
        require_at_least(pairs, 1, "pairs")
    elif seconds is None:
        seconds = 60.0
    if seconds is not None and not seconds > 0:
        raise CutnodeError(f"seconds must be positive, got {seconds:g}")
    require_integer(seed, "a seed")
    for each in games:
        start = each.start()
        require_moves(start)
        if outcome(start)[0]:
            raise CutnodeError(f"{each.name} is over before the first move")
    names = [each.source for each in games]
    about = f"Rules compared with {names[1]}" if other else "Report on the rules of a game"
    settings = {
        "game": names[0],
        "other": names[1] if other else None,
        "seconds": seconds,
        "pairs": pairs,
        "seed": seed,
    }
    study = Study("design", about, settings, COLUMNS, notes=[*NOTES], progress=progress)
    reports = [Report(each) for each in games]
    with study.kept():
        try:
            time_each = None if seconds is None else seconds / len(games)
            for at, report in enumerate(reports):
                _fill(report, time_each, pairs, seed, _told(progress, at, len(games)))
        finally:
            _deliver(study, reports)
    return study


NOTES = (
    "Intervals are 95 % confidence intervals: of shares by Wilson's score, of other means by the "
    "bootstrap over games, or over pairs of games for scores.",
    "size: positions and lines of play are powers of 10. A position counts once for each number of "
    "plies after which it arises; lines are the nodes of the game tree.",
    "play: games begin at the start, and the nodes or playouts of each move vary at random around "
    "the strength. First player's score: points per game, a draw is half a point.",
    "tension: by the chances of winning that the players see, fitted to the results. A lead is a "
    "chance of 60 % or more; a game is decided when the winner's chance stays at 75 % or more.",
)


def _told(progress: Progress, at: int, of: int) -> Callable[[str], None]:
    return lambda now: progress(now, at, of)


def _fill(
    report: Report, seconds: float | None, pairs: int | None, seed: int, tell: Callable[[str], None]
) -> None:
    """Measure all parts of a game; compilation does not count as time."""
    start = report.game.start()
    tell("compiling")
    compile_sizes(start)
    ladder = Ladder(report.game, seed)
    ladder.compile()
    plan = Plan(seconds)
    tell("size")
    most = 1 << 62 if pairs is None else USUAL_COUNTED * pairs
    _add_size(report, size_of(start, plan.deadline("size"), most, seed))
    tell("exact value")
    _add_value(report, start, plan.deadline("value"), pairs)
    _add_openings(report, start)
    try:
        for now in ladder.play(plan.deadline("play"), pairs):
            tell(now)
    finally:
        if ladder.games:
            _add_play(report, ladder)


def _deliver(study: Study, reports: Sequence[Report]) -> None:
    """Add the figures of all games to the study: the same figure of two games side by side."""
    keys = dict.fromkeys((row["part"], row["of"]) for each in reports for row in each.rows)
    for part, of in keys:
        for at, report in enumerate(reports):
            title = f"{'AB'[at]}: {Path(report.game.source).name}"
            name = {"game": title} if len(reports) > 1 else {}
            for row in report.rows:
                if (row["part"], row["of"]) == (part, of):
                    study.add_row(name | row)
    for at, report in enumerate(reports):
        for sample in report.samples:
            study.add_sample(({"game": "AB"[at]} if len(reports) > 1 else {}) | sample)


# Parts


def _add_size(report: Report, size: Size) -> None:
    if size.counted is not None:
        report.add("size", "positions", size.counted, how="counted, each one")
        if size.classes is not None and size.classes < size.counted:
            report.add("size", "different by symmetry", size.classes, how="counted")
    elif size.more_than:
        report.add("size", "positions at least", size.more_than, how="counted so far")
    if size.positions is not None:
        how = f"random walks; agrees with counts of the first {size.checked} plies"
        report.add("size", "positions, 10^", _interval(size.positions), size.walks, how)
    elif size.counted is None:
        how = _why_unknown(report, size)
        if size.at_most is not None:
            how = f"each content in each cell; {how}"
            report.add("size", "positions at most, 10^", size.at_most, how=how)
        else:
            report.add("size", "positions, 10^", float("nan"), how=how)
    if size.lines is not None:
        how = "random walks (Knuth 1975)"
        report.add("size", "lines of play, 10^", _interval(size.lines), size.walks, how)
    for ply, (positions, lines) in enumerate(size.by_ply):
        sample: Row = {"part": "size by ply", "ply": ply, "lines": round(lines.figure, 4)}
        if positions is not None:
            ends = {"low": positions.low, "high": positions.high}
            sample |= {"positions": round(positions.figure, 4)}
            sample |= {f"positions_{end}": round(value, 4) for end, value in ends.items()}
        report.samples.append(sample)


def _why_unknown(report: Report, size: Size) -> str:
    cls: Any = type(report.game.start())
    if has_loops(cls):
        return "positions can repeat, so lines of play have no end to count by"
    if size.endless:
        return "random games reach the limit of plies (MAX_PLIES), so they are not counted"
    if defines(cls, "chance"):
        return "no estimate where chance decides between moves"
    if size.lines is None:
        return "the time was too short for random walks to the end of the game"
    return "other moves lead to the same positions, so they cannot be estimated"


def _add_value(report: Report, start: Any, deadline: float | None, pairs: int | None) -> None:
    """Solve the game if that is possible within the limit."""
    left = None if deadline is None else max(0.05, deadline - time.monotonic())
    limits: dict[str, Any] = {"seconds": left} if pairs is None else {"nodes": USUAL_NODES * pairs}
    try:
        if defines(type(start), "chance"):
            _add_expected(report, start, left, pairs)
            return
        result = cutnode.solve(start, **limits)
    except CutnodeError as error:  # a rule that solvers cannot handle
        report.add("value", "exact value", float("nan"), how=f"not solved: {error}")
        return
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    told = f"{result.nodes:,} nodes"
    if result.value is None:
        known = f"between {result.lower} and {result.upper}"
        report.add("value", "exact value", float("nan"), how=f"not solved in {told}: {known}")
        return
    report.add("value", "exact value", result.value, how=f"{result.meaning()}; solved in {told}")
    if left is not None:
        left -= result.seconds
        if left <= result.seconds:  # too little for every first move
            return
        limits = {"seconds": left}
    moves = cutnode.analyse(start, **limits)
    if moves.reason == "interrupted":
        raise KeyboardInterrupt
    scores = moves.scores or {}
    if moves.proven and None not in scores.values():
        best = [move for move, score in scores.items() if score == result.value]
        how = f"of {len(scores)}: {_listed([report.game.move_text(start, m) for m in best])}"
        report.add("value", "best first moves", len(best), how=how)


def _add_expected(report: Report, start: Any, left: float | None, pairs: int | None) -> None:
    """Solve a game of chance: its expected value."""
    most = 5_000_000 if pairs is None else USUAL_COUNTED * pairs
    result = cutnode.iterate(start, positions=most, seconds=left)
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    how = f"expected with perfect play; {result.positions:,} states"
    if result.value is None:
        how = f"not solved: between {result.lower:.4g} and {result.upper:.4g}"
    value = float("nan") if result.value is None else result.value
    report.add("value", "exact value", value, how=how)


def _add_openings(report: Report, start: Any) -> None:
    """Group the first moves that symmetry makes equal."""
    cls: Any = type(start)
    if chance(start) > 0:
        report.add("openings", "first moves", float("nan"), how="chance begins")
        return
    moves = legal_moves(start)
    children = [play(start, move) for move in moves]
    if defines(cls, "canonical"):
        alike, by = [int(canonical(child)[0]) for child in children], "by symmetry"
    else:
        depth, alike = _shapes(children)
        by = f"by the shape of the tree, {depth + 1} plies deep"
    groups = defaultdict(list)
    for move, word in zip(moves, alike, strict=True):
        groups[word].append(report.game.move_text(start, move))
    equal = [" = ".join(group) for group in groups.values() if len(group) > 1]
    how = f"{by}: {_listed(equal)}" if equal else by
    report.add("openings", "first moves", len(moves))
    report.add("openings", "different first moves", len(groups), how=how)


def _shapes(positions: Sequence[Any]) -> tuple[int, list[int]]:
    """Return a depth, and hashes of trees to that depth that do not depend on the moves' names."""
    found = 0, [0] * len(positions)
    for depth in range(SHAPE_DEPTH):
        known: dict[tuple[int, int], int] = {}
        shapes = [_shape(position, depth, known) for position in positions]
        if len(known) > SHAPE_NODES:
            break
        found = depth, shapes
    return found


def _shape(position: Any, depth: int, known: dict[tuple[int, int], int]) -> int:
    """Return the hash of a tree; a wrong one once more than :data:`SHAPE_NODES` are *known*."""
    over, value = outcome(position)
    if over or chance(position) > 0:
        return hash((bool(over), value))
    name = depth, int(key(position))
    if name not in known and len(known) <= SHAPE_NODES:
        moves = legal_moves(position)
        children = (play(position, move) for move in moves if depth)
        shapes = sorted(_shape(child, depth - 1, known) for child in children)
        known[name] = hash((len(moves), *shapes))
    return known.get(name, 0)


# Play


def _add_play(report: Report, ladder: Ladder) -> None:
    """Add the figures of games."""
    strongest = ladder.strongest
    add_chances(ladder.of(strongest), ladder.decisive)
    best = ladder.of(strongest)
    by = "evaluate" if ladder.evaluates else "random playouts, as the game has no evaluate"
    report.add("play", "strengths", len(ladder.strengths) - 1, how=f"positions judged by {by}")
    for match in ladder.matches():
        _add_match(report, ladder, match)
    _add_depth(report, ladder)
    for name, games in (("random moves", ladder.of((0, 0))), ("strongest", best)):
        if games:
            _add_lengths(report, name, games)
    if any(strongest):
        _add_tension(report, best)
        _add_use(report, ladder)
    for name, games in (("random", ladder.of((0, 0))), ("strongest", best)):
        _add_choices_by_ply(report, name, games)
    for game in ladder.games:
        report.samples.append(_sample(ladder, game))


def _add_match(report: Report, ladder: Ladder, match: tuple[int, int]) -> None:
    """Add who wins a match of about equal players: the first player, or nobody."""
    games, name = ladder.of(match), ladder.name_of(match)
    if not games or match in ladder.extra or (any(match) and not match[0]):
        return
    score = _score(games, lambda game: game.result)
    report.add("first player", name, score, len(games), "points per game")
    drawn = [game.result == 0.5 for game in games]
    limited = sum(game.ending != "rules" for game in games)
    how = f"{limited} by repetition or at the limit of plies" if limited else ""
    report.add("draws", name, share(drawn), len(games), how)


def _add_depth(report: Report, ladder: Ladder) -> None:
    """Add what more nodes win."""
    gains = []
    for match in ladder.matches():
        games = ladder.of(match)
        if not games or not any(match):
            continue
        score = _score(games, lambda game: 1 - game.points)
        if defines(ladder.cls, "chance") and (match in ladder.extra or not match[0]):
            _add_skill(report, ladder.name_of(match), games, score)
        if match in ladder.extra:
            continue
        least = 0.25 / len(games)
        elo, low, high = (elo_difference(min(max(each, least), 1 - least)) for each in score)
        how = "Elo; it won every game, so it may be much more" if score[0] == 1 else "Elo"
        report.add("depth", ladder.name_of(match), (elo, low, high), len(games), how)
        if match[0]:
            gains.append((elo, (high - low) / 2, len(games)))
    if gains:
        total = sum(elo for elo, _, _ in gains)
        reach = sum(half**2 for _, half, _ in gains) ** 0.5
        number, count = len(gains), sum(count for _, _, count in gains)
        mean = total / number, (total - reach) / number, (total + reach) / number
        report.add("depth", "a doubling", mean, count, f"Elo, mean of {number} doublings")


def _add_skill(report: Report, name: str, games: Sequence[Played], score: Score) -> None:
    """Add the share of the variance of results that is explained by who plays."""
    variance = fmean((game.points - 0.5) ** 2 for game in games)
    if not variance:
        return
    middle, low, high = (min(1.0, (each - 0.5) ** 2 / variance) for each in score)
    if score[1] <= 0.5 <= score[2]:
        low, high = 0.0, max(low, high)
    how = "share of the variance of results that the difference in strength explains"
    report.add("luck", f"skill, {name}", (middle, min(low, high), max(low, high)), len(games), how)


def _add_lengths(report: Report, name: str, games: Sequence[Played]) -> None:
    plies = [game.plies for game in games]
    how = f"plies, {min(plies)} to {max(plies)}"
    report.add("length", name, bootstrap_mean(plies), len(games), how)
    decisions = [len(game.choices) for game in games]
    if sum(decisions):
        moves = [sum(game.choices) for game in games]
        forced = [sum(count == 1 for count in game.choices) for game in games]
        how = "legal moves at a decision"
        report.add("choices", name, bootstrap_share(moves, decisions), sum(decisions), how)
        how = "share of decisions with one legal move"
        report.add("forced", name, bootstrap_share(forced, decisions), sum(decisions), how)


def _add_tension(report: Report, games: Sequence[Played]) -> None:
    changes = [game.changes for game in games if game.changes is not None]
    if not changes:
        return
    report.add("tension", "lead changes", bootstrap_mean(changes), len(changes), "in a game")
    decided = [game.decided for game in games if game.decided is not None]
    if decided:
        how = "share of a game's moves after which the winner stays ahead"
        report.add("tension", "decided after", bootstrap_mean(decided), len(decided), how)
        late = [each > 0.5 for each in decided]
        how = "share of won games still open at half time"
        report.add("tension", "open at half time", share(late), len(late), how)
        back = [game.comeback for game in games if game.decided is not None]
        how = "share of won games in which the loser's chance once was 75 % or more"
        report.add("tension", "comebacks", share(back), len(back), how)


def _add_use(report: Report, ladder: Ladder) -> None:
    """Add what the strongest players never use."""
    games = ladder.of(ladder.strongest)
    use, count = ladder.use, sum(len(game.choices) for game in games)
    report.add("use", "legal moves", len(use.legal), count, "different ones that occurred")
    idle = [text for move, text in sorted(use.legal.items()) if move not in use.played]
    report.add("use", "moves never played", len(idle), count, _listed(idle))
    board = board_of(type(report.game.start()))
    if board is None:
        return
    still = [cell for cell in range(use.cells) if cell not in use.changed]
    how = f"of {use.cells}"
    how += f": number {_listed([str(cell) for cell in still])}" if still else ""
    report.add("use", "cells never used", len(still), count, how)
    pieces = [
        name or symbol
        for content, (symbol, name) in enumerate(board.contents.items())
        if content not in use.placed and content > 0
    ]
    how = f"of {len(board.contents) - 1}" + (f": {_listed(pieces)}" if pieces else "")
    report.add("use", "pieces never moved or placed", len(pieces), count, how)


def _add_choices_by_ply(report: Report, name: str, games: Sequence[Played]) -> None:
    """Add the mean number of legal moves at each decision of games, as samples."""
    for at in range(max((len(game.choices) for game in games), default=0)):
        counts = [game.choices[at] for game in games if at < len(game.choices)]
        sample = {"part": "choices by move", "players": name, "ply": at}
        report.samples.append(sample | {"choices": round(fmean(counts), 3), "n": len(counts)})


def _sample(ladder: Ladder, game: Played) -> Row:
    """Return a game as a sample."""
    return {
        "part": "game",
        "players": ladder.name_of(game.strengths),
        "strongest": game.strengths == ladder.strongest,
        "pair": game.pair,
        "plies": game.plies,
        "decisions": len(game.choices),
        "result": game.result,
        "ending": game.ending,
        "lead_changes": game.changes,
        "decided": None if game.decided is None else round(game.decided, 4),
    }


# Figures


def _score(games: Sequence[Played], points: Callable[[Played], float]) -> Score:
    """Return the mean of *points* and its interval, by pairs of games.

    If all pairs gave the same points, another result may have a share up to the end of Wilson's
    interval, and any points.
    """
    sums: defaultdict[int, float] = defaultdict(float)
    for game in games:
        sums[game.pair] += points(game) / 2
    means = list(sums.values())
    mean, low, high = bootstrap_mean(means)
    if low is None or high is None or low == high:
        _, least, _ = share([True] * max(2, len(means)))
        other = 1 - (least or 0.0)
        return mean, mean * (1 - other), mean * (1 - other) + other
    return mean, low, high


def _interval(estimate: Estimate) -> Interval:
    return estimate.figure, estimate.low, estimate.high


def _rounded(number: float) -> float | None:
    """Return a count as it is, other numbers with four digits, and None for unknown ones."""
    if isinstance(number, int):
        return number
    return None if number != number else float(f"{round(number, 9):.4g}")


def _listed(texts: Sequence[str]) -> str:
    """Return some texts in a row, with the number of all others."""
    shown = ", ".join(texts[:LISTED])
    rest = len(texts) - LISTED
    return f"{shown} and {rest:,} more" if rest > 0 else shown
