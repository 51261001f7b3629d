"""Constant folding and inlining, for kernels that run as plain Python.

Plain Python spends most of its time on calls, and many functions that kernels call are constant for
a game: that the mover never moves again, that there is no chance.  Numba finds this out itself;
here the syntax tree is rewritten.  A call with a constant result is replaced by the constant,
branches that constants decide are removed, functions of a single expression are inlined, and casts
are dropped.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dis
import functools
import inspect
import textwrap
from collections import Counter
from collections.abc import Mapping
from tokenize import TokenError
from types import CodeType, FunctionType
from typing import Any, Protocol

MOST_KEPT = 10_000
"""The most folded codes that are kept at a time."""

_kept: dict[Any, CodeType] = {}
"""The folded codes by their functions' own codes, files, and the meanings of what they call."""


class Names(Protocol):
    """The meanings of a module's global names."""

    def get(self, name: str, /) -> Any:
        """Return the meaning of a name; None if there is none."""


def folded(function: Any, names: Names) -> CodeType:
    """Return the folded code of a function whose global *names* have these meanings.

    Without a source to read, it is the function's own code.  Most functions of the engine fold to
    the same code for most games, so the codes are kept.
    """
    try:
        meanings = tuple(_meaning(names.get(called), names) for called in _called(function))
    except OSError:
        return function.__code__  # type: ignore[no-any-return]
    asked = (
        function.__code__,
        function.__code__.co_filename,
        meanings,
    )  # equal codes have many files
    code = _kept.get(asked)
    if code is None:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        code = _kept[asked] = _folded_anew(function, names)
    return code


def _called(function: Any) -> tuple[str, ...]:
    """Return the texts of what a function calls; :class:`OSError` without a source."""
    return _called_in(function.__code__, _source(function))


@functools.lru_cache(MOST_KEPT)
def _called_in(code: CodeType, source: str) -> tuple[str, ...]:
    calls = (node for node in ast.walk(_parsed(code, source)) if isinstance(node, ast.Call))
    return tuple(dict.fromkeys(ast.unparse(node.func) for node in calls))


def _meaning(function: Any, names: Names) -> Any:
    """Return all that folding a function asks about another one that it calls.

    That is its constant, or the code of its expression and which names in it mean the same here.
    """
    if not isinstance(function, FunctionType):
        return None
    if _is_constant(function):
        value = function(*[None] * function.__code__.co_argcount)
        return type(value), repr(value)
    expression = _expression(function)
    if expression is None:
        return None
    there = function.__globals__
    inside = (node.id for node in ast.walk(expression) if isinstance(node, ast.Name))
    same = (there[name] is names.get(name) if name in there else None for name in inside)
    return function.__code__, tuple(same)


def _folded_anew(function: Any, names: Names) -> CodeType:
    definition = _definition(function)
    definition.decorator_list = []
    definition.returns = None
    for argument in definition.args.args:
        argument.annotation = None
    tree = ast.Module([_fold(_Inliner(names).visit(definition))], [])
    module = compile(ast.fix_missing_locations(tree), inspect.getfile(function), "exec")
    return next(part for part in module.co_consts if isinstance(part, CodeType))


class _Inliner(ast.NodeTransformer):
    """Replaces calls by constants and expressions, and drops casts.

    Arguments of calls with a constant result have no side effects.
    """

    def __init__(self, names: Names):
        self.names = names

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        called = ast.unparse(node.func)
        if called in ("Bits", "np.int64") and not isinstance(node.args[0], ast.Attribute):
            return node.args[0]
        function = self.names.get(called)
        if not isinstance(function, FunctionType):
            return node
        if _is_constant(function):
            value = function(*[None] * function.__code__.co_argcount)
            return ast.copy_location(ast.Constant(value), node)
        if all(map(_is_simple, node.args)):
            expression = _expression(function)
            names = function.__code__.co_varnames
            meanings = dict(zip(names, node.args, strict=False))
            if expression is not None and self._means_the_same_here(expression, function, meanings):
                return _substituted(copy.deepcopy(expression), meanings)
        return node

    def _means_the_same_here(
        self, expression: ast.expr, function: FunctionType, known: Mapping[str, ast.expr]
    ) -> bool:
        """Return whether the names in an expression mean the same objects in this module.

        The expression is the source text, so its names may differ from the function's code.
        """
        there = function.__globals__
        names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
        return all(
            there[name] is self.names.get(name) if name in there else hasattr(builtins, name)
            for name in names - known.keys()
        )


