"""Canonical forms of partizan games, against trees compared by the definitions."""

from __future__ import annotations

import functools
import itertools
import random
import threading

import pytest
from marks import compiled_only

from cutnode.cgt.memory import MOST_TERMS, Memory, run
from cutnode.compiler.jit import Words, kernel
from cutnode.kernels.forms import (
    FIRST_WINS,
    LEFT_WINS,
    MOST_DEPTH,
    MOST_NUMBER,
    MOST_STAR,
    MOST_UPS,
    NO_FORM,
    NODES,
    ONE,
    RIGHT_WINS,
    SCRATCH,
    SECOND_WINS,
    TOP,
    ZERO,
    begin_forms,
    birthday,
    dyadic,
    form_hash,
    integer,
    is_number,
    is_simple,
    left_count,
    left_option,
    left_stop,
    negative,
    nimber,
    nimber_of,
    outcome_class,
    right_count,
    right_option,
    right_stop,
    simple_form,
    terms,
    wins_first,
)

pytestmark = pytest.mark.once

STAR, UP = simple_form(0, 0, 1), simple_form(0, 1, 0)


@pytest.fixture(scope="module")
def memory():
    return Memory(1 << 22)


def of_tree(memory, tree):
    left, right = ([of_tree(memory, below) for below in side] for side in tree)
    return memory.form(left, right)


def tree_of(memory, a):
    return tuple(tuple(tree_of(memory, b) for b in side) for side in memory.both(a))


def total(memory, parts):
    return functools.reduce(memory.added, parts, ZERO)


def small_values(memory):
    """Values whose sums are small games: numbers, nimbers, ups, tinies, and switches."""
    number = {n: integer(n) for n in range(-2, 3)}
    half, quarter = dyadic(1, 1), dyadic(-1, 2)
    tiny = memory.form([ZERO], [memory.form([ZERO], [number[-1]])])
    hot = [memory.form([number[n]], [number[m]]) for n, m in ((1, -1), (2, 0), (0, -1), (2, -1))]
    hot += [memory.form([hot[0]], [number[-2]]), memory.form([ZERO, STAR], [number[-1]])]
    simple = [STAR, nimber(2), UP, simple_form(0, 1, 1), simple_form(0, 2, 0), half, quarter]
    found = [*number.values(), *simple, tiny, *hot, memory.form([tiny], [memory.negative(tiny)])]
    return [*found, *(memory.negative(a) for a in found)]


# Values and trees


@functools.cache
def at_most(a, b):
    """Return whether a <= b, by the definition, for two trees."""
    return not any(at_most(b, left) for left in a[0]) and not any(
        at_most(right, a) for right in b[1]
    )


def added(a, b):
    """Return the tree of a sum."""
    return tuple(
        (*(added(x, b) for x in a[side]), *(added(a, x) for x in b[side])) for side in (0, 1)
    )


def negated(a):
    return tuple(tuple(map(negated, a[side])) for side in (1, 0))


def random_tree(draw, depth):
    if depth == 0:
        return ((), ())
    return tuple(
        tuple(random_tree(draw, draw.randrange(depth)) for _ in range(draw.randrange(4)))
        for _ in range(2)
    )


def test_all_games_born_by_day_two(memory):
    """There are 4 values born by day 1, and 22 by day 2 (Winning Ways, chapter 6)."""
    found = {ZERO}
    for day, values in ((1, 4), (2, 22)):
        subsets = [
            chosen
            for count in range(len(found) + 1)
            for chosen in itertools.combinations(sorted(found), count)
        ]
        # Options that dominate each other are left out of all but a part of the pairs.
        found = {memory.form(left, right) for left in subsets for right in subsets}
        assert all(birthday(memory.words, a) <= day for a in found)
        assert len(found) == values
    trees = {a: tree_of(memory, a) for a in found}
    for a, b in itertools.product(found, repeat=2):
        assert memory.at_most(a, b) == at_most(trees[a], trees[b])
        assert memory.added(a, b) == of_tree(memory, added(trees[a], trees[b]))


def test_random_trees(memory):
    draw = random.Random(1)
    trees = [random_tree(draw, 4) for _ in range(300)]
    values = [of_tree(memory, tree) for tree in trees]
    for tree, a in zip(trees, values, strict=True):
        canonical = tree_of(memory, a)
        assert at_most(tree, canonical) and at_most(canonical, tree)
        assert of_tree(memory, negated(tree)) == memory.negative(a)
        assert of_tree(memory, canonical) == a
        assert_canonical(canonical)
    for number in range(0, len(trees), 2):
        a, b = values[number : number + 2]
        assert memory.at_most(a, b) == at_most(trees[number], trees[number + 1])
        assert memory.at_most(b, a) == at_most(trees[number + 1], trees[number])


