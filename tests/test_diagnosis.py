"""Every mistake of a game's author is reported in one line that says how to fix it."""

import os

import pytest

from cutnode import load_game, perft
from cutnode.compiler.jit import jit_enabled
from cutnode.contract.errors import CutnodeError

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled code")

PLAYED = "return Position(position.stones >> move, position.other, position.left - move, False)"
OVER = "over = row(position, 0) == 0\n    return over, -1 if over else 0"
GAME = f"""from typing import NamedTuple

import numpy as np

from cutnode import Bits, compiled

WIDTH = 4
ROWS = (15, 240, 3840)


class Position(NamedTuple):
    stones: Bits = Bits(0xFFF)
    other: Bits = Bits(0)
    left: int = 12
    second: bool = False


@compiled
def row(position, index):
    return position.stones & ROWS[index]


@compiled
def moves(position, buffer, at):
    for count in range(1, min(position.left, 3) + 1):
        buffer[at] = count
        at += 1
    return at


@compiled
def play(position, move):
    {PLAYED}


@compiled
def outcome(position):
    {OVER}
"""

MISTAKES = {
    "default_too_big": (
        "left: int = 12",
        "left: int = 1 << 64",
        "Position.left must be from -9223372036854775808 to 9223372036854775807 "
        "(int), got 18446744073709551616: use two fields",
    ),
    "bits_too_big": (
        "Bits(0xFFF)",
        "Bits(1 << 64)",
        "Position.stones must be from 0 to 18446744073709551615 (Bits), got "
        "18446744073709551616: use two fields",
    ),
    "bits_negative": (
        "Bits(0xFFF)",
        "Bits(-1)",
        "Position.stones must be from 0 to 18446744073709551615 (Bits), got -1",
    ),
    "string_field": (
        "left: int = 12",
        "left: str = 'twelve'",
        "Position.left is annotated str; a field of a compiled position must be "
        "Bits, int, bool or float",
    ),
    "list_field": (
        "left: int = 12",
        "left: list = [1]",
        "Position.left is annotated list; a field of a compiled position must be "
        "Bits, int, bool or float",
    ),
    "none_default": (
        "left: int = 12",
        "left: int = None",
        "Position.left is annotated int, got None",
    ),
    "string_default": (
        "left: int = 12",
        "left: int = 'x'",
        "Position.left is annotated int, got 'x'",
    ),
    "float_default": (
        "left: int = 12",
        "left: int = 12.5",
        "Position.left is annotated int, got 12.5",
    ),
    "no_annotation_default": (
        "    left: int = 12",
        "    left = 12",
        "NAME.play does not compile: Position(...): too many positional arguments; "
        "its fields are stones, other, second",
    ),
    "optional_field": (
        "left: int = 12",
        "left: int | None = 12",
        "Position.left is annotated int | None; a field of a compiled position must "
        "be Bits, int, bool or float",
    ),
    "unknown_annotation": (
        "left: int = 12",
        "left: Int = 12",
        "cannot load 'NAME.py': NameError: name 'Int' is not defined",
    ),
    "numpy_field": (
        "left: int = 12",
        "left: 'Whole' = 12",
        "the annotations of Position cannot be read: NameError: name 'Whole' is not defined",
    ),
    "too_many_fields": (
        PLAYED,
        "return Position(position.stones, position.other, position.left - move, False, 1)",
        "NAME.play does not compile: Position(...): too many positional arguments; "
        "its fields are stones, other, left, second",
    ),
    "unknown_keyword": (
        PLAYED,
        "return Position(stones=position.stones, othr=position.other, "
        "left=position.left - move, second=False)",
        "NAME.play does not compile: Position(...): got an unexpected keyword "
        "argument 'othr'; its fields are stones, other, left, second",
    ),
    "replace_unknown": (
        PLAYED,
        "return position._replace(lft=position.left - move)",
        "NAME.play does not compile: Position has no field 'lft'",
    ),
    "replace_float": (
        PLAYED,
        "return position._replace(left=position.left / 2)",
        "NAME.play does not compile: field left must be int64, got float64",
    ),
    "replace_positional": (
        PLAYED,
        "return position._replace(position.left)",
        "NAME.play does not compile: _replace takes fields by name: _replace(field=value)",
    ),
    "float_into_int": (
        PLAYED,
        "return Position(position.stones, position.other, position.left / 2, False)",
        "NAME.play returns a Position whose field left is a float, but it is "
        "annotated int: divide by //, not by /",
    ),
    "float_into_bits": (
        PLAYED,
        "return Position(position.stones / 2, position.other, position.left - move, False)",
        "NAME.play returns a Position whose field stones is a float, but it is "
        "annotated Bits: divide by //, not by /",
    ),
    "float_to_Bits": (
        PLAYED,
        "return Position(Bits(position.stones / 2), position.other, position.left - move, False)",
        "NAME.play does not compile: Bits(...) takes whole numbers, not floats: divide by //",
    ),
    "int_into_bool": (
        PLAYED,
        "return Position(position.stones, position.other, position.left - move, 1)",
        "NAME.play returns a Position whose field second is a signed integer, but it "
        "is annotated bool: wrap it, bool(...)",
    ),
    "int_into_bits": (
        PLAYED,
        "return Position(position.left, position.other, position.left - move, False)",
        "NAME.play returns a Position whose field stones is a signed integer, but it "
        "is annotated Bits: wrap it, Bits(...)",
    ),
    "str_into_int": (
        PLAYED,
        "return Position(position.stones, position.other, 'a', False)",
        "NAME.play returns a Position whose field left is a text, but it is annotated int",
    ),
    "tuple_into_int": (
        PLAYED,
        "return Position(position.stones, position.other, (1, 2), False)",
        "NAME.play returns a Position whose field left is a tuple of int, int, but it "
        "is annotated int",
    ),
    "moves_forgets_return": (
        "    return at",
        "",
        "NAME.moves returns nothing (is a return missing?); the contract is int",
    ),
    "play_forgets_return": (
        PLAYED,
        "Position(position.stones, position.other, position.left - move, False)",
        "NAME.play returns nothing (is a return missing?); the contract is a Position",
    ),
    "outcome_forgets_return": (
        OVER,
        "position.left == 0, -1",
        "NAME.outcome returns nothing (is a return missing?); the contract is tuple[bool, int]",
    ),
    "outcome_one_value": (
        OVER,
        "return position.left == 0",
        "NAME.outcome returns bool; the contract is tuple[bool, int]",
    ),
    "outcome_three": (
        OVER,
        "return position.left == 0, -1, 0",
        "NAME.outcome returns a tuple of bool, int, int; the contract is tuple[bool, int]",
    ),
    "outcome_swapped": (
        OVER,
        "return -1 if position.left == 0 else 0, position.left == 0",
        "NAME.outcome returns the value first; the contract is whether the game is "
        "over, then the value",
    ),
    "outcome_sometimes_none": (
        OVER,
        "if position.left == 0:\n        return True, -1",
        "NAME.outcome returns a tuple of bool, int in one place and nothing in another; the "
        "contract is tuple[bool, int]",
    ),
    "outcome_none_value": (
        OVER,
        "return position.left == 0, None",
        "NAME.outcome returns a tuple of bool, nothing (is a return missing?); the "
        "contract is tuple[bool, int]",
    ),
    "outcome_string": (
        OVER,
        "return position.left == 0, 'lost'",
        "NAME.outcome returns a tuple of bool, a text; the contract is tuple[bool, int]",
    ),
    "moves_two_args": (
        "def moves(position, buffer, at):",
        "def moves(position, buffer):\n    at = 0",
        "NAME.moves takes 2 parameters; the contract is moves(position, buffer, at)",
    ),
    "play_three_args": (
        "def play(position, move):",
        "def play(position, move, colour):",
        "NAME.play takes 3 parameters; the contract is play(position, move)",
    ),
    "outcome_no_args": (
        "def outcome(position):",
        "def outcome():\n    position = Position()",
        "NAME.outcome takes 0 parameters; the contract is outcome(position)",
    ),
    "moves_generator": (
        "        buffer[at] = count\n        at += 1\n    return at",
        "        yield count",
        "NAME.moves returns a generator; the contract is int",
    ),
    "moves_append": (
        "        buffer[at] = count",
        "        buffer.append(count)",
        "moves are written, not appended: buffer[at] = move",
    ),
    "global_list": (
        "ROWS = (15, 240, 3840)",
        "ROWS = [15, 240, 3840]",
        "NAME.outcome does not compile: ROWS is a list: make it a tuple, which "
        "compiled code can read",
    ),
    "global_dict": (
        "ROWS = (15, 240, 3840)",
        "ROWS = {0: 15}",
        "NAME.outcome does not compile: compiled code cannot use ROWS, which is of type dict",
    ),
    "index_static": (
        "ROWS[index]",
        "ROWS[3]",
        "NAME.outcome does not compile: an index is beyond the end of a tuple",
    ),
    "index_dynamic": (
        "row(position, 0)",
        "row(position, position.left)",
        "the index is beyond the end of ROWS",
    ),
    "index_dynamic_numpy": (
        "ROWS = (15, 240, 3840)\n",
        "ROWS = np.array((15, 240, 3840))\n",
        "the index is beyond the end of ROWS",
        "row(position, 0)",
        "row(position, position.left)",
    ),
    "helper_not_compiled": (
        "@compiled\ndef row",
        "def row",
        "NAME.outcome does not compile: row is a function that is not compiled: put @compiled "
        "before it",
    ),
    "verb_not_compiled": (
        "@compiled\ndef outcome",
        "def outcome",
        "NAME is only partly compiled: put @compiled before outcome",
    ),
    "print": (
        OVER,
        "print(position.left)\n    " + OVER,
        "NAME.outcome does not compile: compiled rules cannot print: run them with "
        "NUMBA_DISABLE_JIT=1",
    ),
    "fstring": (
        OVER,
        "x = f'{position.left}'\n    " + OVER,
        "NAME.outcome does not compile: it makes or compares texts: rules can use "
        "numbers and tuples",
    ),
    "dict": (
        OVER,
        "x = {1: 2}\n    return position.left in x, -1",
        "NAME.outcome does not compile: it makes or compares texts: rules can use numbers and "
        "tuples",
    ),
    "list_append": (
        OVER,
        "x = []\n    x.append(position.left)\n    return len(x) == 3, -1",
        "NAME.outcome does not compile: it makes a list, set, array or text: rules can make "
        "numbers, tuples and positions",
    ),
    "any_gen": (
        OVER,
        "return any(position.left == i for i in range(1)), -1",
        "NAME.outcome does not compile: it has a generator (... for ... in ...): write a loop",
    ),
    "bin_count": (
        OVER,
        "return bin(position.stones).count('1') == 0, -1",
        "NAME.outcome does not compile: compiled code cannot use bin, which is of "
        "type builtin_function_or_method",
    ),
    "bit_count": (
        OVER,
        "return position.stones.bit_count() == 0, -1",
        "NAME.outcome does not compile: numbers have no bit_count in compiled code: use popcount",
    ),
    "bit_length": (
        OVER,
        "return position.left.bit_length() == 0, -1",
        "NAME.outcome does not compile: numbers have no bit_length in compiled code: "
        "use highest_index(...) + 1",
    ),
    "recursion": (
        "return position.stones & ROWS[index]",
        "return row(position, index - 1) if index else 0",
        "NAME.outcome does not compile: it calls itself: write a loop",
    ),
    "field_typo": (
        OVER,
        "return position.letf == 0, -1",
        "NAME.outcome does not compile: Position has no field 'letf' (did you mean 'left'?)",
    ),
    "local_typo": (
        "    return at",
        "    return att",
        "NAME.moves does not compile: name 'att' is not defined (did you mean 'at'?)",
    ),
    "global_typo": (
        "ROWS[index]",
        "ROW[index]",
        "NAME.outcome does not compile: name 'ROW' is not defined (did you mean 'row'?)",
    ),
    "range_float": (
        "range(1, min(position.left, 3) + 1)",
        "range(1, position.left / 2)",
        "NAME.moves does not compile: range takes whole numbers, not floats: divide by // "
        "instead of /",
    ),
    "missing_import": (
        "WIDTH = 4",
        "import nonexistent_thing",
        "cannot load 'NAME.py': ModuleNotFoundError: No module named 'nonexistent_thing'",
    ),
    "syntax_error": (
        "def play(position, move):",
        "def play(position, move)",
        "cannot load 'NAME.py': SyntaxError: expected ':'",
    ),
    "indentation": (
        "    return at",
        "   return at",
        "cannot load 'NAME.py': IndentationError: unindent does not match any outer "
        "indentation level",
    ),
    "name_error_top": (
        "WIDTH = 4",
        "WIDTH = HEIGHT",
        "cannot load 'NAME.py': NameError: name 'HEIGHT' is not defined",
    ),
    "play_returns_tuple": (
        PLAYED,
        "return (position.stones, position.other, position.left - move, False)",
        "NAME.play returns a tuple of Bits, Bits, int, bool; the contract is a Position",
    ),
    "play_returns_int": (
        PLAYED,
        "return position.left - move",
        "NAME.play returns int; the contract is a Position",
    ),
    "play_changes_field": (
        PLAYED,
        "position.left -= move\n    return position",
        "NAME.play does not compile: a position is never changed: make another, "
        "position._replace(left=...)",
    ),
    "play_other_class": (
        PLAYED,
        "return Other(position.stones, position.other, 1, True)",
        "NAME.play returns a tuple of class Other; the contract is a Position",
        "@compiled\ndef row",
        "class Other(NamedTuple):\n    a: Bits\n    b: Bits\n    c: int\n    d: "
        "bool\n\n\n@compiled\ndef row",
    ),
    "call_wrong_args": (
        "row(position, 0)",
        "row(position)",
        "NAME.outcome does not compile: row(position, index) cannot be called with "
        "(Position(uint64, uint64, int64, bool))",
    ),
    "two_types": (
        OVER,
        "x = position.stones\n    if position.left > 3:\n        x = -1\n    return "
        "position.left == 0, -1 if x == -1 else 0",
        "NAME.outcome does not compile: x is Bits in one place and int in another: wrap the "
        "int, Bits(...)",
    ),
    "tuple_grow": (
        OVER,
        "t = ()\n    for i in range(3):\n        t = t + (i,)\n    return len(t) == 2, -1",
        "NAME.outcome does not compile: t has one type in one place and another in another place",
    ),
    "try_except": (
        OVER,
        "try:\n        x = 1 // position.left\n    except ZeroDivisionError:\n        return "
        "True, -1\n    return False, 0",
        "NAME.outcome does not compile: rules can only catch Exception, not errors of one kind",
    ),
    "with": (
        OVER,
        "with open('x') as f:\n        pass\n    " + OVER,
        "NAME.outcome does not compile: rules cannot use 'with'",
    ),
    "np_zeros": (
        OVER,
        "x = np.zeros(3, np.int64)\n    return x[0] == position.left, -1",
        "NAME.outcome does not compile: it makes a list, set, array or text: rules can make "
        "numbers, tuples and positions",
    ),
    "global_assign": (
        OVER,
        "global WIDTH\n    WIDTH = 5\n    " + OVER,
        "NAME.outcome does not compile: rules cannot change variables of the module",
    ),
    "position_method": (
        "    second: bool = False",
        "    second: bool = False\n\n    def total(self):\n        return self.left",
        "NAME.outcome does not compile: total is a method or property: write it as a "
        "@compiled function of a position",
        OVER,
        "return position.total() == 0, -1",
    ),
    "index_position_str": (
        OVER,
        "return position['left'] == 0, -1",
        "NAME.outcome does not compile: it makes or compares texts: rules can use "
        "numbers and tuples",
    ),
    "start_none": (
        "@compiled\ndef row",
        "def start(variant):\n    Position()\n\n\n@compiled\ndef row",
        "NAME.start must return a position, got None",
    ),
    "start_noarg": (
        "@compiled\ndef row",
        "def start():\n    return Position()\n\n\n@compiled\ndef row",
        "NAME.start: TypeError: start() takes 0 positional arguments but 1 was given",
    ),
    "start_raises": (
        "@compiled\ndef row",
        "def start(variant):\n    return Positio()\n\n\n@compiled\ndef row",
        "NameError: name 'Positio' is not defined",
    ),
    "no_position": (
        "class Position",
        "class Pos",
        "NAME has no start: define a class Position whose fields have defaults, or start(variant)",
    ),
    "not_namedtuple": (
        "class Position(NamedTuple)",
        "class Position",
        "a position of compiled rules must be a NamedTuple, got a Position: write "
        "class Position(NamedTuple)",
    ),
    "no_play": ("def play(", "def plays(", "NAME.py is not a game: it does not define play"),
    "verb_is_data": (
        "@compiled\ndef outcome",
        "outcome = None\n\n\n@compiled\ndef ended",
        "NAME.py is not a game: it does not define outcome",
    ),
    "max_moves_str": (
        "WIDTH = 4",
        "MAX_MOVES = 'many'",
        "MAX_MOVES of NAME must be a whole number from 0 to 1000000, got 'many'",
    ),
    "max_plies_neg": (
        "WIDTH = 4",
        "MAX_PLIES = -3",
        "MAX_PLIES of NAME must be a whole number from 0 to 1000000, got -3",
    ),
    "big_literal": (
        OVER,
        "return position.stones == 1 << 64, -1",
        "NAME.outcome does not compile: 18446744073709551616 does not fit into 64 bits",
    ),
    "walrus_in_return": (
        OVER,
        "return (over := position.left == 0), -1 if over else 0",
        "NAME.outcome does not compile: an expression has no known type: give its parts names",
    ),
    "unpack_few": (
        PLAYED,
        "a, b, c = position\n    return Position(a, b, c - move, False)",
        "NAME.play does not compile: position has 4 fields, and is unpacked into 3",
    ),
}
"""The original text, its replacement, and the message without the place; ``NAME`` is the game."""


@pytest.mark.filterwarnings("ignore:Assigning a code object:DeprecationWarning")  # in numba, 3.13
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_in_one_line(tmp_path, name):
    old, new, message, *more = MISTAKES[name]
    text = GAME
    for before, after in [(old, new), more] if more else [(old, new)]:
        assert before in text
        text = text.replace(before, after)
    file = tmp_path / f"mistaken_{name}.py"
    file.write_text(text)
    with pytest.raises(CutnodeError, match=r"\A.*\Z") as caught:
        perft(load_game(file).start(), 3)
    assert message.replace("NAME", file.stem) in str(caught.value).replace(
        f"{tmp_path}{os.sep}", ""
    )


@pytest.mark.parametrize(
    "fields",
    ["position.stones, position.other, position.left - move", "left=position.left - move"],
)
def test_fields_that_are_left_out_have_their_defaults(tmp_path, fields):
    file = tmp_path / f"with_defaults_{len(fields)}.py"
    file.write_text(GAME.replace(PLAYED, f"return Position({fields})"))
    assert perft(load_game(file).start(), 3) == perft(load_game(file, plain=True).start(), 3) == 27
