"""Shifts of vectors by several distances, as WebAssembly has them: by one distance at a time.

Games shift bitboards in four directions at once.  WebAssembly has no instruction for that, and LLVM
takes such vectors apart; two shifts of two lanes each, and one of two from either, are faster.
"""

from __future__ import annotations

import re

_SHIFT = re.compile(
    r"^  (?P<name>%\S+) = (?P<kind>shl|lshr) (?:nuw |nsw |exact )*<4 x i64> (?P<of>%\S+), "
    r"<i64 (?P<by>\d+, i64 \d+, i64 \d+, i64 \d+)>(?P<rest>.*)$",
    re.M,
)
_PAIRS = ("<i32 0, i32 1>", "<i32 2, i32 3>")


def with_pairs(text: str) -> str:
    """Return optimised code whose shifts of four lanes by constants are taken apart into pairs."""
    return _SHIFT.sub(_pairs, text)


def _pairs(found: re.Match[str]) -> str:
    distances = found["by"].split(", i64 ")
    name, of = found["name"], found["of"]
    stem = f"%shift.{re.sub(r'[^A-Za-z0-9.]', '.', name[1:])}"
    lines, halves = [], []
    for number, order in enumerate(_PAIRS):
        half = f"{stem}.{number}"
        lines.append(f"{half} = shufflevector <4 x i64> {of}, <4 x i64> poison, <2 x i32> {order}")
        pair = []
        for by in dict.fromkeys(distances[2 * number : 2 * number + 2]):
            pair.append(f"{half}.{by}")
            lines.append(f"{half}.{by} = {found['kind']} <2 x i64> {half}, <i64 {by}, i64 {by}>")
        if len(pair) == 2:
            one, other = pair
            pair = [f"{half}.both"]
            lines.append(
                f"{pair[0]} = shufflevector <2 x i64> {one}, <2 x i64> {other}, "
                f"<2 x i32> <i32 0, i32 3>"
            )
        halves.append(pair[0])
    lines.append(
        f"{name} = shufflevector <2 x i64> {halves[0]}, <2 x i64> {halves[1]}, "
        f"<4 x i32> <i32 0, i32 1, i32 2, i32 3>"
    )
    return "\n".join(f"  {line}" for line in lines)
