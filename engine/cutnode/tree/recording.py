"""The tree that a search visits: the window, the score and the outcome of each node.

:func:`record_tree` runs a search in plain Python, which visits the same nodes as the compiled one,
and watches it: node functions are called through observers (see ``cutnode.compiler.interpreter``)
that record the window, the score, and the moves considered.  The counters that a node itself
increments tell why it ended.  The searches do not know of the observers, so they pay nothing for
them.

All scores of a :class:`Tree` are from the point of view of the player to move at the root,
who is *max*; the opponent is *min*.  So the windows along a line of play are nested, and a beta
cutoff by min shows as an upper bound.

Iterative deepening is a sequence of searches.  The tree shows the last of them; the earlier ones
show only through the transposition table.  A child that was re-searched, deeper or with another
window, is a single node: it has the result of the last search and the number of searches.
"""

from __future__ import annotations

import functools
import heapq
import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from cutnode.compiler.interpreter import Interpretable, Observer, observed
from cutnode.contract.choices import RECORDED_NODES, RECORDED_SEARCHES
from cutnode.contract.derived import same_after_chance
from cutnode.contract.dispatch import defines, game_name, is_plain, module_of
from cutnode.contract.errors import CutnodeError, GameError, require_at_least, require_integer
from cutnode.contract.loading import plain_copy
from cutnode.contract.notation import notation_of
from cutnode.contract.positions import coerce
from cutnode.contract.stop import RUNNING
from cutnode.contract.verbs import (
    INFINITE,
    NO_MOVE,
    chance,
    chance_outcome,
    drawn,
    moves_again,
    outcome,
)
from cutnode.kernels.chance import chance_node
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.node import COUNTERS, leaf_score
from cutnode.kernels.ordering import bring_best, ranked_move
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.kernels.quiescence import quiet_node
from cutnode.kernels.reference import alphabeta_node, minimax_node, repeats
from cutnode.kernels.scores import is_decisive
from cutnode.kernels.search import search_node
from cutnode.search.api import alphabeta, minimax
from cutnode.search.board import given_position
from cutnode.search.searcher import Searcher
from cutnode.tree.drawing import Tree
from cutnode.tree.nodes import Node, Unsearched

OVER, REPETITION, DRAWN, HORIZON = "game over", "repetition", "drawn", "depth reached"

CUTOFFS = {
    "distance_cutoffs": "no win can be quick enough",
    "table_cutoffs": "table cutoff",
    "razored": "razoring",
    "reverse_cutoffs": "reverse futility",
    "null_cutoffs": "null move cutoff",
    "probcut_cutoffs": "ProbCut",
    "enhanced_cutoffs": "cutoff by a child in the table",
    "star1_cutoffs": "Star1 cutoff",
    "star2_cutoffs": "Star2 cutoff",
}
"""The reason why a node ended, by the counter that it incremented; for beta cutoffs, see below."""


