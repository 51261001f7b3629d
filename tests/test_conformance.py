"""Every game follows the contract, and violations are detected."""

import contextlib
import pkgutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import toys
from positions import FALL_APART, any_boards
from toys import boxes, duel, isola, kayles, race
from toys import domineering as toys_domineering

from cutnode import Game, game_names, legal_moves, load_game
from cutnode.compiler.jit import jit_enabled
from cutnode.conformance import Finding, check, examine
from cutnode.conformance.minimax import Minimax, UnaffordableError
from cutnode.conformance.sample import Sample
from cutnode.conformance.sums import SUMS as SUM_PROPERTIES
from cutnode.contract.dispatch import runs_plainly
from cutnode.contract.notation import contents_of
from cutnode.games import connect4, tictactoe
from cutnode.games import kayles as shipped_kayles

TOYS = [f"toys.{it.name}" for it in pkgutil.iter_modules(toys.__path__) if not it.ispkg]
GAMES = ["cutnode.cli.template", *game_names(), *(toy for toy in TOYS if "hazard" not in toy)]
"""The games to check; hazards have no graph before a test makes one."""
COMPILED = ("tictactoe",)
"""The games that the quick tests check in compiled code, at some seconds each."""
DEAREST = ("chess", "domineering", "hex", "mnk", "morris", "othello", "qubic", "toys.teeko", "y")
"""The games whose kernels take longest to compile; their own tests search them."""
BOARDS = ("4x4", "5x4", "4x5", "5x5", "6x4", "8x7", "9x6")
WARNED = {"toys.gamble": {"reversible"}}
"""The verbs for which a check gives a warning, by game."""
VARIANTS = (
    *(f"connect4:{board}" for board in BOARDS),
    *("toys.boxes:3", "toys.boxes:4", "toys.ruin:fear", "ur:masters-2", "ur:blitz", "othello:4x4"),
    *("hex:4", "hex:3x5", "mnk:3x3x3", "mnk:5x4x4", "domineering:4x3", "y:4"),
    *("clobber:4x3", "cram:4x3", "kayles:dawson,12", "go:3x3", "go:8x8", "nogo:3x3", "toads:5,2,4"),
)


def marks_of_rules(name):
    """Return the marks of games with many moves, which take long in plain Python.

    ``test_interpreted.py`` checks the prototype ``drops``.
    """
    if name in DEAREST:
        return [pytest.mark.slow, pytest.mark.long]
    return [pytest.mark.slow] if name == "toys.drops" else []


@pytest.mark.once
@pytest.mark.parametrize("games", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=marks_of_rules(name)) for name in GAMES],
)
def test_rules_of_games(name, games):
    report = examine(load_game(name), games=games, compile=False)
    assert report.findings == []
    assert {warning.verb for warning in report.warnings} == WARNED.get(name, set())


def marks(name, quick):
    return [] if name in quick else [pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks(name, COMPILED)) for name in GAMES]
)
def test_games(name):
    assert check(load_game(name)) == []


@pytest.mark.once
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=pytest.mark.slow if name.startswith(("connect4", "othello")) else []
        )
        for name in VARIANTS
    ],
)
def test_rules_of_variants(name):
    assert check(load_game(name), games=1, compile=False) == []


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=marks(name, ())) for name in VARIANTS],
)
def test_variants(name):
    assert check(load_game(name), games=50, seed=1) == []


def test_random_games_depend_on_the_seed_alone(monkeypatch):
    game = load_game("tictactoe")
    monkeypatch.setattr(tictactoe, "plies_left", lambda position: 5, raising=False)
    first, second = (check(game, games=4, seed=3, compile=False) for _ in range(2))
    assert first == second != []


def test_findings_are_printed():
    assert str(Finding("key", "x../.../...", "is odd")) == "key at 'x../.../...': is odd"
    assert str(Finding("key", "", "is not defined")) == "key: is not defined"


