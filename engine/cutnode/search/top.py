"""The top of a game's tree, down to a given ply, which is expanded rather than searched.

It is a graph in layers.  Layer n holds the positions after n *choices*, one for each class of
equivalent positions.  Forced moves are played on the way and do not count as choices.  Children
that the game decides (finished games, ``bounds``, ``endgame``) are folded into the node above.
The last layer holds the *leaves*: the subproblems.

All values here are from the point of view of the player to move at the root: the value of that
player's node is the maximum of its children, and of an opponent's node the minimum.

The graph is stored in arrays, with no object per position; :attr:`Top.bytes` is their total size.
"""

from __future__ import annotations

import functools
import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.derived import most_value
from cutnode.contract.dispatch import MAX_VALUE, game_constant, game_name
from cutnode.contract.errors import CutnodeError
from cutnode.contract.messages import contract_violation
from cutnode.contract.native import records
from cutnode.contract.positions import as_words, coerce, words_each
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import INFINITE, NO_MOVE, bounds, canonical, forced
from cutnode.kernels.expansion import solver_words
from cutnode.kernels.solver import resolve
from cutnode.kernels.splitting import CHILD, NODE, expand, work_dtype
from cutnode.runtime.running import UNLIMITED

BLOCK_CHILDREN = 1 << 17
"""The approximate most children that are expanded at a time."""