def record_tree(
    position: Any,
    depth: int,
    *,
    search: str = "search",
    techniques: Iterable[str] | None = None,
    parameters: Mapping[str, float] | None = None,
    exact: bool = False,
    driver: str = "alphabeta",
    evaluation: AnyEvaluation = None,
    depth_in: str = "turns",
    nodes: int = RECORDED_NODES,
    plies: int = 3,
    width: int = 8,
    size: int = 200,
) -> Tree:
    """Search a position *depth* plies deep, and record the tree.

    *search* is one of ``RECORDED_SEARCHES``; the other options of the search are the options of
    :class:`Searcher`, and only ``"search"`` has techniques and drivers.  Visiting more than *nodes*
    nodes is an error: plain Python visits some 10,000 a second.

    The tree shows *plies* plies, at most *width* children of a node, and at most *size* nodes in
    all.  Nodes are chosen in this order: the principal variation, then nodes nearer to the root,
    best moves before others, and larger subtrees before smaller ones.
    """
    require_at_least(nodes, 1, "nodes")
    require_at_least(plies, 0, "plies")
    require_at_least(width, 1, "width")
    require_at_least(size, 1, "size")
    if not 0 <= require_integer(depth, "depth") <= MOST_DEPTH:
        raise CutnodeError(f"depth must be 0..{MOST_DEPTH} plies, got {depth}")
    if search not in RECORDED_SEARCHES:
        raise CutnodeError(f"search must be one of {', '.join(RECORDED_SEARCHES)}, got {search!r}")
    chosen = techniques is not None or parameters or exact or driver != "alphabeta"
    if search != "search" and chosen:
        raise CutnodeError(f"{search} has no techniques to choose from")

    position = _in_plain_python(given_position(position))
    cls = type(position)
    recorder = _Recorder(plies + 1, nodes, COUNTERS if search == "search" else ())
    options: dict[str, Any] = {"evaluation": evaluation, "depth_in": depth_in}
    used: frozenset[str] = frozenset()
    pv: tuple[int, ...] | None = None
    with observed(recorder.observers()):
        if search == "search":
            options |= {"techniques": techniques, "parameters": parameters}
            engine = Searcher(cls, exact=exact, driver=driver, **options)
            result = engine.search(position, depth=depth)
            if result.reason == "interrupted":
                raise KeyboardInterrupt
            used, pv, depth, spent = engine.techniques, result.pv, result.depth, result.nodes
            root = recorder.root or _Visit.unsearched(position, result.value)
        else:
            answer = (minimax if search == "minimax" else alphabeta)(position, depth, **options)
            spent = answer.nodes
            assert recorder.root is not None
            root = recorder.root
    shape = _Shape(cls, root, pv, plies, width, size)
    shown = shape.node(root, None, 1)
    return Tree(
        game=game_name(cls),
        position=shape.position_text(position),
        search=search,
        techniques=tuple(sorted(used)),
        depth=depth,
        decisive=is_decisive(cls),
        value=shown.value,
        pv=tuple(
            shape.edge_text(parent, child) for parent, child in itertools.pairwise(shape.principal)
        ),
        nodes=spent,
        root=shown,
    )


def _in_plain_python(position: Any) -> Any:
    """Return the same position in the plain copy of its game."""
    position = coerce(position)
    cls: Any = type(position)
    if is_plain(cls):
        return position
    module = module_of(cls)
    if getattr(module, "__file__", None) is None or module.__name__ == "__main__":
        raise GameError(f"a tree needs {cls.__name__} to be in a file that is imported")
    return getattr(plain_copy(module), cls.__qualname__)(*position)


# Recording ----------------------------------------------------------------------------


def _source(function: Any) -> Any:
    """Return the Python function of a kernel; return any other function unchanged."""
    return function.function if isinstance(function, Interpretable) else function


