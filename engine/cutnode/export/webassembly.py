"""LLVM code for WebAssembly: other instructions where LLVM's own choice of them is slow.

WebAssembly has no product of two words, no reversal of bytes, and no shift of a vector by several
distances; LLVM replaces them by many instructions.  It does not use the dot product of small
numbers, and adds a constant to an address by an instruction of its own unless it knows that the sum
does not wrap, so that the constant can be part of a load or store.
"""

from __future__ import annotations

import re

LANES = 8
"""The 16-bit numbers in a vector of WebAssembly."""


# Before LLVM's passes

_PRODUCT = re.compile(r" = mul i128 (?P<one>[^,]+), (?P<other>[^,\n]+)$", re.M)
_DOT = re.compile(
    r"^  %\S+ = sext <(?P<count>\d+) x i16> (?P<one>%\S+) to <(?P=count) x i32>\n"
    r"  %\S+ = sext <(?P=count) x i16> (?P<other>%\S+) to <(?P=count) x i32>\n"
    r"  %\S+ = mul <(?P=count) x i32> %\S+, %\S+\n"
    r"  (?P<name>%\S+) = call i32 @llvm\.vector\.reduce\.add\.v(?P=count)i32\(.*\)$",
    re.M,
)


def with_products(text: str) -> str:
    """Return code to optimise that calls functions for products of words, and of vectors."""
    parts = [_PRODUCT.sub(r" = call i128 @product(i128 \g<one>, i128 \g<other>)", text), _WORDS]
    counts = sorted({int(found["count"]) for found in _DOT.finditer(text)})
    if counts:
        vector = r"<\g<count> x i16>"
        call = rf"  \g<name> = call i32 @dot\g<count>({vector} \g<one>, {vector} \g<other>)"
        parts = [_DOT.sub(call, parts[0]), _WORDS, _DOTS, *map(_dot, counts)]
    return "\n".join(parts)


_WORDS = """
; The product of two words.  LLVM would call a function for it, even in place of these instructions
; if it knew the mask.
define internal i128 @product(i128 %x, i128 %y) alwaysinline {
  %mask = call i64 asm "", "=r,0"(i64 4294967295)
  %a = trunc i128 %x to i64
  %b = trunc i128 %y to i64
  %a.low = and i64 %a, %mask
  %b.low = and i64 %b, %mask
  %a.high = lshr i64 %a, 32
  %b.high = lshr i64 %b, 32
  %low.low = mul i64 %a.low, %b.low
  %low.high = mul i64 %a.low, %b.high
  %high.low = mul i64 %a.high, %b.low
  %high.high = mul i64 %a.high, %b.high
  %carry = lshr i64 %low.low, 32
  %middle = add i64 %high.low, %carry
  %middle.low = and i64 %middle, %mask
  %middle.high = lshr i64 %middle, 32
  %rest = add i64 %low.high, %middle.low
  %rest.high = lshr i64 %rest, 32
  %sum = add i64 %high.high, %middle.high
  %above = add i64 %sum, %rest.high
  %below = mul i64 %a, %b
  %wide.above = zext i64 %above to i128
  %wide.below = zext i64 %below to i128
  %shifted = shl i128 %wide.above, 64
  %all = or i128 %shifted, %wide.below
  ret i128 %all
}
"""

_DOTS = """
declare <4 x i32> @llvm.wasm.dot(<8 x i16>, <8 x i16>)

define internal i32 @sum(<4 x i32> %x) alwaysinline {
  %two = shufflevector <4 x i32> %x, <4 x i32> poison, <4 x i32> <i32 2, i32 3, i32 2, i32 3>
  %sums = add <4 x i32> %x, %two
  %one = shufflevector <4 x i32> %sums, <4 x i32> poison, <4 x i32> <i32 1, i32 1, i32 1, i32 1>
  %all = add <4 x i32> %sums, %one
  %sum = extractelement <4 x i32> %all, i32 0
  ret i32 %sum
}
"""


