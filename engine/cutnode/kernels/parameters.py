"""Parameters of the engine that are the same in all games, with measurements.

The parameters of search techniques are in ``techniques``; a game may choose those.

Figures: Connect Four 7x6, nodes and time per position on 60 positions of 12 plies.
"""

TABLE_PLIES = 10
"""A node with fewer plies left neither probes nor stores: searching it again is cheaper than a
cache miss.  With 0 instead of 10: 7 % fewer nodes, 20 % more time."""

ENHANCED_PLIES = 15
"""A node with at least this many plies left looks its children up before it searches any (enhanced
transposition cutoffs).  With 12: 7 % fewer nodes, the same time; with 18: 10 % slower."""

USUAL_MOVES = 7
"""The number of moves up to which ``TABLE_PLIES`` and ``ENHANCED_PLIES`` are right.  In games with
more moves, fewer plies have as many lines below them: Kayles, with up to 64 moves, takes 0.54
million nodes for 16 pins with 5 plies instead of 10 and 8 instead of 15, and more than 147 million
with 10 and 15."""

FAR_FRACTION = 4
"""The driver tests far values first while an end of the interval is further from zero than the
first interval divided by this.  4 solves balanced positions as cheaply as MTD(f) from 0, and
positions with a quick win in a sixteenth of its nodes."""

SCOUTING_SHARE = 10
"""The scout search before a proof takes at most one part in this many of the node and time
limits."""

SCOUTING_NODES = 250_000
"""The most nodes of a scout search.  Othello's positions 20 to 39 of the FFO suite, million nodes
and seconds: 82 and 4.2 without a limit, 79 and 3.6 with twice as many, 73 and 3.0 with these; 14
random positions of 22 and 23 empty squares: 719 and 25.2, 694 and 25.3, 709 and 24.5."""

FIRST_SHARE = 50
"""A search that attempts a proof does so between two depths, once it has used one part in this many
of its node and time limits: it then has a move if you interrupt the proof."""

WIN_SHARE = 0.1
"""The part of its limits for which a search of a game with cycles attempts a forced win."""

BEHIND = 10
"""A player who is behind attempts it for one part in this many of that."""

FAR_AHEAD = 5
AHEAD = 4
"""A player who is ahead by ``FAR_AHEAD`` times the game's ``UNIT`` attempts it ``AHEAD`` times as
long: he wins anyway, and only how quickly is open."""

WIN_NODES = 100_000
WIN_SECONDS = 0.2
"""The least limits with which a search attempts a forced win: compiling the attempt takes longer
than a shorter search."""

SCOUTED_PLIES = 28
SCOUTED_DEPTH = 5
"""The scout search's moves are tried first at nodes with at least ``SCOUTED_PLIES`` left where it
searched at least ``SCOUTED_DEPTH`` deep.  Othello, seven positions of 20 to 25 empty squares,
million nodes: 140 with a depth of 5, 148 with 3, 147 with 7, 175 with 1; without a scout search
229."""

SMALLEST_REGION = 1 << 13
"""Buckets with which a table starts: half a MiB, which stays in the second-level cache."""

REGION_GROWTH = 4
"""A region grows by this factor."""

HALF_FULL = 2
"""A region grows when this many entries per bucket, which has room for four, have been added since
it last grew."""

SHARED_PLIES = 20
"""A thread of a shared search marks the children that it searches, and defers a child that another
thread is searching, if the parent has at least this many plies left (fewer in games with more
moves).  All threads write marks, which is slow: the empty board of Connect Four takes two threads
32.5 million nodes of 224 ns with 16, 31.7 of 173 ns with 20, 31.7 of 183 ns with 24, and 52 million
without marks.  The error of the times is 10 %."""

LOOK_NODES = 300
"""A thread of a shared search checks at intervals of this many nodes whether another thread has
decided a node of its line, so that its own search there is useless.  The empty board of Connect
Four takes two threads 31.6 million nodes, and 33.8 million with 2,000."""

# Proof-number search.

EPSILON_PART = 2
"""The epsilon trick: a move is searched until its number exceeds the second best by half."""

