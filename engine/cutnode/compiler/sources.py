"""The sources that machine code depends on, and their digest.

The code of a kernel depends on the sources of the engine's ``contract`` and ``compiler``, all of
which can affect any code; of the engine's ``kernels``, on the kernel's module and each one that it,
the game, the evaluation or a technique imports, directly or not; and on the game, the evaluation
and the techniques: on the file of each, and every module that it imports from its own package, or
that is not an installed one.  For a game that is a package, every file in its folder counts.

Imports are read from the text, in functions, too.  Where the text does not tell what is imported
(``import cutnode``, an installed package, ``importlib``), the code depends on all kernels.

A digest of each file and the names that it imports are kept in the cache for the next process, by
the file's size and times.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import itertools
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from cutnode.compiler.directory import read_memo, write_memo
from cutnode.contract.collection import is_of_engine
from cutnode.contract.files import INSTALLED, imported_by

ENGINE = Path(__file__).parents[1]
KERNELS = ENGINE / "kernels"

FOR_ALL = ("contract", "compiler")
"""The folders of the engine whose sources can end up in the machine code of any kernel.  They
import no kernel."""

STARTED = time.time_ns()
"""The time before which a source must have been edited last to be sure that it is what runs."""

MEMO = "sources.json"
MOST_REMEMBERED = 2_000
"""The file of the memo, and the most sources in it; older ones are forgotten."""

SETTLED_NS = 2_000_000_000
"""The least age of a source to remember, in nanoseconds: a file system's clock may be coarse, and a
second edit in the same tick would go unnoticed."""

HARMLESS = frozenset({"numpy", "numba", "llvmlite"})
"""Installed packages that import no kernel."""


@dataclass(slots=True)
class Source:
    """The digest and the imports of a file, each read when it is first needed."""

    stamp: list[int]
    """Its size and times when it was read."""
    digest: str = ""
    imports: list[str] | None = None
    """The names that it imports, anywhere in it; a relative one begins with dots."""


def sources_digest(cls: type, modules: list[str]) -> str | None:
    """Return a digest of the sources of a class and *modules*; None if they are not reliable.

    Types defined in ``__main__`` (a script, a notebook) or inside functions have no importable name
    by which a later process could find them, so code compiled for them is not kept.
    """
    module = sys.modules.get(cls.__module__)
    if module is None or "__main__" in (cls.__module__, *modules):
        return None
    if getattr(module, cls.__qualname__, None) is not cls:
        return None
    digest = hashlib.blake2b(digest_size=16)
    try:
        for path in sorted(_sources(module, *(sys.modules[name] for name in modules))):
            stat = path.stat()
            if stat.st_mtime_ns > STARTED:
                return None
            digest.update(_digest_of(path, stat).encode())
    except (OSError, SyntaxError):
        return None
    _remember()
    return digest.hexdigest()


def _sources(*modules: ModuleType) -> set[Path]:
    """Return the files that the machine code of a kernel depends on."""
    found = {path for folder in FOR_ALL for path in (ENGINE / folder).glob("*.py")}
    names: set[str] = set()
    for module in modules:
        for path, imported in _own(module, set()):
            found.add(path)
            names |= imported
    found |= _kernels(names)
    return found | {path.parent / "__init__.py" for path in found if path.parent == KERNELS}


def own_sources(module: ModuleType) -> Iterator[Path]:
    """Yield the files, other than ours, that the compiled code of a game or kernel depends on."""
    return (path for path, _ in _own(module, set()))


def _own(module: ModuleType, seen: set[str]) -> Iterator[tuple[Path, set[str]]]:
    """Yield such files, each with the names of the engine that it imports."""
    if module.__name__ in seen or not getattr(module, "__file__", None):
        return
    is_game = not seen
    seen.add(module.__name__)
    path = Path(str(module.__file__))
    if path.name == "__init__.py" and (is_game or "." in module.__name__):
        files = (file for file in path.parent.rglob("*") if file.suffix != ".pyc")
        yield from ((file, set()) for file in files if file.is_file())
    names = set()
    for name in _imports(path, module.__package__ or ""):
        if is_of_engine(name):
            names.add(name)
            continue
        imported = imported_by(module, name)
        if imported is not None and _is_own_code(imported, module):
            yield from _own(imported, seen)
        elif imported is not None and _may_import_kernels(name):
            names.add(ANYTHING)
    yield path, names


def _is_own_code(module: ModuleType, importer: ModuleType) -> bool:
    """Return whether a module is the game author's: not installed, not Python's, not ours."""
    origin = str(getattr(module, "__file__", None))
    name = module.__name__
    top = name.partition(".")[0]
    if not origin.endswith(".py") or is_of_engine(name) or top in sys.stdlib_module_names:
        return False
    if top in {"cutnode", importer.__name__.partition(".")[0]}:
        return True
    return not INSTALLED & set(Path(origin).parts)


def _may_import_kernels(name: str) -> bool:
    """Return whether a module whose source is not read may import kernels."""
    top = name.partition(".")[0]
    return top == "importlib" or top not in {*HARMLESS, *sys.stdlib_module_names}


ANYTHING = "cutnode.*"
"""The name of an import that may be any of the engine's modules."""


