from __future__ import annotations
from typing import Any
import numba
import numpy as np
from numba import types
from engine.bits import Bits
from engine.contract import *
from engine.contract import game_constant
from engine.jit import compiled
from engine.positions import load, park, width
from engine import table as tt
from engine.table import scatter, prepare, probe, store, lower_of, upper_of, move_of
import math, functools

@functools.cache
def search_dtype(cls):
    plies = game_constant(cls, "MAX_PLIES", 512)
    most = game_constant(cls, "MAX_MOVES", 256)
    frame = len(cls._fields) + 1
    return np.dtype([("stop", "i8"), ("limit", "i8"), ("nodes", "i8"), ("probes","i8"),("hits","i8"),("stores","i8"),("overwrites","i8"),("age","i8"),("salt","u8"),
        ("lower","i8"),("upper","i8"),
        ("etc","i8"),("tt","i8"),
        ("moves", "i8", (plies+1)*most), ("order", "i8", (plies+1)*most), ("children","u8",(plies+1)*most*frame)], align=True)

def record(position): return numba.from_dtype(search_dtype(position.instance_class))
TABLE = types.uint64[::1]

@compiled
def log2(n):
    r = 0
    while n > 1:
        n >>= 1
        r += 1
    return r

@compiled(signature=lambda p: types.int64(p, types.uint64, types.int64, types.int64, types.int64, types.int64, record(p), TABLE))
def negamax(position, word, alpha, beta, ply, top, search, table):
    search.nodes += 1
    if search.stop or search.nodes >= search.limit:
        search.stop = 1
        return alpha
    before = search.nodes
    frame = width(position) + 1

    _, symmetry = canonical(position)
    hint = NO_MOVE
    plies = plies_left(position)
    data = Bits(0)
    if plies >= search.tt:
        data = probe(table, word)
    if data:
        lower, upper = lower_of(data), upper_of(data)
        if lower >= beta or lower == upper: return lower
        if upper <= alpha: return upper
        alpha = max(alpha, lower)
        beta = min(beta, upper)
        hint = move_of(data)
        if hint != NO_MOVE:
            hint = original_move(position, hint, symmetry)

    best = -INFINITE
    best_move = NO_MOVE
    floor = alpha
    end = candidates(position, search.moves, top)
    count = 0
    for i in range(top, end):
        move = search.moves[i]
        child = play(position, move)
        first = child
        again = moves_again(position, child)
        low, high = (floor, beta) if again else (-beta, -floor)
        decided = False
        value = 0
        while True:
            l, u = bounds(child, low, high)
            if l >= high or l == u:
                value = l; decided = True; break
            if u <= low:
                value = u; decided = True; break
            only = forced(child)
            if only == NO_MOVE: break
            grand = play(child, only)
            if not moves_again(child, grand):
                again = not again
                low, high = -high, -low
            child = grand
        if decided:
            if not again: value = -value
            if value > best:
                best = value
                best_move = move
                if value >= beta:
                    return value
                floor = max(floor, value)
            continue
        ckey, _ = canonical(child)
        cword = scatter(ckey, search.salt)
        if plies > search.tt: prepare(table, cword)
        slot = top + count
        park(search.children, slot * frame, child)
        search.children[slot * frame + frame - 1] = cword
        score = order(position, move, first) + (100000 if move == hint else 0)
        search.order[slot] = ((score + (1 << 24)) << 32) | (move << 16) | (np.int64(again) << 8) | count
        count += 1

    if count == 0:
        return best

    # ETC
    if plies >= search.etc:
        kept = 0
        for j in range(count):
            slot = top + j
            o = search.order[slot]
            idx = o & 255
            again = ((o >> 8) & 1) != 0
            data = probe(table, search.children[(top+idx) * frame + frame - 1])
            if data:
                l, u = lower_of(data), upper_of(data)
                if not again:
                    l, u = -u, -l
                if l >= beta:
                    return l
                if u <= floor:
                    best = max(best, u)
                    continue
            search.order[top + kept] = o
            kept += 1
        count = kept

    # sort
    for i in range(top + 1, top + count):
        item = search.order[i]
        j = i
        while j > top and search.order[j-1] < item:
            search.order[j] = search.order[j-1]
            j -= 1
        search.order[j] = item

    origfloor = floor
    nexttop = end
    for i in range(top, top + count):
        o = search.order[i]
        slot = top + (o & 255)
        again = ((o >> 8) & 1) != 0
        child = load(search.children, slot * frame, position)
        cword = search.children[slot*frame + frame-1]
        if again:
            value = negamax(child, cword, floor, beta, ply+1, nexttop, search, table)
        else:
            value = -negamax(child, cword, -beta, -floor, ply+1, nexttop, search, table)
        if search.stop: return best
        if value > best:
            best = value
            best_move = (o >> 16) & 0xFFFF
            floor = max(floor, value)
            if best >= beta: break
    if plies < search.tt: return best
    lower, upper = -INFINITE, INFINITE
    if best >= beta: lower = best
    elif best <= alpha: upper = best
    else: lower = upper = best
    search.stores += 1
    if store(table, word, lower, upper, canonical_move(position, best_move, symmetry) if best > alpha else NO_MOVE, log2(search.nodes - before), search.age):
        search.overwrites += 1
    return best

@compiled(signature=lambda p: types.int64(p, types.int64, types.int64, types.int64, record(p), TABLE))
def solve_root(position, low, high, mode, search, table):
    search.lower, search.upper = low, high
    while True:
        l, u = bounds(position, search.lower, search.upper)
        if l > search.lower: search.lower = l
        if u < search.upper: search.upper = u
        break
    if search.lower >= search.upper: return search.lower
    k, _ = canonical(position)
    word = scatter(k, search.salt)
    guess = (search.lower+search.upper)//2
    while search.lower < search.upper:
        lo, hi = search.lower, search.upper
        if mode == 0:   # mtd
            test = max(guess, lo+1)
        else:
            med = lo + (hi-lo)//2
            if med <= 0 and -((-lo)//2) < 0 and lo//2 < med: med = -((-lo)//2)
            elif med >= 0 and hi//2 > med: med = hi//2
            test = med + 1
        v = negamax(position, word, test-1, test, 0, 0, search, table)
        if search.stop: break
        if v >= test: search.lower = v
        else: search.upper = v
        guess = v
    return search.lower
