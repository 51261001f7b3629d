"""The layout of a board for programs that draw it: the service's page, and exported ones."""

from __future__ import annotations

from typing import Any

from cutnode.contract.cells import Cells, Grid, Hexagons, Points, Triangles
from cutnode.contract.notation import board_of, notation_of

SHAPES: dict[type[Cells], str] = {
    Grid: "grid",
    Hexagons: "hexagons",
    Triangles: "triangles",
    Points: "points",
}


def board_layout(cls: type) -> dict[str, Any] | None:
    """Return the layout and contents of the board that a game declares; None if it declares none.

    It has the keys of ``cutnode.service.models.BoardView``.
    """
    cells = board_of(cls)
    if cells is None:
        return None
    contents = [
        {"symbol": symbol, "name": name, "glyph": cells.glyphs.get(symbol, ""), "owner": owner}
        for (symbol, name), owner in zip(cells.contents.items(), cells.owners, strict=True)
    ]
    return {
        "shape": next(shape for kind, shape in SHAPES.items() if isinstance(cells, kind)),
        "places": [list(place) for place in cells.places],
        "lines": [list(pair) for pair in getattr(cells, "lines", ())],
        "edges": [
            {"owner": owner, "cells": list(along)} for owner, along in getattr(cells, "edges", ())
        ],
        "row_names": list(cells.row_names),
        "column_names": list(cells.column_names),
        "contents": contents,
        "players": dict(cells.players),
        "names": _names(cells, contents, cells.sides),
        "editable": notation_of(cls).sets_up,
    }


def _names(cells: Cells, contents: list[dict[str, Any]], owners: list[str]) -> list[str]:
    """Return the names of both players, in words."""
    if cells.players:
        return list(cells.players.values())
    if len(owners) < 2:
        return ["first player", "second player"]
    pieces = [next(each for each in contents if each["owner"] == side) for side in range(2)]
    return [
        f"{piece['name']} ({piece['symbol']})" if piece["name"].endswith("player") else owner
        for owner, piece in zip(owners, pieces, strict=True)
    ]
