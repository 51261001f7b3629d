"""Matches: two configurations play pairs of games, each opening from both sides.

The statistics of the outcome are in :mod:`cutnode.playing.elo`.
"""

from __future__ import annotations

import inspect
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from random import Random
from statistics import NormalDist
from typing import Any

from cutnode.contract.derived import recurs
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import (
    CutnodeError,
    GameError,
    PositionError,
    as_python,
    require_at_least,
    require_callable,
    require_integer,
    require_iterable,
    shown,
)
from cutnode.contract.loading import Game, load_game
from cutnode.contract.notebook import lines_html
from cutnode.contract.verbs import evaluate, key
from cutnode.playing.elo import (
    CONFIDENCE,
    POINTS,
    Sprt,
    elo_difference,
    mean_and_error,
    score_interval,
)
from cutnode.playing.players import Choice, Player, make_player
from cutnode.runtime.processes import ProcessEndedError, Processes
from cutnode.search.board import given_position
from cutnode.search.record import Record, is_over, position_of_game, wins_at_once

Games = Sequence[dict[str, Any]]
"""The two games of a pair, as plain data; the player moves first in the first one."""

POOL = 2
"""The random positions made for each opening that is kept."""


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result of a match, from the point of view of *player*."""

    game: str
    player: str
    opponent: str
    seed: int
    pairs: tuple[int, int, int, int, int]
    """The number of pairs in which the player scored 0, 1/2, 1, 3/2 and 2 points."""
    wins: int
    draws: int
    losses: int
    endings: dict[str, int]
    """The number of games that ended by the rules, by repetition, and at the limit of plies."""
    sprt: Sprt | None
    reason: str
    """Why the match ended: ``played``, ``decided`` (by the test), or ``interrupted``."""
    seconds: float
    records: tuple[dict[str, Any], ...]
    """The games, as plain data: start, steps, positions, seed, players, and result."""

    @property
    def games(self) -> int:
        """The number of games played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float | None:
        """The points per game; None before the first."""
        return (self.wins + self.draws / 2) / self.games if self.games else None

    @property
    def score_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the score, even if all pairs ended alike; None before the first."""
        return score_interval(self.pairs) if self.games else None

    @property
    def elo(self) -> float | None:
        """The difference in Elo; infinite if the player won or lost every game."""
        return None if self.score is None else elo_difference(self.score)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval of the difference in Elo; None if all pairs ended alike."""
        if not self.games:
            return None
        mean, error = mean_and_error(self.pairs)
        if not error:
            return None
        return elo_difference(mean - CONFIDENCE * error), elo_difference(mean + CONFIDENCE * error)

    @property
    def los(self) -> float | None:
        """The likelihood that the player is the stronger one; None if all pairs ended alike."""
        if not self.games:
            return None
        mean, error = mean_and_error(self.pairs)
        return NormalDist().cdf((mean - 0.5) / error) if error else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data without the games; infinite or unknown numbers become None."""
        data = {name: getattr(self, name) for name in _PLAIN}
        test = None
        if self.sprt is not None:
            facts = {"llr": self.sprt.llr(self.pairs), "bounds": list(self.sprt.bounds)}
            test = asdict(self.sprt) | facts | {"accepted": self.sprt.decision(self.pairs)}
        interval = self.interval or (None, None)
        return data | {
            "pairs": list(self.pairs),
            "endings": dict(self.endings),
            "games": self.games,
            "score": self.score,
            "elo": _finite(self.elo),
            "elo_low": _finite(interval[0]),
            "elo_high": _finite(interval[1]),
            "los": self.los,
            "sprt": test,
        }

    def __str__(self) -> str:
        lines = [
            f"{self.game}: {self.player} against {self.opponent}",
            f"games  {self.games:,} in {self.seconds:.3g} s ({self.reason})",
        ]
        if self.games:
            tally = f"{self.wins} won, {self.draws} drawn, {self.losses} lost"
            lines.append(f"score  {self.score:.3f}  ({tally})")
            lines.append(f"elo    {self.elo_text()}")
            if self.los is not None:
                lines.append(f"los    {100 * self.los:.1f} %")
            lines.append(f"pairs  {' '.join(map(str, self.pairs))}  (of 0, 1/2, 1, 3/2, 2 points)")
        if self.sprt is not None:
            low, high = self.sprt.bounds
            accepted = self.sprt.decision(self.pairs)
            verdict = f"{getattr(self.sprt, accepted):g} accepted" if accepted else "undecided"
            test = f"elo {self.sprt.elo0:g} or {self.sprt.elo1:g}"
            llr = f"llr {self.sprt.llr(self.pairs):.2f} of {low:.2f}..{high:.2f}"
            lines.append(f"sprt   {test}: {llr}, {verdict}")
        early = {"repetition": "by repetition", "plies": "at the ply limit"}
        notes = [f"{self.endings[end]} {how}" for end, how in early.items() if self.endings[end]]
        if notes:
            lines.append(f"ended  {', '.join(notes)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, _, lines = str(self).partition("\n")
        return f"<p><b>{escape(head)}</b></p>{lines_html(lines)}"

    def elo_text(self) -> str:
        """Return the difference in Elo with its error bars."""
        if self.interval is None:
            return f"{self.elo:+.0f}  (all pairs ended alike: too few for error bars)"
        return f"{self.elo:+.0f}  (95 %: {self.interval[0]:+.0f} to {self.interval[1]:+.0f})"


_PLAIN = ("game", "player", "opponent", "seed", "wins", "draws", "losses", "reason", "seconds")


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


# Games


def play_game(
    players: Sequence[Player],
    start: Any,
    *,
    seed: int = 0,
    dice: int | None = None,
    plies: int | None = None,
    until: Callable[[Record, Choice], bool] | None = None,
) -> Record:
    """Play a game between two players; the first one moves first in *start*.

    The game ends as :class:`Record` says, or when *until* returns true: it is called with the
    record and the chosen move before each move.  *seed* seeds the players, and *dice* seeds chance,
    by default with the same number.  :class:`GameError` if a player chooses an illegal move, and
    :class:`CutnodeError` if it cannot be told the game so far (:class:`Player`) where it matters.
    """
    record = Record(given_position(start), seed=seed if dice is None else dice, plies=plies)
    players = tuple(require_iterable(players, "players"))
    if len(players) != 2 or not all(
        hasattr(player, name) for player in players for name in ("choose", "new_game")
    ):
        raise CutnodeError(
            f"players must be two players as make_player returns them, got {shown(players)}"
        )
    require_callable(until, "until")
    for player in players:
        if recurs(record.position):
            _require_history(player)
        player.new_game(seed)
    while not record.ending():
        if record.is_chance():
            record.draw()
            continue
        choice = players[record.side].choose(record.position, **record.line())
        if choice.reason == "interrupted":
            raise KeyboardInterrupt
        if until is not None and until(record, choice):
            break
        try:
            record.play(choice.move)
        except PositionError as error:
            raise GameError(f"{players[record.side]!r} chose an illegal move: {error}") from None
    return record


def _require_history(player: Player) -> None:
    """Raise :class:`CutnodeError` unless a player can be told the game so far."""
    try:
        inspect.signature(player.choose).bind(None, history=())
    except TypeError:
        raise CutnodeError(
            f"{player!r} must have choose(position, history): positions of this game can recur, so "
            f"it gets the ones before"
        ) from None


def make_openings(game: Game, count: int, plies: int, seed: int) -> list[Any]:
    """Make distinct positions by random moves, and return the more balanced ones.

    In none of them is the game over or an immediate win possible.  Of :data:`POOL` times *count*
    such positions, the ones with estimates nearest to 0 are kept.  With *plies* 0, all are the
    start.  :class:`CutnodeError` if there are too few.
    """
    if plies == 0:
        return [game.start()] * count
    random = Random(f"{seed} openings")
    found: dict[int, tuple[float, int, Any]] = {}
    for number in range(5 * POOL * count + 200):
        position = position_of_game(game.start(), plies, random)
        if position is not None and not wins_at_once(position):
            lead = abs(evaluate(position))
            found.setdefault(int(key(position)), (lead, number, position))
        if len(found) == POOL * count:
            break
    if len(found) < count:
        raise CutnodeError(
            f"{len(found)} distinct openings of {plies} plies were found, but {count} are needed: "
            f"ask for fewer pairs or another number of plies"
        )
    balanced = sorted(found.values(), key=lambda entry: entry[:2])[:count]
    return [position for _, _, position in sorted(balanced, key=lambda entry: entry[1])]


# Matches


@dataclass(frozen=True, slots=True)
class _Match:
    """Everything that a process needs to play any pair of a match."""

    game: str
    configurations: tuple[str, str]
    openings: tuple[str, ...]
    seed: int
    plies: int | None

    def begin(self) -> Callable[[int], list[dict[str, Any]]]:
        """Return the function that plays a pair; the games depend only on the pair's number."""
        game = load_game(self.game)
        players = [make_player(game, text) for text in self.configurations]

        def play_pair(number: int) -> list[dict[str, Any]]:
            start = game.parse(self.openings[number])
            random = Random(f"{self.seed} pair {number}")
            dice = random.getrandbits(32)
            games = []
            for first in (0, 1):
                order = (players[first], players[1 - first])
                names = self.configurations[first], self.configurations[1 - first]
                seed = random.getrandbits(32)
                record = play_game(order, start, seed=seed, dice=dice, plies=self.plies)
                facts = {"game": game_name(type(start)), "pair": number, "players": names}
                facts |= record.to_dict() | {"seed": seed, "dice": dice}
                facts |= {"result": record.score(0), "value": record.value()}
                games.append(facts | {"ending": record.ending()})
            return games

        return play_pair


