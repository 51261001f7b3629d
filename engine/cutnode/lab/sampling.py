"""Positions drawn from games by a seed: sets that nobody has chosen by hand.

The games are the engine's against itself, from a position on.  Each move is one at random as often
as it is the one that a search :data:`DEPTH` plies deep likes best, so positions are neither all
alike nor all absurd.  Of a game one position is taken, after as many plies as chance says, if the
game goes on there, if no move wins at once, and if neither it nor an equivalent one was taken
before.  The same seed gives the same positions with the same version of the engine; what was drawn
is recorded as texts, and needs no version.
"""

from __future__ import annotations

from random import Random
from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import is_plain
from cutnode.contract.errors import CutnodeError, require_integer
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import canonical
from cutnode.lab.measuring import search_afresh
from cutnode.lab.study import Progress, no_progress
from cutnode.search.record import Record, wins_at_once
from cutnode.search.searcher import Searcher

DEPTH = 2
RANDOM = 0.5
"""The plies that a player looks ahead, and the part of the moves that are random."""

GAMES_EACH = 20
"""So many games are played for each position that is asked for, before there are too few."""

MOST_POSITIONS = 100_000


def plies_in(text: str) -> tuple[int, int]:
    """Read the least and the most plies of ``8:20``, or of ``8``, which is both."""
    low, colon, high = text.partition(":")
    try:
        return int(low), int(high if colon else low)
    except ValueError:
        raise CutnodeError(f"{text!r} is not a number of plies such as 8, or 8:20") from None


def sample_positions(
    start: Any,
    count: int,
    *,
    plies: tuple[int, int] = (4, 24),
    seed: int = 0,
    progress: Progress = no_progress,
) -> list[Any]:
    """Return *count* different positions that games reach from *start* on in so many *plies*.

    *plies* are the least and the most of them, moves of both players; chance takes none.
    :class:`CutnodeError` if there are too few such positions, or for numbers out of range.
    """
    start = coerce(start)
    least, most = (require_integer(number, "a number of plies") for number in plies)
    if not 1 <= require_integer(count, "a number of positions") <= MOST_POSITIONS:
        raise CutnodeError(f"a sample has 1..{MOST_POSITIONS:,} positions, not {count}")
    if not 0 <= least <= most:
        raise CutnodeError(f"plies go from 0 or more up to as many or more, not {least}:{most}")
    require_integer(seed, "a seed")
    searcher = Searcher(start, exact=True, table=1)
    found: dict[Any, Any] = {}
    for number in range(GAMES_EACH * count + 100):
        progress(f"game {number + 1}", len(found), count)
        random = Random(f"{seed} sample {number}")
        position = _position_of_game(searcher, start, random.randint(least, most), random)
        if position is not None and not wins_at_once(position):
            found.setdefault(_identity(position), position)
        if len(found) == count:
            return list(found.values())
    raise CutnodeError(
        f"{len(found)} different positions of {least} to {most} plies were found, and {count} are "
        f"asked for: ask for fewer or other plies"
    )


def _position_of_game(searcher: Searcher, start: Any, plies: int, random: Random) -> Any | None:
    """Play a game; return its position after so many plies, None if it was over before."""
    record = Record(start, seed=random.getrandbits(32))
    played = 0
    while not record.ending():
        if record.is_chance():
            record.draw()
            continue
        if played == plies:
            return record.position
        if random.random() < RANDOM:
            record.play(random.choice(legal_moves(record.position)))
        else:
            record.play(search_afresh(searcher, record.position, DEPTH).lines[0].move)
        played += 1
    return None


def _identity(position: Any) -> Any:
    """What equivalent positions have in common."""
    return position if is_plain(type(position)) else int(canonical(position)[0])
