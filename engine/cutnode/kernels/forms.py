"""Canonical forms of short partizan games: comparison, addition, and normal-play outcomes.

A game G = {G^L | G^R} is given by the options of its two players, Left and Right; whoever cannot
move loses.  Each has one simplest form, without dominated or reversible options, so two games are
equal exactly if their forms are the same.  Sources: Berlekamp, Conway and Guy, *Winning Ways for
your Mathematical Plays* (2nd ed., 2001-2004); A. N. Siegel, *Combinatorial Game Theory* (2013).
The special treatment of numbers, ups and stars follows CGSuite.

Handles.  A form is a number of 63 bits.  The *simple* forms, sums of a number, a multiple of up
and a nimber, are the handle itself, so arithmetic with them reads no memory:

    bits  0..9    the nimber, 0..1023: 0, *, *2, ...
    bits 10..19   how many ups, -511..511: negative for downs
    bits 20..61   the number, in units of 2**-20, its absolute value below 2**21
    bit  62       0; it is 1 for all other forms, which are *nodes*: lower bits are the place

So ``ZERO`` is 0.  ``NO_FORM`` (-1) stands for an unknown value: a form beyond these limits, one
with more terms than the memory's limit, or one for which there is no room.  A function that is
given it, or needs it, returns it.

Memory.  One array of 64-bit words, for one thread at a time, whose regions are

    header    the words named below
    scratch   a stack of options: ``push`` them, Left's first, for ``canonical_form``
    slots     an open-addressed table of the nodes, by hash
    pairs     comparisons: a direct-mapped cache of two words for each pair of forms
    sums      a direct-mapped cache of three words for each pair of forms
    nodes     the fields of a node, its Left options, its Right options, each sorted by hash

A node and its negative are made together.  The hash of a form is made from the hashes of its
options, and is the same in every process, whatever was made before it.  Two of a million forms have
the same hash with probability 3 in 10**8; the table of nodes compares options, so it would keep
them apart, but the order of two such options in a list would depend on when they were made.
"""

from __future__ import annotations

import numpy as np

from cutnode.compiler.jit import Words, compiled, kernel
from cutnode.contract.bits import Bits, high_product, mix

ZERO = 0
NO_FORM = -1
NOT_SIMPLE = -2

LEFT, RIGHT = 0, 1
"""The players, as the side whose options are meant."""

SECOND_WINS, LEFT_WINS, RIGHT_WINS, FIRST_WINS = range(4)
"""Outcome classes (P, L, R, N): bit 0 says that Left wins moving first, bit 1 that Right does."""

FRACTION_BITS = 20
ONE = 1 << FRACTION_BITS
"""Numbers and stops are in units of 2**-20."""

MOST_NUMBER = ((1 << 21) - 1) * ONE
MOST_UPS = 511
MOST_STAR = 1023
MOST_OPTIONS = (1 << 16) - 1
"""The limits of a form: the absolute values of its number and its ups, its nimber, the options of
each player."""

MOST_DEPTH = 200
"""The most nodes on the way down a form.  A sum of two such forms recurses 400 times, and 400 times
more to compare options, which must fit the smallest stacks of threads, 512 KiB: 800 comparisons
inside each other need between 160 and 256 KiB."""

UPS_AT, NUMBER_AT = 10, 20
NODE = 1 << 62

INFINITY = 1 << 50
"""A bound above every number."""

MOST_TERMS, SCRATCH, TOP, SLOTS_AT, SLOTS, NODES = range(6)
"""Words of the header: the most terms of a form; the size of the scratch stack, and how much of it
is used; the place and the number of slots; how many nodes there are."""
PAIRS_AT, PAIRS, SUMS_AT, SUMS, FREE = range(6, 11)
"""The places and sizes of both caches; the first free word of the nodes' region."""
HEADER_WORDS = 16

HASH, NEGATIVE, LEFT_STOP, RIGHT_STOP, TERMS, DEPTH, COUNTS, OPTIONS = range(8)
"""Words of a node: its hash; the handle of its negative; the handles of its stops; the terms of its
tree; the depth of its nodes; the numbers of options (16 bits each) and the birthday; the first
option."""

