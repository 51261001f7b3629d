"""The package for the web: an ES module with types, and the worker in which it searches."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cutnode

WEB = Path(__file__).parent / "source" / "web"
"""The modules of the package, and templates of its ``package.json`` and ``README.md``."""


def write_web_files(folder: Path, name: str, about: Mapping[str, Any]) -> None:
    """Write the files of a package to the folder of its ``game.wasm``.

    *name* is the game's name in C; the package is called ``cutnode-NAME``, with hyphens.
    """
    values = {
        "NAME": f"cutnode-{name.replace('_', '-')}",
        "VERSION": cutnode.__version__,
        "ABOUT": about["about"] or f"The board game {about['game']}",
        "GAME": about["game"],
    }
    for source in sorted(WEB.iterdir()):
        text = source.read_text("utf-8")
        if source.name == "package.json":
            text = _filled(text, {key: json.dumps(value)[1:-1] for key, value in values.items()})
        elif source.name == "README.md":
            text = _filled(text, values)
        (folder / source.name).write_text(text, "utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its words in capitals replaced by their values."""
    return re.sub("|".join(values), lambda found: values[found[0]], template)