def _texts_of_openings(game: Game, openings: Sequence[Any], pairs: int) -> tuple[str, ...]:
    """Return the openings as texts; :class:`CutnodeError` for too few, or for a finished game."""
    if len(openings) < pairs:
        raise CutnodeError(f"{pairs} pairs need {pairs} openings, got {len(openings)}")
    texts = tuple(game.position_text(opening) for opening in openings[:pairs])
    for opening, text in zip(openings, texts, strict=False):
        if is_over(opening):
            raise CutnodeError(f"an opening cannot be a finished game, got {text}")
    return texts


def _require_kinds(game: Any, sprt: Any) -> None:
    """Raise :class:`CutnodeError` unless the game and the test of a match are what they must be."""
    if not isinstance(game, Game):
        raise CutnodeError(f"game must be a game or its name, got {game!r}")
    if sprt is not None and not isinstance(sprt, Sprt):
        raise CutnodeError(f"sprt must be an Sprt, got {sprt!r}")


def match(
    game: Game | str,
    player: str,
    opponent: str,
    *,
    pairs: int | None = None,
    openings: Sequence[Any] | None = None,
    plies: int = 4,
    most_plies: int | None = None,
    seed: int = 0,
    sprt: Sprt | None = None,
    processes: int = 1,
    known: Mapping[int, Games] | None = None,
    keep: Callable[[int, Games], None] | None = None,
    progress: Callable[[MatchResult], None] | None = None,
) -> MatchResult:
    """Play a match between two configurations: pairs of games, each opening from both sides.

    *game* is what :func:`load_game` returns, or a game's name.  The configurations are texts for
    :func:`cutnode.playing.players.make_player`.  *pairs* is 50 by default, or the number of
    *openings* (positions); without openings, each is made by *plies* random moves.  The player
    moves first in the first game of a pair.  A game of *most_plies* steps (by default the game's
    ``MAX_PLIES``) is a draw.  The result is the same for any number of *processes*.

    A test (*sprt*) may end the match early; Ctrl-C ends it and returns the pairs played so far.
    *progress* is called after each pair.  :class:`ProcessEndedError` if a process dies; its
    *result* has the pairs played so far.

    *keep* is called with the number and the two games of each pair played, as in
    :attr:`MatchResult.records`.  To resume a match, pass in *known*, by the number of the pair,
    the ``result`` and the ``ending`` of both games: these pairs are not played again.
    """
    game = load_game(game) if isinstance(game, str) else game
    _require_kinds(game, sprt)
    if openings is not None:
        openings = list(require_iterable(openings, "openings"))
    if pairs is None:
        pairs = 50 if openings is None else len(openings)
    pairs, plies, seed, most_plies = map(as_python, (pairs, plies, seed, most_plies))
    require_at_least(pairs, 1, "pairs")
    require_at_least(plies, 0, "plies")
    require_at_least(processes, 1, "processes")
    if most_plies is not None:
        require_at_least(most_plies, 1, "most_plies")
    require_integer(seed, "a seed")
    for configuration in (player, opponent):
        make_player(game, configuration)  # reports errors early, and compiles what is needed
    if openings is None:
        openings = make_openings(game, pairs, plies, seed)
    texts = _texts_of_openings(game, openings, pairs)
    plan = _Match(game.source, (player, opponent), texts, seed, most_plies)

    counts, results, endings = [0] * len(POINTS), Counter[float](), Counter[str]()
    records: list[dict[str, Any]] = []
    started = time.perf_counter()

    def result(reason: str) -> MatchResult:
        return MatchResult(
            game=game_name(type(game.start())),
            player=player,
            opponent=opponent,
            seed=seed,
            pairs=tuple(counts),  # type: ignore[arg-type]
            wins=results[1.0],
            draws=results[0.5],
            losses=results[0.0],
            endings={ending: endings[ending] for ending in ("rules", "repetition", "plies")},
            sprt=sprt,
            reason=reason,
            seconds=time.perf_counter() - started,
            records=tuple(records) if reason else (),
        )

    known = {} if known is None else known
    try:
        with Processes(plan.begin, processes) as others:
            numbers = [number for number in range(pairs) if number not in known]
            played: Iterator[Games] = (
                map(plan.begin(), numbers) if processes == 1 else others.answers(numbers)
            )
            for number in range(pairs):
                games = known[number] if number in known else next(played)
                if number not in known:
                    records.extend(games)
                    if keep is not None:
                        keep(number, games)
                scores = [games[0]["result"], 1 - games[1]["result"]]
                results.update(scores)
                counts[POINTS.index(sum(scores) / 2)] += 1
                endings.update(facts["ending"] for facts in games)
                if progress is not None:
                    progress(result(""))
                if sprt is not None and sprt.decision(counts):
                    return result("decided")
    except KeyboardInterrupt:
        return result("interrupted")
    except ProcessEndedError as error:
        error.result = result("interrupted")
        raise
    return result("played")
