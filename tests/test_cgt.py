"""Values of games in Python: notation, arithmetic, outcomes, thermographs."""

from __future__ import annotations

import copy
import functools
import io
import itertools
import math
import operator
import pickle
import random
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

from cutnode import CutnodeError
from cutnode.cgt import Thermograph, Value, memory
from cutnode.kernels import forms

TEXTS = [
    *("0", "1", "-3", "1/2", "-5/8", "*", "*2", "^", "v", "^*", "v*", "^*2", "^^", "vv*", "^3"),
    *("1*", "-1/2^", "2v3*2", "±1", "±1/2", "{3|1}", "{1|*}", "{2|{1|0}}", "±(1*)", "±(1,1*)"),
    *("+_2", "-_2", "+_1/2", "{^,*|v}", "{{3|1}|{0|-2}}", "{0|-_1}", "±(0,{2|0})", "{1||0|-_2}"),
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_of_a_value_is_read_as_the_same_value(text):
    value = Value(text)
    assert Value(str(value)) == value == copy.copy(value) == pickle.loads(pickle.dumps(value))
    assert eval(repr(value)) == value
    assert hash(Value(str(value))) == hash(value)
    assert Value(str(-value)) == -value
    assert Value.from_options(value.left, value.right) == value


IDENTITIES = [
    ("{|}", "0"),
    ("{0,1|}", "2"),
    ("{1|}", "2"),
    ("{|-3}", "-4"),
    ("{0|1}", "1/2"),
    ("{1|2}", "3/2"),
    ("{1/4|}", "1"),
    ("{-7|9}", "0"),
    ("{0|0}", "*"),
    ("{0,*|0,*}", "*2"),
    ("{*|*}", "0"),
    ("{0|*}", "^"),
    ("{*|0}", "v"),
    ("{0|^}", "^^*"),
    ("{^|^}", "^^*"),
    ("{0|^*}", "^^"),
    ("{0,*|0}", "^*"),
    ("{^|v}", "*"),
    ("{1|1}", "1*"),
    ("{1*|1*}", "1"),
    ("* + *", "0"),
    ("*2 + *3", "*"),
    ("^ + ^* + *", "^^"),
    ("^ + v", "0"),
    ("±1 + ±1", "0"),
    ("+-1", "{1|-1}"),
    ("2+-1", "{3|1}"),
    ("1 + -1", "0"),
    ("±{2|1}", "{2|1||-1|-2}"),
    ("±(1, 2|0)".replace("2|0", "{2|0}"), "{1,{2|0}|-1,{0|-2}}"),
    ("+_2", "{0||0|-2}"),
    ("-_2", "{2|0||0}"),
    ("-+_2", "-_2"),
    ("{3||2|1}", "{3|{2|1}}"),
    ("{4||3|2|||1}", "{{4|{3|2}}|1}"),
    ("1 - 2^", "-1v"),
    ("-1^", "-1 + ^"),
    ("3 - (1 - *)", "2*"),
    ("↑ + ⇓ + ★", "v*"),
    ("\N{MINUS SIGN}1/2", "-1/2"),
    ("  { 0 , * | 0 }  ", "^*"),
]


@pytest.mark.parametrize(("text", "other"), IDENTITIES)
def test_identities(text, other):
    """Winning Ways, chapters 2 to 5, and what the notation abbreviates."""
    assert Value(text) == Value(other)
    assert Value(text) - Value(other) == 0
    assert str(Value(text)) == str(Value(other))


REFUSED = [
    ("", "expected a number, '*', '^', 'v', '±', '{' or '(', it ends"),
    ("{1|", "expected a number, '*', '^', 'v', '±', '{' or '(', it ends"),
    ("{1}", "expected '|', got '}'"),
    ("{1", "expected '|', it ends"),
    ("{1|2", "expected '}', it ends"),
    ("{1,|2}", "expected a number, '*', '^', 'v', '±', '{' or '(', got '|'"),
    ("{3|2|1}", "'|' divides a game twice; write '||' for the outer one"),
    ("1 2", "expected '+', '-' or the end, got '2'"),
    ("(1", "expected ')', it ends"),
    ("1)", "expected '+', '-' or the end, got ')'"),
    ("one", "'o' is not part of the notation"),
    ("1.5", "'.' is not part of the notation"),
    ("1/0", "1/0 has the denominator 0"),
    ("9" * 41, f"'{'9' * 41}' is too long"),
    ("(" * 101 + "1" + ")" * 101, "it has more than 100 terms inside each other"),
    ("±" * 101 + "1", "it has more than 100 terms inside each other"),
    ("+_" * 101 + "1", "it has more than 100 terms inside each other"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused_texts(text, message):
    with pytest.raises(CutnodeError) as error:
        Value(text)
    assert str(error.value).endswith(f" is not a value: {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("given", [0.5, None, True, [1], b"1", math.nan])
def test_refused_objects(given):
    with pytest.raises(CutnodeError, match="must be a text, a whole number or a fraction, got"):
        Value(given)


@pytest.mark.parametrize("given", ["1/3", Fraction(1, 3), "{0|1/3}"])
def test_refused_fractions(given):
    with pytest.raises(CutnodeError, match="must be a power of two, got 1/3"):
        Value(given)


@pytest.mark.parametrize(
    "compute",
    [
        lambda: Value("3000000"),
        lambda: Value(10**100),
        lambda: Value("^512"),
        lambda: Value("*1024"),
        lambda: Value("1/2097152"),
        lambda: Value("{1048576/1048576|1048577/1048576}"),
        lambda: Value("2000000") + 2_000_000,
        lambda: Value("^") * 10**6,
        lambda: 10**9 * Value("{3|1}"),
        lambda: functools.reduce(lambda a, b: Value.from_options([b], [a]), range(202), Value(0)),
    ],
)
def test_too_large(compute):
    with pytest.raises(CutnodeError, match="the value is too large: it may have at most 1,048,576"):
        compute()


def test_too_many_terms():
    draw = random.Random(1)
    total = Value()
    with pytest.raises(CutnodeError, match="too large"):
        for _ in range(100):
            a, b, c, d = sorted(draw.choices(range(-50, 50), k=4))
            total += Value(f"{{{d}|{c}||{b}|{a}}}")
    assert total.terms > 10_000
    assert str(total).startswith(f"<{total.terms:,} terms, born by day ")
    assert pickle.loads(pickle.dumps(total)) == total


# Arithmetic and comparison


def test_numbers_stand_for_values():
    star = Value("*")
    assert 1 + star == star + 1 == Value("1*")
    assert 1 - star == Value("1*") and star - 1 == Value("-1*")
    assert Value(Fraction(1, 2)) == Fraction(1, 2) == Value("1/2")
    assert hash(Value("1/2")) == hash(Fraction(1, 2)) and hash(Value(3)) == hash(3)
    assert Value("1/2") + np.int64(1) == Fraction(3, 2)
    assert 3 * Value("^") == Value("^") * 3 == Value("^3") == -3 * Value("v")
    assert 0 * Value("±1") == 0 and 1_000_001 * Value("±1") == Value("±1")
    assert +star == star == -star
    assert Value(star) == star
    assert {Value("{0|0}"): "star"}[star] == "star"
    assert star != "*" and star != 0.0 and star != None  # noqa: E711


@pytest.mark.parametrize("name", ["add", "sub", "mul", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("other", [0.5, "1", None, True])
def test_operands_of_other_types(name, other):
    for pair in itertools.permutations([Value("*"), other]):
        with pytest.raises(TypeError):
            getattr(operator, name)(*pair)


def test_order():
    up, star = Value("^"), Value("*")
    assert 0 < up < Value("^^") < Value("+_1") + Fraction(1, 1024) and up > Value("+_1") > 0
    assert up.confused_with("*") and not up.confused_with(0) and star.confused_with(0)
    assert Value("^^") > star and Value("^*").confused_with(0) and Value("^*2") > 0
    assert not up <= star and not star <= up and not up < star and not star > up
    assert star <= star and star >= star and not star < star
    assert Value("±1").confused_with(1) and Value("±1") < Fraction(3, 2)
    with pytest.raises(CutnodeError, match="'x' is not part of the notation"):
        up.confused_with("x")


def test_sums_against_play():
    """Outcomes of sums, by trying all moves."""
    draw = random.Random(2)
    values = [Value(text) for text in ("*", "^", "1/2", "-1", "±1", "+_1", "{2|0}", "v*2", "{1|*}")]

    @functools.cache
    def left_wins(parts, side):
        for part in set(parts):
            rest = list(parts)
            rest.remove(part)
            for option in part.right if side else part.left:
                if left_wins(frozen([*rest, option]), 1 - side) == (side == 0):
                    return side == 0
        return side == 1

    def frozen(parts):
        return tuple(sorted(parts, key=hash))

    for _ in range(200):
        parts = frozen(draw.choices(values, k=3))
        ends = left_wins(parts, 0), left_wins(parts, 1)
        outcome = {(True, False): "N", (True, True): "L", (False, False): "R", (False, True): "P"}
        assert sum(parts).outcome == outcome[ends]


def domineering(height, width):
    """Return the value of Domineering, by all moves on a board of free cells."""

    @functools.cache
    def value(free):
        sides = []
        for down, right in ((1, 0), (0, 1)):
            pairs = [{(r, c), (r + down, c + right)} for r, c in free]
            sides.append([value(free - pair) for pair in pairs if pair <= free])
        return Value.from_options(*sides)

    return value(frozenset(itertools.product(range(height), range(width))))


@pytest.mark.parametrize(
    ("height", "width", "text"),
    [(2, 1, "1"), (2, 2, "±1"), (2, 3, "{2|-1/2}"), (3, 2, "{1/2|-2}"), (3, 3, "±1")],
)
def test_domineering(height, width, text):
    """Winning Ways, chapter 5."""
    assert domineering(height, width) == Value(text)


# Properties


@pytest.mark.parametrize(
    ("text", "outcome", "birthday", "temperature", "mean"),
    [
        ("0", "P", 0, -1, 0),
        ("-3", "R", 3, -1, -3),
        ("3/4", "L", 3, Fraction(-1, 4), Fraction(3, 4)),
        ("*", "N", 1, 0, 0),
        ("^", "L", 2, 0, 0),
        ("2*", "L", 3, 0, 2),
        ("{3|-3}", "N", 4, 3, 0),
        ("{7|2}", "L", 8, Fraction(5, 2), Fraction(9, 2)),
        ("{2||1|0}", "L", 3, Fraction(3, 4), Fraction(5, 4)),
        ("{5|1||0|-8}", "L", 10, 3, 0),
        ("+_2", "L", 4, 0, 0),
    ],
)
def test_properties(text, outcome, birthday, temperature, mean):
    value = Value(text)
    assert (value.outcome, value.birthday) == (outcome, birthday)
    assert (value.temperature, value.mean) == (temperature, mean)


def test_kinds():
    assert (Value("3/4").is_number, Value("3/4").number) == (True, Fraction(3, 4))
    assert (Value("*").is_number, Value("*").number) == (False, None)
    assert [Value(text).nimber for text in ("0", "*", "*7", "1", "^*", "±1")] == [
        0,
        1,
        7,
        *[None] * 3,
    ]
    assert Value("±1").left == (1,) and Value("±1").right == (-1,) and Value(0).left == ()
    hot = Value("{3|1*}")
    assert (hot.left_stop, hot.right_stop) == (3, 1)
    assert (hot.terms, Value("^3").terms) == (3, 1)


def test_walls_of_a_thermograph():
    graph = Value("{5|1||0|-8}").thermograph()
    assert graph == Thermograph(
        left=((0, 1), (2, 1), (3, 0)), right=((0, 0), (3, 0)), temperature=3, mean=0
    )
    number = Value("3/4").thermograph()
    assert number.left == number.right == ((0, Fraction(3, 4)),)


def random_value(draw, depth):
    if depth == 0:
        return Value(draw.randrange(-4, 5))
    return Value.from_options(
        *(
            [random_value(draw, draw.randrange(depth)) for _ in range(draw.randint(1, 2))]
            for _ in "LR"
        )
    )


def cooled(value, t):
    """Return a game cooled by a dyadic temperature, by the definition."""
    if value.temperature < t or value.is_number:
        return Value(value.mean)
    return Value.from_options(
        [cooled(option, t) - t for option in value.left],
        [cooled(option, t) + t for option in value.right],
    )


def test_thermographs_of_random_values():
    draw = random.Random(5)
    values = [random_value(draw, 3) for _ in range(150)]
    for value, other in itertools.pairwise(values):
        graph = value.thermograph()
        assert graph.left[0] == (0, value.left_stop) and graph.right[0] == (0, value.right_stop)
        assert graph.left[-1][1] == graph.right[-1][1] == value.mean
        for wall, stop in ((graph.left, "left_stop"), (graph.right, "right_stop")):
            for t, x in wall:
                if t < graph.temperature:
                    assert getattr(cooled(value, t), stop) == x
        total = value + other
        assert total.mean == value.mean + other.mean
        assert total.temperature <= max(value.temperature, other.temperature)
        assert (-value).thermograph().left == tuple((t, -x) for t, x in graph.right)


@pytest.mark.once
def test_plot():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = Value("{5|1||0|-8}").plot(figure.add_subplot())
    assert [line.get_label() for line in axes.get_lines()] == ["Left", "Right"]
    assert axes.xaxis_inverted()
    assert Value("±1").plot(axes).xaxis_inverted()
    figure.savefig(io.BytesIO(), format="svg")


def test_plot_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(CutnodeError, match="plots need matplotlib"):
        Value("±1").plot()


# The memory


@pytest.fixture
def small_memory(monkeypatch):
    """Let values share memories of 64 KiB."""
    monkeypatch.setattr(memory, "MEMORY_BYTES", 1 << 16)
    monkeypatch.setattr(memory, "_current", [])


def test_values_outlive_their_memory(small_memory):
    first = Value("{3|{2|*}}")
    place = memory.current()
    number = 0
    while memory.current() is place:
        number += 1
        Value(f"{{{number}|-{number}}}")
    assert str(first) == "{3|{2|*}}"
    assert first - Value("{3||2|*}") == 0 and first == Value("{3||2|*}")
    assert first._memory is memory.current()


def test_values_too_large_for_a_memory(small_memory):
    total = Value()
    with pytest.raises(CutnodeError, match="too large"):
        for number in range(20):
            total += Value(f"±{3**number}") + Value("^") * number
    assert total.terms > 10
    assert total - total == 0


def test_threads_share_values(small_memory):
    wrong = []

    def compute(seed):
        draw = random.Random(seed)
        for _ in range(200):
            a, b = random_value(draw, 2), random_value(draw, 2)
            if (a + b) - b != a or pickle.loads(pickle.dumps(a)) != a:
                wrong.append((a, b))

    threads = [threading.Thread(target=compute, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert int(memory.current().words[forms.TOP]) == 0