SMALLEST_BYTES = 1 << 14
SALT = Bits(0x9E3779B97F4A7C15)
LOWER_HALF = Bits((1 << 32) - 1)


def forms_words(budget_bytes: int) -> int:
    """Return the length of an array of 64-bit words for forms, of at least 16 KiB."""
    return max(budget_bytes, SMALLEST_BYTES) // 8


@compiled
def lay_out(forms, most_terms):
    """Write the header into an array of zeros.  *most_terms* is the most terms of a form's tree.

    A term is a simple form or a node.
    """
    words = len(forms)
    forms[MOST_TERMS] = most_terms
    forms[SCRATCH] = words // 32
    forms[SLOTS_AT] = HEADER_WORDS + words // 32
    forms[SLOTS] = words // 8
    forms[PAIRS_AT] = np.int64(forms[SLOTS_AT]) + words // 8
    forms[PAIRS] = words // 16
    forms[SUMS_AT] = np.int64(forms[PAIRS_AT]) + words // 16 * 2
    forms[SUMS] = words // 24
    forms[FREE] = np.int64(forms[SUMS_AT]) + words // 24 * 3
    forms[TOP] = 0
    forms[NODES] = 0


@compiled(inline=False)
def begin_forms(forms, most_terms):
    """Forget all forms, in an array with any contents; see :func:`lay_out`."""
    lay_out(forms, most_terms)
    for at in range(np.int64(forms[SLOTS_AT]), np.int64(forms[FREE])):
        forms[at] = 0


# Simple forms ------------------------------------------------------------------------------


@compiled
def simple_form(number, ups, star):
    """Return the form number + ups * up + nimber; *number* is in units of 2**-20."""
    if abs(number) > MOST_NUMBER or abs(ups) > MOST_UPS or not 0 <= star <= MOST_STAR:
        return NO_FORM
    return (
        (number & ((1 << (62 - NUMBER_AT)) - 1)) << NUMBER_AT
        | (ups & ((1 << (NUMBER_AT - UPS_AT)) - 1)) << UPS_AT
        | star
    )


@compiled
def number_of(a):
    """Return the number in a simple form, in units of 2**-20."""
    sign = 1 << (61 - NUMBER_AT)
    return ((a >> NUMBER_AT) ^ sign) - sign


@compiled
def ups_of(a):
    """Return how many ups there are in a simple form."""
    sign = 1 << (NUMBER_AT - UPS_AT - 1)
    return (((a >> UPS_AT) & (2 * sign - 1)) ^ sign) - sign


@compiled
def star_of(a):
    """Return the nimber in a simple form."""
    return a & MOST_STAR


@compiled
def is_simple(a):
    """Return whether a form is the sum of a number, ups, and a nimber."""
    return 0 <= a < NODE


@compiled
def is_number(a):
    return is_simple(a) and a & ((1 << NUMBER_AT) - 1) == 0


@compiled
def nimber_of(a):
    """Return n for the form *n, -1 for a form that is no nimber."""
    return a if 0 <= a <= MOST_STAR else -1


@compiled
def integer(value):
    """Return the form of an integer."""
    return dyadic(value, 0)


@compiled
def dyadic(numerator, exponent):
    """Return the form of *numerator* / 2 ** *exponent*."""
    if not 0 <= exponent <= FRACTION_BITS:
        return NO_FORM
    if abs(numerator) > MOST_NUMBER >> (FRACTION_BITS - exponent):
        return NO_FORM
    return simple_form(numerator << (FRACTION_BITS - exponent), 0, 0)


@compiled
def nimber(size):
    """Return the form of a nimber: a heap of Nim."""
    return simple_form(0, 0, size)


@compiled
def simple_negative(a):
    return simple_form(-number_of(a), -ups_of(a), star_of(a))


@compiled
def simple_at_most(a, b):
    """Return whether a <= b, for two simple forms."""
    number = number_of(b) - number_of(a)
    ups = ups_of(b) - ups_of(a)
    star = star_of(a) ^ star_of(b)
    if number != 0:
        return number > 0
    # Two ups exceed every nimber; one exceeds every nimber but *, with which it is confused.
    return ups > 1 or (ups == 1 and star != 1) or (ups == 0 and star == 0)


