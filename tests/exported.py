"""An exported engine, called through ctypes, and the comparison of its answers with Python's."""

from __future__ import annotations

import ctypes
from random import Random

import pytest

import cutnode
from cutnode.contract.derived import legal_moves
from cutnode.contract.errors import ContractError
from cutnode.contract.notation import board_of, contents_of
from cutnode.contract.positions import as_words, coerce
from cutnode.contract.verbs import chance, chance_outcome, outcome
from cutnode.export.targets import target_of
from cutnode.runtime.running import Limits
from cutnode.search.forced_wins import Prover
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.record import Record
from cutnode.search.searcher import Searcher
from cutnode.search.solving import Goal, Resources, Solver

MOST_LINE = 512

SHIPPED = """
tictactoe connect4 othello chess breakthrough dobutsu ur kalah skirmish draughts hex:5
morris y mnk qubic oware domineering:4x5 clobber:4x3 cram:4x4 kayles nogo:3x3 toads uniform
go:3x3,ko=simple
"""
TOYS = """
toys.hexapawn:3x4 toys.kayles toys.amazons toys.isola toys.pig toys.quixo
toys.teeko toys.dots_and_boxes toys.gobblet toys.pursuit toys.race
"""
OTHERS = [*SHIPPED.split(), *TOYS.split()]
"""The games that an export is tested with, in addition to the one of all other tests."""


class LimitsOfC(ctypes.Structure):
    _fields_ = [
        ("depth", ctypes.c_int32),
        ("techniques", ctypes.c_int32),
        ("nodes", ctypes.c_int64),
        ("playouts", ctypes.c_int64),
        ("seconds", ctypes.c_double),
        ("seed", ctypes.c_uint64),
    ]


class ResultOfC(ctypes.Structure):
    _fields_ = [
        ("value", ctypes.c_double),
        ("lower", ctypes.c_double),
        ("upper", ctypes.c_double),
        ("seconds", ctypes.c_double),
        ("nodes", ctypes.c_int64),
        ("playouts", ctypes.c_int64),
        ("move", ctypes.c_int32),
        ("depth", ctypes.c_int32),
        ("proven", ctypes.c_int32),
        ("reason", ctypes.c_int32),
        ("length", ctypes.c_int32),
        ("line", ctypes.c_int32 * MOST_LINE),
    ]

    @property
    def moves(self):
        return tuple(self.line[: self.length])


class StateOfC(ctypes.Structure):
    _fields_ = [
        ("value", ctypes.c_double),
        ("ending", ctypes.c_int32),
        ("side", ctypes.c_int32),
        ("outcomes", ctypes.c_int32),
        ("plies", ctypes.c_int32),
        ("moves", ctypes.c_int32),
    ]


PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ResultOfC), ctypes.c_void_p)


class Exported:
    """An engine of a shared library; a call that fails raises :class:`ValueError`."""

    def __init__(self, made, table=16, tree=16):
        host = target_of("host").name
        (path,) = (file for file in made.files if file.suffix == ".so" and host in file.parts)
        self.shared = ctypes.CDLL(str(path))
        self.name = made.name
        self.about = made.about
        create = self.function("create")
        create.restype, create.argtypes = ctypes.c_void_p, [ctypes.c_int64] * 2
        self.engine = ctypes.c_void_p(create(table, tree))
        for name in ("message", "move_text", "about"):
            self.function(name).restype = ctypes.c_char_p
        if not self.engine:
            raise ValueError("there is no engine")

    def function(self, name):
        return getattr(self.shared, f"{self.name}_{name}")

    def call(self, name, *args):
        code = self.function(name)(self.engine, *args)
        if code < 0:
            raise ValueError(f"{code}: {self.function('message')(self.engine).decode()}")
        return code

    def free(self):
        self.function("free")(self.engine)

    def state(self):
        state = StateOfC()
        self.call("state_of", ctypes.byref(state))
        return state

    def moves(self):
        moves = (ctypes.c_int32 * (self.about["mostMoves"] + 1))()
        return moves[: self.call("moves", moves, len(moves))]

    def cells(self):
        cells = (ctypes.c_uint8 * 4096)()
        return cells[: self.call("cells", cells, len(cells))]

    def words(self):
        words = (ctypes.c_uint64 * (self.about["words"] + 1))()
        self.call("words", words, len(words))
        return words

    def perft(self, depth):
        count = ctypes.c_int64()
        self.call("perft", depth, ctypes.byref(count))
        return count.value

    def odds(self, outcome):
        probability = ctypes.c_double()
        self.call("odds", outcome, ctypes.byref(probability))
        return probability.value

    def ask(self, search, **limits):
        result = ResultOfC()
        self.call(search, ctypes.byref(LimitsOfC(**limits)), ctypes.byref(result))
        return result


