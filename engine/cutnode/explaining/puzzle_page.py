"""Puzzles as one HTML page: boards with goals, and hints and solutions that open on a click."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from cutnode.contract.cells import Cells, Grid
from cutnode.contract.loading import Game
from cutnode.contract.notation import board_of, contents_of

CSS = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff;
       max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: 2rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin: 0; }
svg { width: 100%; max-height: 19rem; } pre { overflow-x: auto; }
p { margin: 0.3rem 0; } .grade { color: #666; } details { margin: 0.2rem 0; }
summary { cursor: pointer; color: #0a5a94; }
.cell { fill: #f3ecdc; stroke: #8d8470; stroke-width: 0.03; } .dark { fill: #ddcfae; }
text { text-anchor: middle; dominant-baseline: central; font-family: sans-serif; }
.first { fill: #c02f1d; color: #c02f1d; } .second { fill: #1d4fa8; color: #1d4fa8; }
.nobody { fill: #333; }
.name { fill: #777; font-size: 0.34px; }
@media print { details { display: none; } article { break-inside: avoid; } }
"""


def puzzle_page(game: Game, puzzles: Sequence[dict[str, Any]]) -> str:
    """Return a page of puzzles, given as ``Puzzle.to_dict`` writes them; it needs no other file."""
    title = f"{len(puzzles)} puzzles of {game.source}"
    articles = "\n".join(_article(game, number, data) for number, data in enumerate(puzzles, 1))
    board = board_of(type(game.start()))
    sides = "" if board is None else _sides(board)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{escape(title)}</title>\n'
        f"<style>{CSS}</style>\n<h1>{escape(title)}</h1>\n{sides}\n<main>\n{articles}\n</main>\n</html>\n"
    )


def _sides(board: Cells) -> str:
    """Return a line that shows the players' colours."""
    names = [f"{side} player" if side in ("first", "second") else side for side in board.sides]
    shown = (
        f'<strong class="{kind}">{escape(name)}</strong>'
        for kind, name in zip(("first", "second"), names, strict=False)
    )
    return f"<p>{', '.join(shown)}</p>"


def _article(game: Game, number: int, puzzle: dict[str, Any]) -> str:
    """Return one puzzle: its goal, its board, and what opens on a click."""
    position = game.parse(puzzle["position"])
    *hints, solution = puzzle["hints"]
    folded = [(f"Hint {at}", hint) for at, hint in enumerate(hints, 1)]
    line = " ".join(puzzle["line"])
    folded.append(("Solution", f"{solution} {puzzle['claim']} Line: {line}"))
    details = "\n".join(
        f"<details><summary>{escape(name)}</summary><p>{escape(text)}</p></details>"
        for name, text in folded
    )
    board = board_of(type(position))
    drawing = f"<pre>{escape(game.draw(position))}</pre>"
    if board is not None:
        drawing = board_svg(board, contents_of(position), puzzle["position"])
    return (
        f"<article>\n<h2>{number}. {escape(puzzle['goal'])}</h2>\n"
        f'<p class="grade">{escape(puzzle["grade"])}</p>\n{drawing}\n{details}\n</article>'
    )


def board_svg(board: Cells, contents: Sequence[int], label: str) -> str:
    """Return a drawing of a board as SVG; *label* is its text for screen readers."""
    symbols = [board.glyphs.get(symbol, symbol) for symbol in board.symbols(contents)]
    owners = [board.owners[content] for content in contents]
    longest = max(map(len, symbols))
    size = 0.8 if longest == 1 else 1.1 / longest
    shapes = []
    for cell, (x, y) in enumerate(board.places):
        if isinstance(board, Grid):
            shade = "cell dark" if (round(x) + round(y)) % 2 else "cell"
            shapes.append(
                f'<rect class="{shade}" x="{x - 0.5}" y="{y - 0.5}" width="1" height="1"/>'
            )
        else:
            shapes.append(f'<circle class="cell" cx="{x}" cy="{y}" r="0.48"/>')
        if contents[cell]:
            owner = owners[cell]
            kind = "nobody" if owner is None else ("first", "second")[owner]
            shapes.append(
                f'<text class="{kind}" x="{x}" y="{y}" font-size="{size:.2g}">'
                f"{escape(symbols[cell])}</text>"
            )
    xs, ys = zip(*board.places, strict=True)
    left, top, bottom = min(xs) - 1.1, min(ys) - 0.6, max(ys) + 1.1
    rows = board.rows
    for name, row in zip(board.row_names, rows, strict=False):
        x, y = board.places[row[0]]
        shapes.append(f'<text class="name" x="{x - 0.75}" y="{y}">{escape(name)}</text>')
    if len(board.column_names) == len(rows[-1]):
        for name, cell in zip(board.column_names, rows[-1], strict=True):
            x, y = board.places[cell]
            shapes.append(f'<text class="name" x="{x}" y="{y + 0.75}">{escape(name)}</text>')
    box = f"{left:g} {top:g} {max(xs) + 0.6 - left:g} {bottom - top:g}"
    return f'<svg viewBox="{box}" role="img" aria-label="{escape(label)}">{"".join(shapes)}</svg>'