def assert_canonical(tree):
    """Check that no option is dominated or reversible, anywhere in a tree."""
    for side, options in enumerate(tree):
        assert not any(at_most(a, b) for a, b in itertools.permutations(options, 2))
        for a in options:
            assert_canonical(a)
            for answer in a[1 - side]:
                assert not (at_most(tree, answer) if side else at_most(answer, tree))


# Sums and play


class Play:
    """Play in sums of forms, move by move."""

    def __init__(self, memory):
        self.memory = memory
        self.options = functools.cache(memory.both)
        self.left_wins = functools.cache(self._left_wins)

    def _left_wins(self, parts, side):
        """Return whether Left wins a sum if the player *side* moves first."""
        for number, part in enumerate(parts):
            for option in self.options(part)[side]:
                rest = [*parts[:number], *parts[number + 1 :], *([option] if option else [])]
                if self.left_wins(tuple(sorted(rest)), 1 - side) == (side == 0):
                    return side == 0
        return side == 1

    def outcome(self, parts):
        parts = tuple(sorted(parts))
        return self.left_wins(parts, 0) + 2 * (not self.left_wins(parts, 1))


def test_random_sums(memory):
    """The outcomes of sums of up to four values agree with play: so do all comparisons."""
    draw, play = random.Random(2), Play(memory)
    values = small_values(memory)
    seen = set()
    for _ in range(10_000):
        parts = draw.choices(values, k=draw.randint(2, 4))
        outcome = play.outcome(parts)
        seen.add(outcome)
        a = total(memory, parts)
        left, right = not memory.at_most(a, ZERO), not memory.at_most(ZERO, a)
        assert left + 2 * right == outcome
    assert seen == {SECOND_WINS, LEFT_WINS, RIGHT_WINS, FIRST_WINS}


def test_sums_are_a_group(memory):
    draw = random.Random(3)
    values = small_values(memory)
    for _ in range(1_000):
        a, b, c = draw.choices(values, k=3)
        assert memory.added(a, b) == memory.added(b, a)
        assert memory.added(memory.added(a, b), c) == memory.added(a, memory.added(b, c))
        assert memory.added(memory.added(a, b), memory.negative(b)) == a
        assert memory.at_most(a, b) == memory.at_most(memory.added(a, c), memory.added(b, c))


def test_simple_forms(memory):
    """Handles made by arithmetic are the forms of their options."""
    draw = random.Random(4)
    for _ in range(2_000):
        number = draw.choice([0, 0, draw.randrange(-(1 << 24), 1 << 24)])
        number >>= draw.randrange(20)
        a = simple_form(number, draw.randrange(-5, 6), draw.randrange(8))
        left, right = memory.both(a)
        assert all(map(is_simple, left + right))
        assert memory.form(left, right) == a
        born = [birthday(memory.words, b) for b in left + right]
        assert birthday(memory.words, a) == max(born, default=-1) + 1
        assert left_stop(memory.words, a) == right_stop(memory.words, a) == number


def test_names_of_values(memory):
    form, words = memory.form, memory.words
    assert (form([], []), form([ZERO], []), form([], [ZERO])) == (ZERO, integer(1), integer(-1))
    assert form([ZERO], [ZERO]) == nimber(1) == STAR
    assert form([ZERO], [STAR]) == UP
    assert form([ZERO], [integer(1)]) == dyadic(1, 1)
    assert form([dyadic(1, 2)], [dyadic(3, 2)]) == dyadic(1, 1)
    assert form([integer(-7)], [integer(9)]) == ZERO
    assert [nimber_of(a) for a in (ZERO, nimber(5), UP, integer(1))] == [0, 5, -1, -1]
    assert [is_number(a) for a in (ZERO, dyadic(-3, 4), STAR, NO_FORM)] == [1, 1, 0, 0]
    hot = form([integer(3)], [STAR, integer(1)])
    assert (left_stop(words, hot), right_stop(words, hot)) == (3 * ONE, 0)
    assert (left_count(words, hot), right_count(words, hot)) == (1, 1)
    assert (left_option(words, hot, 0), right_option(words, hot, 0)) == (integer(3), STAR)


@kernel
def classify(words: Words, a: int) -> int:
    """Return the outcome class, and whether Left wins moving first, as one number."""
    return 10 * outcome_class(words, a) + wins_first(words, a)


