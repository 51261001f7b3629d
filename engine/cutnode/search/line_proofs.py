"""Strategies that hold after every line of play, where a repetition is a win, a loss, or illegal.

A df-pn search that counts every repetition against a player can store his proofs without the line
that led to them.  A strategy that takes them in the order of their distance to the end never comes
back to a position with the same player to move, whatever the opponent does.  It can still bring
back a position that only the *word* of a repetition takes for the same, such as a board in Go with
the other player to move.  So the strategy is found, and followed, by the rules of the game; the
table only suggests which positions are won.

Source: A. Kishimoto and M. Mueller, "A general solution to the graph history interaction problem"
(2004), on proofs that do not depend on the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from cutnode.contract.derived import legal_moves
from cutnode.contract.repetition import repetition_rule
from cutnode.contract.verbs import bounds, drawn, moves_again, outcome, play, recurrence, reversible

MOST_POSITIONS = 300_000
"""The most positions of a strategy."""

CHUNK = 2048
"""The number of words that are followed through a strategy at once."""

Node = tuple[Any, bool]
"""A position, and whether the player of the strategy moves there."""


@dataclass(slots=True)
class LineProof:
    """A search for a strategy that gets at least some value after every line of play."""

    least: int
    """The value, for the player of the strategy."""
    is_proven: Callable[[Any, bool], bool]
    """Whether the table has a proof for the player in a position; the second argument says whether
    he moves there."""
    children: dict[Node, list[Node]] = field(default_factory=dict)
    """The nodes that can follow each; none for those won at once."""

    def holds(self, root: Node) -> bool:
        """Return whether a strategy was found."""
        if not self._explore(root):
            return False
        order = self._strategy(root)
        return order is not None and not self._repeats(order)

    def _ended(self, node: Node) -> bool | None:
        """Return whether the player gets enough where the line ends; None if it does not."""
        position, mine = node
        over, value = outcome(position)
        if over or drawn(position):
            return bool((value if mine else -value) >= self.least)
        target = self.least if mine else 1 - self.least
        lower, upper = bounds(position, target - 1, target)
        return mine if lower >= target else not mine if upper < target else None

    def _explore(self, root: Node) -> bool:
        """Find the nodes that can arise when the player moves only where a proof is known."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node in self.children:
                continue
            if len(self.children) == MOST_POSITIONS:
                return False
            position, mine = node
            found, won = [], []
            for move in legal_moves(position):
                child = play(position, move)
                after = child, mine == moves_again(position, child)
                ended = self._ended(after)
                if ended:
                    self.children[after] = []
                    won.append(after)
                elif ended is None and self.is_proven(*after):
                    found.append(after)
                elif not mine:
                    return False
            chosen = won[:1] if mine and won else [*won, *found]
            if not chosen:
                return False
            self.children[node] = chosen
            waiting += [each for each in chosen if each not in self.children]
        return True

    def _strategy(self, root: Node) -> list[Node] | None:
        """Choose a move for each of the player's nodes; return the strategy's nodes, in order.

        None if the proofs do not lead to the end of the game from the *root*.
        """
        before: dict[Node, list[Node]] = {}
        for node, after in self.children.items():
            for each in after:
                before.setdefault(each, []).append(node)
        left = {node: 1 if node[1] else len(after) for node, after in self.children.items()}
        won = [node for node, after in self.children.items() if not after]
        for node in won:
            for each in before.get(node, ()):
                left[each] -= 1
                if left[each] == 0:
                    won.append(each)
                    if each[1]:
                        self.children[each] = [node]
        if root not in won:
            return None
        kept, found = {root}, [root]
        for node in found:
            for each in self.children[node]:
                if each not in kept:
                    kept.add(each)
                    found.append(each)
        return [node for node in reversed(won) if node in kept]

    def _repeats(self, order: list[Node]) -> bool:
        """Return whether a move of the strategy's losing side could be a repetition.

        The losing side of a repetition is the player, or the opponent where repetitions win.
        """
        careful = repetition_rule(type(order[0][0])) != "win"
        words = {node: int(recurrence(node[0])) for node in order}
        risky: dict[Node, set[int]] = {}
        for node in order:
            for after in self.children[node] if node[1] == careful else ():
                same = words[after] == words[node] or outcome(after[0])[0]
                if not same and reversible(node[0], after[0]):
                    risky.setdefault(node, set()).add(words[after])
        several = sorted(set().union(*risky.values()) if risky else ())
        return any(
            self._meets(order, words, risky, several[at : at + CHUNK])
            for at in range(0, len(several), CHUNK)
        )

    def _meets(
        self,
        order: list[Node],
        words: dict[Node, int],
        risky: dict[Node, set[int]],
        chunk: Iterable[int],
    ) -> bool:
        """Return whether a risky move to one of some words follows a position with that word."""
        bit = {word: 1 << at for at, word in enumerate(chunk)}
        above = dict.fromkeys(order, 0)
        for node in order:
            line = above[node] | bit.get(words[node], 0)
            if any(line & bit.get(word, 0) for word in risky.get(node, ())):
                return True
            for after in self.children[node]:
                if reversible(node[0], after[0]):
                    above[after] |= line
        return False