@pytest.fixture
def found(monkeypatch):
    """A function that returns the findings with rules of a game replaced (by None: removed)."""

    def found(module, variant="", games=2, **rules):
        runs_plainly(module)  # remembered: the replacement rules are not compiled
        for name, rule in rules.items():
            if rule is None:
                monkeypatch.delattr(module, name)
            else:
                monkeypatch.setattr(module, name, rule, raising=False)
        findings = check(Game(module, variant), games=games, compile=False)
        about = {finding.verb: "" for finding in findings}
        for finding in findings:
            about[finding.verb] += finding.message
        return about

    return found


@pytest.mark.parametrize("name", ["moves", "play", "outcome"])
def test_missing_functions(found, name):
    assert found(tictactoe, **{name: None}) == {name: "is not defined"}


def test_missing_counterparts(found):
    assert found(race, chance_outcome=None) == {
        "chance_outcome": "is not defined, but chance is",
    }


def test_wrong_parameters(found):
    wrong = {"moves": lambda position: 0, "parse_move": lambda text: 0, "turn": lambda: 0}
    assert found(tictactoe, **wrong) == {
        "moves": "the contract is moves(position, buffer, at)",
        "parse_move": "the contract is parse_move(position, text)",
        "turn": "the contract is turn(position)",
    }


def test_no_start(found):
    assert found(tictactoe, "5x5") == {
        "start": "raises PositionError: tictactoe has no variant '5x5'"
    }
    assert found(tictactoe, start=lambda variant: (0, 0)).keys() == {"start"}


def test_start_of_another_game(found):
    assert "not defined in" in found(tictactoe, start=load_game("connect4").notation.start)["start"]


def doubled(position, buffer, at):
    end = tictactoe_moves(position, buffer, at)
    buffer[end - 1] = buffer[at]
    return end


def unbuffered(position, buffer, at):
    end = tictactoe_moves(position, buffer, at)
    buffer[at - 1] = 0
    return end


def large(position, buffer, at):
    buffer[at] = 65535
    return at + 1


def without_centre(position, buffer, at):
    end = tictactoe_moves(position, buffer, at)
    listed = [move for move in buffer[at:end] if move != 4 or end == at + 1]
    buffer[at : at + len(listed)] = listed
    return at + len(listed)


def negative(position, move):
    child = tictactoe_play(position, move)
    return child._replace(theirs=-child.theirs)


def first_cell(position, buffer, at):
    buffer[at] = 0
    return at + 1


def few_marks(contents, mover, start):
    return tictactoe_from_cells(contents, mover, start) if contents.count(1) < 2 else {}[mover]


def tictactoe_text(position):
    return tictactoe.CELLS.text(contents_of(position))


tictactoe_from_cells = tictactoe.from_cells
tictactoe_parse_move = tictactoe.parse_move
tictactoe_moves = tictactoe.moves
tictactoe_play = tictactoe.play
domineering_outcome = toys_domineering.outcome


