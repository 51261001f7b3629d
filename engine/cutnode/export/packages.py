"""Exports on disk: packages for C and for the web."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cutnode.contract.dispatch import is_plain
from cutnode.contract.errors import ContractError, CutnodeError, GameError
from cutnode.contract.loading import Game
from cutnode.contract.repetition import require_draws
from cutnode.export.assembly import Processor
from cutnode.export.targets import WEB, Linker, Target, processor_of, target_of
from cutnode.export.web import write_web_files

SOURCES = Path(__file__).parent / "source"
C_FILES = ("game.c", "searches.c", "playouts.c", "system.c")

FUNCTIONS = re.compile(r"^CUTNODE_API [\w *]+?\b(cutnode_\w+)\(", re.M)
"""The functions of the C interface, in ``engine.h``."""


class Export(NamedTuple):
    """A game that was exported."""

    name: str
    about: dict[str, Any]
    """The description of the game that the engine gives (``cutnode_about``)."""
    files: list[Path]


def export(
    game: Game,
    folder: str | os.PathLike[str],
    *,
    parts: Sequence[str] = (),
    targets: Sequence[str] = ("host",),
    cpu: str | None = None,
    name: str | None = None,
) -> Export:
    """Write packages of a game to a folder, and return what was written.

    *parts* are names in ``cutnode.contract.choices.EXPORTED``; by default all that suit the game.
    *targets* are ``host``, names in ``cutnode.export.targets.TARGETS``, or ``wasm``.  *cpu* is the
    least processor, in LLVM's words, such as ``x86-64-v3``; ``native`` is this one.  *name* is that
    of the library and the prefix of its functions, by default the game's.

    The same sources, versions and targets give the same bytes.  Files of the same names are
    replaced when all is done.  :class:`GameError` for rules in plain Python or rules that do not
    compile, :class:`CutnodeError` if nothing can link for a target.
    """
    if is_plain(type(game.start())):
        raise GameError(
            f"{game.name} is written in plain Python: to export it, put @compiled before its rules"
        )
    require_draws(type(game.start()), "an exported engine")
    chosen = [target_of(each) for each in targets]
    linkers = {target.name: Linker.of(target) for target in chosen}
    name = name_of(game) if name is None else name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise CutnodeError(f"the name of a library must match [a-z][a-z0-9_]*, got {name!r}")
    with tempfile.TemporaryDirectory(prefix="cutnode-") as scratch:
        work = Path(scratch)
        _compile(game, parts, chosen, cpu, name, work)
        made = work / "package"
        for target in chosen:
            if target.name == WEB:
                _write_web(made, work, linkers[target.name], name)
            else:
                _write_library(made, work, target, linkers[target.name], name)
        described = json.loads((work / "about.json").read_text())
        return Export(name, described, _replace(made, Path(folder)))


def name_of(game: Game) -> str:
    """Return the game's name and variant as a name of C."""
    whole = f"{game.name}_{game.variant}" if game.variant else game.name
    name = re.sub(r"\W+", "_", whole.lower()).strip("_")
    return name if name[:1].isalpha() else f"game_{name}"


def _compile(
    game: Game,
    parts: Sequence[str],
    targets: Sequence[Target],
    cpu: str | None,
    name: str,
    work: Path,
) -> None:
    """Compile the kernels in a process of their own, which leaves its files in *work*."""
    processors = {
        target.name: processor_of(target, cpu if target.name != WEB else None) for target in targets
    }
    question = {
        "game": game.source,
        "parts": list(parts),
        "processors": processors,
        "prefixes": {target.name: _prefix(target, name) for target in targets},
        "folder": str(work),
    }
    settings = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    # Kernels choose some instructions themselves; for several processors, those that all have.
    chosen = Processor("", "generic")
    if cpu == "native" and len(targets) == 1:
        (chosen,) = processors.values()
    settings |= {"NUMBA_CPU_NAME": chosen.name, "NUMBA_CPU_FEATURES": chosen.features}
    settings["PYTHONHASHSEED"] = "0"
    settings["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    command = [sys.executable, "-m", "cutnode.export", json.dumps(question)]
    done = subprocess.run(command, env=settings, stderr=subprocess.PIPE, text=True, check=False)
    if "is not a recognized processor" in done.stderr:
        raise CutnodeError(f"LLVM knows no processor {cpu!r} for {', '.join(processors)}")
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["the compilation ended without a message"]
        raise ContractError(said[-1]) if done.returncode == 1 else CutnodeError(said[-1])


def _prefix(target: Target, name: str) -> str:
    """Return what all names in the code for a target begin with."""
    return "cutnode" if target.name == WEB else name


def _objects(
    work: Path, target: Target, linker: Linker, prefix: str, options: Sequence[str] = ()
) -> list[Path]:
    """Compile the engine's sources for a target, with another prefix than theirs."""
    made = work / target.name
    made.mkdir()
    for source in (*SOURCES.glob("*.[ch]"), work / "layout.h"):
        (made / source.name).write_text(_for_game(source.read_text(), prefix))
    objects = [linker.compile(made / source, made, options) for source in C_FILES]
    return [*objects, work / f"{target.name}.o"]


def _write_library(made: Path, work: Path, target: Target, linker: Linker, name: str) -> None:
    """Write the libraries for a target, the header and what goes with them."""
    objects = _objects(work, target, linker, name)
    libraries = made / "lib" / target.name
    libraries.mkdir(parents=True)
    linker.pack(objects, libraries / target.archive.format(name))
    linker.link(objects, libraries / target.shared.format(name), target.libraries)
    header = made / "include" / f"{name}.h"
    if not header.exists():
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(_header(work, name))
        for source in sorted((SOURCES / "package").iterdir()):
            (made / source.name).write_text(_for_game(source.read_text(), name))


def _header(work: Path, name: str) -> str:
    """Return the header of the C interface for one game."""
    layout = (work / "layout.h").read_text().splitlines()
    public = "\n".join(line for line in layout if line.startswith("#define CUTNODE_"))
    text = (SOURCES / "engine.h").read_text()
    text = text.replace("#include <stdint.h>\n", f"#include <stdint.h>\n\n{public}\n")
    return _for_game(text, name)


def _for_game(text: str, name: str) -> str:
    """Return a file of the package with the names of a game."""
    text = text.replace("GAME", name)
    return text.replace("cutnode_", f"{name}_").replace("CUTNODE_", f"{name.upper()}_")


def _write_web(made: Path, work: Path, linker: Linker, name: str) -> None:
    """Write the package for the web."""
    target = target_of(WEB)
    options = ["-ffreestanding", "-mbulk-memory", "-msimd128"]
    objects = _objects(work, target, linker, _prefix(target, name), options)
    folder = made / "web"
    folder.mkdir(parents=True)
    exports = [*FUNCTIONS.findall((SOURCES / "engine.h").read_text()), "cutnode_alloc"]
    linker.link_web(objects, folder / "game.wasm", exports)
    write_web_files(folder, name, json.loads((work / "about.json").read_text()))


def _replace(made: Path, folder: Path) -> list[Path]:
    """Move files into a folder, over files of the same names; return their new places."""
    placed = []
    for source in sorted(path for path in made.rglob("*") if path.is_file()):
        place = folder / source.relative_to(made)
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = place.with_name(f".{place.name}.new")
        shutil.copyfile(source, aside)
        os.replace(aside, place)
        placed.append(place)
    return placed
