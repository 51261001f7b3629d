"""Proof files: written completely, read by anyone, verified by the rules; damage is reported."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from test_cli import run_cutnode

import cutnode
from cutnode import CutnodeError, load_game, read_proofs, save_proofs, solve, write_proof
from cutnode.search.value_proofs import FORM, VERSION, ValueProof, claims

pytestmark = pytest.mark.once


@pytest.fixture
def written(tmp_path):
    """A file with the two strategies that make tic-tac-toe a draw."""
    path = tmp_path / "draw.json"
    start = load_game("tictactoe").start()
    save_proofs(path, [write_proof(start, at_least=0), write_proof(start, at_most=0)])
    return path


def test_proofs_are_read_as_they_were_written(written):
    start = load_game("tictactoe").start()
    proofs = read_proofs(written)
    assert [proof.claim() for proof in proofs] == ["value >= 0", "value <= 0"]
    assert proofs[0] == write_proof(start, at_least=0)
    for proof in proofs:
        proof.verify()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [{"at_least": 2}, {"at_most": 2}]),
        ({"weak": True}, [{"at_least": 1}]),
        ({"at_least": 1}, [{"at_least": 1}]),
        ({"at_least": 3}, [{"at_most": 2}]),
    ],
)
def test_claims_are_what_was_answered(options, expected):
    start = load_game("kalah:3x3", plain=True).start()
    assert claims(solve(start, **options)) == expected


def test_solve_writes_what_verify_reads(tmp_path):
    path = tmp_path / "proof.json"
    result = run_cutnode("solve", "tictactoe", "--proof", path)
    assert result.exit_code == 0
    assert result.output.count("positions, verified, in") == 2
    verified = run_cutnode("verify", path)
    assert verified.exit_code == 0
    assert [line.split()[0] for line in verified.output.splitlines()] == ["tictactoe"] * 2
    assert all(line.endswith(" positions, verified") for line in verified.output.splitlines())
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_wrong_proof_is_neither_saved_nor_verified(tmp_path):
    """The first player wins with his next move, so the value is more than a draw."""
    position = load_game("tictactoe").parse("1425")
    with pytest.raises(CutnodeError, match="the value is more than 0 at "):
        write_proof(position, at_most=0)
    path = tmp_path / "false.json"
    false = ValueProof(position, 0, False, {})
    with pytest.raises(CutnodeError, match="the proof is wrong at "):
        save_proofs(path, [false])
    assert not path.exists()
    path.write_text(json.dumps({FORM: VERSION} | false.to_dict()))
    (read,) = read_proofs(path)
    with pytest.raises(CutnodeError, match="the proof is wrong at "):
        read.verify()
    result = run_cutnode("verify", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{path}: the proof is wrong at " in result.stderr


def test_a_position_may_be_demanded(written):
    assert run_cutnode("verify", written, "", "--game", "tictactoe").exit_code == 0
    result = run_cutnode("verify", written, "5")
    assert result.exit_code == 2
    assert f"{written} is a proof of .../.../..., not of 5" in result.stderr


def test_wins_are_verified_too(tmp_path):
    path = tmp_path / "win.json"
    path.write_text(
        run_cutnode("mate", "tictactoe", "1259", "--moves", 2, "--proof", "--json").output
    )
    assert "the player to move wins in 2 moves: " in run_cutnode("verify", path).output
    (proof,) = read_proofs(path)
    proof.verify()
    path.write_text(path.read_text().replace('"moves": 2', '"moves": 1'))
    assert "the proof is wrong at " in run_cutnode("verify", path).stderr


def test_what_is_not_proven_is_not_written(tmp_path):
    path = tmp_path / "proof.json"
    result = run_cutnode("solve", "tictactoe", "--nodes", 20, "--proof", path)
    assert result.exit_code == 3
    assert f"{path} is not written: no proof yet: node limit" in result.stderr
    result = run_cutnode("solve", "tictactoe", "--file", "-", "--proof", path, stdin="5\n")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--proof and --file exclude each other" in result.stderr
    assert not path.exists()


@pytest.mark.slow
@pytest.mark.long
def test_a_win_where_play_goes_round_is_not_written(tmp_path):
    path = tmp_path / "proof.json"
    result = run_cutnode("solve", "morris:three", "--weak", "--proof", path)
    assert result.exit_code == 2
    assert "no strategy is written of a win there" in result.stderr
    assert not path.exists()


def damaged(data, **changes):
    return json.dumps(data | changes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (lambda data: json.dumps(data)[:-9], "line 1: not JSON, or cut off"),
        (lambda data: "[1]", "line 1: not a proof written by cutnode"),
        (lambda data: "{}", "line 1: not a proof written by cutnode"),
        (lambda data: "\n", "contains no proof"),
        (lambda data: damaged(data, cutnode_proof=9), "proof format must be 1 or 2, got 9"),
        (lambda data: damaged(data, game="../x.py"), "proof of ../x.py, which does not come with"),
        (lambda data: damaged(data, game=None), "proof of None, which does not come with cutnode"),
        (lambda data: damaged(data, game="connect4"), "line 1: "),
        (lambda data: damaged(data, answers=[]), "line 1: the proof is damaged"),
        (lambda data: damaged(data, mover=1), "line 1: the proof is damaged"),
        (lambda data: damaged(data, least="0"), "line 1: a value must be a whole number, got '0'"),
        (lambda data: damaged(data, position=""), None),
        (lambda data: damaged(data, position="what"), "line 1: "),
        (lambda data: damaged(data, answers={}), "the proof is wrong at .../.../...: there is no"),
        (lambda data: damaged(data, least=1), "with 0 for the player, not 1"),
        (lambda data: damaged(data, answers={".../.../...": "zz"}), "line 1: "),
    ],
)
def test_damage_is_told_in_a_line(written, text, words):
    data = json.loads(written.read_text().splitlines()[0])
    written.write_text(text(data))
    result = run_cutnode("verify", written)
    if words is None:
        assert result.exit_code == 0
        return
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_files_that_cannot_be_read(tmp_path):
    assert "cannot be read" in run_cutnode("verify", tmp_path / "none.json").stderr
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert "it is not a text file" in run_cutnode("verify", tmp_path / "bytes").stderr


def test_a_game_in_a_file_is_named(tmp_path, written):
    """Reading a proof file runs no code that the file names."""
    path = tmp_path / "proof.json"
    start = load_game("toys.kayles", plain=True).start()
    save_proofs(path, [write_proof(start, at_least=1)])
    assert "which does not come with cutnode: pass the game" in run_cutnode("verify", path).stderr
    assert run_cutnode("verify", path, "--game", "toys.kayles").exit_code == 0
    result = run_cutnode("verify", written, "--game", "toys.kayles")
    assert "this is a proof of tictactoe, not of toys.kayles" in result.stderr
    with pytest.raises(CutnodeError, match="which does not come with cutnode"):
        cutnode.read_proofs(path)


@pytest.mark.parametrize("engine", ["alphabeta", pytest.param("pn", marks=pytest.mark.slow)])
def test_a_long_proof_ends_at_leaves(engine, tmp_path):
    path = tmp_path / "proof"
    start = load_game("connect4:4x6").start()
    proof = write_proof(start, at_least=0, leaf_nodes=2000, engine=engine)
    assert 0 < len(proof) < 200 < 2 * len(write_proof(start, at_least=0))
    proof.verify()
    assert proof.prove_leaves() == len(proof.leaves) > 3
    assert proof.prove_leaves(2, seed=5, threads=2, engine="pn") == 2
    save_proofs(path, [proof])
    (read,) = read_proofs(path)
    assert read == proof
    leaf, mine = next(iter(read.leaves.items()))
    for leaves in ({}, {leaf: not mine}):  # one is missing, and one is another player's
        rest = {each: whose for each, whose in read.leaves.items() if each != leaf}
        with pytest.raises(CutnodeError, match="the proof is wrong at "):
            replace(read, leaves=rest | leaves).verify()
    with pytest.raises(CutnodeError, match="the leaf has another value"):
        replace(read, least=read.least + 1).prove_leaves()
    with pytest.raises(CutnodeError, match=r"the leaf is not proven \(node limit\)"):
        read.prove_leaves(nodes=1, table=1)


def test_verify_says_how_many_leaves_it_solved(tmp_path):
    path = tmp_path / "proof"
    solved = run_cutnode("solve", "connect4:4x6", "--weak", "--proof", path, "--leaf-nodes", 2000)
    assert " positions, verified down to " in solved.output
    whole = run_cutnode("verify", path).output.splitlines()
    assert len(whole) == 2
    some = run_cutnode("verify", path, "", "--sample", 2, "--engine", "pn").output.splitlines()
    for line, sampled in zip(whole, some, strict=True):
        count = line.split()[-6]
        assert line.endswith(f"verified, {count} of {count} leaves solved again")
        assert sampled.endswith(f"verified, 2 of {count} leaves solved again")
    assert (
        "--leaf-nodes needs --proof" in run_cutnode("solve", "tictactoe", "--leaf-nodes", 9).stderr
    )