@compiled
def simple_added(a, b):
    """Return the sum of two simple forms."""
    return simple_form(number_of(a) + number_of(b), ups_of(a) + ups_of(b), star_of(a) ^ star_of(b))


@compiled
def simple_left_count(number, ups, star):
    """Return how many Left options a simple form has."""
    if ups == 0:
        if star != 0:
            return star
        return 0 if number <= 0 and number % ONE == 0 else 1
    return 2 if ups == 1 and star == 1 else 1


@compiled
def simple_left_option(number, ups, star, index):
    """Return a Left option of a simple form.

    Integers are {n - 1 | }, other numbers the middle of their options, nimbers {*0, ... | *0, ...}.
    Up is {0 | *}, up + * is {0, * | 0}, and any other sum of n > 0 ups and *k is
    {0 | n - 1 ups + *(k ^ 1)}.  A number moves both players' options by its value.
    """
    if ups < 0 and not (ups == -1 and star == 1):
        return simple_form(number, ups + 1, star ^ 1)
    if ups != 0 or star != 0:
        return simple_form(number, 0, index)
    return simple_form(number - (ONE if number % ONE == 0 else number & -number), 0, 0)


@compiled
def number_birthday(number):
    """Return the day on which a number is born."""
    whole = abs(number) // ONE
    rest = abs(number) % ONE
    if rest == 0:
        return whole
    digits = FRACTION_BITS
    while rest & 1 == 0:
        rest >>= 1
        digits -= 1
    return whole + 1 + digits


@compiled
def simple_birthday(a):
    """Return the day on which a simple form is born."""
    ups, star = abs(ups_of(a)), star_of(a)
    born = number_birthday(number_of(a))
    if ups == 0:
        return born + star
    star ^= (ups - 1) & 1
    return born + ups - 1 + (2 if star == 1 else 1 + (star ^ 1))


@compiled(inline=False)
def simplest_number(low, low_open, high, high_open):
    """Return the simplest number between two bounds, each excluded if it is open.

    There must be one.
    """
    low += low_open
    high -= high_open
    if low <= 0 <= high:
        return integer(0)
    # Of positive numbers, the least integer; without one, the only one with fewest binary digits.
    least, most = (low, high) if low > 0 else (-high, -low)
    step = ONE
    while step > 0:
        number = (least + step - 1) // step * step
        if number <= most:
            return simple_form(number if low > 0 else -number, 0, 0)
        step >>= 1
    return NO_FORM


# Forms -------------------------------------------------------------------------------------


@compiled
def place_of(a):
    """Return the place of a node in the array."""
    return a - NODE


@compiled
def form_hash(forms, a):
    """Return a word that depends on the structure of a form alone; 0 for ``NO_FORM``."""
    if a < 0:
        return Bits(0)
    if a < NODE:
        return mix(Bits(a) ^ SALT)
    return Bits(forms[place_of(a) + HASH])


@compiled
def negative(forms, a):
    """Return the negative of a form."""
    if a < 0:
        return NO_FORM
    if a < NODE:
        return simple_negative(a)
    return np.int64(forms[place_of(a) + NEGATIVE])


@compiled
def left_stop(forms, a):
    """Return the number at which play stops if Left moves first, in units of 2**-20.

    The form must not be ``NO_FORM``.
    """
    return number_of(a if a < NODE else np.int64(forms[place_of(a) + LEFT_STOP]))


@compiled
def right_stop(forms, a):
    """Return the number at which play stops if Right moves first, as :func:`left_stop` does."""
    return number_of(a if a < NODE else np.int64(forms[place_of(a) + RIGHT_STOP]))


@compiled
def terms(forms, a):
    """Return the number of terms in the tree of a form, which must not be ``NO_FORM``."""
    return 1 if a < NODE else np.int64(forms[place_of(a) + TERMS])


@compiled
def depth(forms, a):
    """Return the most nodes on a way down a form, which must not be ``NO_FORM``."""
    return 0 if a < NODE else np.int64(forms[place_of(a) + DEPTH])


@compiled
def birthday(forms, a):
    """Return the day on which a form is born: the depth of its tree."""
    if a < 0:
        return NO_FORM
    if a < NODE:
        return simple_birthday(a)
    return np.int64(forms[place_of(a) + COUNTS]) >> 32


