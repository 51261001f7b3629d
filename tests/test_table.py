"""The table finds what was stored, and nothing else; in Python and in compiled code."""

from types import SimpleNamespace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutnode.contract.bits import WORD, Bits, mix
from cutnode.contract.errors import TableError
from cutnode.contract.verbs import INFINITE, NO_MOVE
from cutnode.kernels import table as module
from cutnode.kernels.parameters import HALF_FULL, REGION_GROWTH, SMALLEST_REGION
from cutnode.kernels.table import (
    AGE,
    AGES,
    BUCKET_BYTES,
    BUCKET_WORDS,
    BUCKETS,
    COLD,
    FILLED,
    FIRST_AGE,
    HEADER_WORDS,
    SALT,
    age_of,
    lower_of,
    move_of,
    upper_of,
    work_of,
)
from cutnode.storage import tables
from cutnode.storage.tables import Table, available_megabytes

OPERATIONS = (
    *("begin", "bucket", "is_marked", "mark", "open_for", "open_whole", "prepare"),
    *("probe", "reserve", "resize", "store", "store_depth"),
)


@pytest.fixture(scope="module", params=["plain", "compiled"])
def ops(request):
    """The operations on the words of a table."""

    def version(function):
        return function if request.param == "plain" else numba.njit(lambda *args: function(*args))

    return SimpleNamespace(**{name: version(getattr(module, name)) for name in OPERATIONS})


def words_of(ops, buckets, region=None):
    """Return the words of a small table in which a search has begun."""
    words = np.zeros(HEADER_WORDS + buckets * BUCKET_WORDS, np.uint64)
    words[COLD] = 1
    ops.begin(words, False)
    if region is not None:
        words[BUCKETS] = region
    return words


def found(ops, words, word):
    """Return the bounds, move and work stored for a word, or None."""
    data = Bits(ops.probe(words, Bits(word)))
    if data == 0:
        return None
    return lower_of(data), upper_of(data), move_of(data), work_of(data)


def put(ops, words, word, lower=0, upper=0, move=NO_MOVE, work=0):
    return ops.store(words, Bits(word), lower, upper, move, work, HALF_FULL)


def header(words, *names):
    return [int(words[name]) for name in names]


# Memory


@pytest.mark.parametrize("megabytes", [1, 3])
def test_memory_is_aligned_to_cache_lines(megabytes):
    for _ in range(4):
        table = Table(megabytes)
        assert table.words.ctypes.data % BUCKET_BYTES == 0
        assert table.words.nbytes == megabytes << 20
        assert table.buckets == ((megabytes << 17) - HEADER_WORDS) // BUCKET_WORDS
    assert repr(table) == f"Table({megabytes})"


@pytest.mark.parametrize("megabytes", [0, -1])
def test_table_of_no_size_is_an_error(megabytes):
    with pytest.raises(TableError, match=rf"at least 1 MiB, got {megabytes}$"):
        Table(megabytes)


def test_table_larger_than_memory_is_an_error():
    with pytest.raises(TableError, match="1073741824 MiB"):
        Table(1 << 30)


def test_table_larger_than_memory_is_an_error_where_nobody_tells(monkeypatch):
    monkeypatch.setattr(tables, "available_megabytes", lambda: None)
    with pytest.raises(TableError, match="no memory for a table of 1099511627776 MiB"):
        Table(1 << 40)


def test_available_memory_is_known_here():
    room = available_megabytes()
    assert room is None or room > 0


# Entries


def test_first_search_begins_a_generation(ops):
    table = Table(1)
    ops.begin(table.words, False)
    assert header(table.words, COLD, AGE, FIRST_AGE, FILLED) == [0, 1, 1, 0]
    assert header(table.words, BUCKETS) == [min(SMALLEST_REGION, table.buckets)]
    assert table.words[SALT] != 0


def test_nothing_is_found_in_a_new_table(ops):
    words = words_of(ops, 7)
    for word in (0, 1, WORD, int(words[SALT]), int(words[SALT]) ^ WORD):
        assert found(ops, words, word) is None


