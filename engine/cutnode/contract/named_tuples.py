"""How compiled code makes positions: ``_replace``, ``type(position)(...)``, and field defaults.

numba has none of these.  The first two make a position of the same class as another, so rules for
boards of several sizes need not name the class.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    signature,
)
from numba.core.utils import pysignature
from numba.extending import lower_builtin

FIELDS: dict[type, types.Type] = {}
"""The compiled types of the fields of position classes, from their annotations."""


def constructor(context: Any, cls: Any, args: Any, keywords: Any) -> Any:
    """Return the signature of ``cls(...)`` for arguments of these types.

    Fields that are left out take their defaults; :class:`TypingError` if one has none.
    """
    parameters = pysignature(cls)
    try:
        bound = parameters.bind(*args, **keywords)
    except TypeError as error:
        names = ", ".join(cls._fields)
        raise TypingError(f"{cls.__name__}(...): {error}; its fields are {names}") from None
    kinds = [
        bound.arguments[name]
        if name in bound.arguments
        else FIELDS[cls][index]
        if cls in FIELDS
        else context.resolve_value_type(cls._field_defaults[name])
        for index, name in enumerate(cls._fields)
    ]
    made = types.BaseTuple.from_types(kinds, cls)
    return signature(made, *kinds).replace(pysig=parameters)


class _Replace(AbstractTemplate):  # type: ignore[misc]
    """The typing of ``_replace``: an argument for each field, None where the field stays."""

    key = "NamedTuple._replace"

    def generic(self, args: Any, kws: Any) -> Any:
        position = self.this
        if args:
            raise TypingError("_replace takes fields by name: _replace(field=value)")
        for name in kws:
            if name not in position.fields:
                raise TypingError(f"{position.instance_class.__name__} has no field {name!r}")
        wanted = dict(zip(position.fields, position, strict=True))
        for name, given in kws.items():
            is_cut = isinstance(given, types.Float) and isinstance(wanted[name], types.Integer)
            if is_cut or self.context.can_convert(given, wanted[name]) is None:
                raise TypingError(
                    f"field {name} must be {wanted[name]}, got {types.unliteral(given)}"
                )
        taken = [wanted[name] if name in kws else types.none for name in position.fields]
        names = [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=None)
            for name in position.fields
        ]
        return signature(position, *taken, recvr=position).replace(pysig=Signature(names))


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = types.BaseNamedTuple

    def resolve___class__(self, position: Any) -> Any:
        return types.NamedTupleClass(position.instance_class)

    def resolve__replace(self, position: Any) -> Any:
        return types.BoundFunction(_Replace, position)


@lower_builtin(_Replace.key, types.BaseNamedTuple, types.VarArg(types.Any))
def _replaced(context: Any, builder: Any, call: Any, args: Any) -> Any:
    position, *taken = call.args
    before = cgutils.unpack_tuple(builder, args[0])
    values = [
        old if kind == types.none else new
        for old, new, kind in zip(before, args[1:], taken, strict=True)
    ]
    return context.make_tuple(builder, position, values)
