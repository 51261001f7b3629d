"""Drawings of searched trees: Mermaid, Graphviz DOT, SVG; and JSON.

All three drawings show the same boxes, with the root at the left.  The box of a node has its move,
score (``=`` exact, ``≥`` and ``≤`` bounds), window, depth, nodes visited, and the reason why the
search went no deeper.  The principal variation is bold, and dashed lines lead to moves that were
not searched.  Max nodes have square corners, min nodes round ones.  The SVG needs no other program:
boxes are as wide as their text, and the text can be selected.

The layout packs subtrees as closely as their boxes allow, and centres each parent on its children:
E. Reingold and J. Tilford, "Tidier drawings of trees" (1981).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, NamedTuple

from cutnode.contract.errors import CutnodeError, shown
from cutnode.kernels.scores import WIN, win_distance
from cutnode.search.results import score_text
from cutnode.tree.nodes import Node, Unsearched

MOST_MERMAID_EDGES = 500
MOST_MERMAID_TEXT = 50_000
"""The default limits of Mermaid."""

LONGEST_LIST = 24
"""The most characters in a list of moves."""

SIGNS = {"exact": "=", "lower": "≥", "upper": "≤", "none": "?"}

STUB = "stub"


@dataclass(frozen=True, slots=True)
class Tree:
    """A search with the part of its tree that is shown."""

    game: str
    position: str
    search: str
    """One of ``RECORDED_SEARCHES``."""
    techniques: tuple[str, ...]
    depth: int
    """The depth of the last iteration, in plies; less than requested if the value was proven."""
    decisive: bool
    """Whether scores far from 0 are wins (see ``cutnode.kernels.scores``)."""
    value: float
    pv: tuple[str, ...]
    """The principal variation as far as the tree was recorded: one ply more than is shown."""
    nodes: int
    """The nodes visited by all iterations; ``root.nodes`` counts only the one that is shown."""
    root: Node

    def score_text(self, score: float) -> str:
        """Format a score for people; distances to wins are in plies from the root."""
        distance = win_distance(score) if self.decisive else None
        if distance is None:
            return score_text(score)
        return f"{'win' if score > 0 else 'loss'} in {score_text(distance)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, including all nodes below ``root``."""
        return asdict(self)

    def _repr_html_(self) -> str:
        drawn = to_svg(self).replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)
        return f'<div style="overflow: auto">{drawn}</div>'


class _Look(NamedTuple):
    """The look of a kind of node, with its text in the legend."""

    fill: str
    border: str
    color: str
    about: str


LOOKS = {
    "pv": _Look("#fff3cd", "#b8860b", "yellow", "PV node: inside the window"),
    "cut": _Look("#fde2dd", "#b5533c", "red", "cut-node: fails high"),
    "all": _Look("#dceaf7", "#3f74a3", "blue", "all-node: fails low"),
    "leaf": _Look("#f4f4f4", "#888888", "gray", "leaf: no move searched"),
    "chance": _Look("#e6f2e3", "#5b8f4e", "green", "chance"),
}


@dataclass(slots=True)
class _Box:
    """A box for a node, or for children that are not shown."""

    lines: tuple[str, ...]
    kind: str
    """A key of ``LOOKS``, or ``STUB``."""
    player: str = ""
    principal: bool = False
    dashed: bool = False
    """Whether the box stands for moves that were not searched."""
    about: tuple[str, ...] = ()
    """The lines that do not fit the box."""
    children: list[_Box] = field(default_factory=list)
    number: int = 0
    top: float = 0

    def walk(self) -> Iterator[_Box]:
        yield self
        for child in self.children:
            yield from child.walk()


def _require_tree(tree: Any) -> None:
    """Raise :class:`CutnodeError` unless this is a tree."""
    if not isinstance(tree, Tree):
        raise CutnodeError(f"tree must be a tree that record_tree returns, got {shown(tree)}")


def _boxes(tree: Tree) -> list[_Box]:
    """Return all boxes, parents first."""
    _require_tree(tree)
    found = list(_box(tree, tree.root).walk())
    for number, box in enumerate(found):
        box.number = number
    return found


def _looks(boxes: list[_Box]) -> dict[str, _Look]:
    """Return the looks that occur."""
    kinds = {box.kind for box in boxes}
    return {kind: look for kind, look in LOOKS.items() if kind in kinds}


