"""Each technique does its job: it increments its counter, and results stay sound.

In plain Python, so that coverage sees every line of the kernels.
"""

from __future__ import annotations

import functools

import pytest
from toys import drops

from cutnode import Searcher, Table, legal_moves, load_game, solve
from cutnode.contract.errors import ContractError
from cutnode.contract.verbs import outcome, play
from cutnode.kernels.techniques import EXACT, TECHNIQUES, choose, leave_out

pytestmark = pytest.mark.once

TACTICS = ("chess", "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1", 6)
"""A position with captures, checks and passes."""
MILLS = ("morris:three", "", 8)
"""Deep enough for nodes that test other moves against the hash move."""
MATE = ("chess", "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 6)
"""Mate in two (P. Morphy)."""
RACE = ("breakthrough:5x5", "", 5)
LONG_RACE = (*RACE[:2], 8)
"""Long enough for some late moves to be tried after all."""
SOWING = ("kalah:4x3", "", 5)
TREE = ("toys.steady", "", 6)
FOUR = ("connect4:4x4", "", 8)
PAIRS = ("toys.fourinarow", "", 6)
"""A game that orders nothing."""
DICE = ("toys.pig", "", 4)

CASES = {
    "order": (RACE, ""),
    "hints": (TACTICS, ""),
    "table": (RACE, "table_cutoffs"),
    "frontier": (PAIRS, ""),
    "symmetry": (FOUR, ""),
    "deepening": (RACE, ""),
    "enhanced_cutoffs": (FOUR, "enhanced_cutoffs"),
    "killers": (RACE, "killer_cutoffs"),
    "history": (RACE, ""),
    "countermoves": (FOUR, ""),
    "continuation_history": (TACTICS, ""),
    "pvs": (RACE, "pvs_researches"),
    "aspiration": (TACTICS, "aspiration_researches"),
    "mate_distance": (MATE, "distance_cutoffs"),
    "star1": (DICE, "star1_cutoffs"),
    "star2": (DICE, "star2_probes"),
    "late_move_reductions": (TACTICS, "reductions"),
    "internal_iterative_reduction": (FOUR, ""),
    "null_move": (RACE, "null_cutoffs"),
    "probcut": (TREE, "probcut_cutoffs"),
    "reverse_futility": (RACE, "reverse_cutoffs"),
    "futility": (RACE, "futile"),
    "see_pruning": (TACTICS, "losing"),
    "improving": (TACTICS, ""),
    "late_move_pruning": (LONG_RACE, "late"),
    "razoring": (SOWING, "razored"),
    "extensions": (RACE, "extended"),
    "singular_extensions": (MILLS, "singular_cutoffs"),
    "quiescence": (RACE, "quiet_nodes"),
}
"""A position where each technique works, and its counter (none: it changes the node count)."""


@functools.cache
def searched(case, without=""):
    """Return the result of a search with all techniques of a game, or with all but one."""
    name, text, depth = case
    game = load_game(name, plain=True)
    start = game.parse(text) if text else game.start()
    techniques = choose(type(start), None)
    if without:
        assert without in techniques
        techniques = leave_out(techniques, [without])
    # Newly learned weights lead to other nodes.
    searcher = Searcher(start, table=1, techniques=techniques, evaluation="own")
    return searcher.search(start, depth=depth)


def test_each_technique_has_a_case():
    assert CASES.keys() == TECHNIQUES.keys()


@pytest.mark.parametrize("technique", CASES)
def test_a_technique_is_at_work(technique):
    case, counter = CASES[technique]
    result, without = searched(case), searched(case, technique)
    if counter:
        assert getattr(result.statistics, counter) > 0 == getattr(without.statistics, counter)
    else:
        assert result.nodes != without.nodes
    for found in (result, without):
        assert_line(found)
    if not found.proven and case is not PAIRS:  # for which no selective technique is of use
        assert not result.exact


def assert_line(result):
    """Assert that the line consists of legal moves, beginning with the best one."""
    position = result.position
    assert result.pv[0] == result.best_move
    for move in result.pv:
        assert move in legal_moves(position)
        position = play(position, move)


@pytest.mark.parametrize("case", [RACE, SOWING, FOUR, PAIRS], ids=lambda case: case[0])
def test_exact_techniques_save_nodes_and_keep_the_value(case):
    name, _, depth = case
    start = load_game(name, plain=True).start()
    everything = Searcher(start, table=1, exact=True).search(start, depth=depth)
    nothing = Searcher(start, techniques=()).search(start, depth=depth)
    assert everything.value == nothing.value
    assert everything.nodes < nothing.nodes
    assert everything.exact and EXACT.issuperset(choose(type(start), None, exact=True))


def test_the_frontier_moves_to_where_it_costs_less():
    start = load_game("toys.fourinarow", plain=True).start()
    searcher = Searcher(start, table=1, exact=True, parameters={"frontier.depth": 1})
    nodes = searcher.search(start, depth=7).nodes
    assert searcher.memory["frontier"] > 1
    searcher.clear()
    assert searcher.search(start, depth=7).nodes == nodes  # it begins anew


def test_a_mate_is_seen_with_all_techniques():
    """Selective techniques may look elsewhere, but here they do not miss a mate in two."""
    result = searched(MATE)
    position = result.position
    assert len(result.pv) == 3
    for move in result.pv:
        position = play(position, move)
    assert outcome(position)[0]


@pytest.mark.parametrize("case", [RACE, SOWING, FOUR, TREE, DICE, TACTICS], ids=lambda c: c[0])
@pytest.mark.parametrize("nodes", [1, 2, 7, 30, 100, 250])
def test_a_search_ends_wherever_its_nodes_do(case, nodes):
    name, text, depth = case
    position = load_game(name, plain=True).parse(text)
    result = Searcher(position, table=1).search(position, depth=depth + 2, nodes=nodes)
    assert (result.reason, result.nodes) == ("node limit", nodes)
    assert result.best_move in legal_moves(position)


@pytest.mark.parametrize("nodes", [1, 2, 7, 30, 100, 250])
def test_a_proof_ends_wherever_its_nodes_do(nodes):
    position = load_game("connect4:4x4", plain=True).start()
    result = solve(position, nodes=nodes, table=Table(1))
    assert (result.reason, result.proven) == ("node limit", False)
    assert result.nodes <= nodes + 1
    assert result.lower <= 0 <= result.upper


def test_weak_proofs_bound_by_who_wins():
    game = load_game("connect4:4x4", plain=True)
    for text in ("", "1", "112233", "2222"):
        position = game.parse(text)
        exact = solve(position, table=Table(1)).value
        assert solve(position, table=Table(1), weak=True).value == (exact > 0) - (exact < 0)


def test_rules_that_break_the_contract_end_a_proof(monkeypatch):
    monkeypatch.setattr(drops, "outcome", outcomes_of(drops.outcome, 9999))
    with pytest.raises(
        ContractError,
        match=r"breaks the contract at '\d+': outcome: the value must be .* got -39996",
    ):
        solve(drops.start())
    monkeypatch.setattr(drops, "moves", lambda position, buffer, at: at)
    for run in (solve, Searcher(drops.start(), table=1, techniques=()).search):
        with pytest.raises(ContractError, match="moves wrote no move, but the game is not over"):
            run(drops.start(), nodes=9)


def outcomes_of(rule, factor):
    """Return the outcome rule of a game with its values scaled by *factor*."""

    def outcome(position):
        over, value = rule(position)
        return over, factor * value

    return outcome
