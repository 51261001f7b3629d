"""The page of solved games: its data, its proofs, and its quick rows, solved again."""

import sys
from pathlib import Path

import pytest
from marks import compiled_only

from cutnode import load_game, read_proofs

DOCS = Path(__file__).parent.parent / "engine" / "docs"
sys.path.insert(0, str(DOCS))

from solved_games import FILE, PROOFS, rows, table, value_of  # noqa: E402

pytestmark = pytest.mark.once

ROWS, SOURCES = rows()
QUICK = [row for row in ROWS if int(row.nodes) < 60_000]
PROVEN = [row for row in ROWS if row.certificate]


def test_rows_are_complete():
    assert len({(row.game, row.options) for row in ROWS}) == len(ROWS) > 60
    for row in ROWS:
        assert row.line() in FILE.read_text("utf-8").splitlines()
        game, *moves = row.asked
        assert load_game(game).parse("".join(moves)) is not None
        assert row.source in SOURCES or row.source == "-"
        assert int(row.nodes) >= 0
        assert float(row.seconds) >= 0
        assert int(row.value.split(",")[0]) in range(-100, 101)
        if row.source == "-":  # new values need two methods and a proof
            assert row.second
            assert row.certificate
    assert {row.source for row in ROWS} - {"-"} == SOURCES.keys()
    assert {row.certificate for row in PROVEN} == {path.name for path in PROOFS.iterdir()}
    assert table().count("\n") > len(ROWS)


@pytest.mark.parametrize("row", PROVEN, ids=lambda row: row.game)
def test_proofs_hold_down_to_their_leaves(row):
    proofs = read_proofs(PROOFS / row.certificate)
    start, value = load_game(row.game).start(), int(row.value)
    assert all(proof.position == start for proof in proofs)
    assert {proof.claim() for proof in proofs} <= {f"value >= {value}", f"value <= {value}"}
    one_sided = value != 0 and "--weak" in row.options  # a win needs no upper bound
    assert len(proofs) == (1 if one_sided else 2)
    for proof in proofs:
        proof.verify()


@compiled_only
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("row", PROVEN, ids=lambda row: row.game)
def test_a_sample_of_leaves_is_proven_again(row):
    for proof in read_proofs(PROOFS / row.certificate):
        number = min(2, len(proof.leaves))
        assert proof.prove_leaves(2, seed=1, engine="pn", table=512) == number


@compiled_only
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("row", QUICK, ids=lambda row: row.game)
def test_quick_rows_are_solved_again(row):
    assert value_of(row.solved(120)) == row.value
