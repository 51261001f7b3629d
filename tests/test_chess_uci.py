"""The UCI of chess: commands line by line, and a process driven by python-chess."""

from __future__ import annotations

import math
import queue
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import compiled_only

from cutnode.compiler.jit import jit_enabled
from cutnode.games.chess import parse_position, position_text, start
from cutnode.games.chess.uci import (
    LEAST_ELO,
    MOST_ELO,
    OPTIONS,
    Session,
    Task,
    common,
    doubtful_choice,
    nodes_at,
    score_text,
)
from cutnode.kernels.clock import Clock, allot
from cutnode.kernels.scores import WIN
from cutnode.search.results import Line

ROOT = Path(__file__).parent.parent
PATIENCE = 300
"""The seconds to wait for an answer: the search may have to be compiled."""

MATE_IN_1 = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
MATE_IN_2 = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"
"""P. Morphy: Ra6 mates in 2."""


searching = pytest.mark.slow
"""Marks tests that compile the search of chess, which takes half a minute."""


class Talk:
    """A session that is fed line by line, with its answers."""

    def __init__(self):
        self.sent = queue.Queue()
        self.said = queue.Queue()
        self.session = Session(self.said.put)
        self.thread = threading.Thread(target=self.session.run, args=(iter(self.sent.get, None),))
        self.thread.start()

    def send(self, *lines):
        for line in lines:
            self.sent.put(line)

    def until(self, beginning):
        """Return all answers up to and including the first that begins with *beginning*."""
        found = []
        while not found or not found[-1].startswith(beginning):
            found.append(self.said.get(timeout=PATIENCE))
        return found

    def ask(self, *lines):
        """Return all answers to commands that need no search."""
        self.send(*lines, "isready")
        return self.until("readyok")[:-1]

    def go(self, *lines):
        self.send(*lines)
        return self.until("bestmove")

    def end(self):
        self.sent.put(None)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


@pytest.fixture(scope="module")
def talking():
    talk = Talk()
    yield talk
    talk.end()


@pytest.fixture
def talk(talking):
    """A session with default settings, at the start."""
    if not jit_enabled():
        pytest.skip("many nodes")
    for name, option in OPTIONS.items():
        talking.send(f"setoption name {name} value {option.default}")
    talking.ask("ucinewgame", "position startpos")
    return talking


def moves_in(answer):
    """Return the best move and the ponder move."""
    words = answer[-1].split()
    return words[1], words[3] if len(words) > 2 else None


def fields(line):
    """Return the number or word after each name in an ``info`` line, and the line of play."""
    words, _, moves = line.partition(" pv ")
    return dict(
        re.findall(r"(depth|seldepth|multipv|nodes|nps|hashfull|time|cp|mate) (\S+)", words)
    ) | {"pv": moves.split()}


# Commands without a search


class Deaf:
    """A session without compiled code, which obeys commands one by one."""

    def __init__(self):
        self.said = []
        self.session = Session(self.said.append)

    def __call__(self, *lines):
        del self.said[:]
        for line in lines:
            self.session.obey(line)
        return list(self.said)


@pytest.fixture
def obey():
    return Deaf()