@pytest.mark.parametrize("word", [0, 1, 1 << 63, WORD])
@pytest.mark.parametrize(
    "entry",
    [
        (-INFINITE, INFINITE, NO_MOVE, 0),
        (-INFINITE, -INFINITE, 0, 63),
        (INFINITE, INFINITE, NO_MOVE - 1, 1),
        (-3, 4, 6, 20),
    ],
)
def test_entry_is_found_as_it_was_stored(ops, word, entry):
    words = words_of(ops, 7)
    assert not put(ops, words, word, *entry)
    assert found(ops, words, word) == entry
    assert found(ops, words, word ^ 1) is None
    assert age_of(Bits(ops.probe(words, Bits(word)))) == words[AGE]


def test_torn_entry_is_not_found(ops):
    words = words_of(ops, 1)
    put(ops, words, 5, -1, 1)
    entries = words[HEADER_WORDS:]
    for at in np.flatnonzero(entries):
        entries[at] ^= np.uint64(1 << 40)
        assert found(ops, words, 5) is None
        entries[at] ^= np.uint64(1 << 40)
    assert found(ops, words, 5) is not None


@pytest.mark.parametrize("buckets", [1, 7, 1 << 20])
def test_every_word_has_a_whole_bucket_behind_the_header(ops, buckets):
    words = np.zeros(HEADER_WORDS, np.uint64)
    words[BUCKETS] = buckets
    for word in (0, 1, 1 << 63, WORD, *map(mix, range(200))):
        at = ops.bucket(words, Bits(word))
        assert at % BUCKET_WORDS == 0
        assert HEADER_WORDS <= at < HEADER_WORDS + buckets * BUCKET_WORDS


def test_prepare_changes_nothing(ops):
    words = words_of(ops, 7)
    before = words.copy()
    for word in (0, WORD):
        ops.prepare(words, Bits(word))
    assert (words == before).all()


# Merging and replacement; small words share the first bucket


def test_bounds_of_one_position_are_merged(ops):
    words = words_of(ops, 2, region=1)
    put(ops, words, 9, -INFINITE, 5, work=7)
    put(ops, words, 9, 2, INFINITE, move=3, work=1)
    assert found(ops, words, 9) == (2, 5, 3, 1)
    put(ops, words, 9, -4, 4)
    assert found(ops, words, 9) == (2, 4, 3, 0)
    assert header(words, FILLED) == [1]


@given(
    stores=st.lists(
        st.tuples(
            st.sampled_from([0, 1, 2, WORD >> 1]),
            st.integers(-INFINITE, 0),
            st.integers(0, INFINITE),
            st.just(NO_MOVE) | st.integers(0, 6),
        ),
        max_size=12,
    )
)
def test_bucket_with_room_forgets_nothing(ops, stores):
    words = words_of(ops, 1)
    expected = {}
    for word, lower, upper, move in stores:
        assert not put(ops, words, word, lower, upper, move)
        least, most, known = expected.get(word, (-INFINITE, INFINITE, NO_MOVE))
        known = known if move == NO_MOVE else move
        expected[word] = max(least, lower), min(most, upper), known
    for word, entry in expected.items():
        assert found(ops, words, word)[:3] == entry


def test_least_work_gives_way(ops):
    words = words_of(ops, 1)
    for word, work in ((1, 5), (2, 1), (3, 7), (4, 3)):
        assert not put(ops, words, word, work=work)
    assert put(ops, words, 5, work=0)
    assert found(ops, words, 2) is None
    assert put(ops, words, 6, work=9)
    assert found(ops, words, 5) is None
    assert all(found(ops, words, word) for word in (1, 3, 4, 6))


def test_same_position_gives_way_before_all_others(ops):
    words = words_of(ops, 1)
    for word, work in ((1, 5), (2, 1), (3, 7), (4, 3)):
        put(ops, words, word, work=work)
    assert not put(ops, words, 3, 0, 0, work=0)
    assert all(found(ops, words, word) for word in (1, 2, 3, 4))


def test_earlier_search_gives_way_before_least_work(ops):
    words = words_of(ops, 1)
    for word in (1, 2, 3, 4):
        put(ops, words, word, work=60)
    ops.begin(words, False)
    for word in (5, 6, 7, 8):
        assert not put(ops, words, word)
        assert found(ops, words, word)
    assert not any(found(ops, words, word) for word in (1, 2, 3, 4))
    assert put(ops, words, 9)


