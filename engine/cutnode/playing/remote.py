"""Players in separate processes, which may run another version of cutnode.

A version is a checkout, an interpreter that has one installed, or both.  The process runs
:mod:`cutnode.playing.remote_process`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from cutnode.compiler.directory import cache_directory
from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted

PROGRAM = Path(__file__).with_name("remote_process.py")

OURS = Path(__file__).resolve().parents[3]
"""The checkout of the running version, if it runs from one."""

PACKAGES = {Path("engine/cutnode"): ("engine",), Path("engine"): (".", "engine/face")}
"""The package of a checkout and the folders it needs on the path: now, and before version 0.3."""


class Version:
    """A version of cutnode: a checkout in the folder *path*, an interpreter *python*, or both.

    Without either it is the running version.  :class:`CutnodeError` if there is no such version.
    """

    def __init__(self, path: str | None = None, python: str | None = None):
        self.checkout: Path | None = OURS if path is None and python is None else None
        if path is not None:
            self.checkout = Path(path).expanduser().resolve()
            if self.package is None:
                raise CutnodeError(
                    f"path={path}: not a checkout of cutnode: it has no engine/cutnode/__init__.py"
                )
        found = sys.executable if python is None else shutil.which(Path(python).expanduser())
        if found is None:
            raise CutnodeError(f"python={python}: there is no such interpreter")
        self.python = os.path.abspath(found)
        self.is_ours = self.checkout == OURS and python is None

    @property
    def package(self) -> Path | None:
        """The package, relative to the checkout; None if there is no checkout or package."""
        if self.checkout is None:
            return None
        inits = {package: self.checkout / package / "__init__.py" for package in PACKAGES}
        return next((package for package, init in inits.items() if init.is_file()), None)

    def start(self, errors: IO[bytes]) -> subprocess.Popen[str]:
        """Start the process of a player; its standard error goes to the file *errors*."""
        return subprocess.Popen(
            [self.python, "-P", str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            env=self._environment(),
            process_group=0,  # Ctrl-C in a terminal is only for us: the process ends with its input
        )

    def _environment(self) -> dict[str, str]:
        """Return the environment of a process that finds this version first."""
        variables = dict(os.environ)
        places = variables.pop("PYTHONPATH", "").split(os.pathsep)
        places = [place for place in places if place and not _has_cutnode(Path(place))]
        if self.checkout is not None:
            found = PACKAGES[self.package or Path("engine/cutnode")]
            places = [*(str(self.checkout / folder) for folder in found), *places]
        if places:
            variables["PYTHONPATH"] = os.pathsep.join(places)
        cache = cache_directory()
        if cache is not None and not self.is_ours:
            mark = f"{self.checkout} {self.python}".encode()
            name = blake2b(mark, digest_size=8).hexdigest()
            variables["CUTNODE_CACHE"] = str(cache / "versions" / name)
            (cache / "versions").mkdir(mode=0o700, exist_ok=True)
        return variables


def _has_cutnode(folder: Path) -> bool:
    return (folder / "engine").is_dir() or (folder / "cutnode").is_dir()


class Remote:
    """A process with a player, which *text* describes to its version of cutnode.

    *game* is the argument for that version's ``load_game``.  The process ends with :meth:`close`,
    with this object, or with the calling process.  :class:`CutnodeError` if that version refuses a
    request, or if the process dies.
    """

    def __init__(self, game: str, text: str, version: Version, name: str):
        self.name = name
        """Its name in messages."""
        self.version = version
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (it is closed with the process)
        self._process = version.start(self._errors)
        self.close = weakref.finalize(self, _end, self._process, self._errors)
        package = (version.package or Path("cutnode")).name
        self._send({"begin": game, "player": text, "package": package})

    @functools.cached_property
    def facts(self) -> dict[str, str]:
        """The folder of the package, and the versions of ``cutnode``, ``python`` and ``numba``.

        Reading them waits until the player is ready.
        """
        facts: dict[str, str] = self._receive()
        wanted = self.version.checkout
        if wanted is not None and Path(facts["package"]) != wanted / (self.version.package or ""):
            where = quoted(facts["package"])
            raise CutnodeError(f"{self.name}: {where} is found before the package in that folder")
        return facts

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the answer to a request, once the player is ready."""
        _ = self.facts
        self._send(request)
        return self._receive()

    def _send(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # _receive reports that the process ended
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise CutnodeError(f"{self.name}: its process ended: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            said = answer["error"]
            raise CutnodeError(said if said.startswith(self.name) else f"{self.name}: {said}")
        return answer

    def _last_words(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else f"exit code {code}"


def _end(process: subprocess.Popen[str], errors: IO[bytes]) -> None:
    """End a process, even in the middle of a search."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, errors):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
