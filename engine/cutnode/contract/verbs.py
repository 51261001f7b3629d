"""The contract between a game and the engine.

A **game** is one Python module: a position class and plain functions over it, the *verbs*.  The
engine calls verbs and knows no game; a verb dispatches on the class of the position it is given.
There is no registry, and adding a game changes no other file.  A whole game::

    from typing import NamedTuple
    from cutnode import compiled

    class Position(NamedTuple):
        left: int = 21                      # Nim: one heap, take 1 to 3, the last one wins

    @compiled
    def moves(position, buffer, at):
        for count in range(1, min(position.left, 3) + 1):
            buffer[at] = count
            at += 1
        return at

    @compiled
    def play(position, move):
        return Position(position.left - move)

    @compiled
    def outcome(position):
        return position.left == 0, -1 if position.left == 0 else 0

``cutnode check nim.py`` tests a game against the contract, and every command and function of the
engine accepts ``nim.py`` in place of a game's name.  Everything else has a default.

**Compiled or plain.**  With ``@compiled`` before every verb, the rules are compiled into machine
code specialised for this game.  Without it they run as plain Python, slower but with the same
answers; positions may then be any hashable, immutable objects.  A game is either one or the other.

**Positions** are immutable.  In a compiled game they are ``NamedTuple`` s of scalars annotated
``Bits`` (an unsigned 64-bit word), ``int`` (signed, 64 bits), ``bool`` or ``float``, and hold
everything that the future of the game depends on.  Class attributes that are numbers, tuples or
arrays are compile-time constants: reading ``position.WIDTH`` costs nothing.  Fields left out of
``Position(...)`` take their defaults.  A game with boards of several sizes has a class for each,
made by :func:`cutnode.contract.variants.variants`.

**Bits and int** mix in rules as in Python, as far as 64 bits allow: ``s & -s``, ``s & (s - 1)``,
``s | 1 << 63``, comparisons.  ``&``, ``|`` and ``^`` give ``Bits``; sums and differences give an
``int``, and so does ``&`` with a constant, as in ``s & 7``.  A variable that is ``Bits`` in one
place and an ``int`` in another is refused, unless the ``int`` is a constant of 0 or more: write
``Bits(...)``.  A ``Bits`` field accepts only ``Bits``.  ``1 << i`` is an ``int``,
``Bits(1) << i`` a word; compiled code drops what is shifted out of 64 bits and plain Python keeps
it, so mask it.  An index beyond the end of a constant is an error.

**Moves** are numbers in ``range(65535)``, in the game's own encoding.

**Values** are integers in ``range(-32000, 32001)`` from the point of view of the *mover*, the
player whose turn it is.  The game's scale decides what perfect play means: if quicker wins score
higher, the solver finds the quickest.  In games of chance, values and estimates need not be
integers, within the same limits.

**Verbs** come in seven groups, defined below in this order.  A verb that a game does not define
costs nothing.

=========== ======================================================================================
core        ``moves play outcome key cell``: the rules
solver      ``bounds endgame candidates forced order plies_left scout settled``: shorter proofs
heuristics  ``evaluate noisy check gain exchange hint pattern extension skip deviation features
            planes opponent_planes adjust random_move policy random_result``: searches that stop
            before the end of the game
chance      ``turn free_move chance chance_outcome reversible recurrence progress drawn``: dice,
            extra turns and repeated positions
symmetry    ``canonical canonical_move original_move``: equivalent positions
tablebase   ``layer index position_at retreats retreat position_of``: all positions, numbered
sums        ``parts part swapped part_key asymmetry``: positions that fall apart, solved by their
            parts
=========== ======================================================================================

**For people** a game may also define the following in plain Python;
:mod:`cutnode.contract.notation` has the defaults:

``start(variant="")``
    The first position of a variant (a board size, a rule set); by default ``Position()``, so every
    field needs a default.
``CELLS``, ``from_cells(contents, mover, start)``, ``mover(position)``, ``caption(position)``
    The board, from which the engine derives drawings and texts of positions:
    :mod:`cutnode.contract.cells`.
``winning_line(position)``
    The cells that won the game, such as a row or a chain of stones; by default none.  Called where
    a player has won.  Boards in the browser, and drawings in a terminal with colours, highlight
    them.
``position_text(position)`` and ``parse_position(text, variant="")``
    A position as one line of text, and back; by default the board, or the fields by name.  The
    default also reads the moves played from the start (``MOVE_PATTERN``, a regular expression,
    matches one of them).  An empty or blank text is the start: ``parse_position`` is not called
    for it.  Raise :class:`PositionError`, which says what is wrong, for a text that denotes no
    legal position; call :func:`cutnode.contract.notes.note` if a text is read differently from how
    it is written.  In a file of positions each line has one, and a ``;`` begins a comment, unless
    ``SEMICOLONS = True`` says that positions may contain semicolons.
``move_text(position, move)`` and ``parse_move(position, text)``
    By default the number of the move, and the legal move that has the given text.
``chance_text(position, index)``
    An outcome of chance in words, such as ``roll of 2``; by default ``outcome 3 of 5``.
``__str__`` of the position class
    By default the board, or the fields.
``record_text(start, moves, about)`` and ``parse_record(text)``
    A whole game in the format its players use, in files that end in ``RECORD_SUFFIX``, such as
    ``.pgn``: *moves* are the texts of the moves from the position *start*, and *about* holds the
    names of both ``players``, the ``date``, the ``value`` for the first of them, None if the game
    is not over, and perhaps ``headers`` and a ``comment`` before the first move.  ``parse_record``
    returns the first position as text, the moves, and perhaps a dictionary with ``headers``,
    ``comment`` and, if records say it, the ``variant``.  Moves that are
    :class:`~cutnode.contract.plies.Ply`s have marks, comments and variations.
``describe(position, value)``
    A value in words ("first player wins in 3 moves"); by default who wins, if the board names the
    players, and by how much.

**Constants** that a game may declare, as attributes of the module or of the position class:

``MAX_MOVES``, ``MAX_PLIES``
    The most moves in any position, default 256, and the most plies in any line of play,
    default 512.
``DECISIVE = True``
    Only who wins, and how soon, matters.  Then ``evaluate`` has a scale of its own, and a
    search that stops before the end of the game counts a win above every estimate (see
    ``cutnode.kernels.scores``).  Otherwise ``evaluate`` estimates the value.
``VARIANTS``
    Some variants as a person writes them, the usual one first, for lists and for completion in a
    shell: a tuple of texts in the game's module, which is read without running it.
``VARIANT``
    The variant of a position class, as a person writes it; ``""`` is the usual one.
``REPETITION``
    The value of a move that brings an earlier position back (see :func:`reversible`), for the
    player who makes it: ``"draw"`` (0, the default), ``"loss"``, ``"win"``, or ``"illegal"``
    (superko in Go: the move does not exist, and a player with no other move loses).  A win and a
    loss are worth ``VALUE_LIMIT`` if the game declares it, else 1.  :func:`recurrence` says what
    counts as the same position, and a finished game repeats none.
``REPETITIONS``
    How often a position has to occur in a game for a draw (see :func:`reversible`), default 2.
    A search always counts the second occurrence as a draw.  It must be 2 where ``REPETITION`` is
    not ``"draw"``.
``MAX_ACTIONS``
    The most consecutive moves that can be free (see :func:`free_move`), default 4.
``PROFILE``
    The search parameters tuned for this game: ``"tactical"`` for games of captures and threats
    that define ``gain``, or a dictionary of the parameters that differ from the default, such as
    ``{"order.depth": 3}`` where ``order`` is slow (see ``cutnode.kernels.profiles``).
``VALUE_LIMIT``
    The largest absolute value, and the largest absolute estimate unless the game is ``DECISIVE``;
    default 32000.  The tighter the better: where a win is 1 and a loss -1, say so, and the solver
    does not look for more than a win.  In games of chance a search prunes by it.
``UNIT``
    An advantage that matters, on the scale of ``evaluate`` (in chess a pawn).  Without it a
    search does not prune by margins.
``FOCUS``
    A proof-number search computes the numbers of a node from its first N open moves, and an eighth
    of all open ones; N is 1 by default.  Say 3 where most of play is threats with few answers each:
    judged by one answer alone, a long line of threats looks as near to a proof as a short one.
    From 2 on, the disproof number of an unsearched position counts no more moves than these.
``PART_IMAGES``
    How many images of a part by symmetries of the board are equivalent (see :func:`part_key`): 8
    with mirror images and quarter turns, the default; 4 with mirror images only; 1 for none.
``LAYER_SIZES``
    A tuple or an array: how many indices each layer has (see :func:`index`).
``LAYER_NAMES``
    What people call the layers (``"KQvKR"``), a tuple of strings; by default their numbers.

Compiled functions named ``evaluate_material`` and the like are further estimates, which commands
call ``material``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutnode.contract.bits import Bits
from cutnode.contract.default_keys import key_of_fields
from cutnode.contract.dispatch import MAX_VALUE, defines, derived, verb
from cutnode.contract.part_keys import has_images, key_of_part

NO_MOVE = 65535
"""No move, where the number of a move is expected."""

NO_INDEX = -1
"""The index of a position that a tablebase does not hold: its value follows from its moves, or its
chance outcomes."""

MOVES_ROOM = NO_MOVE
"""The room that a stack of moves has beyond ``MAX_MOVES``, so that a position with more moves is
detected before they do harm."""

INFINITE = MAX_VALUE + 1
"""Beyond every value: a bound that excludes nothing."""


# Core: the rules ----------------------------------------------------------------------


@verb
def moves(position: Any, buffer: Any, at: int) -> int:
    """Write every legal move, once each, to ``buffer[at:]``; return the end.

    Called at every position where the game is not over and chance does not decide, and at no other.
    It must write at least one move and must not read the buffer, which is indexed like a list of
    ints.  The end is the index after the last move.

    Example::

        def moves(position, buffer, at):
            for count in range(1, min(position.left, 3) + 1):
                buffer[at] = count
                at += 1
            return at
    """
    raise NotImplementedError


@verb
def play(position: Any, move: int) -> Any:
    """Return the position after a legal move.

    Called for each move that is searched.  It must return a position of the same class, as the
    player who moves next sees it.  ``position._replace(...)`` takes only the fields that change.

    Example::

        def play(position, move):
            return position._replace(left=position.left - move)
    """
    raise NotImplementedError


@verb
def outcome(position: Any) -> tuple[bool, int]:
    """Return whether the game is over, and its value for the mover (0 if it is not over).

    Called first at every position.

    Example::

        def outcome(position):
            return position.left == 0, -1 if position.left == 0 else 0
    """
    raise NotImplementedError


@verb
def key(position: Any) -> int:
    """Return a 64-bit word (``Bits``) that tells positions apart; default: a mix of all fields.

    Called where a position is looked up in a table.  Equal positions must have equal keys.  If
    distinct positions always have distinct keys (an encoding that fits into 64 bits), a search
    makes no hash errors at all; with a hash, ``cutnode.kernels.table`` states the odds of one.
    Hash what does not fit word by word: ``mix(mix(Bits(first)) ^ Bits(second))``, with ``mix`` from
    ``cutnode``.  The default does one or the other (:mod:`cutnode.contract.default_keys`).

    Example::

        def key(position):
            return Bits(position.left)
    """
    return key_of_fields(position)


@verb
def cell(position: Any, index: int) -> int:
    """Return what stands on a cell of the board that the game declares as ``CELLS``; default 0.

    Called for drawings and texts, never by a search.  It must return the number of a content, as
    :mod:`cutnode.contract.cells` explains.

    Example::

        def cell(position, index):
            return 1 if index < position.left else 0
    """
    return 0


# Solver: what makes a proof short -------------------------------------------------------


@verb
def bounds(position: Any, alpha: int, beta: int) -> tuple[int, int]:
    """Return proven bounds of the value, lower and upper; default: the outcome if over, else none.

    Called at every position that a solver meets, finished ones included, so this is the place for
    everything that can be seen without search: finished games, immediate wins, the best and worst
    results still possible.  The bounds must hold.  ``alpha < beta`` is the window of the search: a
    game may skip a costly bound that would not cause a cutoff.

    Example::

        def bounds(position, alpha, beta):
            value = -1 if position.left % 4 == 0 else 1
            return value, value
    """
    over, value = outcome(position)
    if over:
        return value, value
    return -INFINITE, INFINITE


@verb
def endgame(position: Any, alpha: int, beta: int, nodes: int) -> tuple[bool, int, int]:
    """Return whether the game solves a position itself, its value, and the nodes that took.

    Called when :func:`bounds` left the value open; for code that solves the last few moves of this
    game faster than the solver, and for endgame tables.  The value must be exact within
    ``alpha < beta``, and a bound outside it (fail-soft).  A search may visit *nodes* more (0 or
    more) before its node limit: code that could take many stops there, and returns ``False`` and
    the nodes it took.  Default: the game does not solve it.

    Example::

        def endgame(position, alpha, beta, nodes):
            return position.left < 4, 1, 1
    """
    return False, 0, 0


@verb
def candidates(position: Any, buffer: Any, at: int) -> int:
    """Write moves as :func:`moves` does, at least one best move among them; default: all.

    Called when :func:`bounds` left the value open.  A solver searches no other move.

    Example::

        def candidates(position, buffer, at):
            buffer[at] = max(position.left % 4, 1)
            return at + 1
    """
    return moves(position, buffer, at)  # type: ignore[no-any-return]


@verb
def forced(position: Any) -> int:
    """Return the only candidate if it is cheap to see, else ``NO_MOVE``; default ``NO_MOVE``.

    Called when :func:`bounds` left the value open.  A solver plays a forced move at once, without
    a node of its own.

    Example::

        def forced(position):
            return 1 if position.left == 1 else NO_MOVE
    """
    return NO_MOVE


@verb
def order(position: Any, move: int, child: Any) -> int:
    """Return how promising a move looks: higher is searched earlier; default 0.

    Called for each move of a node, in solvers and in searches of limited depth (move ordering);
    *child* is the position after the move.  The number must be between -1,000,000 and 1,000,000.
    Of equal moves, the one generated first comes first.

    Example::

        def order(position, move, child):
            return -(child.left % 4)
    """
    return 0


@verb
def plies_left(position: Any) -> int:
    """Return an upper bound on the plies until the game is over; default 1000: unknown.

    Called at the nodes of a solver, which leaves small subtrees to plain search; how many plies
    these have depends on ``MAX_MOVES``, so keep that tight.

    Example::

        def plies_left(position):
            return position.left
    """
    return 1000


@verb
def scout(position: Any) -> int:
    """Return the depth of a heuristic search that precedes a proof; default 0: none.

    Called once, where a proof begins.  The search's score is the first value that the solver tests,
    and its moves are tried first.  It pays where ``evaluate`` predicts values well and a proof
    takes millions of nodes.

    Example::

        def scout(position):
            return 8 if position.left > 40 else 0
    """
    return 0


@verb
def settled(position: Any) -> tuple[int, int]:
    """Return the part of the value already decided, and the key of what is left to play for.

    Called where a solver looks a position up; for games of points, such as seeds in stores or boxes
    won.  The values of two positions with the same key must differ by exactly what their settled
    parts do, so only one of them has to be solved.  Moves of both must have the same meaning in the
    frame of :func:`canonical`.  Default: 0, and the key that :func:`canonical` returns.

    Example::

        def settled(position):
            return position.lead, position.boxes_left
    """
    word, _ = canonical(position)
    return 0, word


# Heuristics: for searches that stop before the end of the game ---------------------------


@verb
def evaluate(position: Any) -> int:
    """Return an estimate of the value for the mover; default 0.

    Called at the leaves of a search (``static_eval``), for any position of an unfinished game,
    including one where chance decides.

    Example::

        def evaluate(position):
            return -10 if position.left % 4 == 0 else 10
    """
    return 0


@verb
def noisy(position: Any, buffer: Any, at: int) -> int:
    """Write, as :func:`moves` does, the moves that change estimates much; default: none.

    Called where a search would stop: it continues with these moves (captures, promotions, threats)
    until the position is quiet (quiescence search).  The mover may always decline them all (stand
    pat).

    Example::

        def noisy(position, buffer, at):
            if position.left <= 3:
                buffer[at] = position.left
                at += 1
            return at
    """
    return at


@verb
def check(position: Any) -> bool:
    """Return whether the mover has to meet a threat at once, as in check; default False.

    Called at every node (``in_check``).  A static estimate means nothing there: a search that would
    stop plays all moves, not only :func:`noisy` ones, and uses neither margins nor null moves to
    prune.

    Example::

        def check(position):
            return position.attackers != 0
    """
    return False


@verb
def gain(position: Any, move: int) -> int:
    """Return what a noisy move wins at first sight, on the scale of ``evaluate``; default 0.

    Called for move ordering and for futility and delta pruning.  For instance, the value of what
    the move captures, before any reply; 0 for a quiet move.

    Example::

        def gain(position, move):
            return 100 * ((position.theirs >> move) & 1)
    """
    return 0


@verb
def exchange(position: Any, move: int, least: int) -> bool:
    """Return whether a move wins *least* or more after the best replies on its square.

    The static exchange evaluation (SEE) compared with a threshold on the scale of ``evaluate``;
    default: the :func:`gain` compared with it.  Called for noisy moves: losing ones are tried last,
    and not at all in quiescence search.  It must return False if *least* is above the gain.

    Example::

        def exchange(position, move, least):
            return gain(position, move) >= least
    """
    return gain(position, move) >= least  # type: ignore[no-any-return]


@verb
def hint(position: Any, move: int) -> int:
    """Return how promising a quiet move looks, in history points; default 0.

    Called for each move without a :func:`gain` (move ordering).  A search adds the number to the
    move's history, which stays between -16,384 and 16,384, so a hint counts most before the search
    has learned anything.  It must be between -1,000,000 and 1,000,000.  Unlike :func:`order` it
    does not need the position after the move.

    Example::

        def hint(position, move):
            return 5000 if attacked(position) >> Bits(move & 63) & Bits(1) else 0
    """
    return 0


@verb
def pattern(position: Any, move: int) -> int:
    """Return a number, 0 to 1023, shared by moves that do alike; default: the move modulo 1024.

    It says which piece goes where, for instance.  Called for move ordering: if a game defines it, a
    search learns which move is good after which (continuation history).

    Example::

        def pattern(position, move):
            return move % 64
    """
    return move % 1024


@verb
def extension(position: Any, move: int, child: Any) -> int:
    """Return the plies by which to extend the search after a move; default 0.

    Called for each move that is searched.  Return 1 after moves that leave little choice (a check,
    a threat to win at once), so that they do not push what matters beyond the horizon.

    Example::

        def extension(position, move, child):
            return 1 if child.left <= 3 else 0
    """
    return 0


@verb
def skip(position: Any) -> tuple[bool, Any]:
    """Return whether the search may try a null move, and the position after it.

    Called before the moves of a node are searched.  The null move, a pass, assumes that having to
    move is no handicap: if even a pass is good enough, so is the best move.  Where that is wrong
    (zugzwang), return False.  Default: no null move.

    Example::

        def skip(position):
            passed = position._replace(mine=position.theirs, theirs=position.mine)
            return position.stones > 6, passed
    """
    return False, position


@verb
def deviation(position: Any, deep: int, shallow: int) -> float:
    """Return the standard deviation between the scores at two depths; default 0: unknown.

    The depths are in plies, *deep* greater than *shallow* and both odd or both even; the deviation
    is on the scale of ``evaluate``.  Called before the moves of a node are searched: a search of
    *shallow* plies then predicts the score of one of *deep* plies (ProbCut).
    ``cutnode lab deviation`` measures it.

    Example::

        def deviation(position, deep, shallow):
            return 1.5 * (deep - shallow)
    """
    return 0.0


@verb
def features(position: Any) -> tuple[float, ...]:
    """Return what the mover and the opponent have, twelve numbers of 0 or more; default: all 0.

    Called at the leaves of a search that evaluates by :class:`~cutnode.Optionality`, which weighs
    them.  For each of ``cutnode.kernels.optionality.FEATURES`` (move count, build options,
    material, territory, resources, threat): how much the mover has, then how much the opponent has.

    Example::

        def features(position):
            return 0, 0, 0, 0, popcount(position.mine), popcount(position.theirs), 0, 0, 0, 0, 0, 0
    """
    return 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0


@verb
def planes(position: Any) -> tuple[int, ...]:
    """Return words whose bits are the inputs of a learned network; default: none.

    Called at the leaves of a search that evaluates with a network.  The number of words must be the
    same for every position.  They show the position as the mover sees it, and few bits should
    differ between consecutive positions of one player.  Without them a network reads the
    position's bitboards.

    Example::

        def planes(position):
            return position.mine, position.theirs
    """
    return ()


@verb
def opponent_planes(position: Any) -> tuple[int, ...]:
    """Return the words of :func:`planes` as the opponent sees them; default: none.

    The networks of a game that defines it have an accumulator for each of the two views.

    Example::

        def opponent_planes(position):
            return position.theirs, position.mine
    """
    return ()


@verb
def adjust(position: Any, score: int) -> int:
    """Return a learned score, corrected by what the game knows better; default: the score.

    Called with each score from learned weights, unless the game's :func:`evaluate` is part of it.
    The games from which weights were learned may end before rare positions come up: likely draws
    however far a player is ahead, or wins that take a plan.

    Example::

        def adjust(position, score):
            return score // 4 if position.blocked else score
    """
    return score


@verb
def random_move(position: Any, word: int) -> int:
    """Return a legal move drawn by a random 64-bit word; default ``NO_MOVE``: list the moves.

    Called instead of :func:`moves` at every ply of a playout (Monte Carlo tree search).  All moves
    must be equally likely.  It pays where listing the moves takes longer than counting them:
    ``cutnode.contract.bits`` has what a bitboard needs.

    Example::

        def random_move(position, word):
            return 1 + high_product(word, min(position.left, 3))
    """
    return NO_MOVE


@verb
def policy(position: Any, word: int) -> int:
    """Return a move of the rollout policy, drawn by a random word; default ``NO_MOVE``: none.

    Called at every ply of a rollout (Monte Carlo tree search) in games that define it, unless
    *rollouts* says otherwise.  It must return a legal move, and always the same one for the same
    word.  It pays where random games tell little of a position, because most legal moves are
    senseless, such as filling an own eye in Go: leave these out, prefer what must not be missed,
    and keep it quick.

    Example::

        def policy(position, word):
            best = position.left % 4
            return best if best else 1 + high_product(word, min(position.left, 3))
    """
    return NO_MOVE


@verb
def random_result(position: Any, word: int) -> int:
    """Return the value at the end of a random playout, for the mover; default: play it out.

    Called for playouts (Monte Carlo tree search) from positions where the game is not over and
    chance does not decide.  The result must be distributed as if all moves were equally likely at
    every ply; *word* is a random 64-bit word.  It pays where the end of such a game can be drawn at
    once: in Hex, where the order of moves does not matter and somebody always wins, draw half of
    the empty cells.

    Example::

        def random_result(position, word):  # stones are taken one by one, the last one wins
            return 1 if position.left & 1 else -1
    """
    return 0


# Chance: dice, extra turns and repeated positions ----------------------------------------


@verb
def turn(position: Any) -> int:
    """Return the player to move, 0 or 1; default: the players alternate.

    Called after every move of games that define it.  Define it if a player can move again (extra
    turns, turns of several actions).  A pass is a move like any other and needs no ``turn``.

    Example::

        def turn(position):
            return 1 if position.second else 0
    """
    raise NotImplementedError


@derived
def moves_again(cls: type) -> Callable[..., Any]:
    """``moves_again(position, child)``: whether both have the same mover."""
    return same_turn(cls, False)


def same_turn(cls: type, otherwise: bool) -> Callable[..., Any]:
    """Return a function that compares the movers of two positions.

    It returns *otherwise* where the players alternate.
    """
    if defines(cls, "turn"):
        return lambda position, child: turn(position) == turn(child)
    return lambda position, child: otherwise


@verb
def free_move(position: Any, move: int, child: Any) -> bool:
    """Return whether a move costs no depth; default: if the mover moves again.

    Called for each move that is searched.  A search counts depth in turns, so a turn of several
    actions is one ply, and a game may say that a pass costs none.  At most ``MAX_ACTIONS``
    consecutive moves are free.

    Example::

        def free_move(position, move, child):
            return move == PASS
    """
    return moves_again(position, child)  # type: ignore[no-any-return]


@verb
def chance(position: Any) -> int:
    """Return how many outcomes a chance event has here (dice, cards); default 0: no event.

    Called at every position of an unfinished game.  Where there are outcomes nobody moves:
    :func:`moves` is not called.

    Example::

        def chance(position):
            return 6 if position.roll == 0 else 0
    """
    return 0


@verb
def chance_outcome(position: Any, index: int) -> tuple[float, Any]:
    """Return the probability of outcome *index*, and the position after it.

    Called for each outcome; the probabilities must sum to 1.  The mover stays the same unless the
    game defines :func:`turn`.

    Example::

        def chance_outcome(position, index):
            return 1 / 6, position._replace(roll=index + 1)
    """
    return 0.0, position


@verb
def reversible(position: Any, child: Any) -> bool:
    """Return whether play can come back to *position* after *child*; default False.

    Called after every move.  A game in which positions recur must define it.  In a search, a
    position that repeats an earlier one in the line of play, with only reversible moves between
    them, is a draw (value 0); in an actual game it has to occur ``REPETITIONS`` times.  The
    constant ``REPETITION`` makes it a win, a loss or an illegal move instead.

    Example::

        def reversible(position, child):
            return position.men == child.men
    """
    return False


@verb
def recurrence(position: Any) -> int:
    """Return the word that identifies a position for repetitions; default: the ``key``.

    Called in games with :func:`reversible` moves.  Define it if positions have fields that change
    between repetitions, such as a move clock, or if the rule compares a part of the position: the
    board without the player to move is positional superko, with him it is situational superko.
    Unless ``REPETITION`` is ``"draw"``, a move that leaves the word as it was, such as a pass under
    positional superko, repeats nothing.

    Example::

        def recurrence(position):
            return position.zobrist
    """
    return key(position)  # type: ignore[no-any-return]


@verb
def progress(position: Any) -> tuple[int, int]:
    """Return two numbers, the mover's and the opponent's, equal in positions that recur; default 0.

    Called in proofs by df-pn where ``REPETITION`` is not ``"draw"``.  Positions with the same
    :func:`recurrence` must have the same numbers, each from 0 to 254 and each for its own player.
    An answer holds on every line on which a player had less of them than in the whole of its proof,
    so they should hardly ever fall: in Go, stones on the board.

    Example::

        def progress(position):
            return popcount(position.mine), popcount(position.theirs)
    """
    return 0, 0


@verb
def drawn(position: Any) -> bool:
    """Return whether a rule ends the game as a draw although there are moves; default False.

    Called after :func:`outcome`, at all but the first position of a search.  Such rules concern,
    for instance, too many moves without progress, or too few pieces to win.  Counting (perft)
    continues there, and a search from there still finds a move.

    Example::

        def drawn(position):
            return position.clock >= 100
    """
    return False


# Symmetry: equivalent positions -----------------------------------------------------------


@verb
def canonical(position: Any) -> tuple[int, int]:
    """Return the key of a class of equivalent positions, and the symmetry to its frame.

    Called where a position is looked up in a table.  Positions with the same canonical key must
    have the same value.  The second number is the game's own code for the symmetry that maps this
    position to the frame of its class; 0 means the identity.  Default: ``key(position), 0``.

    Example::

        def canonical(position):
            word, image = key(position), key(mirrored(position))
            return (image, 1) if image < word else (word, 0)
    """
    return key(position), 0


@verb
def canonical_move(position: Any, move: int, symmetry: int) -> int:
    """Return a move of this position as seen in the canonical frame; default: the move.

    Called where a move is stored in a table.

    Example::

        def canonical_move(position, move, symmetry):
            return 6 - move if symmetry else move
    """
    return move


@verb
def original_move(position: Any, move: int, symmetry: int) -> int:
    """Return the inverse of :func:`canonical_move`; default: :func:`canonical_move` itself.

    Called where a move is read from a table (hash move).  Reflections and half turns are their own
    inverses; games whose symmetries include quarter turns must define it.

    Example::

        def original_move(position, move, symmetry):
            return (move + 9 * symmetry) % 36
    """
    return canonical_move(position, move, symmetry)  # type: ignore[no-any-return]


# Tablebase: all positions, numbered ----------------------------------------------------------


@verb
def layer(position: Any) -> int:
    """Return the layer of a position, a number that play never increases; default 0.

    Called for positions in a tablebase.  It may count the men on the board, or the pieces still to
    bear off: no move and no outcome of chance may lead to a layer with a greater number.  A
    tablebase is built layer by layer, from 0 up, and needs the memory of its largest layer.  A
    position without an index may be in no layer: return -1, for instance, if it has more men than
    the game numbers.

    Example::

        def layer(position):
            return position.left // 100
    """
    return 0


@verb
def index(position: Any) -> int:
    """Return the number of a position in its layer, in ``range(LAYER_SIZES[layer])``.

    Called for positions where the game is not over (``outcome``); a game that defines it also
    defines :func:`position_at` and ``LAYER_SIZES``.  Equivalent positions have the same index.
    Return ``NO_INDEX`` (-1) for positions whose value is left to the next ply: after the dice are
    thrown, for instance, or where a king can be taken.  Each move and chance outcome of such a
    position must lead to a position with an index, or to one where the game is over; or else a move
    wins at once, and is listed before the moves that do not.

    In games of chance with cycles, values are found in fewer sweeps if play mostly leads to smaller
    indices.  Default: positions have no index, and the reachable ones are enumerated.

    Example::

        def index(position):
            return position.left % 100
    """
    return NO_INDEX


@verb
def position_at(example: Any, layer: int, index: int) -> Any:
    """Return a position that has an index in a layer: the inverse of :func:`index`.

    Called for every index of a layer.  *example* is any position of the class.  An index may be a
    hole, such as one that would put two men on a cell: return any position of the class that has
    another index, or ``NO_INDEX``.

    Example::

        def position_at(example, layer, index):
            return Position(100 * layer + index)
    """
    raise NotImplementedError


@verb
def retreats(position: Any, buffer: Any, at: int) -> int:
    """Write a number for every move that can have led here in the same layer; return the end.

    Called for positions with an :func:`index`, where retrograde analysis works backwards.  The
    numbers, at most ``MAX_MOVES``, are the game's own code for what :func:`retreat` takes back.
    The positions that it returns must be all those in the same layer, with an index and not over,
    from which a legal move leads here.  Equivalent positions count as one; any without an index,
    or where the game is over, are skipped.  Default: unknown, and the analysis only looks forwards.

    Example::

        def retreats(position, buffer, at):
            for count in range(1, 4):
                if position.left + count <= 21:
                    buffer[at] = count
                    at += 1
            return at
    """
    raise NotImplementedError


@verb
def retreat(position: Any, number: int) -> Any:
    """Return the predecessor of a position, for a number from :func:`retreats`.

    The game may be over there, or it may be an illegal position whose index is ``NO_INDEX``.

    Example::

        def retreat(position, number):
            return Position(position.left + number)
    """
    raise NotImplementedError


@verb
def position_of(example: Any, word: int) -> Any:
    """Return a position whose key by :func:`canonical` is *word*.

    Called where a tablebase enumerates positions.  If the game defines it, the tablebase keeps
    8 bytes for each position, otherwise its fields as well.  *example* is any position of the
    class.

    Example::

        def position_of(example, word):
            return Position(word)
    """
    raise NotImplementedError


# Sums: positions that fall apart ---------------------------------------------------------------


@verb
def parts(position: Any, buffer: Any, at: int) -> int:
    """Write the parts of a position to ``buffer[at:]``, each as a mask; return the end.

    Called by the solver of sums at every position.  Parts are disjoint sets of cells, in the game's
    own encoding of 64 bits, and independent: every legal move is a move in one part, with the same
    number, and changes no other part, now or later.  Parts in which neither player has a move need
    not be written.  Default: the position is one part, with the mask 0.

    A game that defines it must follow normal play: no draws, no scores, no passes, no cycles and no
    chance, and a player without a move loses; there :func:`moves` is called, too, and writes
    nothing.  It needs :func:`part`, and :func:`swapped` unless it is impartial.
    :mod:`cutnode.contract.regions` finds connected cells.

    Example::

        def parts(position, buffer, at):  # Kayles: a row of pins, where gaps divide it
            left = position.pins
            while left:
                start = left & -left
                run = left & ~(left + start)  # the lowest pins without a gap
                buffer[at] = run
                at += 1
                left &= ~run
            return at
    """
    buffer[at] = 0
    return at + 1


@verb
def part(position: Any, mask: int) -> Any:
    """Return the position that has only the part with a *mask* (``Bits``) from :func:`parts`.

    The mover stays the same, and so do the numbers of moves.  Default: the position.

    Example::

        def part(position, mask):
            return Position(position.pins & mask)
    """
    return position


@verb
def swapped(position: Any) -> Any:
    """Return the position with the players' roles exchanged, its negative; default: itself.

    It is the position as the opponent sees it if he is to move.  The default says that the game is
    impartial: both players always have the same moves.  Then positions have nimbers.

    A game of normal play that defines it has canonical values (:func:`cutnode.value_of`), even if
    it defines no :func:`parts`.

    Example::

        def swapped(position):
            return Position(mine=position.theirs, theirs=position.mine)
    """
    return position


@verb
def part_key(position: Any) -> int:
    """Return a 64-bit word (``Bits``) by which tables know a part, wherever it stands.

    Called for positions of one part.  Parts with equal keys must have the same value.  Default: the
    same word for all places on the board and for all images by ``PART_IMAGES`` symmetries, if the
    game defines :func:`parts`, ``CELLS`` is a ``Grid`` of at most 64 cells and every ``Bits`` field
    has bit *i* for cell *i*; otherwise :func:`key` (see :mod:`cutnode.contract.part_keys`).

    Example::

        def part_key(position):
            return Bits(popcount(position.pins))  # a row of pins, only its length matters
    """
    return key_of_part(position) if has_images(position) else Bits(key(position))


@verb
def asymmetry(position: Any) -> int:
    """Return how far a part is from its own negative, 0 or more; default 0.

    Called for parts, where the solver of sums orders moves.  Whoever leaves a sum that is its own
    negative wins if he can copy each move of the other, as Tweedledum and Tweedledee do.  Sums that
    are nearly so are searched first.  The number must be the same for :func:`swapped`.

    Example::

        def asymmetry(position):  # stones without a stone of the other opposite to them
            return popcount(position.mine ^ half_turned(position, position.theirs))
    """
    return 0
