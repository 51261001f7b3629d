"""The board as a folder of static files, with its engines in workers: no server, no Python.

Browsers load neither modules nor other data where a page comes from a disk (``file://``), only
scripts.  So the modules of the board and of the web package are joined to one script, and the code
of each game is a text in a script of its own, which the page loads when the game is opened.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import posixpath
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cutnode
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import Game
from cutnode.export import packages
from cutnode.export.targets import WEB
from cutnode.storage.files import write_whole

BOARD = Path(cutnode.__file__).parent / "service" / "web"
"""The files of the board that ``cutnode board`` serves."""

SOURCES = Path(__file__).parent / "source"
ENGINE = SOURCES / "web"
"""The modules of the web package."""

CONNECTION = SOURCES / "page" / "connection.js"
"""The module that stands in the page for the connection to a service."""

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.M)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.M)


class PageGame(NamedTuple):
    """A game of a page."""

    about: Mapping[str, Any]
    """The description that its engine gives (``cutnode_about``)."""
    code: bytes
    """The content of its ``game.wasm``."""


def write_page(
    games: Sequence[Game], folder: str | os.PathLike[str], *, parts: Sequence[str] = ()
) -> list[Path]:
    """Write the board with some games to a folder, and return the files.

    ``index.html`` opens from any web server, and from the disk.  *parts* are as for
    :func:`~cutnode.export.packages.export`.  :class:`CutnodeError` without a game, for two games
    of one name, or if a file cannot be written.
    """
    made = []
    with tempfile.TemporaryDirectory(prefix="cutnode-") as scratch:
        for number, game in enumerate(games):
            export = packages.export(game, Path(scratch, str(number)), parts=parts, targets=[WEB])
            (code,) = (file for file in export.files if file.suffix == ".wasm")
            made.append(PageGame(export.about, code.read_bytes()))
    return write_files(made, Path(folder))


def write_files(games: Sequence[PageGame], folder: Path) -> list[Path]:
    """Write the files of a page whose games are exported, and return their paths."""
    names = [game.about["game"] for game in games]
    if not names:
        raise CutnodeError("a page needs at least one game")
    for name in names:
        if names.count(name) > 1:
            raise CutnodeError(f"a page can have only one game {name!r}")
    files: dict[str, bytes] = {}
    listed = []
    for number, (about, code) in enumerate(games):
        file = f"games/{number}-{re.sub(r'[^A-Za-z0-9]+', '-', about['game'])}.js"
        files[file] = _game_script(about["game"], code)
        listed.append({"about": dict(about), "file": file})
    files["board.js"] = _board_script(listed).encode()
    for file in ("style.css", "icon.svg"):
        files[f"web/{file}"] = (BOARD / file).read_bytes()
    files["index.html"] = _index({part for game in games for part in game.about["parts"]}).encode()
    for file, data in files.items():
        path = folder / file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CutnodeError(f"{path.parent} cannot be made: {error.strerror}") from None
        write_whole(path, data)
    return [folder / file for file in files]


def _game_script(name: str, code: bytes) -> bytes:
    """Return a script that holds the code of a game, compressed."""
    text = base64.b64encode(gzip.compress(code, mtime=0)).decode()
    return f"(globalThis.cutnode ??= {{}})[{json.dumps(name)}] = {json.dumps(text)};\n".encode()


def _board_script(games: list[dict[str, Any]]) -> str:
    """Return the script of the page: the board, and the web package."""
    engine = {f"engine/{path.name}": path.read_text("utf-8") for path in ENGINE.glob("*.js")}
    worker = joined(engine, "engine/worker.js")
    board = {f"board/{path.name}": path.read_text("utf-8") for path in BOARD.glob("*.js")}
    board["board/connection.js"] = CONNECTION.read_text("utf-8")
    board["board/games.js"] = (
        f"export const games = {json.dumps(games)};\nexport const worker = {json.dumps(worker)};\n"
    )
    return joined(engine | board, "board/main.js")


def joined(modules: Mapping[str, str], entry: str) -> str:
    """Return one script that does what a module does, with all modules that it imports.

    Modules import and export by name, each import on lines of its own, as ours do.
    """
    order: list[str] = []

    def visit(name: str) -> None:
        for _, other in _IMPORT.findall(modules[name]):
            path = _resolved(name, other)
            if path not in order:
                visit(path)
        order.append(name)

    visit(entry)
    numbers = {name: number for number, name in enumerate(order)}
    parts = [_as_function(name, modules[name], numbers) for name in order]
    return "\n".join(['"use strict";', *parts])


def _resolved(name: str, other: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), other))


def _as_function(name: str, text: str, numbers: Mapping[str, int]) -> str:
    """Return a module as a constant: the object of what it exports."""

    def imported(match: re.Match[str]) -> str:
        names = re.sub(r"(\w+) as (\w+)", r"\1: \2", " ".join(match[1].split()))
        return f"const {{ {names} }} = module{numbers[_resolved(name, match[2])]};\n"

    exported = [found[1] for found in _EXPORT.findall(text)]
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(imported, text))
    if re.search(r"^(import|export)\b", body, re.M):
        raise AssertionError(f"{name} imports or exports in a way that cannot be joined")
    given = f"return {{ {', '.join(exported)} }};"
    return f"const module{numbers[name]} = (() => {{ // {name}\n{body}{given}\n}})();"


def _index(parts: set[str]) -> str:
    """Return the page, without what only a service can do."""
    text = (BOARD / "index.html").read_text("utf-8")
    text = _replaced(
        text, r'<script type="module" src="web/main.js">', '<script src="board.js" defer>'
    )
    text = _replaced(
        text, r'<details class="panel" id="tree-panel">', r'<details class="panel" hidden>'
    )
    text = _replaced(text, r'<div class="panel" id="why-panel">', '<div class="panel" hidden>')
    text = _replaced(text, r'id="puzzle-panel"', r'id="puzzle-panel" hidden')
    text = _replaced(text, r"\n *<footer>.*</footer>", "")
    text = _replaced(text, r'\n *<option value="auto">[^\n]*', "")
    for button in ("open-game", "copy-link"):
        text = _replaced(text, f'id="{button}"', f'id="{button}" hidden')
    if "mcts" not in parts:
        text = _replaced(text, r'\n *<option value="mcts">[^\n]*', "")
    return text


def _replaced(text: str, pattern: str, new: str) -> str:
    """Return the text with the one place that matches the pattern replaced."""
    text, count = re.subn(pattern, lambda _: new, text, flags=re.S)
    assert count == 1, f"the board has {count} places for {pattern}"
    return text
