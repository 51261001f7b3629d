"""Forced wins: the fewest moves, no false wins, proofs, limits, and the command."""

from __future__ import annotations

import json
import pickle
import threading
from functools import cache
from itertools import chain
from random import Random

import numpy as np
import pytest
from commands import run_cutnode
from data import SETS
from toys import boxes, duel, nim, race

from cutnode import (
    CutnodeError,
    GameError,
    PositionError,
    Proof,
    Prover,
    Table,
    legal_moves,
    load_game,
    prove_win,
)
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.derived import recurs
from cutnode.contract.loading import plain_copy
from cutnode.contract.verbs import drawn, outcome, play, recurrence
from cutnode.games.chess.generator import PASSANT, PROMOTION, ROOK, kind_of
from cutnode.games.chess.notation import operations_in
from cutnode.search import forced_wins
from cutnode.search.proofs import Answer

pytestmark = pytest.mark.once

MATE_IN_2 = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"
"""P. Morphy: Ra6."""

SLOW_ENDING = "8/8/8/3k4/8/8/8/KQ6 w - - 0 1"


chess = load_game("chess", plain=True).module
parse_position, parse_move = chess.parse_position, chess.parse_move


compiled_chess = load_game("chess")


@pytest.fixture(scope="module")
def prover():
    """A prover for chess in plain Python."""
    return Prover(chess.Position, table=8)


@pytest.fixture(scope="module")
def compiled_prover():
    """A prover for compiled chess."""
    return Prover(compiled_chess, table=8)


def is_won(position, plies, attacking=True, line=()):
    """Return whether the attacker wins within *plies*, by exhaustive search: the definition."""
    over, value = outcome(position)
    if over:
        return value > 0 if attacking else value < 0
    word = recurrence(position)
    if plies == 0 or (line and (drawn(position) or (recurs(position) and word in line))):
        return False
    children = (play(position, move) for move in legal_moves(position))
    won = (is_won(child, plies - 1, not attacking, (*line, word)) for child in children)
    return any(won) if attacking else all(won)


def fewest(position, most):
    return next((n for n in range(most + 1) if is_won(position, max(2 * n - 1, 0))), None)


def random_positions(game, plies, count, seed):
    """Return distinct positions after *plies* random plies that are not over."""
    random, found = Random(seed), {}
    for _ in range(20 * count):
        position = game.start()
        for _ in range(random.choice(plies)):
            if not outcome(position)[0]:
                position = play(position, random.choice(legal_moves(position)))
        found[position] = outcome(position)[0]
    return [position for position, over in found.items() if not over][:count]


def agree(positions, most):
    """Check all positions: the fewest moves by definition, and right proofs; count the wins."""
    prover = Prover(positions[0], table=1)
    counts = dict.fromkeys([None, *range(1, most + 1)], 0)
    for position in positions:
        wanted = fewest(position, most)
        result = prover.prove(position, most, proof=True)
        assert (result.moves, result.proven, result.reason) == (wanted, True, "proven")
        assert result.refuted == (most if wanted is None else wanted - 1)
        assert (result.proof is None) == (wanted is None)
        if wanted is not None:
            result.proof.verify()
            assert len(result.pv) in (2 * wanted - 1, 2 * wanted - 2)
            check_line(result)
        counts[wanted] += 1
    return counts


def check_line(result):
    """Check that the line is legal and ends with the win, neither sooner nor later than stated."""
    position = result.position
    for move in result.pv:
        assert move in legal_moves(position)
        position = play(position, move)
    over, value = outcome(position)
    assert over and (value < 0 if len(result.pv) % 2 else value > 0)


# Compared with the definition


def test_tictactoe():
    positions = random_positions(load_game("tictactoe", plain=True), range(2, 8), 120, seed=1)
    counts = agree(positions, 4)
    assert min(counts[None], counts[1], counts[2], counts[3]) > 2


def test_a_race_of_pawns():
    """Breakthrough: most wins take more moves than the limit."""
    game = load_game("breakthrough:4x5", plain=True)
    counts = agree(random_positions(game, range(6, 20), 40, seed=2), 3)
    assert min(counts[None], counts[1], counts[2]) > 1


def test_nim_in_both_forms():
    """In the misere form, the opponent's last move may be the losing one."""
    game = plain_copy(nim)
    texts = ("1/2", "1/2/3", "2/2/1", "1/1/1", "3/1", "1/1 misere", "1/2/2 misere", "2/1 misere")
    agree([game.parse_position(text) for text in texts], 5)