@compiled(inline=False)
def option_count(forms, a, side):
    """Return how many options a player has in a form."""
    if a < 0:
        return NO_FORM
    if a >= NODE:
        return (np.int64(forms[place_of(a) + COUNTS]) >> (16 * side)) & MOST_OPTIONS
    sign = 1 - 2 * side
    return simple_left_count(sign * number_of(a), sign * ups_of(a), star_of(a))


@compiled(inline=False)
def option(forms, a, side, index):
    """Return an option of a player; *index* must be less than their number."""
    if a < 0:
        return NO_FORM
    if a >= NODE:
        place = place_of(a)
        skipped = np.int64(forms[place + COUNTS]) & MOST_OPTIONS if side == RIGHT else 0
        return np.int64(forms[place + OPTIONS + skipped + index])
    if side == LEFT:
        return simple_left_option(number_of(a), ups_of(a), star_of(a), index)
    return simple_negative(simple_left_option(-number_of(a), -ups_of(a), star_of(a), index))


@compiled
def left_count(forms, a):
    return option_count(forms, a, LEFT)


@compiled
def right_count(forms, a):
    return option_count(forms, a, RIGHT)


@compiled
def left_option(forms, a, index):
    return option(forms, a, LEFT, index)


@compiled
def right_option(forms, a, index):
    return option(forms, a, RIGHT, index)


@compiled
def wins_first(forms, a):
    """Return 1 if Left wins moving first under normal play, otherwise 0."""
    found = at_most(forms, a, ZERO)
    return NO_FORM if found == NO_FORM else 1 - found


@compiled
def outcome_class(forms, a):
    """Return who wins a form under normal play: ``SECOND_WINS``, ``LEFT_WINS``, ..."""
    left, right = wins_first(forms, a), wins_first(forms, negative(forms, a))
    return NO_FORM if left == NO_FORM else left + 2 * right


@kernel
def at_most(forms: Words, a: int, b: int) -> int:
    """Return 1 if a <= b, otherwise 0.

    a <= b unless some a^L >= b or some b^R <= a.  Stops decide most comparisons at once.
    """
    if a < 0 or b < 0:
        return NO_FORM
    if a == b:
        return 1
    if a < NODE and b < NODE:
        return 1 if simple_at_most(a, b) else 0
    if left_stop(forms, a) < right_stop(forms, b):
        return 1
    if left_stop(forms, a) > left_stop(forms, b) or right_stop(forms, a) > right_stop(forms, b):
        return 0
    entry = cache_entry(a, b, forms[PAIRS])
    entry = np.int64(forms[PAIRS_AT]) + 2 * entry
    if np.int64(forms[entry + 1]) == b and np.int64(Bits(forms[entry]) >> Bits(1)) == a:
        return np.int64(forms[entry]) & 1
    found = 1
    for index in range(option_count(forms, a, LEFT)):
        if at_most(forms, b, option(forms, a, LEFT, index)) == 1:
            found = 0
            break
    if found == 1:
        for index in range(option_count(forms, b, RIGHT)):
            if at_most(forms, option(forms, b, RIGHT, index), a) == 1:
                found = 0
                break
    forms[entry] = (Bits(a) << Bits(1)) | Bits(found)
    forms[entry + 1] = b
    return found


@compiled
def cache_entry(a, b, entries):
    """Return the entry of a pair of forms in a cache."""
    return np.int64(high_product(mix(Bits(a) ^ mix(Bits(b))), Bits(entries)))


