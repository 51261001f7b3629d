"""Calls from kernels to the program that holds exported code (see :mod:`cutnode.export`).

In Python other threads watch a search: they read its memory and set its stop flag.  Exported code
may have a single thread, so there it calls its host; everywhere else these calls compile to
nothing.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cutnode.contract.native import in_compiled_code

LOOK, REPORT = "host_look", "host_report"
"""The symbols of the host's functions; each takes the address of a search's memory."""


class Host:
    """Whether compiled code has a host."""

    called = False


def look(memory: Any) -> None:
    """Let the host look at a search that has reached its node limit.

    The host may raise the limit, which then was only the time for its next look, or stop the
    search.
    """


def report(memory: Any) -> None:
    """Tell the host that a depth is complete."""


def _calls(name: str) -> Any:
    @intrinsic
    def call(typing: Any, memory: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = cgutils.voidptr_t
            kind = ir.FunctionType(ir.VoidType(), [pointer])
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            builder.call(function, [builder.bitcast(args[0], pointer)])
            return context.get_dummy_value()

        return types.void(memory), generate

    return call


_look, _report = _calls(LOOK), _calls(REPORT)


@in_compiled_code(look)
def _compiled_look(memory: Any) -> Any:
    return (lambda memory: _look(memory)) if Host.called else (lambda memory: None)


@in_compiled_code(report)
def _compiled_report(memory: Any) -> Any:
    return (lambda memory: _report(memory)) if Host.called else (lambda memory: None)