def test_repetition_on_the_line_needs_no_look():
    game = plain_copy(duel)
    positions = [
        game.Position(mine, theirs, leap)
        for mine in range(5)
        for theirs in range(5)
        for leap in (True, False)
        if mine != theirs
    ]
    counts = agree(positions, 4)
    assert counts[None] and counts[1]


def test_finished_positions():
    tictactoe, misere = load_game("tictactoe", plain=True), nim.parse_position("0 misere")
    lost = prove_win(tictactoe.parse("14253"), 2, proof=True)
    assert (lost.moves, lost.proven, lost.pv, lost.proof) == (None, True, (), None)
    won = prove_win(plain_copy(nim).parse_position("0 misere"), 2, proof=True)
    assert (won.moves, won.proven, won.pv, won.proof) == (0, True, (), None)
    assert "has won" in str(won) and outcome(misere) == (True, 1)


# Chess

ROOK_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))
QUEEN_STEPS = (*ROOK_STEPS, (1, 1), (1, -1), (-1, 1), (-1, -1))
SQUARES = range(64)


def steps(square, directions, most):
    """Return the squares in each direction from a square, ray by ray."""
    for file, rank in directions:
        ray = [(square % 8 + n * file, square // 8 + n * rank) for n in range(1, most + 1)]
        yield [8 * y + x for x, y in ray if 0 <= x < 8 and 0 <= y < 8]


def beside(square):
    return list(chain.from_iterable(steps(square, QUEEN_STEPS, 1)))


@cache
def retrograde(directions):
    """Return the moves to mate with king and piece against king, with the piece's side to move.

    The array is indexed by the squares of king, piece, and bare king: 0 for no win or no such
    position.  It is computed backwards from the mates, without the engine.
    """
    near = np.zeros((64, 64), bool)
    for square in SQUARES:
        near[square, [square, *beside(square)]] = True
    seen = np.zeros((64, 64, 64), bool)  # indexed by king, piece, target
    for piece in SQUARES:
        for ray in steps(piece, directions, 7):
            for king in SQUARES:
                free = ray[: ray.index(king)] if king in ray else ray
                seen[king, piece, free] = True
    legal = ~near[:, None, :] & ~np.eye(64, dtype=bool)[:, :, None]
    legal &= ~np.eye(64, dtype=bool)[None, :, :]
    to_move = legal & ~seen  # with the strong side to move, the other side is not in check
    won = np.zeros((64, 64, 64), np.int64)
    lost = np.zeros((64, 64, 64), bool)
    for count in range(1, 40):
        before = lost.copy()
        lost = legal.copy()
        some = seen.copy()  # in check, or able to move
        for bare in SQUARES:
            for target in beside(bare):
                # A king that steps along the line does not hide its square from the piece.
                safe = ~near[:, None, target] & ~seen[:, :, target]
                safe[:, target] = ~near[:, target]  # the piece is captured
                answered = won[:, :, target] > 0
                answered[:, target] = False
                lost[:, :, bare] &= ~safe | answered
                some[:, :, bare] |= safe
        lost &= some
        if (lost == before).all():
            return won
        reached = np.zeros_like(lost)
        for king in SQUARES:
            for target in beside(king):
                reached[king] |= lost[target]
        for piece in SQUARES:
            for ray in steps(piece, directions, 7):
                open_to = np.ones((64, 64), bool)
                for target in ray:
                    open_to[target, :] = False
                    open_to[:, target] = False
                    reached[:, piece, :] |= open_to & lost[:, target, :]
        won[(won == 0) & reached & to_move] = count
    raise AssertionError("it does not end")


def ending(king, letter, piece, bare):
    board = ["."] * 64
    board[king], board[piece], board[bare] = "K", letter, "k"
    ranks = ("".join(board[8 * rank : 8 * rank + 8]) for rank in range(7, -1, -1))
    rows = "/".join("".join(str(len(c)) if "." in c else c for c in split(rank)) for rank in ranks)
    return compiled_chess.parse(f"{rows} w - - 0 1")


def split(rank):
    """Return the letters of a rank, and its gaps."""
    return (
        rank.replace("K", " K ").replace("k", " k ").replace("Q", " Q ").replace("R", " R ").split()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("letter", "directions", "longest"), [("Q", QUEEN_STEPS, 10), ("R", ROOK_STEPS, 16)]
)
def test_endings_of_two_pieces_and_one(compiled_prover, letter, directions, longest):
    """Queen and rook mate in at most 10 and 16 moves, as is well known."""
    won = retrograde(directions)
    assert won.max() == longest
    most = 5 if jit_enabled() else 1
    places = np.argwhere((won > 0) & (won <= most + 1))
    random = Random(7)
    near = [tuple(map(int, random.choice(places))) for _ in range(60 if jit_enabled() else 10)]
    near += [tuple(map(int, place)) for place in np.argwhere(won == 1)[::150]]
    for king, piece, bare in near:
        result = compiled_prover.prove(ending(king, letter, piece, bare), most, proof=jit_enabled())
        moves = int(won[king, piece, bare])
        assert result.moves == (moves if moves <= most else None)
        if result.proof is not None:
            result.proof.verify()


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
def test_the_longest_win_of_a_queen(compiled_prover):
    place = np.argwhere(retrograde(QUEEN_STEPS) == 10)[0]
    result = compiled_prover.prove(ending(place[0], "Q", place[1], place[2]), 12)
    assert (result.moves, len(result.pv)) == (10, 19)
    check_line(result)


@pytest.mark.slow
@pytest.mark.skipif(not jit_enabled(), reason="many nodes")
def test_published_mates(compiled_prover):
    lines = (SETS / "chess_mates.epd").read_text().splitlines()
    facts = [line for line in lines if not line.startswith("#")]
    for line in facts[:60] + facts[212:222] + facts[-5:]:
        distance = int(operations_in(line)["dm"][0])
        result = compiled_prover.prove(compiled_chess.parse(line), 4, proof=True)
        assert result.moves == distance
        result.proof.verify()
        check_line(result)


def test_a_problem(prover):
    position = parse_position(MATE_IN_2)
    result = prover.prove(position, 3, proof=True)
    assert (result.moves, result.refuted, result.within) == (2, 1, 3)
    assert result.line_text() == ["Ra6", "Bc7", "Rxa7#"]
    assert len(result.proof) == 8
    assert str(result.proof).splitlines()[::7] == ["Ra6", "  bxa6  b7#"]
    assert prover.prove(position, 1).moves is None
    key = parse_move(position, "Ra6")
    others = [move for move in legal_moves(position) if move != key]
    assert prover.prove(position, 2, among=others).moves is None
    assert prover.prove(position, 2, among=[key]).pv == result.pv


def test_promotion_to_less(prover):
    position = parse_position("8/1N1P4/2k5/5B2/6K1/2B5/1R3R2/8 w - - 0 1")
    result = prover.prove(position, 2, proof=True)
    assert result.line_text() == ["d8=R", "Kc7", "Rc8#"]
    result.proof.verify()
    assert kind_of(result.pv[0]) == PROMOTION + ROOK - 1


def test_capture_in_passing(prover):
    """After Nd4 e5, only the en passant capture of the pawn's double step mates."""
    position = parse_position("1R6/3kp3/8/2PN1P2/8/1N6/8/5K2 w - - 0 1")
    result = prover.prove(position, 2, proof=True)
    assert result.moves == fewest(position, 2) == 2
    result.proof.verify()
    for move in ("Nd4", "e5"):
        position = play(position, parse_move(position, move))
    answer = result.proof.answers[position].move
    assert kind_of(answer) == PASSANT
    others = [move for move in legal_moves(position) if move != answer]
    assert prover.prove(position, 1, among=others).moves is None


@pytest.mark.parametrize(("clock", "moves"), [(0, 2), (97, 2), (98, None), (99, None), (120, None)])
def test_fifty_moves(prover, clock, moves):
    """The mate precedes the draw; a query at a draw asks how play could continue."""
    position = parse_position(f"7k/8/5K2/8/8/8/8/4Q3 w - - {clock} 90")
    assert prover.prove(position, 2).moves == moves == fewest(position, 2)
    mate = parse_position(f"7k/8/6K1/8/8/8/8/4Q3 w - - {clock} 90")
    assert prover.prove(mate, 1).moves == 1


def test_stalemate_and_bare_pieces_are_no_wins(prover):
    for fen in ("7k/8/8/6K1/8/8/5Q2/8 w - - 0 1", "k7/2K5/8/1B6/8/8/8/8 w - - 0 1"):
        position = parse_position(fen)
        assert prover.prove(position, 2).moves == fewest(position, 2)


def test_chosen_first_move_does_not_come_back():
    """A win that plays b2b3, returns and wins in one is a draw by repetition, so another counts."""
    dobutsu = load_game("dobutsu", plain=True)
    position = dobutsu.parse("S/-g-/lGL/C-E/E-c/-")
    assert prove_win(position, 3).moves == 1
    found = prove_win(position, 3, among=[dobutsu.parse_move(position, "b2b3")], proof=True)
    assert found.moves == 3
    found.proof.verify()


def test_positions_of_the_game_before(prover):
    """A position that has occurred twice is a draw, so a win must avoid it."""
    position = parse_position("7k/8/5K2/8/8/8/8/4Q3 w - - 20 90")
    wins = [m for m in legal_moves(position) if prover.prove(position, 2, among=[m]).moves]
    reached = [play(position, move) for move in wins]
    once = prover.prove(position, 2, history=reached)
    twice = prover.prove(position, 2, history=[*reached, *reached])
    assert (once.moves, twice.moves) == (2, None)
    some = prover.prove(position, 2, history=2 * reached[1:], proof=True)
    assert some.pv[0] == wins[0]
    some.proof.verify()
    with pytest.raises(CutnodeError, match="drawn by repetition"):
        Proof(position, some.proof.answers, frozenset({recurrence(reached[0])})).verify()


# Proofs


@pytest.fixture(scope="module")
def proof():
    game = load_game("tictactoe", plain=True)
    return prove_win(game.parse("12"), 4, proof=True).proof


def test_proof_is_data(proof):
    data = proof.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["moves"] == proof.moves == 3
    positions = data["positions"]
    assert len(positions) == len(proof) and positions[0]["position"] == "xo./.../..."
    for entry in positions:
        for number in entry["replies"].values():
            assert number is None or positions[number]["moves"] < entry["moves"]
    assert {number for entry in positions for number in entry["replies"].values()} | {0} == set(
        range(len(positions))
    )


def test_proof_as_text_shows_everything_once():
    game = plain_copy(nim)
    proof = prove_win(game.parse_position("1/2/2/2"), 9, proof=True).proof
    proof.verify()
    lines = list(proof.lines())
    numbers = [line.split("[")[1] for line in lines if "[" in line and "see" not in line]
    assert len(numbers) == len(set(numbers)) > 0
    for line in lines:
        if "see" in line:
            assert line.split("[")[1] in numbers
    assert str(proof) == "\n".join(lines)


def test_wrong_proofs_are_found(proof):
    answers, root = dict(proof.answers), proof.position
    after = play(root, answers[root].move)
    child = next(c for c in (play(after, m) for m in legal_moves(after)) if c in answers)

    def refused(change, message):
        with pytest.raises(CutnodeError, match=message):
            Proof(root, answers | change).verify()

    refused({root: Answer(0, 3)}, "not a legal move")
    refused({root: Answer(answers[root].move, 1)}, "not won in 1 move")
    refused({child: Answer(answers[child].move, 3)}, "no nearer")
    missing = {position: answer for position, answer in answers.items() if position != child}
    with pytest.raises(CutnodeError, match="no answer"):
        Proof(root, missing).verify()


def test_results_are_values(prover):
    result = prover.prove(parse_position(MATE_IN_2), 2, proof=True)
    assert pickle.loads(pickle.dumps(result)) == result
    data = result.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert (data["moves"], data["best_move"], data["within"]) == (2, "Ra6", 2)
    assert "wins in 2 moves" in str(result)


# Limits and refusals


def test_limits(prover):
    position = parse_position(SLOW_ENDING)
    prover.table.forget()
    result = prover.prove(position, 32, nodes=500)
    assert (result.reason, result.proven, result.moves) == ("node limit", False, None)
    assert result.nodes <= 500 and 0 < result.refuted < 9
    assert "then unknown (node limit)" in str(result)
    assert prover.prove(position, 32, seconds=0.05).reason in ("time limit", "proven")
    stop = threading.Event()
    stop.set()
    stopped = prover.prove(position, 32, stop=stop)
    assert (stopped.reason, stopped.refuted) == ("stopped", 0)
    assert "unknown (stopped)" in stopped.meaning()


def test_a_limit_may_end_the_proof_when_the_win_is_known(prover):
    position = parse_position(MATE_IN_2)
    prover.table.forget()
    needed = prover.prove(position, 2).nodes
    prover.table.forget()
    result = prover.prove(position, 2, nodes=needed + 1, proof=True)
    assert (result.moves, result.proven, result.proof) == (2, True, None)
    assert (result.reason, result.best_move) == ("node limit", parse_move(position, "Ra6"))


def test_stopped_from_outside(prover):
    """At the start there is no quick win, and a search of 32 moves never ends."""
    stop = threading.Event()
    told = []
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    result = prover.prove(
        chess.start(), 32, stop=stop, progress=lambda *numbers: told.append(numbers)
    )
    assert result.reason == "stopped" and not result.proven
    assert [moves for moves, _ in told] == list(range(1, result.refuted + 1))


def test_compiling_is_not_counted(monkeypatch):
    position = load_game("tictactoe").parse("1425")
    prover = Prover(type(position))

    class Watched(forced_wins.Clock):
        def __init__(self, seconds):
            assert "run" in vars(prover)
            super().__init__(seconds)

    monkeypatch.setattr(forced_wins, "Clock", Watched)
    assert prover.prove(position, 3).reason == "proven"


def test_ctrl_c(prover, interrupt_soon):
    interrupt_soon()
    result = prover.prove(chess.start(), 32)
    assert result.reason == "interrupted" and not result.proven


def test_the_same_each_time_and_with_a_table_that_was_used(prover):
    position = parse_position(MATE_IN_2)
    table = Table(1)
    first, again = (prove_win(position, 2, table=table) for _ in range(2))
    assert first.pv == again.pv and again.nodes < first.nodes
    assert prove_win(position, 2, table=1).nodes == first.nodes


def test_what_is_refused(prover):
    tictactoe = load_game("tictactoe", plain=True)
    for moves in (0, 33, -1):
        with pytest.raises(CutnodeError, match=r"moves must be 1\.\.32"):
            prove_win(tictactoe.start(), moves)
    with pytest.raises(CutnodeError, match="a number of moves"):
        prove_win(tictactoe.start(), 1.5)
    with pytest.raises(CutnodeError, match="nodes must be at least 1"):
        prover.prove(chess.start(), 1, nodes=0)
    with pytest.raises(GameError, match="extra turns"):
        prove_win(boxes.start(), 1)
    with pytest.raises(GameError, match="chance"):
        prove_win(race.Position(), 1)
    with pytest.raises(GameError, match="for chess, not tictactoe"):
        prover.prove(tictactoe.start(), 1)
    with pytest.raises(PositionError, match="legal"):
        prover.prove(chess.start(), 1, among=[0])


# The command


def test_command_shows_the_proof():
    result = run_cutnode("mate", "chess", MATE_IN_2, "--moves", "2", "--proof")
    assert result.exit_code == 0
    assert "wins in 2 moves" in result.output
    assert "proof  8 positions, verified" in result.output
    assert result.output.endswith("  Ra6\n" + result.output.partition("  Ra6\n")[2])
    assert result.output.count("Rxa7#") == 7  # six answers, and the line


def test_command_as_data():
    result = run_cutnode("mate", "chess", MATE_IN_2, "--moves", "2", "--proof", "--json")
    data = json.loads(result.output)
    assert (data["details"]["win_in"], data["move"]) == (2, "Ra6")
    assert len(data["details"]["proof"]["positions"]) == 8


def test_command_reads_files():
    lines = f"{MATE_IN_2} ; a problem\n# nothing\nk7/8/8/8/8/8/8/K6R w - - 0 1\n"
    result = run_cutnode("mate", "chess", "--moves", "2", "--file", "-", stdin=lines)
    first, second = (line.split()[6:8] for line in result.output.splitlines())
    assert (first, second, result.exit_code) == (["2", "Ra6"], ["-", "-"], 0)


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("chess", "--nodes", "30"), 3, "no win within 1 move, then unknown (node limit)"),
        (("chess", "--moves", "33"), 2, "1<=x<=32"),
        (("chess", "nothing"), 2, "nothing"),
        (("kalah",), 2, "extra turns"),
        (("ur",), 2, "chance"),
    ],
)
def test_command_ends_with_a_code(args, code, message):
    result = run_cutnode("mate", *args)
    assert result.exit_code == code
    assert message in result.output + result.stderr