class Top:
    """The graph from a position down to a ply.

    :class:`CutnodeError` if it has more than *most_positions* positions.
    """

    def __init__(self, position: Any, plies: int, most_positions: int):
        self.position = position = coerce(position)
        cls: Any = type(position)
        self.cls = cls
        self.plies = plies
        self.most_positions = most_positions
        self.layers: list[slice] = []
        """The nodes of each ply."""
        self._run = expand.specialise(self.cls)
        self._memory = Memory(cls, work_dtype(cls))
        self._memory["node_limit"] = UNLIMITED
        limit = most_value(position)
        reached, same, decided, value = resolve(
            position, -INFINITE, INFINITE, SimpleNamespace(nodes=0, node_limit=UNLIMITED)
        )
        lower, upper = (value, value) if decided else bounds(reached, -INFINITE, INFINITE)
        side = 1 if same else -1
        self.bounded = lower >= -MAX_VALUE and upper <= MAX_VALUE
        """Whether the game knows bounds of the root's value."""
        lower, upper = max(lower, -limit), min(upper, limit)
        root = np.zeros(1, NODE)
        root["low"], root["high"] = (lower, upper) if same else (-upper, -lower)
        root["side"], root["decided"], root["decided_move"] = side, -side * INFINITE, NO_MOVE
        self.first_move = forced(position) if reached != position else NO_MOVE
        """The forced move at the root, or ``NO_MOVE``."""
        self._build(root, as_words([reached]), np.array([canonical(reached)[0]], np.uint64))

    def _build(self, root: np.ndarray, words: np.ndarray, keys: np.ndarray) -> None:
        layers, all_words, all_keys = [root], [words], [keys]
        targets, moves = [], []
        total, first = 1, 0
        for ply in range(self.plies):
            layer = layers[-1]
            edges, children, words, keys = self._layer(layer, all_words[-1])
            if not len(children):
                break
            total += len(children)
            if total > self.most_positions:
                raise CutnodeError(
                    f"{game_name(self.cls)} has {total:,} positions down to ply {ply + 1}, more "
                    f"than the {self.most_positions:,} allowed: split it at an earlier ply"
                )
            counts = np.bincount(edges["parent"], minlength=len(layer))
            layer["count"] = counts
            layer["first"] = first + np.concatenate(([0], np.cumsum(counts)[:-1]))
            first += len(edges)
            below = total - len(children)
            targets.append((edges["child"] + below).astype(np.int32))
            moves.append(edges["move"].astype(np.uint16))
            layers.append(children)
            all_words.append(words)
            all_keys.append(keys)
        starts = np.concatenate(([0], np.cumsum([len(layer) for layer in layers])))
        self.layers = [slice(int(a), int(b)) for a, b in itertools.pairwise(starts)]
        self.nodes: Any = np.concatenate(layers).view(np.recarray)
        self.words = np.concatenate(all_words)
        self.keys = np.concatenate(all_keys)
        self.children = np.concatenate([*targets, np.zeros(0, np.int32)])
        self.moves = np.concatenate([*moves, np.zeros(0, np.uint16)])
        # The parents of each node, in the order of the nodes.
        sources = np.repeat(np.arange(len(self.nodes), dtype=np.int32), self.nodes["count"])
        self.parents = sources[np.argsort(self.children, kind="stable")]
        counts = np.bincount(self.children, minlength=len(self.nodes))
        self.nodes["parents"] = counts
        self.nodes["first_parent"] = np.concatenate(([0], np.cumsum(counts)[:-1]))

    def _layer(
        self, layer: np.ndarray, words: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the next layer: edges to it, its nodes, their words and keys."""
        each = words_each(self.cls)
        open_nodes = np.flatnonzero(layer["low"] < layer["high"])
        block = max(1, BLOCK_CHILDREN // game_constant(self.cls, "MAX_MOVES", 256))
        rows, row_words = [], []
        for start in range(0, len(open_nodes), block):
            of_block = open_nodes[start : start + block]
            found, found_words = self._expand(words.reshape(-1, each)[of_block])
            found["parent"] = of_block[found["parent"]]
            keep = self._fold(layer, found)
            rows.append(found[keep])
            row_words.append(found_words[keep])
        if not rows:
            return np.zeros(0), np.zeros(0, NODE), words[:0], np.zeros(0, np.uint64)
        found, found_words = np.concatenate(rows), np.concatenate(row_words)
        side = layer["side"][found["parent"]] * found["same"]
        names = np.zeros(len(found), [("key", np.uint64), ("side", np.int64)])
        names["key"], names["side"] = found["key"], side
        _, firsts, child = np.unique(names, return_index=True, return_inverse=True)
        children = np.zeros(len(firsts), NODE)
        limit = most_value(self.position)
        lower = np.maximum(found["lower"][firsts], -limit)
        upper = np.minimum(found["upper"][firsts], limit)
        children["side"] = side = side[firsts]
        children["low"] = np.where(side > 0, lower, -upper)
        children["high"] = np.where(side > 0, upper, -lower)
        children["decided"] = -side * INFINITE
        children["decided_move"] = NO_MOVE
        # Order the edges by the game's move ordering; keep one move to each child.
        sort = np.lexsort((-found["order"], found["parent"]))
        child = child.reshape(-1)[sort]
        pairs = found["parent"][sort] * len(firsts) + child
        first_of_pair = np.sort(np.unique(pairs, return_index=True)[1])
        sort, child = sort[first_of_pair], child[first_of_pair]
        kind = [("parent", np.int64), ("child", np.int64), ("move", np.int64)]
        edges = np.zeros(len(sort), kind)
        edges["parent"], edges["move"] = found["parent"][sort], found["move"][sort]
        edges["child"] = child
        return edges, children, found_words[firsts].reshape(-1), found["key"][firsts]

    def _expand(self, words: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return the children of some positions, and their words."""
        most = game_constant(self.cls, "MAX_MOVES", 256)
        each = words_each(self.cls)
        children = records(len(words) * most, CHILD)
        child_words = np.zeros(len(children) * each, np.uint64)
        flat = np.ascontiguousarray(words).reshape(-1)
        memory = self._memory
        number = self._run(self.position, flat, len(words), children, child_words, memory.argument)
        if memory["stop"] != RUNNING:
            violation = memory.position("violation", self.position)
            raise contract_violation(violation, int(memory["stop"]))
        found = children[:number].view(np.ndarray)
        return found, child_words[: number * each].reshape(-1, each)

    def _fold(self, layer: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Fold decided children into the nodes above; return flags of the other rows to keep."""
        side = layer["side"][found["parent"]]
        done = found["open"] == 0
        value = np.where(side * found["same"] > 0, found["lower"], -found["lower"])
        worth, parents = side[done] * value[done], found["parent"][done]
        sort = np.lexsort((-worth, parents))
        those, firsts = np.unique(parents[sort], return_index=True)
        best_row = np.flatnonzero(done)[sort[firsts]]
        layer["decided"][those] = value[best_row]
        layer["decided_move"][those] = found["move"][best_row]
        best = layer["decided"]
        layer["low"] = np.where(layer["side"] > 0, np.maximum(layer["low"], best), layer["low"])
        layer["high"] = np.where(layer["side"] > 0, layer["high"], np.minimum(layer["high"], best))
        decided = np.setdiff1d(found["parent"][done], found["parent"][~done])
        layer["low"][decided] = layer["high"][decided] = best[decided]
        still = layer["low"] < layer["high"]
        keep: np.ndarray = ~done & still[found["parent"]]
        return keep

    @functools.cached_property
    def solver_keys(self) -> tuple[np.ndarray, np.ndarray]:
        """The scattered key of each node in a solver's table, and its settled points."""
        keys = np.zeros(len(self.nodes), np.uint64)
        points = np.zeros(len(self.nodes), np.int64)
        solver_words.specialise(self.cls)(self.position, self.words, keys, points)
        return keys, points

    @property
    def leaves(self) -> slice:
        """The nodes of the last layer."""
        return self.layers[-1]

    @property
    def bytes(self) -> int:
        """The memory of the graph, in bytes."""
        arrays = (self.nodes, self.words, self.keys, self.children, self.moves, self.parents)
        return sum(array.nbytes for array in arrays)

    def words_of(self, node: int) -> np.ndarray:
        """Return the position of a node, packed."""
        each = words_each(self.cls)
        return self.words[node * each : (node + 1) * each]
