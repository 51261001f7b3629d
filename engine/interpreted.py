"""Kernels as plain Python: how a game is searched whose rules are not compiled.

A kernel names verbs, other kernels and helpers.  When numba compiles it for a class of
positions it binds these names to the rules of that class.  :func:`interpret` does the same
for plain Python: it copies the kernel, and all that the kernel calls, with other global
names.  So the same search runs, node for node, only slower, and positions may be any
hashable objects.

What is constant for the class (that the mover never moves again, that there is no chance)
is put in place of its call, and so is a function of the engine that is one expression; casts
go.  Calls are what plain Python spends most of its time on.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import dis
import functools
import inspect
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from engine import positions
from engine.bits import Bits
from engine.contract import (
    DERIVED,
    DISPATCHED,
    VERBS,
    bind,
    game_constant,
    game_name,
    module_of,
)
from engine.errors import ContractError, CutnodeError
from engine.native import is_compiled
from engine.people import explained

__all__ = ["Interpretable", "Observer", "interpret", "observed"]

FRAMES_PER_PLY = 3

Observer = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Makes of a function one that is called in its place, with the same arguments, and calls it."""

_observers: ContextVar[Mapping[Any, Observer] | None] = ContextVar("observers", default=None)


class Interpretable:
    """What is called by its name, and is a plain function for plain Python."""

    function: Callable[..., Any]


def interpret(function: Callable[..., Any], cls: Any) -> Callable[..., Any]:
    """A kernel's function, bound to the rules of a position class.

    What fails in the rules is a :class:`ContractError` that says where.
    """
    binding = _binding(cls)
    run = binding.observe(function, binding.interpret(function))
    argument = binding.argument
    needed = FRAMES_PER_PLY * game_constant(cls, "MAX_PLIES", 512) + 1000

    def call(*args: Any) -> Any:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), needed))
        try:
            return run(*map(argument, args))
        except CutnodeError:
            raise
        except Exception as error:
            failure = explained(error) or ContractError(
                f"the rules of {game_name(cls)} do not run: {type(error).__name__}: {error}"
            )
            raise failure from error

    return call


@contextlib.contextmanager
def observed(observers: Mapping[Any, Observer]) -> Iterator[None]:
    """See what searches in plain Python do that this thread sets up meanwhile.

    *observers* are for functions of the engine, of kernels and verbs among them.  All other
    searches stay as they are.
    """
    token = _observers.set(observers)
    try:
        yield
    finally:
        _observers.reset(token)


_bindings: dict[Any, Binding] = {}


def _binding(cls: Any) -> Binding:
    """The binding of a class; a new one if a rule was defined again since (in a notebook)."""
    if observers := _observers.get():
        return Binding(cls, observers)
    binding = _bindings.get(cls)
    if binding is None or binding.rules != _rules(cls):
        binding = _bindings[cls] = Binding(cls)
    return binding


def _rules(cls: Any) -> list[Any]:
    module = module_of(cls)
    return [getattr(module, name, None) for name in VERBS]


