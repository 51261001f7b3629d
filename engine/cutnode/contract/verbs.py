"""The contract between a game and the engine.

A **game** is one Python module: a position class and plain functions over it, the *verbs*.  The
engine calls verbs and knows no game; a verb finds the game's function by the class of the position
that it is given.  There is no registry, and a new game edits no other file.  A whole game::

    from typing import NamedTuple
    from cutnode import compiled

    class Position(NamedTuple):
        left: int = 21                      # Nim: one heap, take 1 to 3, who takes the last wins

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

``cutnode check nim.py`` says whether a game keeps to the contract, and every command and function
of the engine takes ``nim.py`` in place of a game's name.  All else has a default.

**Compiled or plain.**  With ``@compiled`` before every verb the rules become part of machine code
that is made for this game.  Without it they run as plain Python, slower and with the same answers;
positions may then be any hashable, immutable objects.  A game is either the one or the other.

**Positions** are immutable.  Compiled, they are ``NamedTuple`` s of scalars annotated ``Bits`` (an
unsigned word of 64 bits), ``int`` (signed, 64 bits), ``bool`` or ``float``, and hold all that the
future of the game depends on.  Class attributes that are numbers, tuples or arrays are constants:
``position.WIDTH`` costs nothing.  Fields that ``Position(...)`` leaves out have their defaults.
Boards of several sizes are several classes, made by :func:`cutnode.contract.variants.variants`.

**Bits and int** mix in rules as in Python, wherever 64 bits can say it: ``s & -s``,
``s & (s - 1)``, ``s | 1 << 63``, comparisons.  ``&``, ``|`` and ``^`` give ``Bits``, sums and
differences an ``int``, and so does ``s & 7``, a constant.  A variable that is ``Bits`` in one place
and an ``int`` in another is refused, unless that is a constant from 0 on: write ``Bits(...)``.  A
field of ``Bits`` takes ``Bits`` only.  ``1 << i`` is an ``int``, ``Bits(1) << i`` a word; what is
shifted out of 64 bits is gone, and in plain Python it stays: mask it.  An index beyond the end of a
constant is an error.

**Moves** are numbers in ``range(65535)`` of the game's own coding.

**Values** are integers in ``range(-32000, 32001)`` from the point of view of the *mover*, the
player whose turn it is.  The game's scale decides what perfect play means: if quicker wins score
higher, the solver finds the quickest.  In games of chance values and estimates may be any numbers
within these limits.

**Verbs** come in five groups, in this order below.  Those that a game does not define cost nothing.

=========== ======================================================================================
core        ``moves play outcome key cell``: the rules
solver      ``bounds endgame candidates forced order plies_left scout settled``: what makes a proof
            short
heuristics  ``evaluate noisy check gain exchange pattern extension skip deviation features
            planes opponent_planes adjust random_move random_result``: for searches that stop before
            the end of the game
chance      ``turn free_move chance chance_outcome reversible recurrence drawn``: dice, extra turns
            and positions that come back
symmetry    ``canonical canonical_move original_move``: equivalent positions
tablebase   ``layer index position_at retreats retreat position_of``: all positions, numbered
=========== ======================================================================================

**For people** a game may define, in plain Python, what :mod:`cutnode.contract.notation` otherwise
makes of the rest:

``start(variant="")``
    The first position of a variant (a board size, a rule set); by default ``Position()``, so all
    fields need defaults.
``CELLS``, ``from_cells(contents, mover, start)``, ``mover(position)``, ``caption(position)``
    The board, from which drawings and texts of positions follow: :mod:`cutnode.contract.cells`.
``position_text(position)`` and ``parse_position(text, variant="")``
    One line, and the way back; by default the board, or the fields by name.  Read are also the
    moves played, one after the other (``MOVE_PATTERN``, a regular expression, is one of them).  No
    text, or a blank one, is the start: ``parse_position`` is not called then.  A text that denotes
    no legal position is a :class:`PositionError` that says what is wrong; what is read in another
    way than it is written is told by :func:`cutnode.contract.notes.note`.  A file has a position on
    each line, and comments after a ``;``, unless ``SEMICOLONS = True`` says that positions may
    have some.
``move_text(position, move)`` and ``parse_move(position, text)``
    By default the number of the move, and the legal move that has a text.
``chance_text(position, index)``
    An outcome of chance in words, such as ``roll of 2``; by default ``outcome 3 of 5``.
``__str__`` of the position class
    By default the board, or the fields.
``record_text(start, moves, about)`` and ``parse_record(text)``
    A whole game in the format in which its players keep them, whose files end in
    ``RECORD_SUFFIX``, such as ``.pgn``: *moves* are texts from the position *start* on, and *about*
    has the names of both ``players``, the ``date``, and the ``value`` for the first of them, None
    if the game is not over.  The way back gives the first position as text, and the moves.
``describe(position, value)``
    A value in words ("first player wins in 3 moves"); by default who wins, if the board names the
    players, and by how much.

**Constants** that a game may declare, as attributes of the module or of the position class:

``MAX_MOVES``, ``MAX_PLIES``
    Most moves of any position, default 256, and the longest possible line of play,
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
``REPETITIONS``
    How often a position has to occur in a game for a draw (see :func:`reversible`), default 2.
    A search takes the second time for it.
``MAX_ACTIONS``
    Most moves in a row that are free (see :func:`free_move`), default 4.
``PROFILE``
    The numbers that were tuned for the search: ``"tactical"`` for games of captures and threats
    that define ``gain``, or a dictionary of those that differ from the default, such as
    ``{"order.depth": 3}`` where ``order`` takes long (see ``cutnode.kernels.profiles``).
``VALUE_LIMIT``
    No value is further from zero, and no estimate unless the game is ``DECISIVE``; default
    32000.  The tighter the better: where a win is 1 and a loss -1, say so, and the solver
    does not look for more than a win.  In games of chance a search prunes by it.
``UNIT``
    An advantage that matters, as ``evaluate`` counts (in chess a pawn).  Without it a
    search does not prune by margins.
``FOCUS``
    A search by proof numbers takes the difficulty of a position from N of its moves and an
    eighth of all, default 1.  Say 3 where most of play is threats with few answers each: by one
    answer alone, a long line of threats looks as near to a proof as a short one.  Of positions
    that it has not searched it then counts no more answers either.
``LAYER_SIZES``
    A tuple or an array: how many indices each layer has (see :func:`index`).
``LAYER_NAMES``
    What people call the layers (``"KQvKR"``), a tuple of strings; by default their numbers.

Compiled functions named ``evaluate_material`` and the like are further estimates, which commands
know as ``material``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutnode.contract.default_keys import key_of_fields
from cutnode.contract.dispatch import MAX_VALUE, defines, derived, verb

NO_MOVE = 65535
"""Stands for no move where the number of a move is expected."""

NO_INDEX = -1
"""Of a position that is not in a tablebase: one is made of its moves, or its chances."""

MOVES_ROOM = NO_MOVE
"""A stack of moves has so much room beyond ``MAX_MOVES``: a position with more moves is found
out before they do harm."""

INFINITE = MAX_VALUE + 1
"""Beyond every value: a bound that says nothing."""


# Core: the rules ----------------------------------------------------------------------


@verb
def moves(position: Any, buffer: Any, at: int) -> int:
    """Write every legal move, once each, to ``buffer[at:]``; return the end.

    Called at every position where the game continues and no chance decides, never at others.  It
    must write one move at least, and not read the buffer, which is indexed like a list of ints.

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

    Called for each move that is searched.  It must make a position of the same class, as the player
    who moves next sees it.  ``position._replace(...)`` names only the fields that change.

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
    """Return a word of 64 bits (``Bits``) that tells positions apart; default: a mix of all fields.

    Called where a position is looked up in a table.  Equal positions must have equal keys.  If
    distinct positions always have distinct keys (an encoding that fits 64 bits), a search makes no
    hash errors at all; a hash makes one with the odds that ``cutnode.kernels.table`` states.  What
    does not fit is hashed word by word: ``mix(mix(Bits(first)) ^ Bits(second))`` with ``mix`` of
    ``engine``.  The default does the one or the other (:mod:`cutnode.contract.default_keys`).

    Example::

        def key(position):
            return Bits(position.left)
    """
    return key_of_fields(position)