def test_outcome_classes(memory):
    for a, outcome in (
        (ZERO, SECOND_WINS),
        (STAR, FIRST_WINS),
        (UP, LEFT_WINS),
        (integer(-1), RIGHT_WINS),
        (memory.form([integer(1)], [integer(-1)]), FIRST_WINS),
    ):
        assert run(classify)(memory.words, a) == 10 * outcome + (outcome & 1)
    assert run(classify)(memory.words, NO_FORM) == 11 * NO_FORM


# Hashes, limits, room


def shapes(memory, order):
    """Make the small values, each after forms that depend on the order."""
    values = {}
    for number in order:
        draw = random.Random(number)
        tree = random_tree(draw, 4)
        values[number] = int(form_hash(memory.words, of_tree(memory, tree)))
    return values


def test_hashes_do_not_depend_on_the_order_of_creation():
    numbers = [*range(200)]
    one, other = Memory(1 << 20), Memory(1 << 20)
    hashes = shapes(one, numbers)
    assert shapes(other, numbers[::-1]) == hashes
    assert len(set(hashes.values())) > 30


def test_hash_is_the_same_everywhere(memory):
    hot = memory.form([integer(1)], [integer(-1)])
    assert int(form_hash(memory.words, hot)) == 5964012599200493907
    assert form_hash(memory.words, NO_FORM) == 0


def test_limits_give_no_form(memory):
    words = memory.words
    most = integer(MOST_NUMBER // ONE)
    assert memory.added(most, integer(1)) == NO_FORM
    assert memory.added(nimber(MOST_STAR), nimber(1)) == nimber(MOST_STAR - 1)
    assert nimber(MOST_STAR + 1) == simple_form(0, MOST_UPS + 1, 0) == NO_FORM
    assert dyadic(1, 20) != NO_FORM and dyadic(1, 21) == dyadic(1 << 60, 0) == NO_FORM
    assert memory.form([dyadic(1, 20)], [dyadic(1, 19)]) == NO_FORM  # 3 / 2**21
    assert memory.form([ZERO], [simple_form(0, MOST_UPS, 1)]) == NO_FORM  # 512 ups
    assert memory.form([most], []) == NO_FORM
    assert memory.form([NO_FORM], [ZERO]) == memory.form([ZERO], [NO_FORM]) == NO_FORM
    assert memory.added(NO_FORM, ZERO) == memory.added(STAR, NO_FORM) == NO_FORM
    assert negative(words, NO_FORM) == birthday(words, NO_FORM) == NO_FORM
    assert left_count(words, NO_FORM) == right_option(words, NO_FORM, 0) == NO_FORM
    assert int(words[TOP]) == 0


def test_too_many_terms(memory):
    begin_forms(memory.words, 50)
    switches = [memory.form([integer(3**n)], [integer(-(3**n))]) for n in range(6)]
    known = [terms(memory.words, total(memory, switches[:n])) for n in range(1, 5)]
    assert known == [3, 7, 15, 31]
    assert total(memory, switches) == NO_FORM
    assert int(memory.words[TOP]) == 0
    begin_forms(memory.words, MOST_TERMS)


def test_little_room():
    """Whatever the room, a sum is right or unknown, and the rest of the array stays as it was."""
    large, small = Memory(1 << 22), Memory(1)
    scratch, unknown = int(small.words[SCRATCH]), 0
    for seed in range(300):
        draw = random.Random(seed)
        trees = [random_tree(draw, 4) for _ in range(3)]
        a = total(large, [of_tree(large, tree) for tree in trees])
        parts = [of_tree(small, tree) for tree in trees]
        used = 0 if seed % 3 else scratch - seed % 40
        small.words[TOP] = used
        b = total(small, parts)
        assert int(small.words[TOP]) == used
        unknown += b == NO_FORM
        if b != NO_FORM:
            assert form_hash(small.words, b) == form_hash(large.words, a)
    assert 0 < unknown < 300
    assert int(small.words[NODES]) > 20


def deep(memory, depth):
    """Return the form {n || ... || 2 || 1 | 0}, with as many nodes on the way down."""
    a = ZERO
    for number in range(1, depth + 1):
        a = memory.form([integer(number)], [a])
    return a


@compiled_only
def test_deep_forms_fit_a_small_stack(memory):
    assert deep(memory, MOST_DEPTH + 1) == NO_FORM
    a, found = deep(memory, MOST_DEPTH), []
    size = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(
            target=lambda: found.append(memory.added(a, memory.added(a, STAR)))
        )
        thread.start()
    finally:
        threading.stack_size(size)
    thread.join()
    assert len(found) == 1 and a != NO_FORM
