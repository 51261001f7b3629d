"""The notation of values: read into terms, and written from forms.

A text is a sum of terms; :class:`~cutnode.cgt.Value` describes it.  It is parsed into nested terms,
which any memory can evaluate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from cutnode.cgt.memory import Memory
from cutnode.contract.errors import CutnodeError, shown
from cutnode.kernels import forms

MOST_NESTED = 100
"""The most terms inside each other in a text."""

MOST_DIGITS = 40
"""The most digits, or arrows, in a row."""

MOST_WRITTEN = 5_000
"""The terms of a value up to which its text is written out."""


@dataclass(frozen=True, slots=True)
class Simple:
    """A number plus ups, plus a nimber."""

    number: Fraction = Fraction(0)
    ups: int = 0
    star: int = 0


@dataclass(frozen=True, slots=True)
class Options:
    """A game, by the options of Left and Right."""

    left: tuple[Term, ...]
    right: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Negative:
    term: Term


Term = Simple | Options | Sum | Negative


def evaluate(term: Term, memory: Memory) -> int:
    """Return the form of a term, or ``NO_FORM``."""
    match term:
        case Simple(number, ups, star):
            return number_form(number, ups, star)
        case Options(left, right):
            return memory.form(
                [evaluate(option, memory) for option in left],
                [evaluate(option, memory) for option in right],
            )
        case Sum(terms):
            total = forms.ZERO
            for part in terms:
                total = memory.added(total, evaluate(part, memory))
            return total
        case Negative(part):
            return memory.negative(evaluate(part, memory))


def number_form(number: Fraction, ups: int = 0, star: int = 0) -> int:
    """Return the form of a number plus ups plus a nimber, or ``NO_FORM``."""
    scaled = number * forms.ONE
    return forms.simple_form(int(scaled), ups, star) if scaled.denominator == 1 else forms.NO_FORM


def require_dyadic(number: Fraction) -> Fraction:
    """Return a number; :class:`CutnodeError` unless its denominator is a power of two."""
    if number.denominator & (number.denominator - 1):
        raise CutnodeError(f"the denominator of a number must be a power of two, got {number}")
    return number


# Reading -----------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"\s*(?:(\d+(?:\s*/\s*\d+)?)|(\|+)|(\+_|-_|\+-(?!_)|[-+±*{}(),]|\^\d+|v\d+|\^+|v+)|(\S))"
)

_ASCII = str.maketrans({"↑": "^", "⇑": "^^", "↓": "v", "⇓": "vv", "★": "*", "\N{MINUS SIGN}": "-"})


def parse(text: str) -> Term:
    """Return the term of a text; :class:`CutnodeError` says what it should be."""
    return _Parser(text).parsed()


_BEGIN_FACTORS = tuple("*^v±{(")
_SIGNS = "+-", "+_", "-_"


class _Parser:
    """A recursive descent through the tokens of a text."""

    def __init__(self, text: str):
        self.text = text
        self.tokens: list[str] = []
        for match in _TOKEN.finditer(text.translate(_ASCII)):
            if match[4]:
                self.fail(f"{match[4]!r} is not part of the notation")
            token = re.sub(r"\s", "", match[0])
            if len(token) > MOST_DIGITS:
                self.fail(f"{shown(token)} is too long")
            self.tokens.append(token)
        self.at = 0
        self.nested = 0

    def fail(self, problem: str) -> NoReturn:
        raise CutnodeError(f"{shown(self.text)} is not a value: {problem}")

    @property
    def token(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def accept(self, *tokens: str) -> str:
        """Return the next token and pass it if it is one of these; otherwise return ''."""
        token = self.token
        if not token or token not in tokens:
            return ""
        self.at += 1
        return token

    def fail_expecting(self, expected: str) -> NoReturn:
        self.fail(f"expected {expected}, " + (f"got {self.token!r}" if self.token else "it ends"))

    def expect(self, token: str) -> None:
        if not self.accept(token):
            self.fail_expecting(repr(token))

    def parsed(self) -> Term:
        term = self.sum()
        if self.token:
            self.fail_expecting("'+', '-' or the end")
        return term

    def sum(self) -> Term:
        terms = [self.term()]
        while sign := self.accept("+", "-"):
            term = self.term()
            terms.append(term if sign == "+" else Negative(term))
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def term(self) -> Term:
        """Parse factors that stand next to each other: 2^*3 is 2 + ^ + *3."""
        sign = self.accept("+", "-")
        first = self.factor()
        factors = [Negative(first) if sign == "-" else first]
        while self.token[:1] in _BEGIN_FACTORS or self.token in _SIGNS:
            factors.append(self.factor())
        return factors[0] if len(factors) == 1 else Sum(tuple(factors))

    def factor(self) -> Term:
        self.nested += 1
        if self.nested > MOST_NESTED:
            self.fail(f"it has more than {MOST_NESTED} terms inside each other")
        factor = self.one_factor()
        self.nested -= 1
        return factor

    def one_factor(self) -> Term:
        token = self.token
        if token[:1].isdigit():
            return Simple(self.number())
        if self.accept("*"):
            return Simple(star=self.whole() if self.token.isdigit() else 1)
        if token[:1] in ("^", "v") and token:
            self.at += 1
            count = int(token[1:]) if token[1:].isdigit() else len(token)
            return Simple(ups=count if token[0] == "^" else -count)
        if self.accept("±", "+-"):
            return self.switch()
        if sign := self.accept("+_", "-_"):
            return self.tiny(sign)
        if self.accept("("):
            term = self.sum()
            self.expect(")")
            return term
        if token == "{":
            return self.braces()
        self.fail_expecting("a number, '*', '^', 'v', '±', '{' or '('")

    def number(self) -> Fraction:
        """Parse a number."""
        text = self.token
        self.at += 1
        numerator, _, denominator = text.partition("/")
        if denominator and int(denominator) == 0:
            self.fail(f"{text} has the denominator 0")
        return require_dyadic(Fraction(int(numerator), int(denominator or 1)))

    def whole(self) -> int:
        return int(self.number())

    def switch(self) -> Term:
        """Parse what follows ±: ±G is {G | -G}, and ±(G, H) is {G, H | -G, -H}."""
        if self.accept("("):
            left = self.values()
            self.expect(")")
        else:
            left = (self.factor(),)
        return Options(left, tuple(map(Negative, left)))

    def tiny(self, sign: str) -> Term:
        """Parse the index of tiny, +_G = {0 || 0 | -G}, or of miny, its negative."""
        zero = Simple()
        value = Options((zero,), (Options((zero,), (Negative(self.factor()),)),))
        return value if sign == "+_" else Negative(value)

    def values(self) -> tuple[Term, ...]:
        items = [self.sum()]
        while self.accept(","):
            items.append(self.sum())
        return tuple(items)

    def braces(self) -> Term:
        """Parse a game in braces; of several bars, the longest divides first: {2 || 1 | 0}."""
        self.expect("{")
        sides: list[tuple[Term, ...]] = []
        bars: list[int] = []
        while True:
            sides.append(() if self.token == "}" or self.token.startswith("|") else self.values())
            if not self.token.startswith("|"):
                break
            bars.append(len(self.token))
            self.at += 1
        if not bars:
            self.fail_expecting("'|'")
        self.expect("}")
        return self.divided(sides, bars)

    def divided(self, sides: list[tuple[Term, ...]], bars: list[int]) -> Options:
        longest = max(bars)
        if bars.count(longest) > 1:
            self.fail(f"{'|' * longest!r} divides a game twice; write '||' for the outer one")
        at = bars.index(longest)
        left = self.side(sides[: at + 1], bars[:at])
        return Options(left, self.side(sides[at + 1 :], bars[at + 1 :]))

    def side(self, sides: list[tuple[Term, ...]], bars: list[int]) -> tuple[Term, ...]:
        return (self.divided(sides, bars),) if bars else sides[0]


# Writing -----------------------------------------------------------------------------------


def text_of(memory: Memory, a: int) -> str:
    """Return the text of a form, which :func:`parse` reads, unless it has too many terms."""
    terms = int(forms.terms(memory.words, a))
    if terms > MOST_WRITTEN:
        return f"<{terms:,} terms, born by day {int(forms.birthday(memory.words, a))}>"
    texts: dict[int, str] = {}
    for b in memory.tree(a):
        texts[b] = _simple_text(b) if forms.is_simple(b) else _node_text(memory, b, texts)
    return texts[a]


def _simple_text(a: int) -> str:
    number, ups, star = Fraction(forms.number_of(a), forms.ONE), forms.ups_of(a), forms.star_of(a)
    arrow = "^" if ups > 0 else "v"
    arrows = arrow * abs(ups) if abs(ups) < 3 else f"{arrow}{abs(ups)}"
    stars = "" if star == 0 else "*" if star == 1 else f"*{star}"
    return (str(number) if number or not arrows + stars else "") + arrows + stars


def _node_text(memory: Memory, a: int, texts: dict[int, str]) -> str:
    left, right = memory.both(a)
    for sign, negated in (("+_", a), ("-_", memory.negative(a))):
        index = _tiny_index(memory, negated)
        if index:
            return sign + _simple_text(index)
    lefts, rights = (
        ",".join(sorted((texts[b] for b in side), key=lambda text: (len(text), text)))
        for side in (left, right)
    )
    if a == memory.negative(a):
        return f"±{lefts}" if len(left) == 1 and _is_positive(left[0]) else f"±({lefts})"
    return f"{{{lefts}|{rights}}}"


def _is_positive(a: int) -> bool:
    """Return whether a form is a positive number."""
    return bool(forms.is_number(a) and forms.number_of(a) > 0)


def _tiny_index(memory: Memory, a: int) -> int:
    """Return the positive number G for which a form is tiny, {0 || 0 | -G}; 0 without one."""
    left, right = memory.both(a)
    if left != [forms.ZERO] or len(right) != 1 or forms.is_simple(right[0]):
        return 0
    left, right = memory.both(right[0])
    if left != [forms.ZERO] or len(right) != 1:
        return 0
    index = memory.negative(right[0])
    return index if _is_positive(index) else 0
