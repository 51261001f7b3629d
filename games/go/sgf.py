"""Records of games of Go in the Smart Game Format (SGF), version 4, by A. Hollosi (1997).

Only the parts of the tree of a game that cutnode can play are kept: moves, comments, variations,
marks of moves, stones set up before the first move, and the facts in the first node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cutnode.contract.errors import PositionError
from cutnode.contract.plies import Ply
from cutnode.contract.text import quoted

__all__ = ["Node", "line_of", "nodes_text", "point_text", "read_point", "read_tree", "size_of"]

LETTERS = "abcdefghijklmnopqrs"
PASSES = "", "tt"
MARKS = {"TE": "!", "BM": "?", "IT": "!?", "DO": "?!"}
SETUP = "AB", "AW", "AE"
MOST_NESTED = 300
"""The most variations inside one another."""

Node = dict[str, list[str]]
"""The values of each property."""

TOKEN = re.compile(r"\s*(?:([(;)])|([A-Za-z]+)((?:\s*\[(?:[^\]\\]|\\.)*\])+))", re.DOTALL)
VALUE = re.compile(r"\[((?:[^\]\\]|\\.)*)\]", re.DOTALL)


@dataclass
class Tree:
    """A sequence of nodes, and the trees that continue it."""

    nodes: list[Node]
    after: list[Tree]


def read_tree(text: str) -> Tree:
    """Return the first game of a file; :class:`PositionError` if it is none."""
    begin = text.find("(")
    if begin < 0:
        raise PositionError("it is not a game in SGF, which begins with (;")
    top = Tree([], [])
    open_trees = [top]
    at = begin
    while True:
        token = TOKEN.match(text, at)
        if token is None:
            line = text.count("\n", 0, at) + 1
            raise PositionError(
                f"line {line} of the SGF cannot be read: {quoted(text[at : at + 20])}"
            )
        at = token.end()
        sign, name, values = token.groups()
        if sign == "(":
            if len(open_trees) > MOST_NESTED:
                raise PositionError(f"the SGF has more than {MOST_NESTED} variations in each other")
            open_trees[-1].after.append(Tree([], []))
            open_trees.append(open_trees[-1].after[-1])
        elif sign == ")":
            open_trees.pop()
            if len(open_trees) == 1:
                break
        elif sign == ";":
            open_trees[-1].nodes.append({})
        elif not open_trees[-1].nodes:
            raise PositionError(f"{name} stands before the first ; of the SGF")
        else:
            short = "".join(letter for letter in name if letter.isupper())
            found = [unescaped(value) for value in VALUE.findall(values)]
            open_trees[-1].nodes[-1].setdefault(short, []).extend(found)
    if not top.after[0].nodes:
        raise PositionError("the SGF has no node: a game begins with (;")
    return top.after[0]


def unescaped(text: str) -> str:
    return re.sub(r"\\(\n|.)", lambda found: found[1].strip("\n"), text, flags=re.DOTALL)


def escaped(text: str) -> str:
    return re.sub(r"([\]\\])", r"\\\1", text)


def size_of(root: Mapping[str, Sequence[str]]) -> tuple[int, int]:
    """Return the columns and rows of the board; 19 if the game does not say, as in the format."""
    text = root.get("SZ", ["19"])[0].strip()
    match = re.fullmatch(r"([0-9]{1,3})(?::([0-9]{1,3}))?", text)
    if not match:
        raise PositionError(f"SZ[{text}] is not a size; sizes are as in SZ[9] or SZ[5:4]")
    return int(match[1]), int(match[2] or match[1])


def read_point(text: str, width: int, height: int) -> tuple[int, int]:
    """Return the column and the row of a point such as ``cd``, both from 0 at the top left."""
    place = LETTERS.find(text[:1]), LETTERS.find(text[1:]) if len(text) == 2 else -1
    if not (0 <= place[0] < width and 0 <= place[1] < height):
        raise PositionError(f"{quoted(text)} is not a point of a board of {width}x{height}")
    return place


def point_text(column: int, row: int) -> str:
    return LETTERS[column] + LETTERS[row]


def line_of(tree: Tree, size: tuple[int, int], columns: str, white: bool) -> list[Ply]:
    """Return the moves of a tree as texts such as ``C3``, with variations; *white* moves first."""
    found: list[Ply] = []
    for node in tree.nodes:
        if moved := moves_of(node):
            colour, point = moved[0]
            if len(moved) > 1 or (colour == "W") != white:
                whose = "white" if white else "black"
                raise PositionError(f"{colour}[{point}] is not a move of {whose}, whose turn it is")
            marks = " ".join(mark for name, mark in MARKS.items() if name in node)
            found.append(Ply(spoken(point, size, columns), marks, "\n".join(node.get("C", []))))
            white = not white
        elif found and "C" in node:
            found[-1].add_comment("\n".join(node["C"]))
        if any(name in node for name in SETUP):
            raise PositionError("stones are set up after the first move, which cutnode cannot play")
    lines = [line_of(each, size, columns, white) for each in tree.after]
    lines = [line for line in lines if line]
    if lines:
        lines[0][0].variations += lines[1:]
        found += lines[0]
    return found


def moves_of(node: Node) -> list[tuple[str, str]]:
    return [(colour, point) for colour in ("B", "W") for point in node.get(colour, [])]


def first_mover(tree: Tree) -> str:
    """Return the colour of the first move, B or W; "" if there is none."""
    for node in tree.nodes:
        if moved := moves_of(node):
            return moved[0][0]
    return next(filter(None, map(first_mover, tree.after)), "")


def spoken(point: str, size: tuple[int, int], columns: str) -> str:
    if point in PASSES:
        return "pass"
    column, row = read_point(point, *size)
    return f"{columns[column]}{size[1] - row}"


def nodes_text(plies: Sequence[str], places: Mapping[str, str], white: bool) -> str:
    """Return moves as nodes with their variations; *places* are the points by their names."""
    return "".join(_nodes(plies, places, white))


def _nodes(plies: Sequence[str], places: Mapping[str, str], white: bool) -> Iterator[str]:
    names = {mark: name for name, mark in MARKS.items()}
    closing = ""
    for ply in plies:
        colour = "BW"[white]
        if variations := getattr(ply, "variations", []):
            others = [f"({nodes_text(line, places, white)})" for line in variations]
            yield "("
            closing = "".join([")", *others, closing])
        yield f";{colour}[{places.get(ply.upper(), '')}]"
        for mark in getattr(ply, "mark", "").split():
            if mark in names:
                yield f"{names[mark]}[1]"
        if comment := getattr(ply, "comment", ""):
            yield f"C[{escaped(comment)}]"
        white = not white
    yield closing