@kernel
def added(forms: Words, a: int, b: int) -> int:
    """Return the sum of two forms.

    The cache also keeps which sums are unknown: for want of room, they remain so.
    """
    if a < 0 or b < 0:
        return NO_FORM
    if a > b:
        a, b = b, a
    if b < NODE:
        return simple_added(a, b)
    if a == ZERO:
        return b
    if a == negative(forms, b):
        return ZERO
    entry = np.int64(forms[SUMS_AT]) + 3 * cache_entry(a, b, forms[SUMS])
    if np.int64(forms[entry]) == a and np.int64(forms[entry + 1]) == b:
        return np.int64(forms[entry + 2]) - 1
    number = is_number(a)
    if a < NODE and not number and number_of(a) != 0:
        whole = simple_form(number_of(a), 0, 0)
        found = added(forms, added(forms, b, a - whole), whole)
    else:
        base = np.int64(forms[TOP])
        left, found = 0, ZERO
        for side in range(2):
            # A number's own options are dominated (number avoidance).
            for one in range(1 if number else 2):
                kept, moved = (a, b) if one == 0 else (b, a)
                for index in range(option_count(forms, moved, side)):
                    if found != NO_FORM:
                        found = added(forms, option(forms, moved, side, index), kept)
                        push(forms, found)
            if side == LEFT:
                left = np.int64(forms[TOP]) - base
        right = np.int64(forms[TOP]) - base - left
        if found != NO_FORM:
            # Adding a number keeps a canonical form canonical (number translation).
            if number:
                found = interned(forms, base, left, base + left, right)
            else:
                found = canonical_form(forms, left, right)
        forms[TOP] = base
    forms[entry] = a
    forms[entry + 1] = b
    forms[entry + 2] = found + 1
    return found


# Canonical forms of lists of options -----------------------------------------------------------


@compiled
def push(forms, a):
    """Push an option on the scratch stack."""
    top = np.int64(forms[TOP])
    if top < np.int64(forms[SCRATCH]):
        forms[HEADER_WORDS + top] = a + 1  # a word of 0 is NO_FORM
    forms[TOP] = top + 1


@compiled
def listed(forms, at):
    """Return the option at a place of the scratch stack."""
    return np.int64(forms[HEADER_WORDS + at]) - 1


@kernel
def canonical_form(forms: Words, left: int, right: int) -> int:
    """Return the form of the game whose options were pushed last: *left* of Left, then Right's.

    They are taken off the scratch stack.
    """
    base = np.int64(forms[TOP]) - left - right
    found = simplified(forms, base, left, right)
    forms[TOP] = base
    return found


@compiled
def simplified(forms, base, left, right):
    """Return the form of the game whose options are on the scratch stack from *base* on.

    Remove dominated options, bypass reversible ones, and remove what they brought that is dominated
    (Siegel, section II.2: what is left is the canonical form).
    """
    if base + left + right > np.int64(forms[SCRATCH]):
        return NO_FORM
    for at in range(base, base + left + right):
        if listed(forms, at) == NO_FORM:
            return NO_FORM
    middle = base + left
    low, low_open = greatest_right_stop(forms, base, left)
    high, high_open = least_left_stop(forms, middle, right)
    if low < high or (low == high and not low_open and not high_open):
        return simplest_number(low, low_open, high, high_open)
    left = undominated(forms, base, left, LEFT)
    right = undominated(forms, middle, right, RIGHT)
    first = np.int64(forms[TOP])
    bypass(forms, base, left, middle, right, low, high, LEFT)
    second = np.int64(forms[TOP])
    bypass(forms, base, left, middle, right, low, high, RIGHT)
    end = np.int64(forms[TOP])
    if end > np.int64(forms[SCRATCH]):
        return NO_FORM
    left = undominated(forms, first, second - first, LEFT)
    right = undominated(forms, second, end - second, RIGHT)
    found = simple_of_lists(forms, first, left, second, right)
    return interned(forms, first, left, second, right) if found == NOT_SIMPLE else found


@compiled(inline=False)
def greatest_right_stop(forms, start, count):
    """Return the greatest Right stop of Left's options, and whether a number must exceed it.

    A game is a number if some number x is neither at most any Left option nor at least any Right
    option; it is then the simplest such number.
    """
    low, low_open = -INFINITY, True
    for at in range(start, start + count):
        a = listed(forms, at)
        stop = right_stop(forms, a)
        if stop >= low:
            is_open = at_most(forms, simple_form(stop, 0, 0), a) == 1
            low_open = is_open or (stop == low and low_open)
            low = stop
    return low, low_open


@compiled(inline=False)
def least_left_stop(forms, start, count):
    """Return the least Left stop of Right's options, and whether a number must be less."""
    high, high_open = INFINITY, True
    for at in range(start, start + count):
        a = listed(forms, at)
        stop = left_stop(forms, a)
        if stop <= high:
            is_open = at_most(forms, a, simple_form(stop, 0, 0)) == 1
            high_open = is_open or (stop == high and high_open)
            high = stop
    return high, high_open


