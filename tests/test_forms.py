"""Canonical forms of partizan games, against trees compared by the definitions."""

from __future__ import annotations

import functools
import itertools
import random
from typing import NamedTuple

import numpy as np
import pytest

from cutnode.contract.bits import Bits
from cutnode.kernels import forms as kernels
from cutnode.kernels.forms import (
    FIRST_WINS,
    LEFT,
    LEFT_WINS,
    MOST_NUMBER,
    NO_FORM,
    NODE,
    ONE,
    RIGHT,
    RIGHT_WINS,
    SECOND_WINS,
    ZERO,
    begin_forms,
    birthday,
    dyadic,
    form_hash,
    forms_words,
    integer,
    is_number,
    left_stop,
    negative,
    nimber,
    nimber_of,
    option,
    option_count,
    push,
    right_stop,
    simple_form,
)


class Example(NamedTuple):
    """A position class to compile for."""

    word: int = 0


class Forms:
    """A memory of forms, and the kernels on it."""

    def __init__(self, size=1 << 22, most_terms=1 << 20):
        self.words = np.zeros(forms_words(size), np.uint64)
        begin_forms(self.words, most_terms)
        self.at_most = functools.partial(run("at_most"), self.words)
        self.added = functools.partial(run("added"), self.words)

    def form(self, left, right):
        for a in (*left, *right):
            push(self.words, a)
        return int(run("canonical_form")(self.words, len(left), len(right)))

    def options(self, a, side):
        count = option_count(self.words, a, side)
        return [int(option(self.words, a, side, index)) for index in range(count)]

    def of_tree(self, tree):
        left, right = ([self.of_tree(below) for below in side] for side in tree)
        return self.form(left, right)

    def tree_of(self, a):
        return tuple(tuple(map(self.tree_of, self.options(a, side))) for side in (LEFT, RIGHT))

    def sum(self, *forms):
        return functools.reduce(self.added, forms, ZERO)


@functools.cache
def run(name):
    return getattr(kernels, name).specialise(Example)


@pytest.fixture(scope="module")
def forms():
    return Forms()


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


@functools.cache
def left_wins(trees, left):
    """Return whether Left wins a sum of trees, if Left (or Right) moves first."""
    side = 0 if left else 1
    for number, tree in enumerate(trees):
        for option in tree[side]:
            rest = tuple(sorted((*trees[:number], option, *trees[number + 1 :])))
            if left_wins(rest, not left) == left:
                return left
    return not left


def random_tree(draw, depth):
    if depth == 0:
        return ((), ())
    return tuple(
        tuple(random_tree(draw, draw.randrange(depth)) for _ in range(draw.randrange(4)))
        for _ in range(2)
    )


def test_every_game_born_by_day_two(forms):
    """There are 4 values born by day 1, and 22 by day 2 (Winning Ways, chapter 6)."""
    found = {ZERO}
    for day in (1, 2):
        subsets = [
            chosen
            for count in range(len(found) + 1)
            for chosen in itertools.combinations(sorted(found), count)
        ]
        found = {forms.form(left, right) for left in subsets for right in subsets}
        assert all(birthday(forms.words, a) <= day for a in found)
        assert len(found) == {1: 4, 2: 22}[day]
    trees = {a: forms.tree_of(a) for a in found}
    for a, b in itertools.product(found, repeat=2):
        assert forms.at_most(a, b) == at_most(trees[a], trees[b])
        assert forms.added(a, b) == forms.of_tree(added(trees[a], trees[b]))


def test_random_trees(forms):
    draw = random.Random(1)
    trees = [random_tree(draw, 4) for _ in range(400)]
    values = [forms.of_tree(tree) for tree in trees]
    for tree, a in zip(trees, values, strict=True):
        canonical = forms.tree_of(a)
        assert at_most(tree, canonical) and at_most(canonical, tree)
        assert forms.of_tree(negated(tree)) == negative(forms.words, a)
        assert forms.of_tree(canonical) == a
        assert_canonical(canonical)
    for number in range(0, 400, 2):
        a, b = values[number : number + 2]
        assert forms.at_most(a, b) == at_most(trees[number], trees[number + 1])
        assert forms.at_most(b, a) == at_most(trees[number + 1], trees[number])


def assert_canonical(tree):
    for side, options in enumerate(tree):
        for a, b in itertools.permutations(options, 2):
            assert not at_most(a, b)
        for a in options:
            assert_canonical(a)
            for answer in a[1 - side]:
                assert not (at_most(tree, answer) if side else at_most(answer, tree))
