"""The layers of rooms hold: which rooms import which, and how long functions are."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from marks import compiled_only

import cutnode
from cutnode.compiler.jit import Kernel
from cutnode.search.api import search

pytestmark = pytest.mark.once

ROOT = Path(cutnode.__file__).parents[2]

PACKAGE = ROOT / "engine" / "cutnode"
STUB = PACKAGE / "__init__.pyi"

FLOORS = [
    {"contract"},
    {"compiler"},
    {"kernels"},
    {"runtime"},
    {"storage"},
    {"tablebases"},
    {"cgt"},
    {"search"},
    {"batches", "tree", "playing", "conformance", "adapters"},
    {"lab", "cluster", "export", "training", "explaining"},
    {"service"},
    {"cli"},
]
"""The rooms of the engine by floor, lowest first: no room imports from a higher floor."""

FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

MOST_LINES = 250
"""The most lines in a function."""

PROGRAMS = {
    *("cutnode.games.chess.tuning", "cutnode.games.chess.uci", "cutnode.games.go.gtp"),
    *("cutnode.games.othello.nboard", "cutnode.games.othello.training"),
}
"""Modules in a game's folder that are programs: protocols, and trainers of evaluations."""


@functools.cache
def tree_of(path):
    """Return the syntax tree of a source."""
    return ast.parse(path.read_text())


def name_of(path, folder):
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


SOURCES = {
    name_of(path, PACKAGE.parent): path
    for folder in (PACKAGE, PACKAGE / "games")  # a link
    for path in sorted(folder.rglob("*.py"))
}


def imports_of(name):
    """Return the project's modules that a module imports, including in functions and for types.

    ``from cutnode import search`` counts as the package, which looks up names when they are used.
    """
    found = set()
    package = name if SOURCES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree_of(SOURCES[name])):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            parts = [*(above if node.level else []), *filter(None, [node.module])]
            module = ".".join(parts)
            children = {f"{module}.{alias.name}" for alias in node.names}
            found |= (children & SOURCES.keys()) or {module}
    return (found & SOURCES.keys()) - {name}


@functools.cache
def all_imports():
    """Return what each module imports."""
    return {name: imports_of(name) for name in SOURCES}


def circles():
    """Return the strongly connected components of more than one module (Tarjan's algorithm)."""
    imports = all_imports()
    index, low, stack, found = {}, {}, [], set()

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(imports[name] - {"cutnode"}):
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.add(frozenset(stack[at:]))
            del stack[at:]

    for name in SOURCES:
        if name not in index:
            visit(name)
    return found


def floor_of(name):
    """Return a module's floor: games stand above the engine, and its ``__main__`` is a command."""
    room = name.split(".")[1]
    if room == "games":
        return len(FLOORS)
    return FLOOR[{"__main__": "cli", "cells": "contract", "hooks": "kernels"}.get(room, room)]


def test_every_room_has_a_floor():
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms - {"games"} == FLOOR.keys()


def test_no_circles():
    assert circles() == set()


def test_no_room_imports_anything_of_a_higher_floor():
    upward = {
        (name, other)
        for name, imported in all_imports().items()
        for other in imported - {"cutnode"}
        if not name.startswith("cutnode.games")
        and name != "cutnode"
        and floor_of(other) > floor_of(name)
    }
    assert upward == set()


def test_rules_import_nothing_above_the_compiler():
    """A game never imports a kernel; the programs in its folder may."""
    importing = {
        name
        for name, imported in all_imports().items()
        for other in imported - {"cutnode"}
        if name.startswith("cutnode.games.") and FLOOR["compiler"] < floor_of(other) < len(FLOORS)
    }
    assert importing == PROGRAMS


def run(program):
    """Return the JSON that a program prints in a separate process."""
    output = subprocess.check_output(
        [sys.executable, "-W", "error", "-c", f"import json, sys\n{program}"], text=True, cwd=ROOT
    )
    return json.loads(output)


def test_rules_load_neither_kernels_nor_searches():
    games = sorted(f"games.{name}" for name in cutnode.game_names())
    loaded = run(
        "import cutnode.games.tictactoe\n"
        "rules_alone = sorted(sys.modules)\n"
        f"import {', '.join(games)}\n"
        "print(json.dumps([rules_alone, sorted(sys.modules)]))"
    )
    rules_alone, all_games = (
        {name.split(".")[1] for name in modules if name.startswith("cutnode.")}
        for modules in loaded
    )
    assert rules_alone == all_games == {"contract", "compiler", "games"}


def test_names_are_of_one_kind():
    """``cutnode.search`` is a module, before and after the function of that name is used."""
    kinds = run(
        "import cutnode\n"
        "from cutnode import *\n"
        "from cutnode import search as called\n"
        "import cutnode.search as module\n"
        "print(json.dumps([type(x).__bases__[0].__name__ for x in (cutnode.search, called, module)]"
        " + [callable(called), module is sys.modules['cutnode.search']]))"
    )
    assert kinds == ["module", "module", "module", True, True]


def test_public_names_are_listed_once():
    listed = [
        alias
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    names = [alias.name for alias in listed]
    assert names == [alias.asname for alias in listed]  # what type checkers take for an export
    assert cutnode.__all__ == sorted(set(names)) == sorted(names)
    assert dir(cutnode) == sorted([*cutnode.__all__, "__version__"])


def lines_of_functions():
    for path in SOURCES.values():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                place = f"{path.relative_to(ROOT).as_posix()}:{node.name}"
                yield place, node.end_lineno - node.lineno + 1


def test_no_function_is_too_long():
    assert {place for place, lines in lines_of_functions() if lines > MOST_LINES} == set()


@compiled_only
@pytest.mark.parametrize(
    ("ask", "steps"),
    [
        (lambda: cutnode.solve("tictactoe", "15"), ["solve", "prove", "prove", "attempt"]),
        (
            lambda: search("tictactoe", "15", depth=1),
            ["search", "run", "run", "_iterate", "_score", "call"],
        ),
    ],
)
def test_the_way_to_a_kernel_is_short(monkeypatch, ask, steps):
    """From a question to the first call of the kernel that answers it."""
    ways = []
    specialise = Kernel.specialise

    def watched(kernel, *types):
        run = specialise(kernel, *types)

        def call(*arguments):
            frames = traceback.extract_stack()
            ways.append([frame.name for frame in frames if str(PACKAGE) in frame.filename])
            return run(*arguments)

        return call

    monkeypatch.setattr(Kernel, "specialise", watched)
    ask()
    assert ways[0] == steps
