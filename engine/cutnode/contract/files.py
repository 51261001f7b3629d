"""Modules loaded from files: a game's file, and its neighbours in the same folder.

A file is loaded under its own name, or under another if that is taken, so two files called
``same.py`` in two folders can both be loaded.  ``import helper`` in such a file means the
``helper.py`` next to it, unless Python or an installed package has a module of that name.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import importlib.util
import re
import sys
import traceback
from hashlib import blake2b
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from cutnode.contract.errors import GameError

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Folders of installed packages."""

_neighbours: dict[tuple[Path, str], ModuleType] = {}
"""The modules that files import from their own folder, by folder and name."""


def module_of_file(path: Path) -> ModuleType:
    """Load a file as a module, once; :class:`GameError` says why that fails."""
    if not path.is_file():
        raise GameError(f"there is no file {str(path)!r}")
    try:
        return _loaded(path.stem, path.resolve())
    except (Exception, SystemExit) as error:
        raise failure(str(path), error) from error


def failure(source: str, error: BaseException) -> GameError:
    """Return the error for a module that could not be read (Python says where) or run."""
    steps = traceback.extract_tb(error.__traceback__)
    places = [f" ({Path(s.filename).name}, line {s.lineno})" for s in steps if s.name == "<module>"]
    place = "" if isinstance(error, SyntaxError) or not places else places[-1]
    return GameError(f"cannot load {source!r}: {type(error).__name__}: {error}{place}")


def _loaded(stem: str, file: Path) -> ModuleType:
    """Return the module of a file; load it if that was not done yet."""
    name = re.sub(r"\W", "_", stem)
    apart = f"{name}_{blake2b(str(file).encode(), digest_size=4).hexdigest()}"
    for known in (name, apart):
        if getattr(sys.modules.get(known), "__file__", None) == str(file):
            return sys.modules[known]
    if name in sys.modules or name in sys.stdlib_module_names:
        name = apart
    inside = [str(file.parent)] if file.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise GameError(f"cannot load {str(file)!r} as a module")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        run_file(module, spec)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def run_file(module: ModuleType, spec: ModuleSpec) -> None:
    """Run the file of a new module, which may import its neighbours."""
    folder = Path(str(spec.origin)).parent
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # for packages without a file of their own
    own = {"__import__": functools.partial(_import, folder)}
    module.__dict__["__builtins__"] = vars(builtins) | own
    assert spec.loader is not None
    spec.loader.exec_module(module)


def imported_by(module: ModuleType, name: str) -> ModuleType | None:
    """Return the module that ``import name`` gave to *module*; None if it is not loaded."""
    head, dot, rest = name.partition(".")
    own = _neighbours.get((Path(str(module.__file__)).parent, head))
    return sys.modules.get(name if own is None else f"{own.__name__}{dot}{rest}")


def _neighbour(folder: Path, name: str) -> Path | None:
    """Return the file that ``import name`` means in a folder; None if it is not in the folder."""
    files = folder / f"{name}.py", folder / name / "__init__.py"
    file = next((file for file in files if file.is_file()), None)
    if file is None or name in sys.stdlib_module_names:
        return None
    found: Any = sys.modules.get(name)
    if found is None:
        with contextlib.suppress(ImportError, ValueError):
            found = importlib.util.find_spec(name)
    origin = getattr(found, "__file__", None) or getattr(found, "origin", None)
    return None if origin and INSTALLED & set(Path(origin).parts) else file


def _import(
    folder: Path,
    name: str,
    names: Any = None,
    local: Any = None,
    wanted: Any = (),
    level: int = 0,
) -> ModuleType:
    """Import as Python does, but look in a folder first."""
    head, _, rest = name.partition(".")
    file = None if level else _neighbour(folder, head)
    if file is None:
        return __import__(name, names, local, wanted, level)
    module = _neighbours[folder, head] = _loaded(head, file)
    inner = importlib.import_module(f"{module.__name__}.{rest}") if rest else module
    for part in wanted or ():
        if hasattr(inner, "__path__") and not hasattr(inner, part):
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(f"{inner.__name__}.{part}")
    return inner if wanted else module