class _Substitution(ast.NodeTransformer):
    """Replaces names by expressions."""

    def __init__(self, meanings: Mapping[str, ast.expr]):
        self.meanings = meanings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = isinstance(node.ctx, ast.Load) and node.id in self.meanings
        return copy.deepcopy(self.meanings[node.id]) if known else node


def _substituted(tree: Any, meanings: Mapping[str, ast.expr]) -> Any:
    return _Substitution(meanings).visit(tree)


class _Folder(ast.NodeTransformer):
    """Evaluates conditions that constants decide."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.And):
            for value in node.values:
                if isinstance(value, ast.Constant) and not value.value:
                    return value
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = (node.left, *node.comparators)
        if all(isinstance(side, ast.Constant) for side in sides):
            return ast.Constant(eval(ast.unparse(node)))
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return (node.body if node.test.value else node.orelse) or ast.Pass()
        return node


def _fold(definition: ast.FunctionDef) -> ast.FunctionDef:
    """Replace names that are only ever assigned a constant by that constant, and fold."""
    parameters = (argument.arg for argument in definition.args.args)
    stores = Counter(
        node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    stores.update(parameters)
    while True:
        definition = _Folder().visit(definition)
        constants = {
            node.targets[0].id: node.value
            for node in ast.walk(definition)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
            and stores[node.targets[0].id] == 1
        }
        if not constants:
            return definition
        definition = _substituted(definition, constants)
        stores.subtract(constants.keys())


def _is_simple(argument: ast.expr) -> bool:
    """Return whether an expression may be evaluated more than once, or not at all."""
    if isinstance(argument, ast.Attribute):
        return _is_simple(argument.value)
    return isinstance(argument, ast.Name | ast.Constant)


_CONSTANT = {
    *("RESUME", "COPY_FREE_VARS", "LOAD_CONST", "LOAD_SMALL_INT", "LOAD_GLOBAL", "LOAD_DEREF"),
    *("RETURN_VALUE", "RETURN_CONST"),
}


def _is_constant(function: FunctionType) -> bool:
    """Return whether a function does nothing but return a constant number."""
    if not _returns_a_constant(function.__code__):
        return False
    return isinstance(function(*[None] * function.__code__.co_argcount), int | float)


@functools.lru_cache(MOST_KEPT)
def _returns_a_constant(code: CodeType) -> bool:
    return all(step.opname in _CONSTANT for step in dis.get_instructions(code))


def _source(function: Any) -> str:
    return _source_of_code(inspect.unwrap(function).__code__)


@functools.cache  # by code: copies share it, and a cached copy would keep alive all that it calls
def _source_of_code(code: CodeType) -> str:
    lines, first = inspect.getsourcelines(code)
    return "\n" * (first - 1) + textwrap.dedent("".join(lines))


def _definition(function: Any) -> ast.FunctionDef:
    """Return a function's syntax tree with the line numbers of its file.

    :class:`OSError` without a source.  The file of generated code is ``<string>``.  From Python
    3.13 on, the text of ``python -c`` has that name too, so the source found may be another one.
    """
    return _parsed(function.__code__, _source(function))


def _parsed(code: CodeType, source: str) -> ast.FunctionDef:
    name = code.co_name
    try:
        definition, *_ = ast.parse(source).body
    except (SyntaxError, TokenError, ValueError) as error:
        raise OSError(f"no definition of {name}") from error
    if not isinstance(definition, ast.FunctionDef) or definition.name != name:
        raise OSError(f"no definition of {name}")
    return definition


def _expression(function: FunctionType) -> ast.expr | None:
    """Return the expression that a function consists of; None if it does more or has no source."""
    if function.__closure__ or function.__name__ == "<lambda>":
        return None
    try:
        return _expression_in(function.__code__, _source(function))
    except OSError:
        return None


@functools.lru_cache(MOST_KEPT)
def _expression_in(code: CodeType, source: str) -> ast.expr | None:
    *before, last = _parsed(code, source).body
    documented = all(isinstance(step, ast.Expr) for step in before)
    return last.value if isinstance(last, ast.Return) and documented else None
