"""The games that have a name, described from their sources without loading them.

So listing games, or completing what a person types, imports no game.
"""

from __future__ import annotations

import ast
import pkgutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLLECTION = "cutnode.games"
"""The package whose games are known by their bare names."""

PACKAGE = Path(__file__).parents[1]
FOLDER = PACKAGE / "games"
"""The folder of that package."""

FORMER = {COLLECTION: "games", "cutnode": "engine"}
"""The names of packages before version 0.3: files saved then contain them, and so do keys of
tables."""

POSITIONS = FOLDER / "positions"
"""The folder of position sets: a folder for each game, with a text file for each set."""

EVALUATION = "evaluate_"
"""The prefix of functions that are estimates with a name."""


@dataclass(frozen=True, slots=True)
class Description:
    """A description of a game, from its source."""

    name: str
    about: str
    """The first line of its docstring."""
    variants: tuple[str, ...]
    """``VARIANTS``: the variants that lists offer, the usual one first."""
    evaluations: tuple[str, ...]
    """The estimates that it defines in addition to its usual one."""
    record_suffix: str
    """The file suffix of its own format for games; "" if it has none."""


def is_of_engine(module: str) -> bool:
    """Return whether a module of this name is part of the engine, and not a game."""
    return f"{module}.".startswith("cutnode.") and not f"{module}.".startswith(f"{COLLECTION}.")


def former_name(module: str) -> str:
    """Return the name of a module of cutnode before version 0.3; others unchanged."""
    for name, former in FORMER.items():
        if f"{module}.".startswith(f"{name}."):
            return former + module.removeprefix(name)
    return module


def present_name(module: str) -> str:
    """Return the present name of a module that :func:`former_name` may have named."""
    for name, former in FORMER.items():
        if module.startswith(f"{former}."):
            return name + module.removeprefix(former)
    return module


def is_file_of_engine(path: str | Path) -> bool:
    """Return whether a source file is part of the engine, and not of a game."""
    return Path(path).is_relative_to(PACKAGE) and not Path(path).is_relative_to(FOLDER)


def game_names() -> list[str]:
    """Return the names of the games that need no path, sorted."""
    return sorted(info.name for info in pkgutil.iter_modules([str(FOLDER)]))


def position_sets(game: str) -> dict[str, Path]:
    """Return the files of a game's position sets, by name; none if the game has no sets."""
    return {path.stem: path for path in sorted((POSITIONS / game).glob("*.txt"))}


def described(source: str) -> Description:
    """Describe the game with a name, or in a file, from its source alone.

    :class:`OSError` or :class:`SyntaxError` if the source cannot be read.
    """
    path = Path(source) if source.endswith(".py") else FOLDER / f"{source}.py"
    if not path.is_file() and path.parent == FOLDER:
        path = FOLDER / source / "__init__.py"
    tree = ast.parse(path.read_bytes())
    about = (ast.get_docstring(tree) or "").partition("\n")[0]
    evaluations = tuple(
        node.name.removeprefix(EVALUATION)
        for node in _functions(tree)
        if node.name.startswith(EVALUATION)
    )
    variants = _literal(tree, "VARIANTS", ())
    suffix = str(_literal(tree, "RECORD_SUFFIX", ""))
    return Description(source, about, tuple(map(str, variants)), evaluations, suffix)


def functions_of_file(path: str, parameters: int) -> list[str]:
    """Return the names of the functions of a file with that many *parameters*; do not load it.

    :class:`OSError` or :class:`SyntaxError` if it cannot be read.
    """
    tree = ast.parse(Path(path).read_bytes())
    return [node.name for node in _functions(tree) if len(node.args.args) == parameters]


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _literal(tree: ast.Module, name: str, default: Any) -> Any:
    """Return the literal that a module assigns to a name, else the default."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            try:
                return ast.literal_eval(node.value)
            except ValueError:
                return default
    return default