def _kernels(names: Iterable[str]) -> set[Path]:
    """Return the files in the folder of kernels that names import, directly or not."""
    found: set[Path] = set()
    waiting = [*names]
    while waiting:
        new = _files_of_engine(waiting.pop()) - found
        found |= new
        for path in new:
            waiting += filter(is_of_engine, _imports(path, _package_of(path)))
    return {path for path in found if path.parent == KERNELS}


@functools.cache
def _files_of_engine(name: str) -> frozenset[Path]:
    """Return the files to follow of the engine that an imported name means.

    There are none for a name inside a module, and for modules that every kernel depends on.  A
    package gives access to all modules in it that are loaded.
    """
    top, *parts = name.split(".")
    if parts[:1] == ["*"]:
        return frozenset(KERNELS.glob("*.py"))
    if not parts or parts[0] in FOR_ALL:
        return frozenset()
    stem = ENGINE.joinpath(*parts)
    if stem.is_dir():
        return _files_of_engine(ANYTHING)
    file = stem.with_suffix(".py")
    if file.is_file():
        return frozenset({file})
    if len(parts) > 1:
        return frozenset()
    listed = _imports(ENGINE / "__init__.pyi", top)
    homes = [home for home in listed if home.rpartition(".")[2] == parts[0]]
    return frozenset(file for home in homes for file in _files_of_engine(home.rpartition(".")[0]))


def _package_of(path: Path) -> str:
    """Return the package of a file of the engine."""
    return ".".join(path.parent.relative_to(ENGINE.parent).parts)


def _imports(path: Path, package: str) -> Iterator[str]:
    """Yield the names that a file imports, as absolute ones."""
    source = _source(path, path.stat())
    if source.imports is None:
        source.imports = [*_imported(path.read_bytes())]
        _note(path, source)
    for name in source.imports:
        with contextlib.suppress(ImportError):
            yield importlib.util.resolve_name(name, package)


def _digest_of(path: Path, stat: os.stat_result) -> str:
    source = _source(path, stat)
    if not source.digest:
        source.digest = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        _note(path, source)
    return source.digest


_known: dict[str, Source] = {}
"""The sources read so far, by path."""

_news: dict[str, Source] = {}
"""The ones of which the memo does not have all yet."""


def _source(path: Path, stat: os.stat_result) -> Source:
    """Return what is known of a file with these times, from this process or the memo."""
    name, stamp = str(path), [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size]
    found = _known.get(name)
    if found is None and name in _memo():
        found = Source(*_memo()[name])
    if found is None or found.stamp != stamp:
        found = Source(stamp)
    _known[name] = found
    return found


@functools.cache
def _memo() -> dict[str, list[Any]]:
    return read_memo(MEMO)


def _note(path: Path, source: Source) -> None:
    """Note what was read of a source, for the memo."""
    if time.time_ns() - source.stamp[0] > SETTLED_NS:
        _news[str(path)] = source


def _remember() -> None:
    """Add to the memo what was read by this process."""
    news = {}
    while _news:
        name, source = _news.popitem()
        news[name] = [source.stamp, source.digest, source.imports]
    if news:
        entries = {**read_memo(MEMO), **news}
        write_memo(MEMO, dict([*entries.items()][-MOST_REMEMBERED:]))


def _imported(data: bytes) -> Iterator[str]:
    """Yield the names that a source imports, anywhere in it.

    ``import a.b`` gives the source all of ``a``: this is yielded as ``a.*``.
    """
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from itertools.accumulate(alias.name.split("."), "{}.{}".format)
                yield f"{alias.name.partition('.')[0]}.*"
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            yield name
            stem = name if name.endswith(".") else f"{name}."
            yield from (f"{stem}{alias.name}" for alias in node.names)
