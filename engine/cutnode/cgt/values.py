"""Values of games: immutable numbers of combinatorial game theory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from cutnode.cgt import notation
from cutnode.cgt.memory import Memory, Node, computed, lock
from cutnode.cgt.thermographs import Thermograph, thermograph
from cutnode.contract.errors import CutnodeError, as_python, require_iterable, shown
from cutnode.kernels import forms

_OUTCOMES = {
    forms.SECOND_WINS: "P",
    forms.LEFT_WINS: "L",
    forms.RIGHT_WINS: "R",
    forms.FIRST_WINS: "N",
}


class Value:
    """The value of a short partizan game under normal play, in canonical form.

    *value* is a whole number, a fraction, or a text in the notation of the field::

        3  -1/2             numbers; denominators are powers of two
        *  *2               nimbers
        ^  ^^  ^3           up, double up, triple up (also as arrows)
        v  vv  v3           down, and so on: the negatives of ups
        {a,b|c}             a game by its options; {2||1|0} is {2|{1|0}}
        ±1  +-1             the switch {1|-1}; ±(a,b) is {a,b|-a,-b}
        +_2  -_2            tiny, {0||0|-2}, and miny, {2|0||0}
        1^*2                1 + ^ + *2; 1* is 1 + *, and 2±1 is {3|1}
        a + b - (c + d)     sums; +- is ±, so write 1 + -1 with a blank

    Values are added, subtracted, multiplied by whole numbers, and compared: ``a <= b`` if Right,
    moving second, wins a - b.  Whole numbers and fractions may stand for values.  ``<=`` is a
    partial order: see :meth:`confused_with`.  All results are exact; :class:`CutnodeError` for a
    text that is no value, and for a value that is too large.
    """

    __slots__ = ("_form", "_memory")

    _form: int
    _memory: Memory

    def __init__(self, value: str | int | Fraction | Value = 0):
        value = as_python(value)
        if isinstance(value, str):
            term = notation.parse(value)
            self._memory, self._form = computed(lambda memory: notation.evaluate(term, memory))
        elif isinstance(value, Value):
            self._memory, self._form = value._memory, value._form
        elif isinstance(value, int | Fraction) and not isinstance(value, bool):
            number = notation.require_dyadic(Fraction(value))
            self._memory, self._form = computed(lambda memory: notation.number_form(number))
        else:
            raise CutnodeError(
                f"a value must be a text, a whole number or a fraction, got {shown(value)}"
            )

    @classmethod
    def from_options(cls, left: Iterable[Any] = (), right: Iterable[Any] = ()) -> Value:
        """Return the game with these options, which are values or what ``Value`` accepts."""
        sides = [
            [
                each if isinstance(each, Value) else Value(each)
                for each in require_iterable(side, what)
            ]
            for side, what in ((left, "left"), (right, "right"))
        ]
        return cls._computed(
            lambda memory: memory.form(*([each._in(memory) for each in side] for side in sides))
        )

    @classmethod
    def _computed(cls, compute: Any) -> Value:
        return cls._made(*computed(compute))

    @classmethod
    def _made(cls, memory: Memory, form: int) -> Value:
        value = cls.__new__(cls)
        value._memory, value._form = memory, form
        return value

    def _in(self, memory: Memory) -> int:
        """Return the handle in a memory, where the value moves if there is room."""
        if self._memory is memory or forms.is_simple(self._form):
            return self._form
        form = memory.read(self._memory.nodes(self._form))
        if form != forms.NO_FORM:
            self._memory, self._form = memory, form
        return form

    def __reduce__(self) -> Any:
        with lock:
            return rebuilt, (self._memory.nodes(self._form),)

    def __str__(self) -> str:
        with lock:
            return notation.text_of(self._memory, self._form)

    def __repr__(self) -> str:
        return f"Value({str(self)!r})"

    # Arithmetic

    def __add__(self, other: Any) -> Value:
        b = _value(other)
        if b is None:
            return NotImplemented
        return self._computed(lambda memory: memory.added(self._in(memory), b._in(memory)))

    __radd__ = __add__

    def __neg__(self) -> Value:
        with lock:
            return self._made(self._memory, self._memory.negative(self._form))

    def __pos__(self) -> Value:
        return self

    def __sub__(self, other: Any) -> Value:
        b = _value(other)
        return NotImplemented if b is None else self + -b

    def __rsub__(self, other: Any) -> Value:
        b = _value(other)
        return NotImplemented if b is None else b + -self

    def __mul__(self, count: Any) -> Value:
        count = as_python(count)
        if not isinstance(count, int) or isinstance(count, bool):
            return NotImplemented
        total, power, left = Value(), self if count >= 0 else -self, abs(count)
        while left:
            total, left = total + power if left & 1 else total, left >> 1
            power = power + power if left else power
        return total

    __rmul__ = __mul__

    # Comparison

    def _with(self, other: Value) -> tuple[Memory, int, int]:
        """Return a memory that holds both values, and their handles; the lock must be held."""
        memory, _ = computed(lambda memory: min(self._in(memory), other._in(memory), forms.ZERO))
        return memory, self._in(memory), other._in(memory)

    def _at_most(self, other: Value) -> bool:
        with lock:
            memory, a, b = self._with(other)
            return memory.at_most(a, b)

    def __eq__(self, other: object) -> bool:
        value = _value(other)
        if value is None:
            return NotImplemented
        with lock:
            _, a, b = self._with(value)
            return a == b

    def __hash__(self) -> int:
        number = self.number
        with lock:
            if number is not None:
                return hash(number)
            return hash(int(forms.form_hash(self._memory.words, self._form)))

    def __le__(self, other: Any) -> bool:
        b = _value(other)
        return NotImplemented if b is None else self._at_most(b)

    def __ge__(self, other: Any) -> bool:
        b = _value(other)
        return NotImplemented if b is None else b._at_most(self)

    def __lt__(self, other: Any) -> bool:
        b = _value(other)
        return NotImplemented if b is None else self._at_most(b) and not b._at_most(self)

    def __gt__(self, other: Any) -> bool:
        b = _value(other)
        return NotImplemented if b is None else b < self

    def confused_with(self, other: Any) -> bool:
        """Return whether neither value is at most the other: whoever moves first wins a - b."""
        b = other if isinstance(other, Value) else Value(other)
        return not self._at_most(b) and not b._at_most(self)

    # The game

    @property
    def outcome(self) -> str:
        """The winner: ``"L"`` (Left), ``"R"`` (Right), ``"N"`` (the first player), ``"P"`` (the
        second)."""
        zero = Value()
        left, right = not self._at_most(zero), not zero._at_most(self)
        return _OUTCOMES[left + 2 * right]

    @property
    def left(self) -> tuple[Value, ...]:
        """Left's options in canonical form."""
        return self._options(forms.LEFT)

    @property
    def right(self) -> tuple[Value, ...]:
        """Right's options in canonical form."""
        return self._options(forms.RIGHT)

    def _options(self, side: int) -> tuple[Value, ...]:
        with lock:
            found = self._memory.options(self._form, side)
            return tuple(self._made(self._memory, form) for form in found)

    @property
    def birthday(self) -> int:
        """The depth of the canonical form: the most moves that can be made in it."""
        with lock:
            return int(forms.birthday(self._memory.words, self._form))

    @property
    def terms(self) -> int:
        """The terms in the tree of the canonical form.

        A sum of a number, ups and a nimber is one term.
        """
        with lock:
            return int(forms.terms(self._memory.words, self._form))

    @property
    def is_number(self) -> bool:
        """Whether the value equals a number."""
        return bool(forms.is_number(self._form))

    @property
    def number(self) -> Fraction | None:
        """The number that the value equals, or None."""
        return _fraction(forms.number_of(self._form)) if self.is_number else None

    @property
    def nimber(self) -> int | None:
        """The n for which the value is *n, or None."""
        size = int(forms.nimber_of(self._form))
        return None if size < 0 else size

    @property
    def left_stop(self) -> Fraction:
        """The number at which play stops if Left moves first."""
        with lock:
            return _fraction(forms.left_stop(self._memory.words, self._form))

    @property
    def right_stop(self) -> Fraction:
        """The number at which play stops if Right moves first."""
        with lock:
            return _fraction(forms.right_stop(self._memory.words, self._form))

    def thermograph(self) -> Thermograph:
        """Return the stops of the game when it is cooled by each temperature."""
        with lock:
            return thermograph(self._memory, self._form)

    @property
    def temperature(self) -> Fraction:
        """The urgency of moving: the temperature at which the thermograph's walls meet."""
        return self.thermograph().temperature

    @property
    def mean(self) -> Fraction:
        """The mean value: n copies of the game are worth about n times as much."""
        return self.thermograph().mean

    def plot(self, axes: Any = None) -> Any:
        """Draw the thermograph: see :meth:`Thermograph.plot`."""
        return self.thermograph().plot(axes)


def _fraction(number: int) -> Fraction:
    return Fraction(int(number), forms.ONE)


def _value(other: object) -> Value | None:
    """Return an operand as a value; None if it cannot stand for one."""
    other = as_python(other)
    if isinstance(other, Value):
        return other
    if isinstance(other, int | Fraction) and not isinstance(other, bool):
        return Value(other)
    return None


def rebuilt(nodes: Sequence[Node]) -> Value:
    """Return the value of a list from :meth:`Memory.nodes`, as in a pickle."""
    return Value._computed(lambda memory: memory.read(nodes))