@verb
def cell(position: Any, index: int) -> int:
    """Return what stands on a cell of the board that the game declares as ``CELLS``; default 0.

    Called for drawings and texts, by no search.  It must be the number of a content, as
    :mod:`cutnode.contract.cells` explains.

    Example::

        def cell(position, index):
            return 1 if index < position.left else 0
    """
    return 0


# Solver: what makes a proof short -------------------------------------------------------


@verb
def bounds(position: Any, alpha: int, beta: int) -> tuple[int, int]:
    """Return a proven interval for the value; default: the outcome if over, else no limits.

    Called at every position that a solver meets, finished ones included, so here is the place for
    all that can be seen without search: finished games, wins at hand, best and worst results still
    possible.  It must hold.  ``alpha < beta`` is the window in which the search is interested: a
    game may skip a costly bound that would not decide it.

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
def endgame(position: Any, alpha: int, beta: int) -> tuple[bool, int, int]:
    """Return whether the game solves a position itself, its value, and the nodes that took.

    Called when :func:`bounds` left the value open; for code that knows how the last few moves of
    this game go better than any search does, and for tables of endings.  The value must be exact
    within ``alpha < beta``, and a bound beyond (fail-soft).  Default: it does not.

    Example::

        def endgame(position, alpha, beta):
            return position.left < 4, 1, 1
    """
    return False, 0, 0


@verb
def candidates(position: Any, buffer: Any, at: int) -> int:
    """Write moves as :func:`moves` does, of which one is surely a best one; default: all.

    Called when :func:`bounds` left the value open.  A solver searches no other move.

    Example::

        def candidates(position, buffer, at):
            buffer[at] = max(position.left % 4, 1)
            return at + 1
    """
    return moves(position, buffer, at)  # type: ignore[no-any-return]


@verb
def forced(position: Any) -> int:
    """Return the only candidate, if that is cheap to see, else ``NO_MOVE``; default ``NO_MOVE``.

    Called when :func:`bounds` left the value open.  Forced moves are played at once, without a node
    of their own.

    Example::

        def forced(position):
            return 1 if position.left == 1 else NO_MOVE
    """
    return NO_MOVE


@verb
def order(position: Any, move: int, child: Any) -> int:
    """Return how promising a move looks: higher is searched earlier; default 0.

    Called for each move of a node, in solvers and in searches of limited depth (move ordering);
    *child* is the position after the move.  It must be within plus or minus a million.  Of equal
    moves the earlier generated comes first.

    Example::

        def order(position, move, child):
            return -(child.left % 4)
    """
    return 0


@verb
def plies_left(position: Any) -> int:
    """Return an upper bound on the plies until the game is over; default 1000: unknown.

    Called at the nodes of a solver, which leaves small subtrees to plain search; how many plies
    these have depends on ``MAX_MOVES``, so let that be tight.

    Example::

        def plies_left(position):
            return position.left
    """
    return 1000


@verb
def scout(position: Any) -> int:
    """Return the depth of a search by estimates that goes before a proof; default 0: none.

    Called once, where a proof begins.  The search's score is the value that the solver asks for
    first, and its moves are tried first.  It pays where ``evaluate`` foretells values well and a
    proof takes millions of nodes.

    Example::

        def scout(position):
            return 8 if position.left > 40 else 0
    """
    return 0


@verb
def settled(position: Any) -> tuple[int, int]:
    """Return what of the value is decided already, and the key of what is left to play for.

    Called where a solver looks a position up; for games of points, such as seeds in stores or boxes
    won.  Two positions with the same key must have values that differ as their settled parts do, so
    only one of them has to be solved.  They are turned alike in the frame of :func:`canonical`.
    Default: 0, and the key of the class of :func:`canonical`.

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

    Called at the leaves of a search (``static_eval``), of any position of an unfinished game, also
    where chance has to decide.

    Example::

        def evaluate(position):
            return -10 if position.left % 4 == 0 else 10
    """
    return 0


@verb
def noisy(position: Any, buffer: Any, at: int) -> int:
    """Write moves as :func:`moves` does, those that change estimates much; default: none.

    Called where a search would stop: it continues with these moves, captures, promotions or
    threats, until the position is quiet (quiescence search).  Not moving on is always another
    choice (stand pat).

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

    Called at every node (``in_check``).  An estimate says nothing there: a search that would stop
    plays all moves, not only :func:`noisy` ones, and does not prune by margins or pass.

    Example::

        def check(position):
            return position.attackers != 0
    """
    return False


@verb
def gain(position: Any, move: int) -> int:
    """Return what a noisy move wins at first sight, in the unit of ``evaluate``; default 0.

    Called for move ordering and for futility and delta pruning.  What it takes, say, before any
    answer; 0 for a quiet move.

    Example::

        def gain(position, move):
            return 100 * ((position.theirs >> move) & 1)
    """
    return 0


@verb
def exchange(position: Any, move: int, least: int) -> bool:
    """Return whether a move wins *least* or more after the best answers on its square.

    The static exchange evaluation (SEE) compared with a number, in the unit of ``evaluate``;
    default: its :func:`gain`.  Called for noisy moves: losing ones are tried last, and
    not at all in quiescence search.  It must say no to more than the gain.

    Example::

        def exchange(position, move, least):
            return gain(position, move) >= least
    """
    return gain(position, move) >= least  # type: ignore[no-any-return]


@verb
def pattern(position: Any, move: int) -> int:
    """Return what moves that do alike have in common, 0 to 1023; default: the move modulo 1024.

    Such as which piece goes where.  Called for move ordering: if a game defines it, a search learns
    which move is good after which (continuation history).

    Example::

        def pattern(position, move):
            return move % 64
    """
    return move % 1024


@verb
def extension(position: Any, move: int, child: Any) -> int:
    """Return the plies by which a search goes deeper after a move; default 0.

    Called for each move that is searched.  1 after moves that leave little choice (a check, a
    threat to win at once), so that they do not push what matters beyond the horizon.

    Example::

        def extension(position, move, child):
            return 1 if child.left <= 3 else 0
    """
    return 0


@verb
def skip(position: Any) -> tuple[bool, Any]:
    """Return whether a turn may be passed to test a position, and the position after that.

    Called before the moves of a node are searched.  The test (a null move) assumes that having to
    move is no handicap: if even a pass is good enough, so is the best move.  Where that is wrong
    (zugzwang) a game must say no.  Default: it may not be passed.

    Example::

        def skip(position):
            passed = position._replace(mine=position.theirs, theirs=position.mine)
            return position.stones > 6, passed
    """
    return False, position


@verb
def deviation(position: Any, deep: int, shallow: int) -> float:
    """Return how far the scores at two depths are apart (standard deviation); default 0: unknown.

    The depths are plies, *deep* more than *shallow* and both odd or both even; the unit is that
    of ``evaluate``.  Called before the moves of a node are searched: a search of *shallow* plies
    then tells what one of *deep* plies would (ProbCut).  ``cutnode lab deviation`` measures it.

    Example::

        def deviation(position, deep, shallow):
            return 1.5 * (deep - shallow)
    """
    return 0.0


@verb
def features(position: Any) -> tuple[float, ...]:
    """Return what the mover and the other have, twelve numbers of 0 or more; default: all 0.

    Called at the leaves of a search with an evaluation of optionality, which weighs them.  For each
    of ``cutnode.kernels.optionality.FEATURES`` (move count, build options, material, territory,
    resources, threat) how much the mover has, and then how much the other has.

    Example::

        def features(position):
            return 0, 0, 0, 0, popcount(position.mine), popcount(position.theirs), 0, 0, 0, 0, 0, 0
    """
    return 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0


@verb
def planes(position: Any) -> tuple[int, ...]:
    """Return words whose bits a learned network sees, as many for each position; default: none.

    Called at the leaves of a search that estimates with one.  They show the position as the mover
    sees it, and of two consecutive positions of one player few bits should differ.  Without them
    a network reads the bitboards that the position has.

    Example::

        def planes(position):
            return position.mine, position.theirs
    """
    return ()


@verb
def opponent_planes(position: Any) -> tuple[int, ...]:
    """Return the words of :func:`planes` as the other player has them; default: none.

    A game that defines it is learned by networks with an accumulator for each of the two views.

    Example::

        def opponent_planes(position):
            return position.theirs, position.mine
    """
    return ()


@verb
def adjust(position: Any, score: int) -> int:
    """Return a learned score, corrected by what the game knows better; default: the score.

    Called with each score of learned weights, unless the game's :func:`evaluate` is a part of it.
    Games that weights were learned from may end before rare positions come up: those that are
    likely drawn whatever a player is ahead, or where a win takes a plan.

    Example::

        def adjust(position, score):
            return score // 4 if position.blocked else score
    """
    return score


@verb
def random_move(position: Any, word: int) -> int:
    """Return a legal move drawn by a random word of 64 bits; default ``NO_MOVE``: list them.

    Called at every ply of random play (Monte Carlo tree search), where :func:`moves` would be.  All
    moves must be equally likely.  It pays where to list all moves takes longer than to count them:
    ``cutnode.contract.bits`` has what a bitboard needs.

    Example::

        def random_move(position, word):
            return 1 + high_product(word, min(position.left, 3))
    """
    return NO_MOVE


@verb
def random_result(position: Any, word: int) -> int:
    """Return the value that a game played at random to its end has; default: it is played.

    Called for random play (Monte Carlo tree search) from a position where the game is not over, and
    a move may not be by chance.  All moves are equally likely at every ply, and *word* is a random
    word of 64 bits.  The value is that for the mover.  It pays where the end of such a game can be
    drawn at once: in Hex, where the order of moves does not matter and somebody always wins,
    half of the empty cells are drawn.

    Example::

        def random_result(position, word):  # whoever takes the last of some stones, one by one
            return 1 if position.left & 1 else -1
    """
    return 0


# Chance: dice, extra turns and positions that come back ----------------------------------


@verb
def turn(position: Any) -> int:
    """Return the player to move, 0 or 1; default: the players alternate.

    Called after every move of games that define it: those in which a player can move again (extra
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
    """Return what compares the movers of two positions; *otherwise* where moves alternate."""
    if defines(cls, "turn"):
        return lambda position, child: turn(position) == turn(child)
    return lambda position, child: otherwise


@verb
def free_move(position: Any, move: int, child: Any) -> bool:
    """Return whether a move costs no depth; default: if the mover moves again.

    Called for each move that is searched.  A search counts depth in turns, so a turn of several
    actions is one ply, and a game may say that a pass is none.  ``MAX_ACTIONS`` free moves in a
    row, no more, are free.

    Example::

        def free_move(position, move, child):
            return move == PASS
    """
    return moves_again(position, child)  # type: ignore[no-any-return]


@verb
def chance(position: Any) -> int:
    """Return how many outcomes a chance event has here (dice, cards); default 0: none.

    Called at every position of an unfinished game.  At a position with outcomes nobody moves;
    :func:`moves` is not called.

    Example::

        def chance(position):
            return 6 if position.roll == 0 else 0
    """
    return 0


@verb
def chance_outcome(position: Any, index: int) -> tuple[float, Any]:
    """Return the probability of outcome *index*, and the position after it.

    Called for each outcome; the probabilities must sum to one.  The mover stays the same unless the
    game defines :func:`turn`.

    Example::

        def chance_outcome(position, index):
            return 1 / 6, position._replace(roll=index + 1)
    """
    return 0.0, position


@verb
def reversible(position: Any, child: Any) -> bool:
    """Return whether play can come back to *position* after *child*; default False.

    Called after every move.  Games in which positions recur must say so here; a position that
    repeats one of the line of play, with only reversible steps between, is a draw (value 0).  In a
    game that is played it has to occur ``REPETITIONS`` times.

    Example::

        def reversible(position, child):
            return position.men == child.men
    """
    return False


@verb
def recurrence(position: Any) -> int:
    """Return the word by which a repetition is known; default: the ``key``.

    Called in games with :func:`reversible` moves; for positions that hold what changes while they
    recur, such as a clock.

    Example::

        def recurrence(position):
            return position.zobrist
    """
    return key(position)  # type: ignore[no-any-return]


@verb
def drawn(position: Any) -> bool:
    """Return whether a rule ends the game as a draw although there are moves; default False.

    Called after :func:`outcome`, at all but the first position of a search: too many moves without
    progress, say, or pieces that cannot win.  Counting (perft) continues there, and so does a
    search that is asked for a move.

    Example::

        def drawn(position):
            return position.clock >= 100
    """
    return False


# Symmetry: equivalent positions -----------------------------------------------------------


@verb
def canonical(position: Any) -> tuple[int, int]:
    """Return the key of a class of equivalent positions, and how this one is turned in it.

    Called where a position is looked up in a table.  Positions with the same canonical key must
    have the same value.  The second number is the game's own code for the symmetry that takes this
    position to its class's frame; 0 means none.  Default: ``key(position), 0``.

    Example::

        def canonical(position):
            word, image = key(position), key(mirrored(position))
            return (image, 1) if image < word else (word, 0)
    """
    return key(position), 0


@verb
def canonical_move(position: Any, move: int, symmetry: int) -> int:
    """Return a move of this position as seen in the canonical frame; default: unchanged.

    Called where a move is stored in a table.

    Example::

        def canonical_move(position, move, symmetry):
            return 6 - move if symmetry else move
    """
    return move


@verb
def original_move(position: Any, move: int, symmetry: int) -> int:
    """Return the inverse of :func:`canonical_move`; default: the same once more.

    Called where a move is read from a table (hash move).  Mirror images and half turns are their
    own inverses; games that turn boards by a quarter must define it.

    Example::

        def original_move(position, move, symmetry):
            return (move + 9 * symmetry) % 36
    """
    return canonical_move(position, move, symmetry)  # type: ignore[no-any-return]


# Tablebase: all positions, numbered ----------------------------------------------------------


@verb
def layer(position: Any) -> int:
    """Return the layer of a position: what never comes back along play; default 0.

    Called for positions in a tablebase.  Men on the board, say, or pieces still to bear off: no
    move and no outcome of chance may lead to a layer of a greater number.  A tablebase is built
    layer by layer, from 0 on, and needs the memory of its largest layer.  A
    position without an index may be in none: of more men than are numbered, its layer is -1, say.

    Example::

        def layer(position):
            return position.left // 100
    """
    return 0


@verb
def index(position: Any) -> int:
    """Return the number of a position in its layer, in ``range(LAYER_SIZES[layer])``.

    Called for positions that go on (``outcome``); a game that defines it also defines
    :func:`position_at` and ``LAYER_SIZES``.  Equivalent positions have the same index.  It is
    ``NO_INDEX`` (-1) of positions whose value is left to the next ply: after the dice are thrown,
    say, or where a king can be taken.  Each of *their* moves and chances has to lead to a position
    with an index, or to one where the game is over; or a move wins at once, which is listed before
    those that do not.

    In games of chance that can go round, values are found in fewer sweeps if play mostly leads to
    smaller indices.  Default: positions have none, and those that can be reached are enumerated.

    Example::

        def index(position):
            return position.left % 100
    """
    return NO_INDEX


@verb
def position_at(example: Any, layer: int, index: int) -> Any:
    """Return a position that has an index in a layer: the inverse of :func:`index`.

    Called for every index of a layer.  *example* is any position of the class.  An index may be a
    hole, such as one that puts two men on a cell: then it returns any position of the class that
    has another index, or ``NO_INDEX``.

    Example::

        def position_at(example, layer, index):
            return Position(100 * layer + index)
    """
    raise NotImplementedError


@verb
def retreats(position: Any, buffer: Any, at: int) -> int:
    """Write a number for every move that can have led here in the same layer; return the end.

    Called for positions with an :func:`index`, where retrograde analysis goes backwards.  The
    numbers, at most ``MAX_MOVES``, are the game's own code for what :func:`retreat` takes back.
    The positions that it returns have to be those with an index, in the same layer and not over,
    from which a legal move leads here; equivalent ones count as the same, and those without an
    index and those that are over are passed over.  Default: unknown, and moves are only looked at
    forwards.

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
    """Return the position before, for a number of :func:`retreats`.

    It may be one that is over, or that is no legal position and whose index is ``NO_INDEX``.

    Example::

        def retreat(position, number):
            return Position(position.left + number)
    """
    raise NotImplementedError


@verb
def position_of(example: Any, word: int) -> Any:
    """Return a position whose class of :func:`canonical` has a key.

    Called where a tablebase enumerates positions, if the game defines it: then it keeps 8 bytes of
    each, and else the fields of the position as well.  *example* is any position of the class.

    Example::

        def position_of(example, word):
            return Position(word)
    """
    raise NotImplementedError