@pytest.mark.parametrize(
    ("shallower", "proven", "depth", "kept"),
    [(0, False, 5, True), (3, False, 3, False), (3, False, 2, True), (3, True, 5, True)],
)
def test_bounds_of_a_search_give_way_to_newer_ones_a_little_shallower(
    ops, shallower, proven, depth, kept
):
    words = words_of(ops, 7)
    old, new = (-INFINITE, 50), (80, INFINITE)
    ops.store_depth(words, Bits(5), *old, NO_MOVE, 6, proven, 0)
    ops.store_depth(words, Bits(5), *new, 7, depth, False, shallower)
    lower, upper, move, _ = found(ops, words, 5)
    assert ((lower, upper), move) == ((old, NO_MOVE) if kept else (new, 7))
    ops.begin(words, False)
    ops.store_depth(words, Bits(5), *new, 7, 1, False, 0)
    assert found(ops, words, 5) == (*new, 7, 2)


# Generations and ages


def test_warm_search_finds_what_earlier_ones_stored(ops):
    words = words_of(ops, 7)
    put(ops, words, WORD, -1, 2, 4, 8)
    ops.begin(words, False)
    assert found(ops, words, WORD) == (-1, 2, 4, 8)
    assert header(words, AGE, FIRST_AGE) == [2, 1]


@pytest.mark.parametrize("forget", [True, False], ids=["forget", "cold"])
def test_new_generation_finds_nothing(ops, forget):
    table = Table(1)
    sample = [mix(number) for number in range(50)]
    ops.begin(table.words, True)
    for word in sample:
        put(ops, table.words, word)
    if forget:
        table.forget()
    ops.begin(table.words, not forget)
    assert not any(found(ops, table.words, word) for word in sample)
    assert header(table.words, AGE, FIRST_AGE, FILLED, COLD) == [2, 2, 0, 0]


def test_cold_search_does_the_same_in_a_used_table(ops):
    def search(words):
        for number in range(120):
            yield put(ops, words, mix(number % 60), work=number % 5)
            yield found(ops, words, mix(number % 40))

    used, new = (words_of(ops, 9, region=3) for _ in range(2))
    first = list(search(new))
    for number in range(200):
        put(ops, used, mix(1000 + number), work=60)
    ops.begin(used, True)
    used[BUCKETS] = 3
    assert list(search(used)) == first
    assert any(first[::2])
    assert any(first[1::2])


def test_ages_start_again_without_losing_the_generation(ops):
    words = words_of(ops, 7)
    old, kept = mix(1), mix(2)
    put(ops, words, old)
    ops.begin(words, True)
    put(ops, words, kept, -1, 1, 5, 9)
    for age in range(3, AGES + 1):
        ops.begin(words, False)
        assert words[AGE] == age
    late = mix(3)
    put(ops, words, late)
    ops.begin(words, False)
    assert header(words, AGE, FIRST_AGE) == [2, 1]
    assert found(ops, words, kept) == (-1, 1, 5, 9)
    assert found(ops, words, late)
    assert np.count_nonzero(words[HEADER_WORDS + 1 :: 2]) == 2
    assert age_of(Bits(ops.probe(words, Bits(kept)))) == 1


def test_sweep_covers_a_region_that_has_shrunk(ops):
    table = Table(1)
    words = table.words
    ops.begin(words, True)
    ops.open_whole(words)
    put(ops, words, WORD)
    ops.begin(words, True)
    assert words[BUCKETS] < table.buckets
    for _ in range(2, AGES + 1):
        ops.begin(words, False)
    assert not words[HEADER_WORDS:].any()


# Region


@pytest.mark.parametrize("factor", [2, REGION_GROWTH, 10])
def test_resize_keeps_every_entry_of_a_search(ops, factor):
    words = words_of(ops, 160, region=16)
    sample = [mix(number) for number in range(30)]
    for number, word in enumerate(sample):
        put(ops, words, word, -number, number, number, 0)
    before = {word: found(ops, words, word) for word in sample}
    assert words[BUCKETS] == 16
    assert sum(entry is not None for entry in before.values()) > 20
    ops.resize(words, 16 * factor)
    assert {word: found(ops, words, word) for word in sample} == before


def test_resize_drops_earlier_generations(ops):
    words = words_of(ops, 40, region=4)
    put(ops, words, mix(1))
    ops.begin(words, True)
    words[BUCKETS] = 4
    put(ops, words, mix(2))
    ops.resize(words, 40)
    assert found(ops, words, mix(2))
    assert np.count_nonzero(words[HEADER_WORDS:]) == 2