@compiled(inline=False)
def undominated(forms, start, count, side):
    """Remove dominated and repeated options from a player's list; return how many are left."""
    kept = start
    for at in range(start, start + count):
        a = listed(forms, at)
        place, dominated = start, False
        while place < kept and not dominated:
            b = listed(forms, place)
            low, high = (a, b) if side == LEFT else (b, a)
            if at_most(forms, low, high) == 1:
                dominated = True
            elif at_most(forms, high, low) == 1:
                kept -= 1
                forms[HEADER_WORDS + place] = forms[HEADER_WORDS + kept]
            else:
                place += 1
        if not dominated:
            forms[HEADER_WORDS + kept] = a + 1
            kept += 1
    return kept - start


@compiled(inline=False)
def bypass(forms, base, left, middle, right, low, high, side):
    """Push a player's options, in place of each reversible one those that it reverses to.

    Left's option G^L is reversible through G^LR <= G, and is replaced by the options G^LRL.
    """
    at = np.int64(forms[TOP])
    start, count = (base, left) if side == LEFT else (middle, right)
    for place in range(start, start + count):
        push(forms, listed(forms, place))
    while at < np.int64(forms[TOP]) <= np.int64(forms[SCRATCH]):
        a = listed(forms, at)
        through = NO_FORM
        for index in range(option_count(forms, a, 1 - side)):
            answer = option(forms, a, 1 - side, index)
            if compared(forms, answer, base, left, middle, right, low, high, side) == 1:
                through = answer
                break
        if through == NO_FORM:
            at += 1
        else:
            top = np.int64(forms[TOP]) - 1
            forms[TOP] = top
            forms[HEADER_WORDS + at] = forms[HEADER_WORDS + top]
            for index in range(option_count(forms, through, side)):
                push(forms, option(forms, through, side, index))


@kernel
def compared(
    forms: Words,
    a: int,
    base: int,
    left: int,
    middle: int,
    right: int,
    low: int,
    high: int,
    side: int,
) -> int:
    """Return 1 if a form is at most (*side* ``LEFT``) or at least (``RIGHT``) a game G, else 0.

    G is given by its lists of options, and is no number; *low* is its Left stop, the greatest Right
    stop of Left's options, and *high* its Right stop.
    """
    if side == LEFT:
        if left_stop(forms, a) < high:
            return 1
        if left_stop(forms, a) > low or right_stop(forms, a) > high:
            return 0
    else:
        if right_stop(forms, a) > low:
            return 1
        if left_stop(forms, a) < low or right_stop(forms, a) < high:
            return 0
    # a <= G unless some a^L >= G or some G^R <= a.
    start, count = (middle, right) if side == LEFT else (base, left)
    for at in range(start, start + count):
        b = listed(forms, at)
        if (at_most(forms, b, a) if side == LEFT else at_most(forms, a, b)) == 1:
            return 0
    for index in range(option_count(forms, a, side)):
        b = option(forms, a, side, index)
        if compared(forms, b, base, left, middle, right, low, high, 1 - side) == 1:
            return 0
    return 1


@compiled(inline=False)
def simple_of_lists(forms, first, left, second, right):
    """Return the simple form with these canonical options, or ``NOT_SIMPLE``."""
    number = right_stop(forms, listed(forms, first))
    for at in range(first, second + right):
        if at < first + left or at >= second:
            a = listed(forms, at)
            if a >= NODE or number_of(a) != number:
                return NOT_SIMPLE
    if left == right and are_stars(forms, first, left) and are_stars(forms, second, right):
        return simple_form(number, 0, left)
    if right == 1 and left <= 2 and are_stars(forms, first, left):
        return multiple_of_up(number, left, listed(forms, second))
    if left == 1 and right <= 2 and are_stars(forms, second, right):
        down = multiple_of_up(-number, right, simple_negative(listed(forms, first)))
        return NOT_SIMPLE if down == NOT_SIMPLE else negative(forms, down)
    return NOT_SIMPLE


