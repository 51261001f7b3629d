"""Published replacement schemes: which entries each keeps, and that searches stay exact."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutnode import CutnodeError, Searcher, Technique, load_game
from cutnode.contract.bits import Bits, mix
from cutnode.contract.verbs import NO_MOVE
from cutnode.kernels.replacement import (
    BIG,
    DEEP,
    NEW,
    OLD,
    REPLACEMENT,
    TWO_BIG,
    TWO_DEEP,
    scaled,
    store_by_scheme,
)
from cutnode.kernels.table import (
    BUCKET_WORDS,
    COLD,
    HEADER_WORDS,
    Entry,
    begin,
    depth_of,
    lower_of,
    probe,
)

pytestmark = pytest.mark.once

SCHEMES = (DEEP, NEW, OLD, BIG, TWO_DEEP, TWO_BIG)
WORDS = [mix(number) for number in range(12)]


def kept_by(scheme, entries):
    """Return the depths kept in a table of one bucket, by position: the definitions, in Python."""
    levels = 2 if scheme in (TWO_DEEP, TWO_BIG) else 1
    places = {}
    for number, depth, nodes in entries:
        place = places.setdefault(WORDS[number] % (4 // levels), [None] * levels)
        fresh = number, depth, scaled(nodes)
        same = next((at for at in range(levels) if place[at] and place[at][0] == number), None)
        if same is not None:
            if depth >= place[same][1]:
                place[same] = fresh
            continue
        old = place[0]
        by_depth = scheme in (DEEP, TWO_DEEP)
        wins = old is None or scheme == NEW
        if not wins and scheme != OLD:
            wins = depth >= old[1] if by_depth else fresh[2] >= old[2]
        if wins:
            place[:] = [fresh, old or place[1]] if levels == 2 else [fresh]
        elif levels == 2:
            place[1] = fresh
    return {each[0]: each[1] for place in places.values() for each in place if each}


@pytest.mark.parametrize("scheme", SCHEMES)
@given(
    entries=st.lists(
        st.tuples(st.integers(0, len(WORDS) - 1), st.integers(0, 9), st.integers(1, 1000))
    )
)
def test_a_scheme_keeps_the_entries_of_its_definition(scheme, entries):
    words = np.zeros(HEADER_WORDS + 5 * BUCKET_WORDS, np.uint64)
    words[COLD] = 1
    begin(words, False)
    search = SimpleNamespace(replacement_scheme=scheme, replacement_size=2)
    lost = 0
    for number, depth, nodes in entries:
        entry = Entry(Bits(WORDS[number]), number, 100, NO_MOVE, depth, False, nodes)
        lost += store_by_scheme(words, entry, search)
    found = {number: probe(words, Bits(word)) for number, word in enumerate(WORDS)}
    kept = {number: depth_of(data) for number, data in found.items() if data}
    assert kept == kept_by(scheme, entries)
    assert all(lower_of(found[number]) == number for number in kept)
    assert lost <= len(entries) - len(kept)


def test_numbers_of_nodes_are_scaled_in_order():
    numbers = sorted({*range(1, 5000), *(1 << n for n in range(63))})
    found = [scaled(number) for number in numbers]
    assert found == sorted(found)
    assert found[0] == 1
    assert found[-1] < 512


@pytest.mark.slow
def test_every_scheme_is_exact_and_the_same_again():
    game = load_game("connect4:6x5")
    expected = Searcher(game, exact=True, table=1, evaluation="cells")
    value = expected.search(game.start(), depth=11).value
    nodes = {}
    for scheme in SCHEMES:
        engine = Searcher(
            game,
            exact=True,
            table=1,
            evaluation="cells",
            techniques=["replacement", ...],
            parameters={"replacement.scheme": scheme, "replacement.size": 9},
        )
        results = []
        for _ in range(2):
            results.append(engine.search(game.start(), depth=11))
            engine.clear()
        assert [result.value for result in results] == [value, value]
        assert results[0].nodes == results[1].nodes
        nodes[scheme] = results[0].nodes
    assert len(set(nodes.values())) == len(SCHEMES)


def test_only_one_technique_stores_entries():
    other = Technique("hoarding", True, "", store=store_by_scheme)
    game = load_game("tictactoe", plain=True)
    with pytest.raises(CutnodeError, match="only one technique can store entries, got hoarding"):
        Searcher(game, techniques=["table", "replacement", other])
    with pytest.raises(CutnodeError, match="replacement makes no sense without table"):
        Searcher(game, techniques=["replacement"])
    with pytest.raises(CutnodeError, match="replacement is a technique of the engine"):
        Searcher(game, techniques=[Technique("replacement", True, "")])
    techniques = Searcher(game, techniques=["table", REPLACEMENT]).techniques
    assert techniques == {"table", "replacement"}
    assert "replacement" not in Searcher(game).techniques