@pytest.mark.parametrize(
    ("verb", "complaint", "rules"),
    [
        ("moves", "lists a move twice", {"moves": doubled}),
        ("moves", "writes outside of its part", {"moves": unbuffered}),
        ("moves", "moves must be numbers in range(65535)", {"moves": large}),
        ("moves", "there are none", {"moves": lambda position, buffer, at: at}),
        ("moves", "MAX_MOVES = 8", {"MAX_MOVES": 8}),
        ("moves", "raises ZeroDivisionError", {"moves": lambda position, buffer, at: at // 0}),
        ("parse_move", "which is not legal", {"moves": without_centre}),
        ("MAX_PLIES", "longer than MAX_PLIES = 8: raise it, or,", {"MAX_PLIES": 8}),
        ("play", "leads to a tuple", {"play": lambda p, move: tuple(tictactoe_play(p, move))}),
        ("position", "must be from 0 to", {"play": negative}),
        (
            "cell",
            "the number of a content of CELLS, 0 to 2; got 3",
            {"cell": lambda p, index: 3},
        ),
        ("outcome", "not over, but its value is 1", {"outcome": lambda p: (False, 1)}),
        ("outcome", "further from 0", {"outcome": lambda p: (p.mine > 0, 40000)}),
        ("key", "the same key", {"key": lambda p: p.mine | p.theirs}),
        ("key", "not a word of 64 bits", {"key": lambda p: -p.mine}),
        ("key", "not a word of 64 bits", {"key": lambda p: p.mine | p.theirs << 56}),
        ("evaluate", "further from 0", {"evaluate": lambda p: 32001}),
        ("adjust", "further from 0", {"adjust": lambda p, score: 40_000}),
        ("deviation", "not a finite number", {"deviation": lambda p, deep, shallow: -0.5}),
        ("features", "gives 11 numbers, not 12", {"features": lambda p: (1,) * 11}),
        ("features", "must be amounts of 0 or more", {"features": lambda p: (-1,) * 12}),
        ("planes", "gives -1, not a word of 64 bits", {"planes": lambda p: (-1,)}),
        ("planes", "gives 17 words; a network reads", {"planes": lambda p: (p.mine,) * 17}),
        (
            "opponent_planes",
            "gives 1 words, but planes gives 2",
            {"planes": lambda p: (p.mine,) * 2, "opponent_planes": lambda p: (p.theirs,)},
        ),
        (
            "opponent_planes",
            "gives -1, not a word of 64 bits",
            {"planes": lambda p: (p.mine,), "opponent_planes": lambda p: (-1,)},
        ),
        (
            "planes",
            "at another position",
            {"planes": lambda p: (p.mine,) * (1 + (p.theirs > 0))},
        ),
        ("order", "further from 0", {"order": lambda p, move, child: -1_000_001}),
        ("turn", "is 2, not 0 or 1", {"turn": lambda p: 2}),
        ("plies_left", "plies were played", {"plies_left": lambda p: 5}),
        ("bounds", "but the value is", {"bounds": lambda p, alpha, beta: (0, 0)}),
        ("bounds", "the game is over", {"bounds": lambda p, alpha, beta: (-1, 1)}),
        ("endgame", "is 1, but", {"endgame": lambda p, alpha, beta, nodes: (True, 1, 1)}),
        ("candidates", "not legal", {"candidates": first_cell}),
        ("forced", "not the only one", {"forced": lambda p: 0}),
        ("random_move", "but not legal", {"random_move": lambda p, word: 9}),
        ("random_move", "never drawn", {"random_move": lambda p, word: legal_moves(p)[0]}),
        ("policy", "but not legal", {"policy": lambda p, word: 9}),
        ("random_result", "0 of 256 times, not about", {"random_result": lambda p, word: 0}),
        ("random_result", "further from 0", {"random_result": lambda p, word: 40000}),
        ("canonical", "has the same key", {"canonical": lambda p: (p.mine | p.theirs, 0)}),
        ("describe", "gives None", {"describe": lambda p, value: None}),
        ("winning_line", "not all cells of the winner", {"winning_line": lambda p: range(9)}),
        ("winning_line", "not different cells", {"winning_line": lambda p: [0, 0, 1]}),
        ("winning_line", "raises TypeError", {"winning_line": lambda p: None}),
        (
            "position_text",
            "is not one line",
            {"position_text": lambda p: tictactoe_text(p).replace("/", "\n")},
        ),
        (
            "position_text",
            "parse_position",
            {"position_text": lambda p: tictactoe_text(p)[::-1]},
        ),
        ("from_cells", "raises KeyError", {"from_cells": few_marks}),
        ("move_text", "is read as", {"move_text": lambda p, move: str(legal_moves(p)[0] + 1)}),
        (
            "parse_move",
            "raises ValueError",
            {"parse_move": lambda p, text: (int(text), tictactoe_parse_move(p, text))[1]},
        ),
        ("parse_move", "not legal", {"parse_move": lambda p, text: ord(text[-1]) - ord("1")}),
    ],
)
def test_broken_rules(found, verb, complaint, rules):
    assert complaint in found(tictactoe, **rules)[verb]


def test_boards_that_are_not_drawn(found):
    assert "draw the board" in found(kayles, position_text=lambda position: "")["__str__"]


def test_bounds_that_ask_too_much(found):
    """Bounds that are off by one, one-sided, or wrong for narrow windows only."""

    def bounds(position, alpha, beta):
        lower, upper = connect4_bounds(position, alpha, beta)
        return lower, upper - (upper > 0 and beta == alpha + 1 and lower < upper)

    connect4_bounds = connect4.bounds
    assert "but the value is" in found(connect4, "4x4", bounds=bounds)["bounds"]


def test_candidates_without_the_best(found):
    def candidates(position, buffer, at):
        buffer[at] = buffer[connect4_candidates(position, buffer, at) - 1]
        return at + 1  # only the last move

    connect4_candidates = connect4.candidates
    message = found(connect4, "4x4", candidates=candidates)["candidates"]
    assert "has no move of the best value" in message


def test_mirrored_by_one_too_many(found):
    def mirrored(position, move, symmetry):
        return position.WIDTH - move if symmetry else move

    rules = {"canonical_move": mirrored, "original_move": mirrored}
    findings = found(connect4, "4x4", games=4, **rules)
    assert "not a move of" in findings["canonical_move"]


def test_not_turned_back(found):
    findings = found(isola, original_move=isola.canonical_move)
    assert "turns back into" in findings["canonical_move"]


def test_turned_the_other_way(found):
    swapped = {"canonical_move": isola.original_move, "original_move": isola.canonical_move}
    assert found(isola, **swapped).keys() == {"canonical_move"}


def test_chances_of_less_than_one(found):
    def chance_outcome(position, index):
        return 0.4, race_outcome(position, index)[1]

    race_outcome = race.chance_outcome
    assert "[0.4, 0.4]" in found(race, chance_outcome=chance_outcome)["chance"]


def test_turns_of_a_third_player(found):
    assert found(boxes, turn=lambda position: 2 - position.first).keys() == {"turn"}


def test_positions_that_recur_unsaid(found):
    assert found(duel, reversible=None).keys() == {"reversible"}


@pytest.fixture
def edited(tmp_path):
    """A function that makes a game in its own file: a shipped one with source text replaced."""

    def edited(name, old, new, module=tictactoe, variant=""):
        source = Path(module.__file__).read_text()
        assert old in source
        path = tmp_path / f"{name}.py"
        path.write_text(source.replace(old, new))
        return load_game(f"{path}:{variant}")

    return edited


@pytest.mark.skipif(not jit_enabled(), reason="nothing is compiled")
@pytest.mark.parametrize(
    ("name", "wrong", "complaint"),
    [
        ("signed", "((position.mine << Bits(55) | position.theirs << Bits(46)) + 2) >> 1", "key"),
        ("uncompilable", "int(str(position.mine)) | (position.theirs << Bits(9))", "raises"),
    ],
)
def test_compiled_rules_that_differ(edited, name, wrong, complaint):
    game = edited(f"{name}_tictactoe", "position.mine | (position.theirs << Bits(9))", wrong)
    assert check(game, games=4, compile=False) == []
    (finding,) = check(game, games=4)
    assert finding.verb == "compiled" and complaint in finding.message


@pytest.mark.parametrize(
    ("rules", "verb", "complaint"),
    [
        ({"moves": lambda position, buffer, at: at}, "moves", "there are none, but the game"),
        ({"play": lambda p, move: tuple(tictactoe_play(p, move))}, "play", "leads to a tuple"),
        ({"MAX_MOVES": 8}, "moves", "writes outside of its part of the buffer, MAX_MOVES = 8"),
    ],
)
def test_consequences_are_left_out(found, rules, verb, complaint):
    """No follow-up findings: a search without moves, an invalid position, a short list."""
    findings = found(tictactoe, **rules)
    assert findings.keys() == {verb}
    assert complaint in findings[verb]
    assert "raises" not in findings[verb]


def test_repetition(found):
    answers = found(duel, recurrence=lambda position: 0)["recurrence"]
    assert "has the same word 0, but other moves or another outcome" in answers
    assert "not a word of 64 bits" in found(duel, recurrence=lambda position: -1)["recurrence"]


def test_progress_of_positions_that_recur(found):
    answers = found(duel, progress=lambda position: (duel.key(position) % 251, 255))["progress"]
    assert "are not two numbers from 0 to 254" in answers
    known = {"recurrence": lambda position: 0, "progress": lambda p: (duel.key(p) % 251, 0)}
    assert "has the same recurrence, but (" in found(duel, **known)["progress"]


def test_keys_of_positions_that_recur(found):
    """Positions may share a key if they differ only in something that changes while they recur."""
    assert found(duel, recurrence=duel.key) == {}
    shared = {"key": lambda position: 0, "recurrence": duel.key}
    assert "have the same key 0" in found(duel, **shared)["key"]


@pytest.mark.parametrize("name", ["drawn", "check"])
def test_what_is_neither_true_nor_false(found, name):
    assert found(duel, **{name: lambda position: 2}) == {name: "is 2, not True or False"}


def test_rules_that_draw_end_random_games(found):
    assert found(duel, drawn=lambda position: position.mine == 2) == {}


def test_noisy_moves(found):
    def write(position, buffer, at):
        buffer[at] = 7
        return at + 1

    assert found(duel, noisy=write)["noisy"] == "[7] are not legal"


def test_patterns(found):
    answer = found(duel, pattern=lambda position, move: 1024)["pattern"]
    assert answer.endswith("is 1024; patterns are 0 to 1023")


def test_hints(found):
    assert "further from 0" in found(duel, hint=lambda position, move: 10**7)["hint"]


def test_gains(found):
    assert "further from 0" in found(duel, gain=lambda position, move: 10**7)["gain"]
    rules = {"noisy": duel.moves, "gain": lambda position, move: 100}
    assert found(duel, **rules) == {}
    more = found(duel, **rules, exchange=lambda position, move, least: True)
    assert more == {"exchange": "move 0 wins more than it gains, 100"}
    odd = found(duel, **rules, exchange=lambda position, move, least: least == 0)
    assert odd == {"exchange": "move 0 wins 100, but not less: [False, True, False]"}


# Games whose positions fall apart: Domineering on 3x3, whose rows have eight bits each


def regions(position, buffer, at):
    left = position.free
    while left:
        region, grown = 0, left & -left
        while grown != region:
            region = grown
            grown |= (region << 1 | region >> 1 | region << 8 | region >> 8) & left
        buffer[at] = region
        at += 1
        left &= ~region
    return at


SUMS = {
    "parts": regions,
    "part": lambda position, mask: position._replace(free=position.free & mask),
    "swapped": lambda position: position._replace(vertical=not position.vertical),
    "part_key": lambda position: position.free << 1 | position.vertical,
}


def test_sums(found):
    assert found(toys_domineering, "3x3", games=10, **SUMS) == {}


def every_cell(position, buffer, at):
    for cell in range(64):
        if position.free >> cell & 1:
            buffer[at] = 1 << cell
            at += 1
    return at


def doubled_regions(position, buffer, at):
    return regions(position, buffer, regions(position, buffer, at))


def lowest_region(position, buffer, at):
    lone = [0] * 64
    buffer[at : at + 1] = lone[: regions(position, lone, 0)][:1]
    return at + (position.free > 0)


def unbuffered_regions(position, buffer, at):
    buffer[at - 1] = 1
    return regions(position, buffer, at)


def empty_region(position, buffer, at):
    buffer[at] = 0
    return at + 1


def over_early(position):
    over = domineering_outcome(position)[0] or position.free.bit_count() < 6
    return over, -int(over)


def mirrored_rows(position):
    free = sum((position.free >> 8 * row & 255) << 8 * (2 - row) for row in range(3))
    return position._replace(free=free)


def outcome_class(position):
    """Return a word for who wins if either player begins."""
    values = (Minimax().value(p) for p in (position, SUMS["swapped"](position)))
    return sum(3**at * int(value + 1) for at, value in enumerate(values))


@pytest.mark.parametrize(
    ("verb", "complaint", "rules"),
    [
        ("part", "is not defined, but parts is", {"part": None}),
        ("parts", "is not defined, but part is", {"parts": None}),
        ("parts", "without draws, but the game defines drawn", {"drawn": lambda p: False}),
        ("parts", "declare VALUE_LIMIT = 1", {"VALUE_LIMIT": 2}),
        (
            "parts",
            "the value must be -1, got 1",
            {"outcome": lambda p: (over := domineering_outcome(p)[0], int(over))},
        ),
        ("parts", "a game with moves left is not over", {"outcome": over_early}),
        ("parts", "are in another part too", {"parts": doubled_regions}),
        ("parts", "are in no part", {"parts": lowest_region}),
        ("parts", "are in no part", {"parts": every_cell}),
        ("parts", "writes outside of its part of the buffer", {"parts": unbuffered_regions}),
        ("parts", "a mask of at least one bit, got 0", {"parts": empty_region}),
        ("parts", "returns 99 for at = 3", {"parts": lambda p, buffer, at: 99}),
        ("parts", "are in two parts", {"part": lambda p, mask: p}),
        (
            "parts",
            "of parts are not legal",
            {"part": lambda p, mask: p._replace(free=p.free & mask | 0x6060)},
        ),
        ("part", "returns a tuple", {"part": lambda p, mask: tuple(p)}),
        ("swapped", "returns a tuple", {"swapped": lambda p: tuple(p)}),
        ("swapped", "does not return the same", {"swapped": lambda p: p._replace(vertical=True)}),
        ("parts", "the value is 1, but -1 where the parts are", {"swapped": mirrored_rows}),
        ("parts", "are played as a sum (swapped is not defined)", {"swapped": None}),
        (
            *("parts", "changes the key of another"),
            {"swapped": lambda p: mirrored_rows(p._replace(vertical=not p.vertical))},
        ),
        ("part_key", "not a word of 64 bits", {"part_key": lambda p: -1}),
        ("part_key", "PART_IMAGES must be 1, 4 or 8, got 3", {"part_key": None, "PART_IMAGES": 3}),
        ("part_key", "have the same key 0, but different values", {"part_key": lambda p: 0}),
        ("part_key", "different values (see PART_IMAGES)", {"part_key": outcome_class}),
        ("asymmetry", "must be equal, and 0 or more", {"asymmetry": lambda p: -1}),
        ("asymmetry", "must be equal, and 0 or more", {"asymmetry": lambda p: int(p.vertical)}),
    ],
)
def test_broken_sums(found, verb, complaint, rules):
    rules = {name: rule for name, rule in {**SUMS, **rules}.items() if rule is not None}
    findings = found(toys_domineering, "3x3", games=10, **rules)
    assert list(findings) == [verb]
    assert complaint in findings[verb]


@pytest.mark.parametrize(
    ("complaint", "rules"),
    [
        ("", {}),
        ("without draws, but the game defines drawn", {"drawn": lambda p: False}),
        ("declare VALUE_LIMIT = 1", {"VALUE_LIMIT": 2}),
        ("does not return the same", {"swapped": lambda p: p._replace(vertical=True)}),
    ],
)
def test_values_without_parts(found, complaint, rules):
    rules = {"swapped": SUMS["swapped"], **rules}
    findings = found(toys_domineering, "3x3", games=10, **rules)
    assert list(findings) == ["swapped"] * bool(complaint)
    assert complaint in findings.get("swapped", "")


def test_moves_after_the_end(found):
    moves = toys_domineering.moves

    def moves_left(position, buffer, at):
        end = moves(position, buffer, at)
        if end == at:
            buffer[at] = 0
        return max(end, at + 1)

    findings = found(toys_domineering, "3x3", games=10, swapped=SUMS["swapped"], moves=moves_left)
    assert "in normal play a game with moves left is not over" in findings["swapped"]


@pytest.mark.skipif(not jit_enabled(), reason="nothing is compiled")
def test_compiled_parts_that_differ(edited):
    wrong = "Bits(((position.pins << Bits(55)) + 2) >> 1)"
    game = edited("signed_kayles", "Bits(popcount(position.pins))", wrong, shipped_kayles, "9")
    assert check(game, games=4, compile=False) == []
    (finding,) = check(game, games=4)
    assert finding.verb == "compiled" and "parts, or their keys" in finding.message


@pytest.mark.parametrize("count", [60, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FALL_APART)
def test_any_board_is_the_sum_of_its_parts(name, count):
    game = load_game(name, plain=True)
    sample = Sample(game, Random(name))
    for position in any_boards(game, count, sample.random):
        with contextlib.suppress(UnaffordableError):
            sample.minimax().value(position)  # kept in sample.exact
            sample.plies_seen[position] = 0
    assert len(sample.positions()) > count // 2
    sample.ask([replace(asked, most=count) for asked in SUM_PROPERTIES])
    assert sample.found() == []
