"""Numbers of the engine that are the same in all games, each with what was measured.

Those of the techniques of a search are in ``techniques``, and a game may choose them.

Figures: Connect Four 7x6, nodes and time per position on 60 positions of 12 plies.
"""

TABLE_PLIES = 10
"""A node with fewer plies left neither probes nor stores: searching it again is cheaper
than a cache miss.  0 instead of 10: 7 % fewer nodes, 20 % more time."""

ENHANCED_PLIES = 15
"""A node with at least this many plies left looks its children up before it searches one
(enhanced transposition cutoffs).  12: 7 % fewer nodes, the same time; 18: 10 % slower."""

USUAL_MOVES = 7
"""These two are for games of up to so many moves.  With more, as many lines are below a node
of fewer plies: Kayles of up to 64 moves takes 0.54 million nodes for 16 pins with 5 plies
instead of 10 and 8 instead of 15, and more than 147 million with those."""

FAR_FRACTION = 4
"""The driver asks for far values first while an end of the interval is further from zero
than this fraction of the first interval.  4 solves balanced positions as cheaply as
MTD(f) from 0, and positions with a quick win with a sixteenth of its nodes."""

SCOUTING_SHARE = 10
"""The search before a proof takes at most this part of the limits of nodes and time."""

FIRST_SHARE = 50
"""A search that tries a proof does so between two depths, when it has taken one part in so many of
its limits of nodes and time: by then it has a move, should somebody end the proof."""

SCOUTED_PLIES = 28
SCOUTED_DEPTH = 5
"""The moves of that search are tried first at nodes with at least so many plies left, if it went
at least so deep below them.  Othello, seven positions of 20 to 25 empty squares, million nodes: 140
with a depth of 5, 148 with 3, 147 with 7, 175 with 1; no such search: 229."""

SMALLEST_REGION = 1 << 13
"""Buckets with which a table starts: half a MiB, which stays in the second-level cache."""

REGION_GROWTH = 4
"""A region grows by this factor."""

HALF_FULL = 2
"""It does when so many entries for each bucket, which has room for four, were written since."""

SHARED_PLIES = 16
"""Of threads that share a search, one defers a child that another searches if its parent
has at least this many plies left.  Connect Four, three openings, times of one thread over those of
two: 1.79 with 16, 1.83 with 20, 1.79 with 24, 1.74 with 28, each with an error of 0.03."""

LOOK_NODES = 2_000
"""Such a thread looks every so many nodes whether another has decided a node of its line: what it
searches then is of no use.  Two threads visit 1.04 times the nodes of one in four openings of
Connect Four, and 1.13 times if they do not look."""

# Proof-number search.

EPSILON_PART = 2
"""A move is searched until it is half worse than the second best (epsilon)."""

FOCUS_PART = 8
"""A node's numbers are those of one of its open moves and of an eighth of them.  Nodes to proofs
with all moves, a quarter, an eighth, a sixteenth, in thousands: Hex 6x6 450, 215, 227, 174;
Breakthrough 5x5 1,394, 1,190, 837, 486; Connect Four 5x5 597, 68, 120, 120; m,n,k 5x5x4 772, 477,
480, 932; Domineering 6x6 29, 10, 10, 10."""

REFRESH_NODES = 1_000
"""After so many nodes below a move the numbers of the others are looked up again."""

SHARED_REFRESH = 32
"""The same in nodes of which others search a part.  Two threads visit 1.05 and 1.00 times the
nodes of one so, on Breakthrough 5x5 and m,n,k 5x5x4, in 1.0 to 1.1 times its processor time.  If
they look at each step: 1.16 and 1.04 times, in 1.2 to 1.4 times the processor time."""

SHARED_WORK = 5
VIRTUAL_FACTOR = 4
"""Nodes of so much work (its binary logarithm) look at each step which moves others search, and
take the proof numbers of those for so many times as large.  Times of one thread over those of two,
by the clock, on m,n,k 5x5x4, Connect Four 7x5, Breakthrough 5x5 and Domineering 8x8: 1.88, 1.62,
1.49 and 1.91 so; with factor 2 1.78, 1.72, 1.38 and 1.93, with factor 8 1.56, 1.74, 1.40 and 1.90,
with work 7 1.77, 1.70, 1.41 and 1.95.  Runs of the first three differ by up to 0.2."""

# The search of limited depth.  Depths are plies left.

MOST_DEPTH = 63
"""The deepest that a search can be asked to go: what a table entry has room for."""

MOST_MOVES = (MOST_DEPTH + 1) // 2
"""The most moves within which a forced win can be asked for."""

MOST_BEFORE = 1024
"""So many positions of a game that came before a search are looked at for repetitions."""

INLINE_NODES = 20_000
SHORT_NODES = 50
"""A search of one ply, and the next after fewer nodes than the second number, runs in the
caller's thread and has to be done in fewer than the first: a thread of its own costs as
much as a thousand nodes, and nobody presses Ctrl-C in a millisecond."""

HISTORY_SIZE = 4096
"""Moves share a history entry with those that are equal modulo this."""

HISTORY_LIMIT = 16384
"""History scores stay between plus and minus this (gravity)."""

PATTERNS = 1024
"""So many patterns of moves."""

NOISY_BONUS = 1 << 20
"""How far noisy moves that do not lose are before all others, and those that lose behind them."""

PARITY = 2
"""Scores of odd and even depths differ, so depth is reduced, and deepened to a depth that is
given, by multiples of this: what is searched a ply less deep fails high and is repeated.  A search
that is limited otherwise deepens by one."""

SINGULAR_LEVELS = 4
"""A test whether a move is the only good one halves the depth, so at most so many are one inside
the other."""

# Games of chance.

LISTED_OUTCOMES = 64
"""Of chance events with at most so many outcomes the likeliest are taken first."""