class _Visit:
    """One call of a node function: its arguments and its effects."""

    def __init__(self, kind: str, given: dict[str, Any], key: int):
        self.kind = kind
        self.given = given
        self.key = key  # the move or chance outcome that led here; NO_MOVE for a null move
        self.position = given["position"]
        self.ply: int = given["ply"]
        self.value: float = 0
        self.own: dict[str, int] = {}  # increments of the counters by this node, without children
        self.below: tuple[int, ...] = ()  # increments by its children
        self.nodes = 0
        self.searches = 1
        self.notes: list[str] = []
        self.children: dict[int, _Visit] = {}
        self.calls = 0  # calls of node functions for children
        self.quiet = kind == "quiet_node"
        self.moves: list[int] = []  # in the game's order, or in the order of the search
        self.useless: list[int] = []  # the moves that cannot raise alpha according to the table
        self.considered: list[int] = []  # the moves that were picked, in order
        self.marks = (0, 0)  # counts of reductions and extensions before the last picked move
        self.drawn = 0  # the index of the last chance outcome requested
        self.repeats = False  # whether the position repeats an earlier one of the line

    @classmethod
    def unsearched(cls, position: Any, value: float) -> _Visit:
        """Return a visit for a root whose score is known without a search."""
        visit = cls("leaf_score", {"position": position, "ply": 0}, NO_MOVE)
        visit.value = value
        return visit

    @property
    def depth(self) -> int:
        return max(int(self.given.get("depth", 0)), 0)

    @property
    def alpha(self) -> float:
        return self.given.get("alpha", -INFINITE)  # type: ignore[no-any-return]

    @property
    def beta(self) -> float:
        return self.given.get("beta", INFINITE)  # type: ignore[no-any-return]

    @property
    def by_chance(self) -> bool:
        return bool(chance(self.position))

    def next_key(self, memory: Any, top: int) -> int:
        """Return the move or outcome that leads to the child about to be searched."""
        if self.kind == "root":
            return NO_MOVE
        if self.by_chance:
            return self.drawn
        if self.quiet or self.kind in ("alphabeta_node", "minimax_node"):
            if not self.calls:
                own = slice(self.given["top"], top)
                self.moves = memory.moves[own]
                if self.quiet:
                    self.moves = [ranked_move(ranked) for ranked in memory.ranked[own]]
            return self.moves[self.calls]
        return self.considered[-1] if self.considered else NO_MOVE

    def end_quietly(self) -> None:
        """Forget the quiescence search of razoring, which did not decide the node."""
        self.quiet, self.calls = False, 0
        self.moves, self.children = [], {}
        self.notes.append("razoring failed")

    def replace(self, earlier: _Visit) -> None:
        """Replace an earlier search of the same child."""
        self.searches += earlier.searches
        self.nodes += earlier.nodes
        deeper = self.given.get("depth", 0) > earlier.given.get("depth", 0)
        why = "searched again, deeper" if deeper else "searched again with another window"
        self.notes = [*dict.fromkeys((*earlier.notes, *self.notes, why))]


