"""Type inference for compiled rules, where it differs from numba's.

numba infers a signed number for ``Bits`` with ``int``, and a float for a variable that is ``Bits``
in one branch and ``int`` in another.  In rules the two mix as in Python, as far as 64 bits allow:

* ``bits & number``, ``bits | number`` and ``bits ^ number`` are ``Bits``, in two's complement: so
  ``s & -s``, ``s & (s - 1)`` and ``s | 1 << 63`` mean what they mean in Python.
* ``bits & 7`` is an ``int``: it is small, so ``(mine & 7) - (theirs & 7)`` may be negative.
* ``bits // 7`` and ``bits % 7`` are unsigned divisions, and their results are ``int``.
* ``bits += 1`` and ``bits *= 2``, with a constant, stay ``Bits``.
* ``-bits``, and any other sum, difference or product of ``Bits`` and ``int``, is a signed ``int``.
* A variable, or a result, that is ``Bits`` in one place and a constant of 0 or more in another is
  ``Bits``.  With any other ``int`` it is refused, as the intended type is unknown.

Fields left out when a position is made take their defaults.  ``print``, and a ``range`` of floats,
are refused.  The engine's own code keeps numba's rules.
"""

from __future__ import annotations

import operator
import weakref
from typing import Any

from numba import types
from numba.core import ir, typed_passes
from numba.core.compiler_machinery import register_pass
from numba.core.errors import TypingError
from numba.core.ir_utils import mk_unique_var

from cutnode.contract.collection import is_of_engine
from cutnode.contract.named_tuples import constructor
from cutnode.contract.numba_patches import PLAIN

_BITWISE = {operator.and_, operator.or_, operator.xor}
_IN_PLACE = {operator.iand, operator.ior, operator.ixor}
_GROWING = {operator.iadd, operator.imul}
_DIVISIONS = {operator.floordiv, operator.mod, operator.ifloordiv, operator.imod}


class _Context:
    """Numba's typing context, with a memo of call types: nine in ten repeat an earlier one."""

    def __init__(self, numbas: Any):
        self._numbas = numbas

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numbas, name)

    def resolve_function_type(self, function: Any, args: Any, keywords: Any) -> Any:
        resolve = self._numbas.resolve_function_type
        if PLAIN or not isinstance(function, types.BaseFunction):
            return resolve(function, args, keywords)
        known = _known.setdefault(function, {})
        key = tuple(args), tuple(keywords.items())
        if key in known:
            signature, implementation = known[key]
            function._impl_keys[signature.args] = implementation
            return signature
        signature = resolve(function, args, keywords)
        # Inside a recursion, types are not final.
        if signature is not None and function._depth == 0:
            known[key] = signature, function._impl_keys[signature.args]
        return signature


_known: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()
"""The signatures and implementations of calls, by function and argument types."""


class _RulesContext(_Context):
    """A typing context in which the rules of this module precede numba's own."""

    def resolve_function_type(self, function: Any, args: Any, keywords: Any) -> Any:
        if isinstance(function, types.NamedTupleClass):
            return constructor(self._numbas, function.instance_class, args, keywords)
        resolve = super().resolve_function_type
        called = getattr(function, "typing_key", None)
        _refuse(called, args)
        typed = _typed(called, args)
        if typed is None:
            return resolve(function, args, keywords)
        operand, result = typed
        return resolve(function, (operand,) * len(args), {}).replace(return_type=result)

    def unify_pairs(self, first: Any, second: Any) -> Any:
        if {types.unliteral(first), types.unliteral(second)} == {types.int64, types.uint64}:
            number = second if types.unliteral(first) == types.uint64 else first
            return types.uint64 if _is_natural(number) else None
        return type(self._numbas).unify_pairs(self, first, second)

    def unify_types(self, *kinds: Any) -> Any:
        unsigned_first = sorted(kinds, key=lambda kind: kind != types.uint64)
        return type(self._numbas).unify_types(self, *unsigned_first)


def _refuse(function: Any, args: Any) -> None:
    """Raise an error for calls that numba compiles but rules must not make."""
    if function is print:
        raise TypingError("compiled rules cannot print: run them with NUMBA_DISABLE_JIT=1")
    if function is range and any(isinstance(kind, types.Float) for kind in args):
        raise TypingError("range takes whole numbers, not floats: divide by // instead of /")


def _typed(function: Any, args: Any) -> tuple[types.Type, types.Type] | None:
    """Return the types of an operator's operands and of its result; None to let numba decide."""
    kinds = [types.unliteral(kind) for kind in args]
    if function is operator.neg and kinds == [types.uint64]:
        return types.int64, types.int64
    if len(kinds) != 2 or types.uint64 not in kinds or not all(map(_is_whole, kinds)):
        return None
    if kinds[0] == types.uint64:
        if function in _IN_PLACE or (function in _GROWING and _is_natural(args[1])):
            return types.uint64, types.uint64
        if function in _DIVISIONS and _is_natural(args[1]):
            return types.uint64, types.int64 if args[1].literal_value > 1 else types.uint64
    if function in _BITWISE | _IN_PLACE and any(map(_is_signed, kinds)):
        is_small = function is operator.and_ and any(map(_is_natural, args))
        return types.uint64, types.int64 if is_small else types.uint64
    return None


def _is_whole(kind: types.Type) -> bool:
    return isinstance(kind, types.Integer | types.Boolean)


def _is_signed(kind: types.Type) -> bool:
    return isinstance(kind, types.Integer) and bool(kind.signed)


def _is_natural(kind: types.Type) -> bool:
    """Return whether a type belongs to a constant from 0 to 2**63 - 1."""
    return isinstance(kind, types.IntegerLiteral) and 0 <= kind.literal_value < 1 << 63


def _build_tuples(function: Any) -> None:
    """Build constant tuples from their parts.

    From Python 3.12 on, ``return 0, 0`` returns a constant tuple, and numba forgets that its parts
    are constants.
    """
    for block in function.blocks.values():
        for made in list(block.find_insts(ir.Assign)):
            if isinstance(made.value, ir.Const) and type(made.value.value) is tuple:
                parts = []
                for value in made.value.value:
                    part = ir.Var(block.scope, mk_unique_var("$part"), made.loc)
                    parts.append(ir.Assign(ir.Const(value, made.loc), part, made.loc))
                whole = ir.Expr.build_tuple([part.target for part in parts], made.loc)
                at = block.body.index(made)
                block.body[at : at + 1] = [*parts, ir.Assign(whole, made.target, made.loc)]
                function._definitions[made.target.name] = [whole]
                function._definitions.update({p.target.name: [p.value] for p in parts})


@register_pass(mutates_CFG=True, analysis_only=False)
class RulesTyping(typed_passes.NopythonTypeInference):  # type: ignore[misc]
    """numba's type inference; functions outside the engine follow the rules of this module."""

    _name = "rules_typing"

    def run_pass(self, state: Any) -> bool:
        numbas = state.typingctx
        of_engine = is_of_engine(state.func_id.modname)
        state.typingctx = (_Context if of_engine else _RulesContext)(numbas)
        if not of_engine:
            _build_tuples(state.func_ir)
        try:
            return bool(super().run_pass(state))
        finally:
            state.typingctx = numbas