@compiled
def are_stars(forms, start, count):
    """Return whether different simple options are a number plus 0, *, ... *(count - 1)."""
    for at in range(start, start + count):
        a = listed(forms, at)
        if ups_of(a) != 0 or star_of(a) >= count:
            return False
    return True


@compiled
def multiple_of_up(number, left, answer):
    """Return the form of number + {0 | answer} (*left* 1), or of number + {0, * | answer} (2).

    The result is ``NOT_SIMPLE`` unless it is a multiple of up, plus a nimber.
    """
    ups, star = ups_of(answer), star_of(answer)
    if left == 2:
        return simple_form(number, 1, 1) if ups == 0 and star == 0 else NOT_SIMPLE
    if ups < 0 or (ups == 0 and star == 0):
        return NOT_SIMPLE
    return simple_form(number, ups + 1, star ^ 1)


@compiled(inline=False)
def interned(forms, first, left, second, right):
    """Return the node with these canonical options, and make its negative with it.

    The lists are the last on the scratch stack.
    """
    start = np.int64(forms[TOP])
    size = left + right
    if start + size > np.int64(forms[SCRATCH]):
        return NO_FORM
    sort_by_hash(forms, first, left)
    sort_by_hash(forms, second, right)
    word = lists_hash(forms, first, left, second, right)
    slot = find_slot(forms, word, first, left, second, right)
    if np.int64(forms[slot]) != 0:
        return node_at(forms, slot)
    if (
        max(left, right) > MOST_OPTIONS
        or np.int64(forms[FREE]) + 2 * (OPTIONS + size) > len(forms)
        or 2 * (np.int64(forms[NODES]) + 2) > np.int64(forms[SLOTS])
        or total_terms(forms, first, left, second, right) > np.int64(forms[MOST_TERMS])
        or max(most_depth(forms, first, left), most_depth(forms, second, right)) >= MOST_DEPTH
    ):
        return NO_FORM
    a = new_node(forms, slot, word, first, left, second, right)
    for at in range(second, second + right):
        push(forms, negative(forms, listed(forms, at)))
    for at in range(first, first + left):
        push(forms, negative(forms, listed(forms, at)))
    forms[TOP] = start
    middle = start + right
    sort_by_hash(forms, start, right)
    sort_by_hash(forms, middle, left)
    word = lists_hash(forms, start, right, middle, left)
    slot = find_slot(forms, word, start, right, middle, left)
    b = a  # a form may be its own negative
    if np.int64(forms[slot]) == 0:
        b = new_node(forms, slot, word, start, right, middle, left)
    forms[place_of(a) + NEGATIVE] = b
    forms[place_of(b) + NEGATIVE] = a
    return a


@compiled
def node_at(forms, slot):
    """Return the node that a slot refers to: its place is in the lower half of the word."""
    return NODE + np.int64(Bits(forms[slot]) & LOWER_HALF)


@compiled(inline=False)
def sort_by_hash(forms, start, count):
    """Sort a list of options by their hashes (insertion sort)."""
    for end in range(start + 1, start + count):
        a = listed(forms, end)
        at = end
        while at > start and form_hash(forms, listed(forms, at - 1)) > form_hash(forms, a):
            forms[HEADER_WORDS + at] = forms[HEADER_WORDS + at - 1]
            at -= 1
        forms[HEADER_WORDS + at] = a + 1


@compiled(inline=False)
def lists_hash(forms, first, left, second, right):
    """Return the hash of the form with these sorted options."""
    word = mix(Bits(left) ^ SALT)
    for at in range(first, first + left):
        word = mix(word ^ form_hash(forms, listed(forms, at)))
    word = mix(word ^ Bits(right))
    for at in range(second, second + right):
        word = mix(word ^ form_hash(forms, listed(forms, at)))
    return word


@compiled(inline=False)
def find_slot(forms, word, first, left, second, right):
    """Return the slot of the node with these sorted options, or the free slot that it would get."""
    start, slots = np.int64(forms[SLOTS_AT]), np.int64(forms[SLOTS])
    number = np.int64(high_product(word, Bits(slots)))
    while np.int64(forms[start + number]) != 0:
        if Bits(forms[start + number]) >> Bits(32) == Bits(word) & LOWER_HALF:
            if has_options(forms, node_at(forms, start + number), first, left, second, right):
                break
        number = number + 1 if number + 1 < slots else 0
    return start + number