class _Recorder:
    """A recorder of the calls of node functions, down to ply *deepest*."""

    def __init__(self, deepest: int, most_nodes: int, counters: tuple[str, ...]):
        self.deepest = deepest
        self.most_nodes = most_nodes
        self.names = counters or ("nodes", "leaves")
        self.count: Callable[[Any], tuple[int, ...]] = attrgetter(*self.names)
        self.zeros = (0,) * len(self.names)
        self.above = _Visit("root", {"position": None, "ply": -1}, NO_MOVE)
        self.above.below = self.zeros
        self.open = [self.above]

    @property
    def root(self) -> _Visit | None:
        return self.above.children.get(NO_MOVE)

    def observers(self) -> dict[Any, Observer]:
        functions = (search_node, quiet_node, leaf_score, chance_node, alphabeta_node, minimax_node)
        return {
            **{_source(function): self._observe_nodes(_source(function)) for function in functions},
            bring_best: self._observe_picks,
            chance_outcome: self._observe_outcomes,
            repeats: self._observe_repetitions,
        }

    def _observe_nodes(self, function: Any) -> Observer:
        names = tuple(inspect.signature(function).parameters)
        at_memory = names.index("search" if "search" in names else "plain")

        def observer(run: Callable[..., Any]) -> Callable[..., Any]:
            def observed_node(*args: Any) -> Any:
                memory = args[at_memory]
                if memory.nodes >= self.most_nodes:
                    raise CutnodeError(
                        f"this search visits more than {self.most_nodes:,} nodes, and plain Python "
                        f"visits some 10,000 a second: search less deep, or raise the limit"
                    )
                given = dict(zip(names, args, strict=True))
                if "node" in given:
                    given.update(given["node"]._asdict())
                if given["ply"] > self.deepest:
                    return run(*args)
                return self._visit(function.__name__, given, memory, functools.partial(run, *args))

            return observed_node

        return observer

    def _visit(self, kind: str, given: dict[str, Any], memory: Any, run: Any) -> Any:
        parent = self.open[-1]
        if parent.ply == given["ply"]:  # the same node continues with another function
            return self._continue(parent, kind, given, memory, run)
        visit = _Visit(kind, given, parent.next_key(memory, given.get("top", 0)))
        self._note_how(parent, visit, memory)
        parent.calls += 1
        self._watch(parent, visit, memory, run)
        if memory.stop == RUNNING:
            self._keep(parent, visit)
        return visit.value

    def _watch(self, parent: _Visit, visit: _Visit, memory: Any, run: Any) -> None:
        """Run a node function, and add up its counters for itself and for its parent."""
        visit.below = self.zeros
        before = self.count(memory)
        self.open.append(visit)
        try:
            visit.value = run()
        finally:
            self.open.pop()
        spent = [now - then for now, then in zip(self.count(memory), before, strict=True)]
        own = (mine - theirs for mine, theirs in zip(spent, visit.below, strict=True))
        visit.own = dict(zip(self.names, own, strict=True))
        visit.nodes = spent[0]
        parent.below = tuple(map(sum, zip(parent.below, spent, strict=True)))

    def _continue(
        self, visit: _Visit, kind: str, given: dict[str, Any], memory: Any, run: Any
    ) -> Any:
        if kind == "search_node":  # the shallower search of ProbCut, which is not shown
            test = _Visit(kind, given, visit.key)
            self._watch(visit, test, memory, run)
            visit.notes.append(f"ProbCut by {test.depth} plies")
            return test.value
        if kind == "leaf_score":
            visit.kind = kind
            return run()
        visit.quiet = True
        value = run()
        if visit.given["depth"] > 0 and value > given["alpha"]:
            visit.end_quietly()
        return value

    def _note_how(self, parent: _Visit, visit: _Visit, memory: Any) -> None:
        if parent.considered and visit.key not in parent.children:
            reductions, extended = parent.marks
            if memory.reductions > reductions:
                visit.notes.append("reduced")
            if memory.extended > extended:
                visit.notes.append("extended")
        if visit.given.get("tries", NO_MOVE) == 1:
            visit.notes.append("one move tried (Star2)")

    def _keep(self, parent: _Visit, visit: _Visit) -> None:
        earlier = parent.children.get(visit.key)
        if earlier is not None:
            next_iteration = parent is self.above and earlier.depth != visit.depth
            if not next_iteration:
                visit.replace(earlier)
        parent.children[visit.key] = visit

    def _observe_picks(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def observed_pick(ranked: Any, at: int, end: int) -> Any:
            found = run(ranked, at, end)
            visit = self.open[-1]
            if visit.ply < self.deepest:
                memory = visit.given["search"]
                if not visit.considered:
                    top = visit.given["top"]
                    visit.moves = memory.moves[top:end]
                    visit.useless = [ranked_move(word) for word in ranked[top:at]]
                visit.considered.append(ranked_move(found))
                visit.marks = memory.reductions, memory.extended
            return found

        return observed_pick

    def _observe_outcomes(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def observed_outcome(position: Any, index: int) -> Any:
            self.open[-1].drawn = index
            return run(position, index)

        return observed_outcome

    def _observe_repetitions(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def observed_repetition(*args: Any) -> Any:
            found = run(*args)
            self.open[-1].repeats = found
            return found

        return observed_repetition


# Choosing what to show ---------------------------------------------------------------------


class _Shape:
    """The choice of the visits that are shown, and their nodes."""

    def __init__(
        self, cls: Any, root: _Visit, pv: tuple[int, ...] | None, plies: int, width: int, size: int
    ):
        self.has_chance = defines(cls, "chance")
        self.plies = plies
        self._move_text = notation_of(cls).move_text
        self._chance_text = notation_of(cls).chance_text
        self.position_text = notation_of(cls).position_text
        self.principal = _line(root) if pv is None else _line_along(root, pv)
        self._on_line = set(map(id, self.principal))
        self._shown = self._choose(root, width, size)

    def _choose(self, root: _Visit, width: int, size: int) -> dict[int, set[int]]:
        """Choose the nodes to show; return the keys of the shown children by node."""
        shown: dict[int, set[int]] = {id(root): set()}
        order = itertools.count()
        waiting: list[Any] = []

        def offer(parent: _Visit) -> None:
            if parent.ply >= self.plies:
                return
            best = _best(parent)

            def rank(child: _Visit) -> tuple[bool, bool, int]:
                return id(child) not in self._on_line, child is not best, -child.nodes

            for child in sorted(parent.children.values(), key=rank)[:width]:
                off_line, other, nodes = rank(child)
                item = (off_line, child.ply, other, nodes, next(order), parent, child)
                heapq.heappush(waiting, item)

        offer(root)
        while waiting and len(shown) < size:
            *_, parent, child = heapq.heappop(waiting)
            shown[id(parent)].add(child.key)
            shown[id(child)] = set()
            offer(child)
        return shown

    def node(self, visit: _Visit, parent: _Visit | None, sign: int) -> Node:
        """Return the node for a visit; *sign* is 1 if its mover also moves at the root, else -1."""
        best = _best(visit)
        shown = self._shown[id(visit)]
        chosen = [child for key, child in visit.children.items() if key in shown]
        hidden = [child for key, child in visit.children.items() if key not in shown]
        bound = _bound(visit)
        if sign < 0:
            bound = {"lower": "upper", "upper": "lower"}.get(bound, bound)
        low, high = (visit.alpha, visit.beta) if sign > 0 else (-visit.beta, -visit.alpha)
        value = sign * visit.value + 0  # not -0.0
        return Node(
            move="" if parent is None else self.edge_text(parent, visit),
            position=self.position_text(visit.position),
            player="chance" if visit.by_chance else "max" if sign > 0 else "min",
            ply=visit.ply,
            depth=visit.depth,
            window=(None if low <= -INFINITE else low, None if high >= INFINITE else high),
            value=value if self.has_chance else int(value),
            bound=bound,
            kind=_kind(visit),
            best=None if best is None else self.edge_text(visit, best),
            principal=id(visit) in self._on_line,
            reason=self._reason(visit),
            notes=tuple(visit.notes),
            nodes=visit.nodes,
            searches=visit.searches,
            children=tuple(
                self.node(child, visit, sign * _same_side(visit, child)) for child in chosen
            ),
            more=len(hidden),
            more_nodes=sum(child.nodes for child in hidden),
            unsearched=tuple(self._unsearched(visit)),
        )

    def edge_text(self, parent: _Visit, child: _Visit) -> str:
        return self._key_text(parent, child.key)

    def _key_text(self, parent: _Visit, key: int) -> str:
        if parent.by_chance:
            odds = chance_outcome(parent.position, key)[0]
            return f"{self._chance_text(parent.position, key)} ({odds:.3g})"
        return "null move" if key == NO_MOVE else str(self._move_text(parent.position, key))

    def _reason(self, visit: _Visit) -> str:
        if ended := _ended(visit):
            return ended
        for counter, reason in CUTOFFS.items():
            if visit.own.get(counter):
                return reason
        if visit.by_chance:
            return "all outcomes searched"
        if visit.quiet and not visit.children:
            return "stands pat" if visit.value >= visit.beta else "quiet position"
        if visit.kind != "minimax_node" and visit.value >= visit.beta:
            return self._cutoff(visit)
        if visit.own.get("late") or visit.own.get("futile"):
            return "unpromising moves skipped"
        if not visit.children:
            return "no child can raise alpha, says the table"
        return "all noisy moves searched" if visit.quiet else "all moves searched"

    def _cutoff(self, visit: _Visit) -> str:
        best = _best(visit)
        by = "" if best is None else f" by {self.edge_text(visit, best)}"
        if visit.own.get("table_move_cutoffs"):
            by += " (table move)"
        elif visit.own.get("killer_cutoffs"):
            by += " (killer)"
        return f"cutoff{by}"

    def _unsearched(self, visit: _Visit) -> Iterable[Unsearched]:
        """Return the moves that were not searched, by reason."""

        def left(reason: str, keys: Iterable[int]) -> Iterable[Unsearched]:
            texts = tuple(self._key_text(visit, key) for key in keys)
            return [Unsearched(reason, texts)] if texts else []

        if visit.by_chance:
            count = chance(visit.position) if visit.children else 0
            possible = (i for i in range(count) if chance_outcome(visit.position, i)[0] > 0)
            yield from left("cutoff", (i for i in possible if i not in visit.children))
            return
        if not visit.considered:
            yield from left("cutoff", visit.moves[visit.calls :])
            return
        skipped = [move for move in visit.considered if move not in visit.children]
        done = {*visit.considered, *visit.useless}
        rest = [move for move in visit.moves if move not in done]
        yield from left("cannot raise alpha, says the table", visit.useless)
        if visit.own["late"]:
            skipped, rest = skipped[:-1], [skipped[-1], *rest]
        yield from left("futile", skipped)
        partial = visit.given.get("tries", NO_MOVE) == 1
        yield from left(
            "late moves" if visit.own["late"] else "not tried" if partial else "cutoff", rest
        )


def _same_side(parent: _Visit, child: _Visit) -> int:
    """Return 1 if the same player is to move in both, else -1."""
    if parent.by_chance:
        same = same_after_chance(parent.position, child.position)
    else:
        same = child.key != NO_MOVE and moves_again(parent.position, child.position)
    return 1 if same else -1


def _best(visit: _Visit) -> _Visit | None:
    """Return the child that gave a node its score, if it is known to be best."""
    if visit.by_chance or visit.value <= visit.alpha:
        return None
    for child in visit.children.values():
        if child.key != NO_MOVE and _same_side(visit, child) * child.value == visit.value:
            return child
    return None


def _line(visit: _Visit) -> list[_Visit]:
    """Return a node, its best child, the best child of that, and so on."""
    found: list[_Visit] = []
    step: _Visit | None = visit
    while step is not None:
        found.append(step)
        step = _best(step)
    return found


def _line_along(root: _Visit, pv: tuple[int, ...]) -> list[_Visit]:
    """Return the nodes along a line of play."""
    found = [root]
    for move in pv:
        child = found[-1].children.get(move)
        if child is None or found[-1].by_chance:
            break
        found.append(child)
    return found


def _ended(visit: _Visit) -> str:
    """Return why the line of play ended at a node; "" if it did not."""
    if outcome(visit.position)[0]:
        return OVER
    if visit.repeats:
        return REPETITION
    if visit.ply > 0 and drawn(visit.position):
        return DRAWN
    plain = visit.kind in ("alphabeta_node", "minimax_node")
    return HORIZON if visit.kind == "leaf_score" or (plain and visit.own["leaves"]) else ""


def _kind(visit: _Visit) -> str:
    if _ended(visit) or not (visit.children or visit.considered):
        return "leaf"
    if visit.by_chance:
        return "chance"
    if visit.kind == "minimax_node":
        return "pv"
    return "cut" if visit.value >= visit.beta else "all" if visit.value <= visit.alpha else "pv"


def _bound(visit: _Visit) -> str:
    """Return the kind of a score from the mover's point of view."""
    if _ended(visit) or visit.kind == "minimax_node":
        return "exact"
    partial = visit.given.get("tries", NO_MOVE) == 1
    if visit.value <= visit.alpha:
        return "none" if partial else "upper"
    return "lower" if visit.value >= visit.beta or partial else "exact"
