"""FEN, quick."""

from engine import Bits
from engine.bits import bytes_reversed
from games.chess import generator as g
from games.chess.generator import *

NAMES = "pnbrqk"


def parse(text):
    import games.chess as c

    f = text.split()
    b = [0] * 6
    white = 0
    blackp = 0
    for r, row in enumerate(f[0].split("/")):
        x = 0
        for ch in row:
            if ch.isdigit():
                x += int(ch)
            else:
                sq = 8 * (7 - r) + x
                x += 1
                b[NAMES.index(ch.lower())] |= 1 << sq
                if ch.isupper():
                    white |= 1 << sq
                else:
                    blackp |= 1 << sq
    black = f[1] == "b"
    castling = 0
    if f[2] != "-":
        for ch in f[2]:
            row = 0 if ch.isupper() else 56
            side = white if ch.isupper() else blackp
            rooks = (
                [s for s in range(row, row + 8) if b[3] & side >> s & 1]
                if 0
                else [s for s in range(row, row + 8) if (b[3] & side) >> s & 1]
            )
            k = ch.lower()
            sq = {"k": max(rooks), "q": min(rooks)}.get(k)
            if sq is None:
                sq = row + "abcdefgh".index(k)
            castling |= 1 << sq
    clock = int(f[4]) if len(f) > 4 else 0
    num = int(f[5]) if len(f) > 5 else 1
    ply = 2 * (num - 1) + black
    mine, theirs = (blackp, white) if black else (white, blackp)
    flip = bytes_reversed if black else (lambda w: w)
    z = 0
    placed = 0
    for k in range(6):
        for s in range(64):
            if b[k] >> s & 1:
                z ^= c.hashed(
                    k,
                    0 if (white >> s & 1) == (not black) else 1,
                    int(black),
                    s ^ (56 if black else 0),
                )
    for k in range(6):
        for s in range(64):
            if flip(b[k]) >> s & 1:
                if flip(mine) >> s & 1:
                    placed += c.SQUARES[k * 64 + s]
                else:
                    placed -= c.SQUARES[k * 64 + (s ^ 56)]
    z ^= c.rights_hashed(flip(castling), 0, int(black))
    if black:
        z ^= c.BLACK
    p = c.Position(
        *(Bits(flip(w)) for w in (mine, theirs, *b, castling)), Bits(0), clock, ply, placed, Bits(z)
    )
    if f[3] != "-":
        sq = "abcdefgh".index(f[3][0]) + 8 * (int(f[3][1]) - 1)
        p = c.passed(p, sq ^ (56 if black else 0))
    return p


def name(s):
    return "abcdefgh"[s % 8] + str(s // 8 + 1)


def uci(p, m):
    x = 56 if p.ply & 1 else 0
    k = g.kind_of(m)
    a = g.source_of(m)
    t = g.target_of(m)
    if k == g.CASTLING:
        t = g.castled(a, t)[0]
    return name(a ^ x) + name(t ^ x) + ("nbrq"[k - 6] if 6 <= k <= 9 else "")


def fen(p):
    return str(tuple(p))


def drawn(p):
    return "board"