def follow(engine, record, random):
    """Play a random move, or meet a random outcome of chance, in both."""
    if record.is_chance():
        index = random.randrange(chance(record.position))
        record.meet(index)
        engine.call("roll", index)
    else:
        move = random.choice(legal_moves(record.position))
        record.play(move)
        engine.call("play", move)


def positions(game, engine, count, seed=0):
    """Yield records of random games at random plies, as the engine stands there as well."""
    random = Random(seed)
    while count > 0:
        record = Record(coerce(game.start()))
        engine.call("reset")
        longest = random.randrange(1, 60)
        while not record.ending() and len(record.steps) < longest:
            follow(engine, record, random)
            if random.random() < 0.3 and count > 0:
                count -= 1
                yield record


def require_same_rules(engine, record):
    """Compare what the rules say."""
    position, state = record.position, engine.state()
    cls = type(position)
    assert (state.ending > 0) == bool(record.ending())
    assert state.side == record.side
    assert state.plies == len(record.steps)
    over, value = outcome(position)
    assert state.value == (value if over else 0)
    assert engine.words()[:-1] == [int(word) for word in as_words([position])]
    if not record.ending():
        assert engine.moves() == ([] if record.is_chance() else list(legal_moves(position)))
        assert state.outcomes == chance(position)
    if board_of(cls):
        assert engine.cells() == contents_of(position)
    for index in range(state.outcomes):
        assert engine.odds(index) == chance_outcome(position, index)[0]


class Answers:
    """Python's answers, each as of a new engine."""

    def __init__(self, cls, parts):
        self.cls = cls
        self.searchers = {}
        if "search" in parts:
            choices = {0: {}, 2: {"exact": True}}
            self.searchers = {
                kind: Searcher(cls, table=16, **options) for kind, options in choices.items()
            }
        self.solver = self.prover = self.tree = None
        if "solve" in parts:
            self.table = cutnode.Table(16)
            self.solver = Solver(Resources(cls, self.table))
        if "mate" in parts:
            self.prover = Prover(cls, table=16)
        if "mcts" in parts:
            self.tree = MonteCarlo(cls, memory=16 << 20, reuse=False)

    def compare(self, engine, record, depth, nodes):
        """Compare all searches of a position."""
        position, history = record.position, record.positions[:-1]
        for kind, searcher in self.searchers.items():
            searcher.clear()
            engine.call("forget")
            its = searcher.search(position, depth=depth, nodes=nodes, history=history)
            ours = engine.ask("search", depth=depth, nodes=nodes, techniques=kind)
            assert (ours.value, ours.nodes, ours.depth) == (its.value, its.nodes, its.depth)
            assert ours.move == (-1 if its.move is None else its.move)
            assert bool(ours.proven) == its.proven
        if record.is_chance():
            return
        if self.solver:
            self.table.forget()
            if self.solver.presearcher:
                self.solver.presearcher.unlearn()
            engine.call("forget")
            self.compare_proofs(engine, position, nodes)
        if self.prover:
            self.prover.table.forget()
            engine.call("forget")
            its = self.prover.prove(position, 2, nodes=nodes, history=history)
            ours = engine.ask("mate", depth=2, nodes=nodes)
            if not history:
                assert ours.nodes == its.nodes
            assert (ours.depth, ours.moves) == (its.moves or 0, its.pv)
        if self.tree:
            self.tree.clear()
            its = self.tree.search(position, playouts=60, seed=5, history=history)
            ours = engine.ask("playouts", playouts=60, seed=5)
            assert (ours.move, ours.nodes, ours.moves) == (its.move, its.nodes, its.lines[0].pv)
            # The logarithms of browsers differ from C's in the last bit.
            assert ours.value == pytest.approx(its.value, rel=1e-14)

    def compare_proofs(self, engine, position, nodes):
        try:
            its = self.solver.prove(Goal(position, False), Limits(nodes=nodes))
        except ContractError as error:
            assert "MAX_PLIES" in str(error)
            assert engine.ask("solve", nodes=nodes).reason == 4
            return
        ours = engine.ask("solve", nodes=nodes)
        assert (ours.lower, ours.upper, ours.nodes) == (its.lower, its.upper, its.nodes)
        assert ours.move == (-1 if its.best_move is None else its.best_move)
        assert ours.moves == tuple(its.pv)[:MOST_LINE]