class Binding:
    """What the names in the engine's compiled functions mean for a class of positions."""

    def __init__(self, cls: Any, observers: Mapping[Any, Observer] | None = None):
        self.cls = cls
        self.observers = observers or {}
        self.rules = _rules(cls)
        self._spaces: dict[str, dict[str, Any]] = {}
        self._copies: dict[Callable[..., Any], FunctionType] = {}
        self._unsimplified: list[tuple[Any, FunctionType]] = []

    def interpret(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose global names have their meaning for the class, simplified."""
        run = self.copy(function)
        while self._unsimplified:
            original, copy = self._unsimplified.pop()
            copy.__code__ = _simplified(original, copy.__globals__)
        return run

    def copy(self, function: Any) -> Callable[..., Any]:
        """A function whose global names have their meaning for the class."""
        if function not in self._copies:
            space = self._space(function.__globals__)
            self._copies[function] = FunctionType(
                function.__code__,
                space,
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
            if not function.__closure__ and function.__name__ != "<lambda>":
                self._unsimplified.append((function, self._copies[function]))
        return self._copies[function]

    def argument(self, given: Any) -> Any:
        """An argument from outside as plain Python wants it."""
        if isinstance(given, np.ndarray) and given.dtype == np.uint64:
            return memoryview(given)  # type: ignore[arg-type]  # its elements are ints
        if isinstance(given, Interpretable):
            return self._meaning(given.function)
        return given

    def _space(self, names: dict[str, Any]) -> dict[str, Any]:
        """The global names of a module; functions see what is filled in later."""
        module = names["__name__"]
        if module not in self._spaces:
            self._spaces[module] = space = dict(names)
            for name, value in names.items():
                space[name] = self._meaning(value)
        return self._spaces[module]

    def _meaning(self, value: Any) -> Any:
        return self.observe(value, self._unobserved(value))

    def observe(self, original: Any, run: Any) -> Any:
        """What is called for *run*, the meaning of *original*."""
        if self.observers:
            function = original.function if isinstance(original, Interpretable) else original
            if isinstance(function, FunctionType) and function in self.observers:
                return self.observers[function](run)
        return run

    def _unobserved(self, value: Any) -> Any:
        if isinstance(value, Interpretable):
            return self.copy(value.function)
        if not isinstance(value, FunctionType | type | ModuleType):
            return value
        if value in SUBSTITUTES:
            return SUBSTITUTES[value]
        if value in DISPATCHED:
            return self._rule(DISPATCHED[value])
        if value in DERIVED:
            return self.copy(DERIVED[value](self.cls))
        if is_compiled(value) and value.__module__.partition(".")[0] == "engine":
            return self.copy(value)
        return value

    def _rule(self, name: str) -> Callable[..., Any]:
        rule = bind(self.cls, name)
        return self.copy(rule) if rule is VERBS[name] else rule


def _park(words: Any, index: int, position: Any) -> None:
    if isinstance(words, list):
        words[index] = position
    else:
        positions.park(words, index, position)  # an entry of a table


def _load(words: Any, index: int, like: Any) -> Any:
    return words[index] if isinstance(words, list) else positions.load(words, index, like)


SUBSTITUTES: dict[Any, Any] = {
    np: SimpleNamespace(int64=int, uint64=int, float64=float),
    Bits: int,
    positions.park: _park,
    positions.load: _load,
    positions.width: lambda position: 1,
}
"""Positions are stored as the objects they are, and whole numbers are Python's."""


class _Simplifier(ast.NodeTransformer):
    """Puts constants and expressions in place of calls, and leaves casts out.

    Arguments of calls that always return the same have no effects.
    """

    def __init__(self, names: dict[str, Any]):
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
        if all(map(_is_simple, node.args)) and self._means_the_same_here(function):
            expression = _expression(function)
            if expression is not None:
                names = function.__code__.co_varnames
                meanings = dict(zip(names, node.args, strict=True))
                return _substituted(expression, meanings)
        return node

    def _means_the_same_here(self, function: FunctionType) -> bool:
        """Whether what a function names is the same object in this module."""
        there = function.__globals__
        return all(
            there[name] is self.names.get(name) if name in there else hasattr(builtins, name)
            for name in function.__code__.co_names
        )


class _Substitution(ast.NodeTransformer):
    """Puts expressions in place of names."""

    def __init__(self, meanings: Mapping[str, ast.expr]):
        self.meanings = meanings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = isinstance(node.ctx, ast.Load) and node.id in self.meanings
        return copy.deepcopy(self.meanings[node.id]) if known else node


def _substituted(tree: Any, meanings: Mapping[str, ast.expr]) -> Any:
    return _Substitution(meanings).visit(tree)


class _Folder(ast.NodeTransformer):
    """Leaves out what constants decide."""

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
    """Put constants in place of the names that only ever stand for them, and fold."""
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
    """Whether an expression may be evaluated more than once, or not at all."""
    if isinstance(argument, ast.Attribute):
        return _is_simple(argument.value)
    return isinstance(argument, ast.Name | ast.Constant)


_CONSTANT = {
    *("RESUME", "COPY_FREE_VARS", "LOAD_CONST", "LOAD_SMALL_INT", "LOAD_GLOBAL", "LOAD_DEREF"),
    *("RETURN_VALUE", "RETURN_CONST"),
}


def _is_constant(function: FunctionType) -> bool:
    """Whether a function does nothing but return the same number each time."""
    if any(step.opname not in _CONSTANT for step in dis.get_instructions(function)):
        return False
    return isinstance(function(*[None] * function.__code__.co_argcount), int | float)


def _simplified(function: Any, names: dict[str, Any]) -> CodeType:
    """The code of a function where global names have these meanings."""
    definition = _definition(function)
    definition.decorator_list = []
    definition.returns = None
    for argument in definition.args.args:
        argument.annotation = None
    tree = ast.Module([_fold(_Simplifier(names).visit(definition))], [])
    module = compile(ast.fix_missing_locations(tree), inspect.getfile(function), "exec")
    return next(part for part in module.co_consts if isinstance(part, CodeType))


@functools.cache
def _source(function: Any) -> str:
    lines, first = inspect.getsourcelines(function)
    return "\n" * (first - 1) + textwrap.dedent("".join(lines))


def _definition(function: Any) -> ast.FunctionDef:
    """A function as a tree, with the line numbers of its file."""
    definition = ast.parse(_source(function)).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _expression(function: FunctionType) -> ast.expr | None:
    """What a function returns, if that is all it does."""
    if function.__closure__ or function.__name__ == "<lambda>":
        return None
    *before, last = _definition(function).body
    documented = all(isinstance(step, ast.Expr) for step in before)
    return last.value if isinstance(last, ast.Return) and documented else None