def test_it_says_who_it_is(obey):
    said = obey("uci")
    assert said[0].startswith("id name cutnode") and said[1].startswith("id author ")
    assert said[-1] == "uciok"
    options = said[2:-1]
    assert len(options) == len(OPTIONS)
    assert "option name Hash type spin default 64 min 1 max 1048576" in options
    assert "option name Clear Hash type button" in options
    assert "option name UCI_Chess960 type check default false" in options


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("setoption name Hash value 32", "Hash", 32),
        ("setoption name move overhead value 100", "Move Overhead", 100),
        ("setoption  name  MultiPV  value  3", "MultiPV", 3),
        ("setoption name UCI_Chess960 value TRUE", "UCI_Chess960", True),
    ],
)
def test_settings(obey, line, name, value):
    assert obey(line) == []
    assert obey.session.settings[name] == value


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("setoption name Hash value 0", "Hash: must be 1..1048576, got '0'"),
        ("setoption name Hash", "Hash: '' is not a whole number"),
        ("setoption name Hash value 1e3", "Hash: '1e3' is not a whole number"),
        ("setoption name Ponder value maybe", "Ponder: must be true or false, got 'maybe'"),
        ("setoption name Hsh value 3", "there is no option 'Hsh'"),
        ("setoption", "there is no option ''"),
        ("xyzzy now", "info string 'xyzzy': there is no such command"),
        ("position", "write startpos or fen ..., not ''"),
        ("position fen", "write startpos or fen ..., not 'fen'"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "king"),
        ("position startpos moves e2e4 e2e4", "move 2: "),
        ("position startpos moves e2e4 0000", "move 2: '0000'"),
        ("go depth x searchmoves e2e5", "info string 'go depth': 'x' is not a whole number"),
        ("go upwards", "info string 'go upwards': there is no such limit"),
        ("go searchmoves e2e5", "info string 'go searchmoves': 'e2e5'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(obey, line, words):
    before = dict(obey.session.settings), obey.session.game
    (answer,) = obey(line)[:1]
    assert answer.startswith("info string ") and words in answer
    assert (dict(obey.session.settings), obey.session.game) == before


def test_positions(obey):
    session = obey.session
    assert obey("position startpos moves e2e4 e7e5") == []
    assert len(session.game) == 3
    first = session.game[1]
    assert obey("position startpos moves e2e4 e7e5 g1f3 b8c6") == []
    assert len(session.game) == 5 and session.game[1] is first  # and not parsed again
    assert obey("position startpos moves e2e4 c7c5") == []
    wanted = parse_position("rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    assert session.game[-1] == wanted
    assert len(obey("position startpos moves e2e4 c7c5 a1a5")) == 1
    assert session.game[-1] == wanted
    assert obey("position startpos") == [] and session.game == [start()]
    text = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    assert obey(f"position  fen  {text}  moves e1g1 e8c8") == []
    assert position_text(session.game[-1]).startswith("2kr3r/")


LINES_REFUSED = [
    "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    "position startpos moves e2e4 e7e5 e1e3",
    "position startpos e2e4",
    "position",
]


class Answering(Deaf):
    """A session that answers whatever needs no search."""

    def __init__(self):
        super().__init__()
        self.session._equip = lambda settings: None

    def answers(self, *lines):
        """Return the answers to some commands, one of which is a go."""
        self(*lines)
        self.session.waiting.get_nowait()()
        return list(self.said)


@pytest.mark.parametrize("line", LINES_REFUSED)
@pytest.mark.parametrize(
    "go",
    [
        *(("go",), ("go depth 5",), ("go mate 2",), ("go perft 3",), ("go movetime 10",)),
        *(("go infinite", "stop"), ("go ponder wtime 1000 btime 1000", "stop")),
        *(("go ponder wtime 1000 btime 1000", "ponderhit"), ("go searchmoves e2e4 d2d4 depth 1",)),
    ],
)
def test_after_a_refusal_there_is_no_move(line, go):
    """The search does not use the previous position until another one is accepted."""
    obey = Answering()
    assert obey("position startpos moves d2d4") == []
    (refusal,) = obey(line)
    for _ in range(2):
        info, best = obey.answers(*go)
        assert info == f"info string no position to search: {refusal.partition(': ')[2]}"
        assert best == "bestmove 0000"
    assert obey("ucinewgame", "position startpos moves d2d4") == []
    obey("go depth 1")
    assert obey.session.tasks[-1].refusal == ""


def test_a_go_without_a_position_waits_for_its_stop():
    obey = Answering()
    obey(LINES_REFUSED[0], "go infinite")
    thinking = threading.Thread(target=obey.session.waiting.get_nowait())
    thinking.start()
    thinking.join(0.05)
    assert thinking.is_alive() and not any(line.startswith("bestmove") for line in obey.said)
    obey.session.obey("stop")
    thinking.join(PATIENCE)
    assert obey.said[-1] == "bestmove 0000" and obey.session.tasks == []


def test_dropped_parts_of_a_position_are_reported_once(obey):
    stale = "position fen 1nbqkbnr/pp2p1pp/2p5/3p1p2/3P1B2/5N2/PPP1PPPP/RN2KB1R w KQkq - 0 4"
    note = "info string castling KQkq is read as KQk: king or rook is not at home for q"
    assert obey(stale) == [note]
    assert obey(f"{stale} moves e2e3 e7e6") == []
    assert len(obey.session.game) == 3 and obey.session.refusal == ""
    assert obey("position fen 4k3/8/8/8/8/8/8/4K3 w - e6 0 1 moves e1e2") == [
        "info string en passant e6 is read as -: no pawn can just have passed there"
    ]


def test_what_can_occur_again_is_searched_with_its_game(obey):
    obey("position startpos moves e2e4 e7e5 g1f3 b8c6 f3g1", "go infinite")
    (task,) = obey.session.tasks
    assert [position.clock for position in task.game] == [0, 1, 2, 3]


def test_chess960_castles_by_taking_the_rook(obey):
    assert obey("position fen 4k3/8/8/8/8/8/8/RK5R w KQ - 0 1 moves b1h1") == []
    assert position_text(obey.session.game[-1]).startswith("4k3/8/8/8/8/8/8/R4RK1")


def test_a_go_is_understood(obey):
    obey("position startpos moves e2e4")
    obey("go wtime 1000 btime 2000 winc 10 binc 20 movestogo 5 searchmoves e7e5 c7c5 ponder")
    (task,) = obey.session.tasks
    assert task.numbers == dict(wtime=1000, btime=2000, winc=10, binc=20, movestogo=5)
    assert len(task.moves) == 2 and task.ponder and not task.released.is_set()
    assert task.allowance() == allot(2.0, 0.02, 5, overhead=0.02, choices=2)
    obey("ponderhit")
    assert task.released.is_set() and not task.stop.is_set()
    task.alarm.cancel()
    obey("stop")
    assert task.stop.is_set()


def test_time_for_a_move():
    settings = {name: option.default for name, option in OPTIONS.items()}
    overhead = settings["Move Overhead"] / 1000

    def allowance(**numbers):
        return Task([start()], settings, numbers).allowance()

    assert allowance(depth=3) is None and allowance(btime=1000) is None
    assert allowance(movetime=1000).hard == 1 - overhead
    assert allowance(movetime=1000).soft == math.inf
    assert allowance(movetime=4).hard == 0.002
    assert 0 < allowance(movetime=0).hard <= 0.001 and 0 < allowance(movetime=-5).hard <= 0.001
    assert 0 < allowance(wtime=-50).hard <= 0.001
    assert allowance(wtime=60000, movetime=100).hard == 0.1 - overhead


def test_scores():
    assert score_text(-37) == "cp -37"
    plies = {WIN - 1: 1, WIN - 3: 2, -WIN: 0, 2 - WIN: -1, 4 - WIN: -2}
    assert {value: score_text(value) for value in plies} == {
        value: f"mate {moves}" for value, moves in plies.items()
    }


def test_common_beginnings():
    assert common([], [1]) == 0
    assert common([1, 2], [1, 2, 3]) == common([1, 2, 4], [1, 2, 3]) == 2


def test_strength_rises_with_elo():
    ratings = range(LEAST_ELO, MOST_ELO + 1, 50)
    nodes = [nodes_at(elo) for elo in ratings]
    assert nodes == sorted(set(nodes))
    lines = [Line(1, 0, (1,)), Line(2, -30, (2,)), Line(3, -500, (3,))]
    best = [
        sum(doubtful_choice(lines, elo, seed).move == 1 for seed in range(400)) for elo in ratings
    ]
    assert best[-1] == 400 and best[0] < best[len(best) // 2] < 400
    assert doubtful_choice(lines, 1500, 7) == doubtful_choice(lines, 1500, 7)


# Sessions


@searching
def test_it_searches_to_a_depth(talk):
    answer = talk.go("position startpos moves e2e4", "go depth 6")
    told = [fields(line) for line in answer if line.startswith("info depth")]
    assert [int(line["depth"]) for line in told] == sorted(int(line["depth"]) for line in told)
    last = told[-1]
    assert last["depth"] == "6" and int(last["seldepth"]) >= 6 and "cp" in last
    assert int(last["nodes"]) > 100 and int(last["hashfull"]) <= 1000
    assert moves_in(answer)[0] == last["pv"][0]


@searching
def test_nodes_are_a_limit_and_searches_repeat(talk):
    answers = []
    for _ in range(2):
        talk.ask("setoption name Clear Hash")
        answer = talk.go("go nodes 5000")
        told = [fields(line) for line in answer if line.startswith("info depth")]
        assert all(int(line["nodes"]) <= 5000 for line in told)
        answers.append([(line["depth"], line["nodes"], line["pv"]) for line in told] + answer[-1:])
    assert answers[0] == answers[1]


@searching
def test_one_node_gives_a_move(talk):
    assert moves_in(talk.go("go nodes 1"))[0]
    assert moves_in(talk.go("go movetime 0"))[0]
    assert moves_in(talk.go("go wtime -100 btime 5"))[0]


@searching
def test_several_lines(talk):
    talk.send("setoption name MultiPV value 3")
    told = [fields(line) for line in talk.go("go depth 5")[:-1]]
    last = [line for line in told if line["depth"] == "5"]
    assert [line["multipv"] for line in last] == ["1", "2", "3"]
    assert len({line["pv"][0] for line in last}) == 3
    scores = [int(line["cp"]) for line in last]
    assert scores == sorted(scores, reverse=True)


@searching
def test_only_some_moves(talk):
    answer = talk.go("go depth 4 searchmoves a2a3 h2h3")
    assert {fields(line)["pv"][0] for line in answer[:-1]} <= {"a2a3", "h2h3"}
    assert moves_in(answer)[0] in ("a2a3", "h2h3")


@searching
def test_mates_are_found(talk):
    talk.send(f"position fen {MATE_IN_2}")
    answer = talk.go("go mate 2")
    assert moves_in(answer)[0] == "a1a6" and fields(answer[-2])["mate"] == "2"
    assert fields(answer[-2])["pv"][0] == "a1a6" and len(fields(answer[-2])["pv"]) == 3
    assert fields(talk.go("go mate 1")[-2]).get("mate") is None
    answer = talk.go("go mate 2 searchmoves b6a7 a1a2")
    assert moves_in(answer)[0] in ("b6a7", "a1a2") and "mate" not in fields(answer[-2])


@searching
@pytest.mark.parametrize(
    ("text", "score"),
    [("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0"), ("7k/8/6QK/8/8/8/8/8 b - - 0 1", "cp 0")],
)
def test_finished_games_have_no_move(talk, text, score):
    answer = talk.go(f"position fen {text}", "go depth 5")
    assert answer == [f"info depth 0 score {score}", "bestmove (none)"]


@searching
def test_draws_by_rule_have_a_move_all_the_same(talk):
    assert (
        talk.go("position fen 4k3/8/8/8/8/8/8/R3K3 w Q - 100 90", "go depth 3")[-1]
        != "bestmove (none)"
    )
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * 3
    assert talk.go(f"position startpos moves {shuffle}", "go depth 3")[-1] != "bestmove (none)"


@searching
def test_a_repetition_of_the_game_is_seen(talk):
    """A move to a position that has occurred twice is a draw, even with a queen more."""
    game = "position fen 7k/8/8/8/8/8/8/KQ6 w - - 0 1 moves"
    again = " b1b2 h8g8 b2b1 g8h8"
    answer = talk.go(game + again, "go depth 1 searchmoves b1b2")
    assert int(fields(answer[0])["cp"]) > 300
    answer = talk.go(game + 2 * again, "go depth 1 searchmoves b1b2")
    assert fields(answer[0])["cp"] == "0"


@searching
def test_it_thinks_until_it_is_told_to_stop(talk):
    talk.send("go infinite")
    talk.until("info depth 4 ")
    talk.send("isready")
    assert talk.until("readyok")[-1] == "readyok"
    assert moves_in(talk.go("stop"))[0]
    talk.send(f"position fen {MATE_IN_1}", "go infinite")  # there is no need to search on
    talk.until("info depth 1 ")
    talk.send("isready")
    assert not any(line.startswith("bestmove") for line in talk.until("readyok"))
    assert talk.go("stop")[-1].startswith("bestmove a1a8")


@searching
def test_a_stop_before_the_first_depth_gives_a_move_all_the_same(talk):
    talk.send(f"position fen {MATE_IN_1}")
    for _ in range(20):
        assert moves_in(talk.go("go infinite", "stop"))[0] == "a1a8"


@searching
def test_searches_that_were_not_waited_for(talk):
    talk.send("go infinite", "go depth 2", "go depth 3", "stop")
    assert len([talk.until("bestmove") for _ in range(3)]) == 3


@searching
def test_pondering(talk):
    talk.send("position startpos moves e2e4 e7e5", "go ponder wtime 300 btime 300")
    talk.until("info depth 5 ")
    talk.send("isready")
    assert not any(line.startswith("bestmove") for line in talk.until("readyok"))
    assert moves_in(talk.go("ponderhit"))[0]
    talk.send("go ponder wtime 300000 btime 300000")
    talk.until("info depth 2 ")
    assert moves_in(talk.go("stop"))[0]
    talk.send("go ponder depth 2")
    talk.until("info depth 2 ")
    assert moves_in(talk.go("ponderhit"))[0]
    assert talk.ask("ponderhit", "stop") == []


@searching
def test_castling_is_written_as_the_setting_says(talk):
    position = "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert moves_in(talk.go(position, "go depth 1 searchmoves e1g1"))[0] == "e1g1"
    talk.send("setoption name UCI_Chess960 value true")
    assert moves_in(talk.go(position, "go depth 1 searchmoves e1h1"))[0] == "e1h1"


@searching
def test_words_are_parted_by_any_space(talk):
    assert moves_in(talk.go("position\tstartpos  moves\te2e4", "go\tdepth 1"))[0][1] in "5678"
    assert talk.session.game[-1].ply == 1


@searching
def test_invalid_searchmoves(talk):
    answer = talk.go("go searchmoves e2e5 d2d4 d2d5 depth 2")
    assert moves_in(answer)[0] == "d2d4"
    assert sum(line.startswith("info string 'go searchmoves': ") for line in answer) == 2
    answer = talk.go("go searchmoves e2e5 depth 1")
    assert moves_in(answer)[0]


@searching
@pytest.mark.parametrize("go", ["go infinite mate 2", "go ponder mate 2 wtime 1000 btime 1000"])
def test_a_mate_that_is_found_waits_to_be_asked_for(talk, go):
    """The same for the default search, which looks for the mate at limited strength."""
    ladder = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"
    talk.send("setoption name UCI_LimitStrength value true", f"position fen {ladder}", go)
    talk.until("info depth 3 ")
    talk.send("isready")
    assert not any(line.startswith("bestmove") for line in talk.until("readyok"))
    assert moves_in(talk.go("stop"))[0] in ("a2a7", "b1b7")


@pytest.mark.parametrize(
    ("text", "limited"),
    [
        ("depth 3", True),
        ("mate 2", True),
        ("wtime 1000 btime 1000", True),
        ("btime 1000", False),  # the opponent's clock
        ("winc 1000", False),
        ("mate 0", False),
        ("infinite depth 3", False),
        ("", False),
    ],
)
def test_what_ends_by_itself(text, limited):
    session = Session(print)
    task = Task(session.game, session.settings, **session._read_go(text))
    assert task.is_limited == limited


@searching
@compiled_only
def test_readiness_is_told_while_there_is_thought():
    talk = Talk()
    talk.send("go infinite", "isready")
    talk.until("readyok")
    assert moves_in(talk.go("stop"))[0]
    talk.end()


@searching
def test_threads_share_the_work(talk):
    talk.ask("setoption name Threads value 3", "setoption name Hash value 8")
    answer = talk.go("go depth 7")
    assert moves_in(answer)[0] == fields(answer[-2])["pv"][0]
    assert talk.session.engine.threads == 3 and talk.session.engine.table.megabytes == 8


@searching
def test_a_table_that_cannot_be_had(talk):
    (answer,) = talk.ask("setoption name Hash value 1048576")
    assert "1048576 MiB" in answer
    assert talk.session.engine.table.megabytes == OPTIONS["Hash"].default


@searching
def test_limited_strength(talk):
    talk.send(
        "setoption name UCI_LimitStrength value true", f"setoption name UCI_Elo value {LEAST_ELO}"
    )
    answer = talk.go("go infinite", "stop")
    assert moves_in(answer)[0]
    answer = talk.go("go movetime 10000")
    assert int(fields(answer[-2])["nodes"]) <= nodes_at(LEAST_ELO)


@searching
def test_perft(talk):
    talk.send("go perft 3")
    answer = talk.until("\nNodes searched")
    assert answer[-1] == "\nNodes searched: 8902" and "e2e4: 600" in answer
    assert len(answer) == 21
    talk.send("go perft 99", "stop")
    assert talk.ask() == []


@searching
def test_debugging_says_the_time(talk):
    answer = talk.go("debug on", "go wtime 500 btime 500")
    assert any(re.fullmatch(r"info string [\d.]+ to [\d.]+ seconds .*", line) for line in answer)
    talk.send("debug off")


@searching
@settings(max_examples=30)
@given(
    st.lists(st.text(max_size=40) | st.sampled_from(["position", "setoption name", "go x", "\0"]))
)
def test_rubbish_is_survived(talking, lines):
    if not jit_enabled():
        pytest.skip("many nodes")
    rubbish = [
        line.replace("\n", " ") for line in lines if line.split()[:1] not in (["quit"], ["go"])
    ]
    answers = talking.ask(*rubbish)
    assert all(answer.startswith("info string ") for answer in answers)


@searching
@pytest.mark.parametrize("last", ["quit", None])
@compiled_only
def test_the_end_in_the_middle_of_a_search(last):
    talk = Talk()
    talk.send("go infinite")
    talk.until("info depth 3 ")
    talk.send(last)
    talk.thread.join(PATIENCE)
    assert not talk.thread.is_alive()
    assert talk.until("bestmove")


# Processes

COMMAND = [sys.executable, "-m", "cutnode.games.chess.uci"]


def answers_to(text):
    """Return the output of a process for some lines of input, until it ends."""
    run = subprocess.run(
        COMMAND, cwd=ROOT, input=text, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.long
@searching
@compiled_only
def test_the_end_of_input_ends_it():
    assert "uciok" in answers_to("uci\nposition startpos\ngo infinite\n")


@pytest.mark.long
@searching
@compiled_only
def test_all_that_ends_is_answered_before_the_end():
    answers = answers_to("isready\nposition startpos moves e2e4\ngo depth 4\ngo nodes 100\n")
    said = [line.split()[0] for line in answers.splitlines()]
    assert [word for word in said if word != "info"] == ["readyok", "bestmove", "bestmove"]
    assert "info depth 4" in answers


@searching
@compiled_only
def test_nobody_listens():
    process = subprocess.Popen(
        COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdin.write(b"uci\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"id name")
    process.stdout.close()
    process.stdin.write(b"isready\ngo infinite\n")
    process.stdin.flush()
    assert process.wait(timeout=PATIENCE) == 0
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()


@pytest.fixture(scope="module")
def program(talking):
    """The process driven by python-chess, after this process has compiled the search."""
    chess_engine = pytest.importorskip("chess.engine")
    if not jit_enabled():
        pytest.skip("many nodes")
    talking.ask()
    process = chess_engine.SimpleEngine.popen_uci(COMMAND, cwd=ROOT, timeout=PATIENCE)
    yield process
    process.quit()


@searching
def test_python_chess_analyses(program):
    import chess
    from chess.engine import Limit

    board = chess.Board()
    assert program.id["name"].startswith("cutnode")
    lines = program.analyse(board, Limit(depth=5), multipv=4, game="lines")
    assert len({line["pv"][0] for line in lines}) == 4
    first = [board.parse_san("a4"), board.parse_san("h4")]
    info = program.analyse(board, Limit(depth=5), root_moves=first, game="roots")
    assert info["pv"][0] in first and info["depth"] == 5
    played = program.play(chess.Board(MATE_IN_2), Limit(mate=2))
    assert played.move == chess.Move.from_uci("a1a6")
    with program.analysis(board, game="stopped") as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 4:
                break
    assert analysis.wait().move in board.legal_moves


@searching
def test_python_chess_plays_and_ponders(program):
    import chess
    from chess.engine import Limit

    board = chess.Board()
    limit = Limit(white_clock=0.5, black_clock=0.5, white_inc=0.01, black_inc=0.01)
    for number in range(8):
        played = program.play(board, limit, ponder=number < 6, game="pondered")
        board.push(played.move)
        if played.ponder is not None and number % 2:
            board.push(played.ponder)  # as expected
        else:
            board.push(next(iter(board.legal_moves)))
    program.configure({"Hash": 4, "Threads": 2})
    assert program.play(board, Limit(time=0.1)).move in board.legal_moves
    program.configure({"Hash": 64, "Threads": 1})
    for number in (0, 518, 959):
        board = chess.Board.from_chess960_pos(number)
        for _ in range(6):
            board.push(program.play(board, Limit(nodes=500), game=number).move)


@searching
def test_python_chess_plays_a_whole_game(program):
    """All moves up to the end are legal according to python-chess."""
    import chess
    from chess.engine import Limit

    board = chess.Board()
    while not board.is_game_over(claim_draw=True):
        board.push(program.play(board, Limit(nodes=300), game="whole").move)
    assert board.ply() > 10


@pytest.mark.slow
@pytest.mark.long
def test_a_game_with_a_short_clock(program):
    """Python-chess measures the time; a busy machine may take longer."""
    import chess
    from chess.engine import Limit

    board, left = chess.Board(), [2.0, 2.0]
    while not board.is_game_over(claim_draw=True):
        clock = Clock(None)
        limit = Limit(
            white_clock=max(left[1], 0), black_clock=max(left[0], 0), white_inc=0.02, black_inc=0.02
        )
        played = program.play(board, limit, game="short")
        left[board.turn] -= clock.elapsed() - 0.02
        board.push(played.move)
    assert board.ply() > 10
