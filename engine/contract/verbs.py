"""The contract between a game and the engine.

A **game** is one Python module: a position class and plain functions over it, the
*verbs*.  The engine calls verbs and knows no game; a verb finds the game's function by
the class of the position it is given, in compiled code at compile time (so a search is
as specialised as one written by hand for that game) and in plain Python at run time.
There is no registry: the module that defines the position class is the game.

A game is a prototype in plain Python first, if its author likes: the same functions
without ``@compiled``.  Then a position may be any hashable, immutable object of a class
that the game's module defines, ``key`` may be left out, and every search runs it, slower
and with the same answers.  With ``@compiled`` before every verb it is a compiled game, and
this is what the rest of this text describes.

The position
    An immutable ``NamedTuple`` of scalars annotated ``Bits`` (an unsigned 64-bit word),
    ``int`` (signed 64 bits), ``bool`` or ``float``.  It holds all that the future of the
    game depends on.  Public class attributes that are numbers, tuples or arrays are
    compile-time constants: ``position.WIDTH`` costs nothing.  A game with boards of
    several sizes has one position class for each size, all defined in its module, and
    each class says which it is by the attribute ``VARIANT`` (a text, ``""`` by default); the
    constants below may be attributes of these, too (``games/kalah.py`` is an example).

Moves
    An ``int`` in ``range(65535)``, of the game's own coding.

Values
    Integers in ``range(-32000, 32001)`` from the point of view of the *mover*, the player
    whose turn it is.  A game sets its own scale, and the scale decides what perfect play
    means: if quicker wins score higher, the solver finds the quickest.  In games of chance
    values and estimates may be any numbers within these limits.

Verbs that every game defines, compiled (decorate them with ``@compiled``):
:func:`moves`, :func:`play`, :func:`outcome`, :func:`key`.

Verbs that a game may define, compiled; each has a default, and a verb that is not
defined costs nothing: :func:`evaluate`, :func:`bounds`, :func:`endgame`,
:func:`candidates`, :func:`forced`, :func:`order`, :func:`scout`, :func:`noisy`,
:func:`check`, :func:`gain`, :func:`exchange`, :func:`pattern`, :func:`extension`,
:func:`skip`, :func:`deviation`, :func:`features`, :func:`canonical`, :func:`canonical_move`,
:func:`original_move`, :func:`settled`, :func:`turn`, :func:`free_move`, :func:`chance`,
:func:`chance_outcome`, :func:`reversible`, :func:`recurrence`, :func:`drawn`.

Functions of plain Python that every game defines, for people:

``start(variant="") -> Position``
    The first position of a variant (a board size, a rule set; ``""`` is the usual one).
``parse_position(text, variant="") -> Position``
    Read a position.  :class:`PositionError` says what is wrong, where, and what is
    allowed.  Every text that denotes no legal position is an error.
``position_text(position) -> str``
    One line that :func:`parse_position` reads back.
``parse_move(position, text) -> int`` and ``move_text(position, move) -> str``
    The same for moves.  Only legal moves are read.
``__str__`` of the position class
    The board, as a person wants to see it.

and, where they apply:

``describe(position, value) -> str``
    A value in words ("first player wins in 3 moves").
``evaluate_material`` and the like
    Compiled estimates other than ``evaluate``, known as ``material``.
``MAX_MOVES``, ``MAX_PLIES``
    Most moves of any position, default 256, and the longest possible line of play,
    default 512.
``DECISIVE = True``
    Only who wins, and how soon, matters.  Then ``evaluate`` has a scale of its own, and a
    search that stops before the end of the game counts a win above every estimate (see
    ``engine.kernels.scores``).  Otherwise ``evaluate`` estimates the value.
``REPETITIONS``
    How often a position has to occur in a game for a draw (see :func:`reversible`), default 2.
    A search takes the second time for it.
``MAX_ACTIONS``
    Most moves in a row that are free (see :func:`free_move`), default 4.
``PROFILE``
    The numbers that were tuned for the search: ``"tactical"`` for games of captures and threats
    that define ``gain``, or a dictionary of those that differ from the default, such as
    ``{"order_depth": 3}`` where ``order`` takes long (see ``engine.kernels.profiles``).
``VALUE_LIMIT``
    No value is further from zero, and no estimate unless the game is ``DECISIVE``; default
    32000.  The tighter the better: where a win is 1 and a loss -1, say so, and the solver
    does not look for more than a win.  In games of chance a search prunes by it.
``UNIT``
    An advantage that matters, as ``evaluate`` counts (in chess a pawn).  Without it a
    search does not prune by margins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.contract.dispatch import MAX_VALUE, defines, derived, verb

__all__ = [
    "INFINITE",
    "MOVES_ROOM",
    "NO_MOVE",
    "bounds",
    "candidates",
    "canonical",
    "canonical_move",
    "chance",
    "chance_outcome",
    "check",
    "deviation",
    "drawn",
    "endgame",
    "evaluate",
    "exchange",
    "extension",
    "features",
    "forced",
    "free_move",
    "gain",
    "key",
    "moves",
    "moves_again",
    "noisy",
    "order",
    "original_move",
    "outcome",
    "pattern",
    "play",
    "plies_left",
    "recurrence",
    "reversible",
    "scout",
    "settled",
    "skip",
    "turn",
]

NO_MOVE = 65535
"""Not a move."""

MOVES_ROOM = NO_MOVE
"""A stack of moves has so much room beyond ``MAX_MOVES``: a position with more moves is found
out before they do harm."""

INFINITE = MAX_VALUE + 1
"""Beyond every value: a bound that says nothing."""


# Required ---------------------------------------------------------------------------


@verb
def moves(position: Any, buffer: Any, at: int) -> int:
    """Write every legal move, once each, to ``buffer[at:]``; return the end.

    *buffer* is indexed like a list of ints.  Never called on a finished position.
    """
    raise NotImplementedError


@verb
def play(position: Any, move: int) -> Any:
    """The position after a legal move.

    A new one, ``Position(...)``; ``_replace`` does not compile.  A game of several position
    classes makes one of the same class by ``rebuild(position, ...)`` of ``engine``.
    """
    raise NotImplementedError


@verb
def outcome(position: Any) -> tuple[bool, int]:
    """Whether the game is over, and its value for the mover (0 if it is not over)."""
    raise NotImplementedError


@verb
def key(position: Any) -> int:
    """A 64-bit word (``Bits``) that tells positions apart.

    Equal positions have equal keys.  If distinct positions always have distinct keys
    (an encoding that fits 64 bits), a search makes no hash errors at all; a hash makes
    one with the odds that ``engine.kernels.table`` states.  What does not fit is hashed word by
    word: ``mix(mix(Bits(first)) ^ Bits(second))`` with ``mix`` of ``engine``.
    """
    raise NotImplementedError


# Optional: what the game knows about values -------------------------------------------


@verb
def evaluate(position: Any) -> int:
    """An estimate of the value for the mover; default 0.

    Of any position of a game that goes on, also where chance has to decide.
    """
    return 0


@verb
def bounds(position: Any, alpha: int, beta: int) -> tuple[int, int]:
    """A proven interval for the value; default: the outcome if over, else no limits.

    Called on every position that a solver meets, finished ones included, so here is the
    place for all that can be seen without search: finished games, wins at hand, best and
    worst results still possible.  ``alpha < beta`` is the window in which the search is
    interested: a game may skip a costly bound that would not decide it.
    """
    over, value = outcome(position)
    if over:
        return value, value
    return -INFINITE, INFINITE


@verb
def endgame(position: Any, alpha: int, beta: int) -> tuple[bool, int, int]:
    """Whether the game solves a position itself, its value, and the nodes that took.

    For code that knows how the last few moves of this game go better than any search does,
    and for tables of endings.  Called when :func:`bounds` left the value open.  The value is
    fail-soft: exact within ``alpha < beta``, a bound beyond.  Default: it does not.
    """
    return False, 0, 0


@verb
def candidates(position: Any, buffer: Any, at: int) -> int:
    """Like :func:`moves`, but only moves among which a best one surely is; default: all.

    Called when :func:`bounds` left the value open.  A solver searches no other move.
    """
    return moves(position, buffer, at)  # type: ignore[no-any-return]


@verb
def forced(position: Any) -> int:
    """The only candidate, if that is cheap to see, else ``NO_MOVE``; default ``NO_MOVE``.

    Forced moves are played at once, without a node of their own.
    """
    return NO_MOVE


@verb
def order(position: Any, move: int, child: Any) -> int:
    """How promising a move looks: higher is searched earlier; default 0.

    *child* is the position after the move.  Of equal moves the earlier generated comes
    first.  Within plus or minus a million.
    """
    return 0


@verb
def plies_left(position: Any) -> int:
    """An upper bound on the plies until the game is over; default 1000: unknown.

    A solver leaves small subtrees to plain search; how many plies these have depends on
    ``MAX_MOVES``, so let that be tight.
    """
    return 1000


@verb
def scout(position: Any) -> int:
    """The depth of a search by estimates that goes before a proof; default 0: none.

    Its score is the value that a solver asks for first, and its moves are tried first.  It
    pays where ``evaluate`` foretells values well and a proof takes millions of nodes.
    """
    return 0


# Optional: what helps a search that has to stop before the end of the game ---------------


@verb
def noisy(position: Any, buffer: Any, at: int) -> int:
    """Like :func:`moves`, but only those that change estimates much; default: none.

    Captures, promotions, threats: where a search would stop, it goes on with these until
    the position is quiet (quiescence).  Not moving on is always another choice.
    """
    return at


@verb
def check(position: Any) -> bool:
    """Whether the mover has to meet a threat at once, as in check; default False.

    An estimate says nothing there: a search that would stop plays all moves, not only
    :func:`noisy` ones, and does not prune by margins or pass.
    """
    return False


@verb
def gain(position: Any, move: int) -> int:
    """What a noisy move wins at first sight, in the unit of ``evaluate``; default 0.

    What it takes, say, before any answer; 0 for a quiet move.  A search tries moves that win
    more earlier, and skips them where even that is not enough.
    """
    return 0


@verb
def exchange(position: Any, move: int, least: int) -> bool:
    """Whether a move wins *least* or more after the best answers on its square.

    The static exchange value, in the unit of ``evaluate``, compared with a number; default: that
    of its :func:`gain`.  A search tries noisy moves that lose last, and does not try them where
    it looks only for what changes estimates much.
    """
    return gain(position, move) >= least  # type: ignore[no-any-return]


@verb
def pattern(position: Any, move: int) -> int:
    """What moves that do alike have in common, 0 to 1023; default: the move modulo 1024.

    Such as which piece goes where.  If a game defines it, a search learns which move is good
    after which.
    """
    return move % 1024


@verb
def extension(position: Any, move: int, child: Any) -> int:
    """The plies by which a search goes deeper after a move; default 0.

    1 after moves that leave little choice (a check, a threat to win at once), so that
    they do not push what matters out of sight.
    """
    return 0


@verb
def skip(position: Any) -> tuple[bool, Any]:
    """Whether a turn may be passed to test a position, and the position after that.

    The test (a null move) assumes that having to move is no handicap: if even a pass is
    good enough, so is the best move.  Default: it may not.  In positions where it is
    wrong (zugzwang) a game says no.
    """
    return False, position


@verb
def deviation(position: Any, deep: int, shallow: int) -> float:
    """How far the scores at two depths are apart (standard deviation); default 0: not known.

    The depths are plies, *deep* more than *shallow* and both odd or both even; the unit is that
    of ``evaluate``.  A search of *shallow* plies then tells what one of *deep* plies would
    (ProbCut).  ``cutnode lab deviation`` measures it.
    """
    return 0.0


@verb
def features(position: Any) -> tuple[float, ...]:
    """What the mover and the other have, twelve numbers of 0 or more; default: all 0.

    For each of ``engine.kernels.optionality.FEATURES`` (move count, build options, material,
    territory, resources, threat) how much the mover has, and then how much the other
    has.  An evaluation of optionality weighs them.
    """
    return 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0


# Optional: equivalent positions -------------------------------------------------------


@verb
def canonical(position: Any) -> tuple[int, int]:
    """The key of a class of equivalent positions, and how this one is turned in it.

    Positions with the same canonical key must have the same value.  The second number is
    the game's own code for the symmetry that takes this position to its class's frame;
    0 means none.  Default: ``key(position), 0``.
    """
    return key(position), 0


@verb
def canonical_move(position: Any, move: int, symmetry: int) -> int:
    """A move of this position as seen in the canonical frame; default: unchanged."""
    return move


@verb
def original_move(position: Any, move: int, symmetry: int) -> int:
    """The inverse of :func:`canonical_move`; default: unchanged."""
    return move


@verb
def settled(position: Any) -> tuple[int, int]:
    """What of the value is decided already, and the key of what is left to play for.

    For games of points: two positions with the same key have values that differ as their
    settled parts do (seeds in stores, boxes won), so a solver need solve only one of
    them.  They are turned alike in the frame of :func:`canonical`.  Default: 0, and the key
    of the class of :func:`canonical`.
    """
    word, _ = canonical(position)
    return 0, word


# Optional: games that are not strictly alternating ------------------------------------


@verb
def turn(position: Any) -> int:
    """The player to move, 0 or 1; default: the players alternate.

    Defined by games in which a player can move again (extra turns, turns of several
    actions).  A pass is a move like any other and needs no ``turn``.
    """
    raise NotImplementedError


@derived
def moves_again(cls: type) -> Callable[..., Any]:
    """``moves_again(position, child)``: whether both have the same mover."""
    if defines(cls, "turn"):
        return lambda position, child: turn(position) == turn(child)
    return lambda position, child: False


@verb
def free_move(position: Any, move: int, child: Any) -> bool:
    """Whether a move costs no depth; default: if the mover moves again.

    A search counts depth in turns, so a turn of several actions is one ply, and a game may
    say that a pass is none.  ``MAX_ACTIONS`` free moves in a row, no more, are free.
    """
    return moves_again(position, child)  # type: ignore[no-any-return]


@verb
def chance(position: Any) -> int:
    """How many outcomes a chance event has here (dice, cards); default 0: none.

    At a position with outcomes nobody moves; :func:`moves` is not called.
    """
    return 0


@verb
def chance_outcome(position: Any, index: int) -> tuple[float, Any]:
    """The probability of outcome *index*, and the position after it.

    The mover stays the same unless the game defines :func:`turn`.
    """
    return 0.0, position


@verb
def reversible(position: Any, child: Any) -> bool:
    """Whether play can come back to *position* after *child*; default False.

    Games in which positions recur say so here; a position that repeats one of the line
    of play, with only reversible steps between, is a draw (value 0).  In a game that is played
    it has to occur ``REPETITIONS`` times.
    """
    return False


@verb
def recurrence(position: Any) -> int:
    """The word by which a repetition is known; default: the ``key``.

    For positions that hold what changes while they recur, such as a clock.
    """
    return key(position)  # type: ignore[no-any-return]


@verb
def drawn(position: Any) -> bool:
    """Whether a rule ends the game as a draw although there are moves; default False.

    Too many moves without progress, say, or pieces that cannot win.  :func:`outcome` goes first.
    Counting (perft) goes on there, and so does a search that is asked for a move.
    """
    return False
