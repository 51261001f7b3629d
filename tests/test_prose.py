"""Help, errors, docs, docstrings and comments stay free of some habits of style.

A limit is the number of matches left in all of this text when it was set, and may only fall.
"""

from __future__ import annotations

import functools
import re
import tokenize
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[1]

READ = [
    *(ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"),
    *sorted((ROOT / "engine" / "docs").rglob("*.md")),
    *sorted((ROOT / "engine" / "cutnode").rglob("*.py")),
    *sorted((ROOT / "games").rglob("*.py")),
]

HABITS = {
    "so many or so much, in place of a number's name": (r"\bso (?:many|much)\b", 0),
    "beside, for next to or compared with": (r"\bbesides?\b", 3),
    "those of or that of, in place of the noun": (r"\b(?:those|that) of\b", 1),
    "goes on, for continues": (r"\b(?:goes|go|gone|going|went) on\b", 0),
    "by turns, in turn": (r"\b(?:by turns|in turn)\b", 0),
    "a relative clause as a subject": (
        r"(?:^|[.:;] +|\"\"\")(?:What|Who) (?:is|are|was|were|has|had|does|\w+s)\b(?![^.\n]*\?)",
        9,
    ),
    "a passive whose party is not named": (r"\b(?:is|are) (?:asked for|said by|told by)\b", 2),
}
"""A pattern and its limit, by the habit to avoid."""


def prose(path):
    """The text of a page, or the comments and strings of a program."""
    if path.suffix != ".py":
        return path.read_text()
    with path.open("rb") as file:
        return "\n".join(
            token.string.removeprefix("#")
            for token in tokenize.tokenize(file.readline)
            if tokenize.tok_name[token.type] in ("STRING", "COMMENT", "FSTRING_MIDDLE")
        )


@functools.cache
def texts():
    """All that people read, by its path, with the indentation of lines left out."""
    return {
        path.relative_to(ROOT): re.sub(r"\n[# ]*", "\n", prose(path))
        for path in READ
        if path.is_file()
    }


def matches(pattern):
    found = re.compile(pattern, re.M)
    for path, text in texts().items():
        for match in found.finditer(text):
            yield f"{path}: {match[0]!r}"


@pytest.mark.parametrize("habit", HABITS)
def test_habits_stay_lost(habit):
    pattern, most = HABITS[habit]
    found = list(matches(pattern))
    assert len(found) <= most, f"write it another way: {habit}\n" + "\n".join(found)