def _box(tree: Tree, node: Node) -> _Box:
    again = f", searched {node.searches} times" if node.searches > 1 else ""
    move = node.move or "root"
    lines = [f"{move}  {SIGNS[node.bound]} {tree.score_text(node.value)}"]
    if node.kind != "leaf":
        lines.append(f"{_window(tree, node)}  depth {node.depth}  {node.nodes:,} nodes{again}")
    lines.append(node.reason)
    stubs = []
    if node.children:
        stubs = [
            _Box((f"not searched: {_list(left)}", left.reason), STUB, dashed=True, about=_all(left))
            for left in node.unsearched
        ]
    if node.children and node.more:
        nodes = "node" if node.more_nodes == 1 else "nodes"
        stubs.append(_Box((f"and {node.more} more", f"{node.more_nodes:,} {nodes}"), STUB))
    return _Box(
        tuple(lines),
        node.kind,
        node.player,
        node.principal,
        about=(f"{node.player} to move: {node.position}", *node.notes),
        children=[_box(tree, child) for child in node.children] + stubs,
    )


def _window(tree: Tree, node: Node) -> str:
    def text(bound: float | None, side: int) -> str:
        if bound is None or (tree.decisive and abs(bound) > WIN):
            return "∞" if side > 0 else "-∞"
        return tree.score_text(bound)

    low, high = node.window
    return f"({text(low, -1)}, {text(high, 1)})"


def _all(left: Unsearched) -> tuple[str, ...]:
    return (f"{left.reason}: {' '.join(left.moves)}",)


def _list(left: Unsearched) -> str:
    """List the first moves, and the total number if they do not all fit."""
    shown = ""
    for number, move in enumerate(left.moves):
        if number and len(shown) + len(move) > LONGEST_LIST:
            return f"{shown.strip()} ... ({len(left.moves)})"
        shown += f"{move} "
    return shown.strip()


def _title(tree: Tree) -> list[str]:
    searched = {"search": "search", "alphabeta": "alpha-beta", "minimax": "minimax"}[tree.search]
    deep = "ply" if tree.depth == 1 else "plies"
    shown = sum(1 for _ in tree.root.walk())
    part = f"{shown:,} of {tree.root.nodes:,} nodes shown"
    return [
        f"{tree.game}  {tree.position}: {searched}, {tree.depth} {deep} deep",
        f"value {tree.score_text(tree.value)} for max, who moves at the root; "
        f"{part if tree.root.nodes else 'nothing was searched'}",
    ]


# Mermaid ------------------------------------------------------------------------------

_MERMAID_SHAPES = {"max": '["%s"]', "min": '("%s")', "chance": '{{"%s"}}', "": '["%s"]'}
_MERMAID_SAFE = " (),:=+-/≥≤∞"


def to_mermaid(tree: Tree) -> str:
    """Return a Mermaid flowchart; :class:`CutnodeError` if the tree exceeds Mermaid's limits."""
    boxes = _boxes(tree)
    lines = [*(f"%% {line}" for line in _title(tree)), "flowchart LR"]
    for box in boxes:
        text = "<br/>".join(map(_mermaid_text, box.lines))
        shape = _MERMAID_SHAPES[box.player] % text
        lines.append(f"  n{box.number}{shape}:::{box.kind}")
    for box in boxes:
        for child in box.children:
            arrow = "==>" if child.principal else "-.-" if child.kind == STUB else "-->"
            lines.append(f"  n{box.number} {arrow} n{child.number}")
    looks = _looks(boxes)
    lines.append('  subgraph legend ["max: square, min: round, best play: thick lines"]')
    lines += [f'    {kind}_["{look.about}"]:::{kind}' for kind, look in looks.items()]
    lines.append("  end")
    for kind, look in looks.items():
        lines.append(f"  classDef {kind} fill:{look.fill},stroke:{look.border},color:#222222")
    lines.append(f"  classDef {STUB} fill:#ffffff,stroke:#aaaaaa,stroke-dasharray:4 3")
    text = "\n".join(lines) + "\n"
    if len(boxes) - 1 > MOST_MERMAID_EDGES or len(text) > MOST_MERMAID_TEXT:
        raise CutnodeError(
            f"Mermaid draws at most {MOST_MERMAID_EDGES} lines and {MOST_MERMAID_TEXT:,} "
            f"characters, got {len(boxes) - 1:,} and {len(text):,}: show a smaller tree, or use "
            f"another format"
        )
    return text


def _mermaid_text(text: str) -> str:
    """Escape a line for Mermaid with numeric character references."""

    def is_safe(at: int, char: str) -> bool:
        begins_list = at == 0 and char in "+-"
        return char.isalnum() or (char in _MERMAID_SAFE and not begins_list)

    return "".join(char if is_safe(at, char) else f"#{ord(char)};" for at, char in enumerate(text))