@compiled
def has_options(forms, a, first, left, second, right):
    """Return whether a node has these sorted options."""
    if option_count(forms, a, LEFT) != left or option_count(forms, a, RIGHT) != right:
        return False
    for index in range(left):
        if option(forms, a, LEFT, index) != listed(forms, first + index):
            return False
    for index in range(right):
        if option(forms, a, RIGHT, index) != listed(forms, second + index):
            return False
    return True


@compiled
def total_terms(forms, first, left, second, right):
    """Return the number of terms in the tree of the form with these options."""
    total = 1
    for at in range(first, first + left):
        total += terms(forms, listed(forms, at))
    for at in range(second, second + right):
        total += terms(forms, listed(forms, at))
    return total


@compiled
def most_depth(forms, start, count):
    """Return the greatest depth in a list of options."""
    most = 0
    for at in range(start, start + count):
        most = max(most, depth(forms, listed(forms, at)))
    return most


@compiled(inline=False)
def new_node(forms, slot, word, first, left, second, right):
    """Write a node and its slot; its negative is not known yet."""
    place = np.int64(forms[FREE])
    left_stops, right_stops, born, end = -INFINITY, INFINITY, 0, place + OPTIONS
    for at in range(first, first + left):
        a = listed(forms, at)
        left_stops = max(left_stops, right_stop(forms, a))
        born = max(born, birthday(forms, a))
        forms[end] = a
        end += 1
    for at in range(second, second + right):
        a = listed(forms, at)
        right_stops = min(right_stops, left_stop(forms, a))
        born = max(born, birthday(forms, a))
        forms[end] = a
        end += 1
    forms[place + HASH] = word
    forms[place + LEFT_STOP] = simple_form(left_stops, 0, 0)
    forms[place + RIGHT_STOP] = simple_form(right_stops, 0, 0)
    forms[place + TERMS] = total_terms(forms, first, left, second, right)
    below = max(most_depth(forms, first, left), most_depth(forms, second, right))
    forms[place + DEPTH] = below + 1
    forms[place + COUNTS] = (born + 1) << 32 | right << 16 | left
    forms[FREE] = end
    forms[NODES] = np.int64(forms[NODES]) + 1
    forms[slot] = ((Bits(word) & LOWER_HALF) << Bits(32)) | Bits(place)
    return NODE + place


# Other memories ----------------------------------------------------------------------------


@compiled
def first_node(forms):
    """Return the first word of the nodes' region."""
    return np.int64(forms[SUMS_AT]) + 3 * np.int64(forms[SUMS])


@compiled
def moved(a, shift):
    """Return the handle of a form in a memory where nodes lie *shift* words later."""
    return a + shift if a >= NODE else a


@compiled(inline=False)
def read_nodes(forms, nodes, shift):
    """Copy the nodes of another memory to an empty one, where they lie *shift* words later.

    Return whether there is room.
    """
    place = first_node(forms)
    end = place + len(nodes)
    if np.int64(forms[NODES]) != 0 or end > len(forms):
        return False
    for at in range(len(nodes)):
        forms[place + at] = nodes[at]
    slots = np.int64(forms[SLOTS])
    while place < end:
        if 2 * (np.int64(forms[NODES]) + 1) > slots:
            return False
        counts = np.int64(forms[place + COUNTS])
        size = (counts & MOST_OPTIONS) + ((counts >> 16) & MOST_OPTIONS)
        forms[place + NEGATIVE] = moved(np.int64(forms[place + NEGATIVE]), shift)
        for at in range(place + OPTIONS, place + OPTIONS + size):
            forms[at] = moved(np.int64(forms[at]), shift)
        word = Bits(forms[place + HASH])
        number = np.int64(high_product(word, Bits(slots)))
        while np.int64(forms[np.int64(forms[SLOTS_AT]) + number]) != 0:
            number = number + 1 if number + 1 < slots else 0
        slot = np.int64(forms[SLOTS_AT]) + number
        forms[slot] = ((word & LOWER_HALF) << Bits(32)) | Bits(place)
        forms[NODES] = np.int64(forms[NODES]) + 1
        place += OPTIONS + size
    forms[FREE] = end
    return True