def test_half_full_region_grows_while_there_is_room(ops):
    words = words_of(ops, 11, region=2)
    sample = [number * (WORD // 5) for number in range(5)]
    for word in sample[:4]:
        put(ops, words, word)
    assert header(words, BUCKETS, FILLED) == [2, 4]
    put(ops, words, sample[4])
    assert header(words, BUCKETS, FILLED) == [2 * REGION_GROWTH, 0]
    assert all(found(ops, words, word) for word in sample)
    for number in range(200):
        put(ops, words, mix(number))
    assert header(words, BUCKETS) == [11]


def test_crowded_region_grows_later(ops):
    words = words_of(ops, 11, region=2)
    for number in range(21):
        assert header(words, BUCKETS, FILLED) == [2, number]
        for _ in range(2):  # the second one is not a new search
            ops.store(words, Bits(mix(number)), 0, 0, NO_MOVE, 0, 10)
    assert header(words, BUCKETS, FILLED) == [2 * REGION_GROWTH, 0]


def test_region_has_room_for_what_is_known(ops):
    words = words_of(ops, 160, region=2)
    put(ops, words, WORD, 1, 2, 3, 4)
    for entries, buckets in ((4, 2), (5, 8), (5, 8), (17, 32), (1000, 160)):
        ops.reserve(words, entries, HALF_FULL)
        assert header(words, BUCKETS) == [buckets]
        assert found(ops, words, WORD) == (1, 2, 3, 4)


def test_open_whole_uses_all_of_the_memory(ops):
    words = words_of(ops, 40, region=4)
    put(ops, words, WORD, 1, 2, 3, 4)
    for _ in range(2):
        ops.open_whole(words)
        assert header(words, BUCKETS) == [40]
        assert found(ops, words, WORD) == (1, 2, 3, 4)


def test_stores_in_the_whole_memory_leave_the_header_alone(ops):
    words = words_of(ops, 5, region=2)
    ops.open_whole(words)
    before = words[:HEADER_WORDS].tolist()
    for number in range(50):
        put(ops, words, mix(number))
    assert words[:HEADER_WORDS].tolist() == before


def test_shared_regions_have_room_and_stay_as_they_are(ops):
    words = words_of(ops, 160, region=4)
    put(ops, words, WORD, 1, 2, 3, 4)
    ops.mark(words, Bits(5), True)
    for entries, buckets in ((7, 4), (9, 16), (1, 16), (400, 160), (10_000, 160)):
        ops.open_for(words, entries, HALF_FULL)
        assert header(words, BUCKETS) == [buckets]
        assert found(ops, words, WORD) == (1, 2, 3, 4)
        assert not ops.is_marked(words, Bits(5))
    words = words_of(ops, 160, region=4)
    ops.open_for(words, 7, HALF_FULL)
    before = words[:HEADER_WORDS].tolist()
    for number in range(50):
        put(ops, words, mix(number))
    assert words[:HEADER_WORDS].tolist() == before
    words = words_of(ops, 160, region=4)
    ops.open_for(words, 7, HALF_FULL)
    ops.begin(words, False)
    for number in range(5):
        put(ops, words, mix(number))
    assert header(words, BUCKETS) == [16]


# Replacement


def test_earlier_searches_give_way_before_work(ops):
    """Replacement takes a free entry first, then one of an earlier search, then the least work."""
    words = words_of(ops, 1)
    put(ops, words, 1, work=9)
    ops.begin(words, False)
    for word, work in ((2, 3), (3, 5), (4, 1)):
        assert not put(ops, words, word, work=work)
    assert found(ops, words, 1)
    assert not put(ops, words, 5, work=0)
    assert found(ops, words, 1) is None
    assert put(ops, words, 6, work=7)
    assert found(ops, words, 5) is None
    assert [bool(found(ops, words, word)) for word in (2, 3, 4, 6)] == [True] * 4


# Marks


def test_marks_name_one_position_each(ops):
    words = words_of(ops, 5)
    for word in (0, 1, WORD, mix(7)):
        ops.mark(words, Bits(word), True)
        assert ops.is_marked(words, Bits(word))
        assert not ops.is_marked(words, Bits(word ^ 1 << 40))
        ops.mark(words, Bits(word), False)
        assert word == 0 or not ops.is_marked(words, Bits(word))
    assert not words[BUCKET_WORDS:].any()


def test_open_whole_removes_marks(ops):
    words = words_of(ops, 5)
    ops.mark(words, Bits(77), True)
    ops.open_whole(words)
    assert not ops.is_marked(words, Bits(77))
