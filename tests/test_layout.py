"""The layout of rooms holds: what imports what, and how much stands in one function."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import engine

ROOT = Path(engine.__file__).parents[1]

STUB = ROOT / "engine" / "__init__.pyi"

FLOORS = [
    {"contract"},
    {"compiler"},
    {"kernels"},
    {"runtime"},
    {"storage"},
    {"tablebases"},
    {"search"},
    {"batches", "tree", "playing", "conformance", "adapters"},
    {"lab", "cluster", "training"},
    {"service"},
    {"cli"},
    {"docs", "face"},
]
"""The rooms of the engine from the lowest floor up: a room imports nothing of a higher floor."""

FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

MOST_LINES = 250
"""Lines of the longest function."""

PROGRAMS = {
    *("games.chess.tuning", "games.chess.uci"),
    *("games.othello.nboard", "games.othello.training"),
}
"""Modules beside a game's rules that are programs: protocols, and trainers of evaluations."""


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


SOURCES = {
    name_of(path): path
    for folder in ("engine", "games")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def imports_of(name):
    """The modules of the project that a module imports anywhere: for types and in functions, too.

    ``from engine import search`` names the package; its names are looked up when they are used.
    """
    found = set()
    package = name if SOURCES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(SOURCES[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            parts = [*(above if node.level else []), *filter(None, [node.module])]
            module = ".".join(parts)
            children = {f"{module}.{alias.name}" for alias in node.names}
            found |= (children & SOURCES.keys()) or {module}
    return (found & SOURCES.keys()) - {name}


IMPORTS = {name: imports_of(name) for name in SOURCES}


def circles():
    """The strongly connected components of more than one module (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], set()

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(IMPORTS[name] - {"engine"}):
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
    """The floor of a module: games stand above the engine, and its ``__main__`` is a command."""
    package, _, rest = name.partition(".")
    if package == "games":
        return len(FLOORS)
    return FLOOR["cli" if rest == "__main__" else rest.partition(".")[0]]


def test_every_room_has_a_floor():
    rooms = {path.parent.name for path in (ROOT / "engine").glob("*/__init__.py")}
    assert rooms == FLOOR.keys() - {"face"}


def test_no_circles():
    assert circles() == set()


def test_no_room_imports_anything_of_a_higher_floor():
    upward = {
        (name, other)
        for name, imported in IMPORTS.items()
        for other in imported - {"engine"}
        if name.startswith("engine.") and floor_of(other) > floor_of(name)
    }
    assert upward == set()


def test_rules_import_nothing_above_the_compiler():
    """A game never imports a kernel; programs beside its rules may."""
    importing = {
        name
        for name, imported in IMPORTS.items()
        for other in imported - {"engine"}
        if name.startswith("games.") and FLOOR["compiler"] < floor_of(other) < len(FLOORS)
    }
    assert importing == PROGRAMS


def run(program):
    """What a program prints, as JSON, in a process of its own."""
    output = subprocess.check_output(
        [sys.executable, "-W", "error", "-c", f"import json, sys\n{program}"], text=True, cwd=ROOT
    )
    return json.loads(output)


def test_rules_load_neither_kernels_nor_searches():
    games = sorted(f"games.{name}" for name in engine.game_names())
    loaded = run(
        "import games.tictactoe\n"
        "rules_alone = sorted(sys.modules)\n"
        f"import {', '.join(games)}\n"
        "print(json.dumps([rules_alone, sorted(sys.modules)]))"
    )
    rules_alone, all_games = (
        {name.split(".")[1] for name in modules if name.startswith("engine.")} for modules in loaded
    )
    assert rules_alone == all_games == {"contract", "compiler"}


def test_names_are_of_one_kind():
    """``engine.search`` is a module, before and after what can be called by that name is used."""
    kinds = run(
        "import engine\n"
        "from engine import *\n"
        "from engine import search as called\n"
        "import engine.search as module\n"
        "print(json.dumps([type(x).__bases__[0].__name__ for x in (engine.search, called, module)]"
        " + [callable(called), module is sys.modules['engine.search']]))"
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
    assert engine.__all__ == sorted(set(names)) == sorted(names)
    assert dir(engine) == sorted([*engine.__all__, "__version__"])


def lines_of_functions():
    for path in SOURCES.values():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                place = f"{path.relative_to(ROOT).as_posix()}:{node.name}"
                yield place, node.end_lineno - node.lineno + 1


def test_no_function_is_too_long():
    assert {place for place, lines in lines_of_functions() if lines > MOST_LINES} == set()