# Graphviz -----------------------------------------------------------------------------

_DOT_SHAPES = {
    "max": "shape=box, style=filled",
    "min": 'shape=box, style="filled,rounded"',
    "chance": "shape=hexagon, style=filled",
}


def to_dot(tree: Tree) -> str:
    """Draw a tree in DOT, the language of Graphviz."""
    boxes = _boxes(tree)
    caption = [*_title(tree), "max: square, min: round, best play: bold lines"]
    caption += [f"{look.color}: {look.about}" for look in _looks(boxes).values()]
    lines = [
        "digraph tree {",
        "  graph [rankdir=LR, ranksep=0.4, nodesep=0.1, labelloc=b, labeljust=l];",
        f'  graph [fontname="Helvetica", fontsize=10, label={_dot_text(caption, "l")}];',
        '  node [fontname="Helvetica", fontsize=10, height=0.2, margin="0.12,0.04"];',
        "  edge [arrowhead=none];",
    ]
    for box in boxes:
        if box.kind == STUB:
            look = "shape=plaintext, fontcolor=gray40"
        else:
            colors = LOOKS[box.kind]
            look = f'{_DOT_SHAPES[box.player]}, fillcolor="{colors.fill}", color="{colors.border}"'
            look += f", tooltip={_dot_text(box.about)}"
        lines.append(f"  n{box.number} [label={_dot_text(box.lines)}, {look}];")
    for box in boxes:
        for child in box.children:
            look = " [penwidth=3]" if child.principal else ""
            if child.kind == STUB:
                look = " [style=dashed]" if child.dashed else " [style=dotted]"
            lines.append(f"  n{box.number} -> n{child.number}{look};")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_text(lines: Iterable[str], end: str = "n") -> str:
    """Quote lines as a string; *end* is ``n`` to centre each line, or ``l`` to left-align it."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"{}"'.format("".join(f"{line}\\{end}" for line in escaped))


# SVG ----------------------------------------------------------------------------------

FONT = 11
LINE_HEIGHT = 14
CHARACTER = 0.65 * FONT
"""The width of a character: a little more than in the usual monospaced fonts."""
PADDING = 5
GAP = 7
COLUMN_GAP = 46
MARGIN = 16

_CORNERS = {"max": 0, "min": 12, "chance": 18}


def to_svg(tree: Tree) -> str:
    """Draw a tree as SVG; text that does not fit a box is shown on hover."""
    boxes = _boxes(tree)
    columns = _columns(boxes[0])
    lefts = [float(MARGIN)]
    for column in columns:
        lefts.append(lefts[-1] + max(map(_box_width, column)) + COLUMN_GAP)
    head = _title(tree)
    _place(boxes[0])
    up = min(box.top for box in boxes) - MARGIN - LINE_HEIGHT * (len(head) + 1)
    for box in boxes:
        box.top -= up
    bottom = max(box.top + _height(box) for box in boxes) + 2 * LINE_HEIGHT
    legend, legend_right = _svg_legend(bottom, _looks(boxes).values())
    right = max(lefts[-1] - COLUMN_GAP, legend_right, MARGIN + CHARACTER * max(map(len, head)))
    size = f"{right + MARGIN:.0f}", f"{bottom + 3 * LINE_HEIGHT:.0f}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" font-family="monospace" font-size="{FONT}">',
        f"<title>{escape(head[0])}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for number, line in enumerate(head, 1):
        lines.append(_svg_text(MARGIN, MARGIN + number * LINE_HEIGHT - 4, line, bold=number == 1))
    for left, next_left, column in zip(lefts, lefts[1:], columns, strict=False):
        for box in column:
            # Where edges overlap, the most important one is drawn last, on top.
            over = sorted(box.children, key=lambda child: (child.principal, child.kind != STUB))
            lines += (_svg_edge(left, box, next_left, child) for child in over)
    for left, column in zip(lefts, columns, strict=False):
        lines += (_svg_box(left, box) for box in column)
    return "\n".join([*lines, *legend, "</svg>"]) + "\n"


def _columns(root: _Box) -> list[list[_Box]]:
    """Return the boxes grouped by their distance from the root."""
    columns = [[root]]
    while children := [child for box in columns[-1] for child in box.children]:
        columns.append(children)
    return columns


def _box_width(box: _Box) -> float:
    return CHARACTER * max(map(len, box.lines)) + 2 * PADDING


def _height(box: _Box) -> float:
    return len(box.lines) * LINE_HEIGHT + 2 * PADDING - 2


def _middle(box: _Box) -> float:
    return box.top + _height(box) / 2


def _place(box: _Box) -> list[tuple[float, float]]:
    """Lay out a subtree; return its top and bottom in each column."""
    reach: list[tuple[float, float]] = []
    for child in box.children:
        own = _place(child)
        pairs = zip(reach, own, strict=False)
        down = max((lower - upper + GAP for (_, lower), (upper, _) in pairs), default=0.0)
        for below in child.walk():
            below.top += down
        own = [(top + down, bottom + down) for top, bottom in own]
        joined = [(a[0], b[1]) for a, b in zip(reach, own, strict=False)]
        reach = joined + reach[len(own) :] + own[len(reach) :]
    if box.children:
        first, last = box.children[0], box.children[-1]
        box.top = (_middle(first) + _middle(last) - _height(box)) / 2
    return [(box.top, box.top + _height(box)), *reach]


def _svg_text(x: float, y: float, text: str, *, bold: bool = False, color: str = "#222222") -> str:
    weight = ' font-weight="bold"' if bold else ""
    where = f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {where} fill="{color}"{weight} xml:space="preserve">{escape(text)}</text>'


def _svg_edge(left: float, box: _Box, right: float, child: _Box) -> str:
    start, end = left + _box_width(box), right
    bend = end - COLUMN_GAP / 2
    look = 'stroke="#999999"'
    if child.principal:
        look = 'stroke="#b8860b" stroke-width="3"'
    elif child.kind == STUB:
        look += ' stroke-dasharray="5 4"' if child.dashed else ' stroke-dasharray="1 3"'
    y, to = _middle(box), _middle(child)
    return (
        f'<path d="M{start:.1f} {y:.1f}H{bend - COLUMN_GAP / 2:.1f}C{bend:.1f} {y:.1f} '
        f'{bend:.1f} {to:.1f} {end:.1f} {to:.1f}" fill="none" {look}/>'
    )


def _svg_box(left: float, box: _Box) -> str:
    lines = ["<g>"]
    if about := "\n".join(box.about):
        lines.append(f"<title>{escape(about)}</title>")
    stub = box.kind == STUB
    if not stub:
        look = LOOKS[box.kind]
        lines.append(
            f'<rect x="{left:.1f}" y="{box.top:.1f}" width="{_box_width(box):.1f}" '
            f'height="{_height(box):.1f}" rx="{_CORNERS[box.player]}" fill="{look.fill}" '
            f'stroke="{look.border}" stroke-width="{2.5 if box.principal else 1}"/>'
        )
    for number, line in enumerate(box.lines, 1):
        y = box.top + number * LINE_HEIGHT + 1
        color = "#666666" if stub else "#222222"
        bold = number == 1 and not stub
        lines.append(_svg_text(left + PADDING, y, line, bold=bold, color=color))
    return "".join([*lines, "</g>"])


def _svg_legend(top: float, looks: Iterable[_Look]) -> tuple[list[str], float]:
    """Draw the legend; return its lines and its right end."""
    lines, x = [], float(MARGIN)
    for look in looks:
        lines.append(
            f'<rect x="{x:.1f}" y="{top:.1f}" width="12" height="12" fill="{look.fill}" '
            f'stroke="{look.border}"/>'
        )
        lines.append(_svg_text(x + 18, top + 10, look.about))
        x += 18 + CHARACTER * len(look.about) + 16
    shapes = "square corners: max; round: min; bold: best play; dashed: not searched"
    lines.append(_svg_text(MARGIN, top + 10 + 1.5 * LINE_HEIGHT, shapes))
    return lines, max(x, MARGIN + CHARACTER * len(shapes))


# JSON ---------------------------------------------------------------------------------


def to_json(tree: Tree) -> str:
    """Write a :class:`Tree` as JSON; ``root`` and ``children`` have the fields of :class:`Node`.

    ``unsearched`` is a list of objects with the fields of :class:`Unsearched`, and ``window`` is a
    list of two numbers; None becomes null.
    """
    _require_tree(tree)
    return json.dumps(tree.to_dict(), indent=1) + "\n"


FORMATS: dict[str, Callable[[Tree], str]] = {
    "mermaid": to_mermaid,
    "dot": to_dot,
    "json": to_json,
    "svg": to_svg,
}
"""The formats of a tree, by name."""
