"""Threads that share a search: marks, deferred moves, and nodes that another thread decides."""

from __future__ import annotations

import pytest

from cutnode import Table, load_game
from cutnode.compiler.memory import Memory
from cutnode.contract.bits import Bits
from cutnode.contract.stop import DECIDED, RUNNING
from cutnode.contract.verbs import INFINITE, NO_MOVE
from cutnode.kernels.hooks import NodeInfo
from cutnode.kernels.node import search_dtype
from cutnode.kernels.ordering import rank, ranked_move
from cutnode.kernels.parameters import DECIDED_LOOK, SHARED_DEPTH
from cutnode.kernels.sharing import (
    begin_move,
    end_move,
    look_around,
    mark_of,
    pick_move,
    shares_moves,
    stopped_score,
)
from cutnode.kernels.table import begin, is_marked, mark, open_whole, store_depth
from cutnode.search.compiled_search import CompiledSearch
from cutnode.search.options import SearcherOptions

pytestmark = pytest.mark.once

WORD = 0x9E3779B97F4A7C15
PLAIN = load_game("tictactoe", plain=True).start()


@pytest.fixture
def words():
    table = Table(1)
    begin(table.words, True)
    open_whole(table.words)
    return table.words


@pytest.fixture
def search():
    memory = Memory(type(PLAIN), search_dtype(type(PLAIN)), interpreted=True)
    memory["shared"] = 1
    memory["nodes"] = 1000
    return memory.argument


def node_at(ply, words, *, depth=SHARED_DEPTH, window=(3, 4), word=WORD):
    return NodeInfo(
        PLAIN, None, Bits(word), words, *window, depth, ply, 0, NO_MOVE, 0, NO_MOVE, False, False,
        0, False, -INFINITE, False, -INFINITE,
    )  # fmt: skip


def test_only_deep_nodes_of_shared_searches_share(search):
    assert shares_moves(True, SHARED_DEPTH, search)
    assert not shares_moves(False, SHARED_DEPTH, search)
    assert not shares_moves(True, SHARED_DEPTH - 1, search)
    search.shared = 0
    assert not shares_moves(True, SHARED_DEPTH, search)


def test_deferred_moves_come_last_and_keep_their_places(search, words):
    node = node_at(2, words)
    for at, (score, move) in enumerate(((50, 1), (40, 2), (30, 3), (-(1 << 21), 4), (20, 5))):
        search.ranked[at] = rank(score, move, False, at)
    for move in (1, 2, 5):
        mark(words, mark_of(node, move), True)
    picked, deferred = [], 0
    for at in range(5):
        ranked, place, deferred = pick_move(node, at, 5, True, at, deferred, search)
        picked.append((ranked_move(ranked), place))
    # The first move is never deferred.
    assert picked == [(1, 0), (3, 2), (4, 4), (2, 1), (5, 3)]


def test_marks_last_while_a_move_is_searched(search, words):
    node = node_at(3, words)
    begin_move(node, 7, False, True, search)
    assert not is_marked(words, mark_of(node, 7)) and search.line_words[3] == 0
    begin_move(node, 7, True, False, search)
    assert is_marked(words, mark_of(node, 7)) and search.line_words[3] == 0
    begin_move(node, 7, True, True, search)
    assert search.line_words[3] == WORD
    assert not is_marked(words, mark_of(node, 8))
    assert not is_marked(words, mark_of(node_at(3, words, depth=5), 7))
    end_move(node, 7, True, search)
    assert not is_marked(words, mark_of(node, 7)) and search.line_words[3] == 0


@pytest.mark.parametrize(
    ("bounds", "depth", "decided"),
    [
        ((4, INFINITE), SHARED_DEPTH, 4),
        ((-INFINITE, 3), SHARED_DEPTH, 3),
        ((4, INFINITE), SHARED_DEPTH + 1, 4),
        ((3, INFINITE), SHARED_DEPTH, None),
        ((-INFINITE, 4), SHARED_DEPTH, None),
        ((4, INFINITE), SHARED_DEPTH - 1, None),
    ],
)
def test_a_node_that_another_thread_decides(bounds, depth, decided, search, words):
    node = node_at(1, words)
    search.win, search.exact, search.use_symmetry = 0, 0, 0
    begin_move(node, 7, True, True, search)
    assert not look_around(4, search, words)
    store_depth(words, Bits(WORD), *bounds, 7, depth, False)
    assert not look_around(4, search, words)  # not again so soon
    search.nodes += DECIDED_LOOK + 1
    assert not look_around(1, search, words)  # nodes look above themselves
    search.nodes += DECIDED_LOOK + 1
    assert look_around(4, search, words) == (decided is not None)
    if decided is None:
        assert search.stop == RUNNING
        return
    assert search.stop == DECIDED
    below = node_at(3, words, word=5)
    assert stopped_score(below, 99, 10, search) == 99 and search.stop == DECIDED
    assert stopped_score(node, 99, 10, search) == decided and search.stop == RUNNING
    assert search.estimates == 11


def test_an_exact_search_takes_no_deeper_score(search, words):
    search.exact = 1
    begin_move(node_at(1, words), 7, True, True, search)
    store_depth(words, Bits(WORD), 4, INFINITE, 7, SHARED_DEPTH + 1, False)
    assert not look_around(4, search, words)


@pytest.mark.parametrize("name", ["connect4:4x4", "breakthrough:4x5"])
def test_a_thread_alone_visits_the_same_nodes(name):
    """Without other threads, no move is deferred, and no node decided elsewhere."""
    start = load_game(name).start()
    counts = []
    for shared in (0, 1):
        one = CompiledSearch(type(start), SearcherOptions(), 1)
        one.claim_table()
        one.call(start, -1, 1, 1, 1)
        one.open_table(start)
        one.memory["shared"] = shared
        value = one.call(start, -INFINITE, INFINITE, 8, 0)
        counts.append((value, int(one.memory["nodes"])))
    assert counts[0] == counts[1]
