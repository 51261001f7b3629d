"""Docstrings as Markdown: roles become links, literal blocks code, definitions lists.

Docstrings in this project use a small part of reStructuredText.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

from cutnode import _HOMES

__all__ = ["ROLE", "RestructuredDocstrings", "markdown", "summary"]

ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?([\w.]+)`")
LITERAL = re.compile(r"^( *)(.*?)::\n\n((?:\1 {2,}.*\n|\n)+)", re.M)
DEFINITION = re.compile(r"^(?!\s|[-*] |\d|```)(.+)\n((?: {4}.*(?:\n|$))+)", re.M)


def markdown(text: str) -> str:
    """Return the Markdown of a docstring, dedented."""
    text = LITERAL.sub(_fenced, text.rstrip() + "\n")
    parts = re.split(r"(^ *```.*?^ *```\n)", text, flags=re.M | re.S)
    parts[::2] = [ROLE.sub(_link, DEFINITION.sub(_definition, part)) for part in parts[::2]]
    return "".join(parts)


def summary(text: str) -> str:
    """Return the first sentence of a docstring, as Markdown on one line."""
    first = text.strip().split("\n\n")[0]
    return " ".join(markdown(first).split())


def _fenced(found: re.Match[str]) -> str:
    indent, before, block = found.groups()
    language = "python" if before.strip() == "Example" or "def " in block else "text"
    code = textwrap.indent(textwrap.dedent(block).strip("\n"), indent)
    return f"{indent}{before}:\n\n{indent}```{language}\n{code}\n{indent}```\n\n"


def _definition(found: re.Match[str]) -> str:
    term, lines = found.groups()
    return f"{term}\n:   {textwrap.indent(textwrap.dedent(lines), '    ').lstrip()}\n"


def _link(found: re.Match[str]) -> str:
    name = found[1]
    first, _, rest = name.removeprefix("cutnode.").partition(".")
    home = _HOMES.get(first, "cutnode.contract.verbs" if "." not in name else "")
    target = f"{home}.{first}.{rest}".rstrip(".") if home else name
    return f'<autoref identifier="{target}" optional><code>{name}</code></autoref>'


class RestructuredDocstrings(griffe.Extension):
    """An extension of griffe that converts all docstrings to Markdown."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of a loaded object."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