def _dot(count: int) -> str:
    """Return a function for the dot product of two vectors of *count* numbers."""
    whole = f"<{count} x i16>"
    lines = [f"define internal i32 @dot{count}({whole} %x, {whole} %y) alwaysinline {{"]
    total = "zeroinitializer"
    for at in range(0, count, LANES):
        lanes = ", ".join(f"i32 {lane}" for lane in range(at, at + LANES))
        order = f"<{LANES} x i32> <{lanes}>"
        lines += [
            f"  %x{at} = shufflevector {whole} %x, {whole} poison, {order}",
            f"  %y{at} = shufflevector {whole} %y, {whole} poison, {order}",
            f"  %dot{at} = call <4 x i32> @llvm.wasm.dot(<8 x i16> %x{at}, <8 x i16> %y{at})",
            f"  %total{at} = add <4 x i32> {total}, %dot{at}",
        ]
        total = f"%total{at}"
    lines += [f"  %sum = call i32 @sum(<4 x i32> {total})", "  ret i32 %sum", "}"]
    return "\n".join(lines)


# After LLVM's passes

_FIELD = re.compile(r"= getelementptr (?:inbounds )?(i\d+, ptr %\S+, i32 \d+)$", re.M)
_ELEMENT = re.compile(
    r"^  (?P<name>%\S+) = getelementptr (?:inbounds )?(?P<of>i\d+, ptr @\S+, i32) (?P<index>%\S+)$",
    re.M,
)
_POSITIVE = re.compile(r"^  (%\S+) = (?:and i32 %\S+, \d|lshr |zext |(?:mul|shl) nuw nsw )", re.M)
_BASE = re.compile(r" = getelementptr .*?ptr (%[^,\s]+),")
_REVERSED = re.compile(
    r"^  (?P<name>%\S+) = (?:tail )?call [^@\n]*@llvm\.bswap\.i64\(i64 (?P<of>[^)]+)\).*$", re.M
)
_SHIFT = re.compile(
    r"^  (?P<name>%\S+) = (?P<kind>shl|lshr) (?:nuw |nsw |exact )*<4 x i64> (?P<of>%\S+), "
    r"<i64 (?P<by>\d+, i64 \d+, i64 \d+, i64 \d+)>(?P<rest>.*)$",
    re.M,
)
_PAIRS = ("<i32 0, i32 1>", "<i32 2, i32 3>")
_BACKWARDS = ", ".join(f"i32 {lane ^ 7}" for lane in range(16))


def with_instructions(text: str) -> str:
    """Return optimised code with instructions that WebAssembly has."""
    text = "define ".join(map(_with_offsets, text.split("define ")))
    text = _REVERSED.sub(_in_a_vector, text)
    return _SHIFT.sub(_in_pairs, text)


def _with_offsets(function: str) -> str:
    """Return a function that says which sums of addresses do not wrap.

    The index of an element is not negative if that is where memory is read or written, or by the
    way it is computed; a part of an index may be negative.
    """
    bases = frozenset(_BASE.findall(function))
    positive = frozenset(_POSITIVE.findall(function))

    def element(found: re.Match[str]) -> str:
        if found["name"] in bases and found["index"] not in positive:
            return found[0]
        return f"  {found['name']} = getelementptr inbounds nuw {found['of']} {found['index']}"

    return _ELEMENT.sub(element, _FIELD.sub(r"= getelementptr inbounds nuw \1", function))


def _stem(name: str) -> str:
    """Return a name for parts of the value called *name*."""
    return f"%part.{re.sub(r'[^A-Za-z0-9.]', '.', name[1:])}"


def _in_a_vector(found: re.Match[str]) -> str:
    """Return the reversal of a word's bytes: an order of the bytes of a vector."""
    stem = _stem(found["name"])
    lines = [
        f"{stem}.0 = insertelement <2 x i64> poison, i64 {found['of']}, i32 0",
        f"{stem}.1 = bitcast <2 x i64> {stem}.0 to <16 x i8>",
        f"{stem}.2 = shufflevector <16 x i8> {stem}.1, <16 x i8> poison, <16 x i32> <{_BACKWARDS}>",
        f"{stem}.3 = bitcast <16 x i8> {stem}.2 to <2 x i64>",
        f"{found['name']} = extractelement <2 x i64> {stem}.3, i32 0",
    ]
    return "\n".join(f"  {line}" for line in lines)


def _in_pairs(found: re.Match[str]) -> str:
    """Return the shift of four lanes by constants as shifts of two lanes.

    Games shift bitboards in four directions at once.  LLVM would take such vectors apart; two
    shifts of two lanes each, and one of two from either, are faster.
    """
    distances = found["by"].split(", i64 ")
    name, of = found["name"], found["of"]
    stem = _stem(name)
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
