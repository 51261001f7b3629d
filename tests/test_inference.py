"""In rules, ``Bits`` and ``int`` mix as in Python, for all values of 64 bits."""

import pytest
from numba import njit, types

from cutnode.compiler.jit import jit_enabled
from cutnode.contract.bits import WORD, Bits, lowest_index  # noqa: F401 (rules use it)
from cutnode.contract.native import KernelCompiler

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="of compiled code")

FULL = (1 << 12) - 1
TOP = 1 << 63
WORDS = [
    (0, 0, 0),
    (1, 5, 2),
    (0xFF0, 0x800, 5),
    (TOP, TOP | 1, 63),
    (WORD, 3, 62),
    (TOP | 0xFF1, TOP - 1, 7),
    (12345678901234567890, 1, 1),
]
EXPRESSIONS = """
s & -s; -s & s; s & (-s); s & (~s + 1); s ^ (s & -s); s & (s - 1); s & (s + 1); s & (t - s)
s | 1; s ^ 1; s & 1; s | i; s & i; s ^ i; s | (1 << 63); s & ~(1 << i); s & ~1; s & ~t; ~s & FULL
s | TOP; s & TOP; s & FULL; s & 0x8000000000000001; s ^ 0xFFFFFFFFFFFFFFFF; Bits(1) << i & s
s >> 3; s >> i; s >> i & 1; (s & 7) - 4; (s & 1) - (t & 1); s % 3; s // 3; s // 1; s % 10 - 5
s == 0; s > -1; -1 < s; s < t; i < s; s == i; s != -1; s >= TOP; s == TOP; s & FULL == 0
(s & (s - 1)) == 0; s & Bits(1 << i); min(s, t); max(s, t); lowest_index(s & -s); s & (i > 3)
"""
STATEMENTS = {
    "bits in a loop": "n = 0\nwhile s:\n  n += 1\n  s &= s - 1\nreturn n",
    "lowest bits": "n = 0\nwhile s:\n  n += lowest_index(s & -s)\n  s = s ^ (s & -s)\nreturn n",
    "from zero": "a = 0\nfor j in range(3):\n  a |= s >> j\nreturn a",
    "in place": "for j in range(3):\n  s &= FULL\n  s ^= 1 << j\nreturn s",
    "grown": "n = s & 7\nb = s >> 9\nfor j in range(4):\n  b += 1\n  b *= 2\nreturn b + 0 * n",
    "zero or bits": "if i > 3:\n  return 0\nif i > 7:\n  return 1\nreturn s & t",
    "in one branch": "return s if i > 3 else 0",
    "in a tuple": "if i > 3:\n  return True, 0\nreturn False, s",
    "in a tuple of one type": "if i > 3:\n  return 0, 0\nreturn s, t",
    "differences": "n = 0\nfor j in range(64):\n  n += s >> j & 1\n  n -= t >> j & 1\nreturn n",
}


def answers(body: str) -> list[tuple[object, object]]:
    """Return the results of rules, compiled and in plain Python, for each of the words."""
    names = dict(globals())
    exec("def rule(s, t, i):\n  " + body.replace("\n", "\n  "), names)
    rule = names["rule"]
    compiled = njit(error_model="numpy", pipeline_class=KernelCompiler)(rule)
    compiled.compile((types.uint64, types.uint64, types.int64))
    (run,) = (found.entry_point for found in compiled.overloads.values())
    return [(run(Bits(s), Bits(t), i), rule(Bits(s), Bits(t), i)) for s, t, i in WORDS]


@pytest.mark.parametrize(
    "line", EXPRESSIONS.strip().split("\n"), ids=["1", "2", "3", "4", "5", "6"]
)
def test_expressions(line):
    parts = [part.strip() for part in line.split(";")]
    for found, wanted in answers("return (" + ",\n".join(parts) + ")"):
        assert dict(zip(parts, found, strict=True)) == dict(zip(parts, wanted, strict=True))


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name):
    for found, wanted in answers(STATEMENTS[name]):
        assert found == wanted


@pytest.mark.parametrize(
    "body",
    [
        "if i > 3:\n  return -1\nreturn s & t",
        "x = -1 if i > 3 else s\nreturn x",
        "for j in range(3):\n  s = s & 255\nreturn s",
        "for j in range(3):\n  s -= 1\nreturn s",
    ],
)
def test_variables_of_two_types_are_refused(body):
    with pytest.raises(Exception, match=r"(Cannot|Can't) unify"):
        answers(body)
