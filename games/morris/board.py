"""The points of morris boards: neighbours, mills, and symmetric images.

A board has one to three nested squares.  The corners of each are four bits, and so are the
middles of its sides, both clockwise from the top left: a middle lies between the corner of the
same number and the next.  On the board of three squares::

     0 --------- 12 ---------  1
     |   4 ----- 16 -----  5   |
     |   |   8 - 20 -  9   |   |
    15 - 19 - 23    21 - 17 - 13          3 + 4 is one square further in
     |   |  11 - 22 - 10   |   |
     |   7 ----- 18 -----  6   |
     3 --------- 14 ---------  2

A line from square to square goes through the middles, and on some boards through the corners.
The centre of the board of one square, bit 24, is a neighbour of all other points.

All functions work on sets of points.  A quarter turn rotates each group of four bits by one (the
last becomes the first), so from 0b0011 in ``corners``, the upper side, ``ahead`` makes 0b0110, the
right side.
"""

from __future__ import annotations

from cutnode import Bits, compiled

__all__ = ["CORNERS", "SYMMETRIES", "completing", "image", "neighbours"]

CORNERS = Bits(0xFFF)
"""The corners; the middles are 12 bits higher."""

CENTRE = Bits(1 << 24)

SYMMETRIES = 16


@compiled
def ahead(points):
    """Rotate each group of four bits by one."""
    return ((points & Bits(0x777777)) << Bits(1)) | ((points & Bits(0x888888)) >> Bits(3))


@compiled
def back(points):
    return ((points & Bits(0xEEEEEE)) >> Bits(1)) | ((points & Bits(0x111111)) << Bits(3))


@compiled
def opposite(points):
    """Rotate each group of four bits by two."""
    return ((points & Bits(0x333333)) << Bits(2)) | ((points & Bits(0xCCCCCC)) >> Bits(2))


@compiled
def outward(points):
    """Move twelve bits to the next square, and the last square's to the first."""
    return ((points << Bits(4)) | (points >> Bits(8))) & CORNERS


@compiled
def inward(points):
    return ((points >> Bits(4)) | (points << Bits(8))) & CORNERS


@compiled
def neighbours(position, points):
    """Return the neighbours of some points."""
    corners, middles = points & CORNERS, (points >> Bits(12)) & CORNERS
    near_corners = middles | ahead(middles)
    near_middles = corners | back(corners) | (middles << Bits(4)) | (middles >> Bits(4))
    if position.DIAGONALS:
        near_corners |= (corners << Bits(4)) | (corners >> Bits(4))
    near = (near_corners & CORNERS) | ((near_middles & CORNERS) << Bits(12))
    if position.CENTRE:
        if points & CENTRE:
            near = ~CENTRE
        if points & ~CENTRE:
            near |= CENTRE
    return near & position.BOARD


@compiled
def completing(position, points):
    """Return the points that form a mill with two of some points, whether or not among these."""
    corners, middles = points & CORNERS, (points >> Bits(12)) & CORNERS
    third_middles = corners & back(corners)
    third_corners = (middles & back(corners)) | ahead(middles & corners)
    if position.RINGS == 3:
        third_middles |= outward(middles) & inward(middles)
        if position.DIAGONALS:
            third_corners |= outward(corners) & inward(corners)
    third = third_corners | (third_middles << Bits(12))
    if position.CENTRE:
        across = opposite(points)
        if points & CENTRE:
            third |= across
        if points & across:
            third |= CENTRE
    return third


# Symmetric images.  Here a word has two sets of points, one of them from bit 32 on.


@compiled
def image(position, word, symmetry):
    """Return points transformed by a number, 0 to 15: squares exchanged, mirrored, turned."""
    if symmetry & 8:
        word = exchanged(position, word)
    if symmetry & 4:
        word = mirrored(word)
    if symmetry & 2:
        word = quarter_turned(quarter_turned(word))
    if symmetry & 1:
        word = quarter_turned(word)
    return word


@compiled
def quarter_turned(word):
    stay = word & Bits(0x0100_0000_0100_0000)
    on = (word & Bits(0x0077_7777_0077_7777)) << Bits(1)
    return stay | on | ((word >> Bits(3)) & Bits(0x0011_1111_0011_1111))


@compiled
def mirrored(word):
    """Mirror at the line through the corners 1 and 3, which stay."""
    stay = word & Bits(0x0100_0AAA_0100_0AAA)
    corners = word & Bits(0x0000_0111_0000_0111)
    others = (word >> Bits(2)) & Bits(0x0000_0111_0000_0111)
    middles = word & Bits(0x0055_5000_0055_5000)
    next_middles = (word >> Bits(1)) & Bits(0x0055_5000_0055_5000)
    return stay | (corners << Bits(2)) | others | (middles << Bits(1)) | next_middles


@compiled
def exchanged(position, word):
    """Exchange the innermost and the outermost square, if there is more than one."""
    if position.RINGS == 3:
        outer = (word & Bits(0x0000_F00F_0000_F00F)) << Bits(8)
        inner = (word >> Bits(8)) & Bits(0x0000_F00F_0000_F00F)
        return (word & Bits(0x010F_00F0_010F_00F0)) | outer | inner
    if position.RINGS == 2:
        outer = (word & Bits(0x0000_F00F_0000_F00F)) << Bits(4)
        return outer | ((word >> Bits(4)) & Bits(0x0000_F00F_0000_F00F))
    return word
