"""The process that compiles the kernels of an export: it reads a question, and writes files.

It is a process of its own because it compiles for other processors and with a host, which cannot be
undone, and because the same question has to give the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from cutnode.compiler.parts import export_kernels
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import load_game
from cutnode.export.assembly import Processor, assemble
from cutnode.export.description import about, texts_for_c, texts_of
from cutnode.export.layout import contents_of_export, require_parts


def compile_export(question: dict[str, Any]) -> None:
    """Write ``layout.h``, ``about.json``, and an object file for each processor, to a folder."""
    export_kernels()
    folder = Path(question["folder"])
    game = load_game(question["game"])
    parts = require_parts(type(game.start()), question["parts"])
    contents = contents_of_export(game, parts)
    texts = texts_of(game)
    described = about(game, parts, texts)
    contents.data["texts"] = texts_for_c(texts)
    contents.data["about_text"] = described.encode() + b"\0"
    (folder / "about.json").write_text(described)
    (folder / "layout.h").write_text(contents.header())
    for name, processor in question["processors"].items():
        prefix = question["prefixes"][name]
        made = assemble(contents.entries, contents.data, Processor(*processor), prefix)
        (folder / f"{name}.o").write_bytes(made)


if __name__ == "__main__":
    try:
        compile_export(json.loads(sys.argv[1]))
    except CutnodeError as error:
        sys.exit(" ".join(str(error).split()))