FOCUS_PART = 8
"""A node's numbers count one of its open moves plus an eighth of them.  Nodes of proofs with all
moves, a quarter, an eighth, a sixteenth, in thousands: Hex 6x6 450, 215, 227, 174; Breakthrough 5x5
1,394, 1,190, 837, 486; Connect Four 5x5 597, 68, 120, 120; m,n,k 5x5x4 772, 477, 480, 932;
Domineering 6x6 29, 10, 10, 10."""

LATEST = 1_000
"""The place in the order from which on the initial proof number of a move grows no more, in games
where a repetition is no draw.  In place n from 0 it grows by 2 n (n + 4).  Nodes to the values of
Go on 3x5 and 4x4, in millions: 1.86 and 8.00 without, 0.25 and 1.32 with it, before moves were
ordered by their distance to edges."""

FEW_MOVES = 11
"""In games with at most this many moves in any position, initial proof numbers do not grow with the
place in the order: Go on 1x10 takes 0.7 million nodes, and more than 12 million if they do."""

REFRESH_NODES = 1_000
"""Nodes searched below a move after which the numbers of its siblings are looked up again."""

SHARED_REFRESH = 32
"""The same at nodes part of which other threads search.  With 32, two threads visit 1.05 and 1.00
times the nodes of one on Breakthrough 5x5 and m,n,k 5x5x4, in 1.0 to 1.1 times its processor time.
If they look at every step: 1.16 and 1.04 times the nodes, in 1.2 to 1.4 times the processor
time."""

SHARED_LOOK = 2_000
"""``LOOK_NODES`` of proof-number search: three games take two threads 5.1 million nodes and 3.1 s
of processor time, and 5.3 million and 3.3 s with 300."""

SHARED_WORK = 5
VIRTUAL_FACTOR = 4
"""Nodes with at least this much work (its binary logarithm) check at every step which moves other
threads search, and multiply the proof numbers of those moves by the factor.  Speed-up of two
threads over one, by the clock, on m,n,k 5x5x4, Connect Four 7x5, Breakthrough 5x5 and Domineering
8x8: 1.88, 1.62, 1.49 and 1.91; with factor 2 1.78, 1.72, 1.38 and 1.93, with factor 8 1.56, 1.74,
1.40 and 1.90, with work 7 1.77, 1.70, 1.41 and 1.95.  Runs of the first three differ by up to
0.2."""

# The depth-limited search.  Depths are plies left.

MOST_DEPTH = 63
"""The greatest depth of a search: a table entry has no room for more."""

SHARED_DEPTH = 4
"""A thread of a shared search marks and defers the moves of nodes of at least this depth.  Two
threads visit 1.25, 1.21 and 1.23 times the nodes of one with 3, 4 and 6, and 1.35 times with 8 and
without looks at the results of other threads (geometric means of 80 positions of chess, depth 16;
the errors are 0.04)."""

DECIDED_LOOK = 60
"""``LOOK_NODES`` of the depth-limited search."""

MOST_MOVES = (MOST_DEPTH + 1) // 2
"""The most moves within which a search for a forced win can look."""

MOST_BEFORE = 1024
"""The most positions of the game before the root that are compared for repetitions."""

INLINE_NODES = 20_000
SHORT_NODES = 50
"""A search of one ply, or of the next depth after fewer than ``SHORT_NODES``, runs in the caller's
thread and must finish within ``INLINE_NODES``: starting a thread costs as much as a thousand nodes,
and nobody presses Ctrl-C within a millisecond."""

HISTORY_SIZE = 4096
"""Moves that are equal modulo this share a history entry."""

HISTORY_LIMIT = 16384
"""History scores stay between plus and minus this (gravity)."""

PATTERNS = 1024
"""The number of move patterns."""

NOISY_BONUS = 1 << 20
"""The ordering bonus of noisy moves that do not lose material, and the malus of those that do."""

PARITY = 2
"""Scores of odd and even depths differ, so reductions, and the steps of iterative deepening to a
given depth, are multiples of this: a search one ply shallower tends to fail high and be repeated.
A search with other limits deepens by one."""

SINGULAR_LEVELS = 4
"""The most singular searches nested in each other, as each halves the depth."""

# Games of chance.

LISTED_OUTCOMES = 64
"""Chance events with at most this many outcomes search the likeliest outcomes first."""
