"""The tools of the Model Context Protocol, called by the client of its SDK."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.runner", reason="the extra mcp is not installed")

from anyio.from_thread import BlockingPortal, start_blocking_portal
from commands import FROM_HERE
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from nim import nim

from cutnode.service import mcp
from cutnode.service.mcp import TOOLS, Tools, make_server
from cutnode.service.settings import Settings

SETTINGS = Settings(prepared=False, table=4, seconds=30.0, queue=1)


class Session:
    """A client of the SDK, in a thread of its own, and the tools that it calls."""

    def __init__(self, portal: BlockingPortal, client: Client, tools: Tools | None = None):
        self.portal = portal
        self.client = client
        self.tools = tools

    def listed(self) -> list[Any]:
        return self.portal.call(self.client.list_tools).tools

    def begin(self, name: str, progress: Any = None, **arguments: Any) -> Any:
        """Begin a call, and return its future."""
        call = self.client.call_tool
        return self.portal.start_task_soon(call, name, arguments, None, progress)

    def call(self, name: str, **arguments: Any) -> Any:
        return self.begin(name, **arguments).result(300)

    def answer(self, name: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """Return the structured answer and the text of a call that is no error."""
        result = self.call(name, **arguments)
        assert not result.is_error, result
        return result.structured_content, result.content[0].text

    def refusal(self, name: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """Return the structured answer and the text of an error."""
        result = self.call(name, **arguments)
        assert result.is_error, result
        return result.structured_content, result.content[0].text


@pytest.fixture(scope="module", params=["legacy", "auto"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """A session by the handshake of older clients, and one without."""
    tools = Tools(SETTINGS)
    client = Client(make_server(tools), mode=request.param)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Session(portal, client, tools)
    assert tools.pool.closed


def test_every_tool_is_described(session):
    listed = {tool.name: tool for tool in session.listed()}
    assert listed.keys() == TOOLS.keys()
    for name, tool in listed.items():
        assert tool.description and tool.description.endswith("."), name
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint


def test_games(session):
    answer, text = session.answer("games")
    games = {game["name"]: game for game in answer["games"]}
    assert games["connect4"]["examples"] and not games["ur"]["solvable"]
    assert "tictactoe: Tic-tac-toe" in text


def test_positions(session):
    shown, text = session.answer("show", game="tictactoe", position="15")
    assert (shown["position"], shown["over"]) == ("x../.o./...", False)
    assert shown["moves"] == list("2346789")
    assert text.splitlines()[-1] == "legal moves: 2, 3, 4, 6, 7, 8, 9"
    played, _ = session.answer("play", game="tictactoe", position="15", moves=["2", "3"])
    assert played["position"] == "xxo/.o./..."
    assert session.answer("legal_moves", game="tictactoe", moves=["5"])[0]["moves"] == [*"12346789"]


def test_the_end_of_a_game(session):
    shown, text = session.answer("show", game="tictactoe", position="12539")
    assert (shown["over"], shown["value"], shown["moves"]) == (True, -1, [])
    assert "the game is over: the player to move has lost" in text
    refused, text = session.refusal("play", game="tictactoe", position="12539", moves=["4"])
    assert refused["legal"] == [] and text.endswith("legal moves: none")
    back_and_forth = ["Nf3", "Nf6", "Ng1", "Ng8"]
    shown, text = session.answer("show", game="chess", moves=2 * back_and_forth)
    assert shown["over"] and "a draw (repetition)" in text


def test_outcomes_of_chance_are_played_in_words(session):
    shown, text = session.answer("show", game="ur")
    assert "chance decides: roll of 0, roll of 1" in text
    rolled = [shown["chance"][2]["position"]]
    for outcome in ("roll of 2", "chance 2"):
        rolled += [session.answer("play", game="ur", moves=[outcome])[0]["position"]]
    assert len(set(rolled)) == 1
    refused, text = session.refusal("play", game="ur", moves=["roll of 7"])
    assert "'roll of 7' is not an outcome" in text
    assert refused["legal"] == [event["text"] for event in shown["chance"]]


def test_search(session):
    answer, text = session.answer("search", game="tictactoe", moves=["1"], depth=4, lines=2)
    assert answer["lines"][0]["move"] == answer["best_move"] == "5"
    assert (len(answer["lines"]), answer["depth"]) == (2, 4)
    assert "best move 5" in text and "depth limit" in text


def test_solve(session):
    answer, text = session.answer("solve", game="tictactoe", position="12")
    assert (answer["value"], answer["best_move"], answer["proven"]) == (1, "4", True)
    assert text.startswith("value 1 (the player to move wins)\nline 4 3 5 6 7\nbest move 4")
    answer, text = session.answer("solve", game="tictactoe", at_least=1)
    assert answer["answer"] is False and "value at least 1: no" in text


def test_analyse(session):
    answer, text = session.answer("analyse", game="tictactoe", position="12")
    wins = {move for move, value in answer["scores"].items() if value == 1}
    assert wins == {"4", "5", "7"}
    assert "values of the moves: 3 0, 4 1, 5 1" in text


def test_explain(session):
    answer, text = session.answer("explain", game="tictactoe", moves=["1"], move="2")
    assert answer["explanation"]["verdict"]["proven"]
    assert answer["explanation"]["keeping"] == ["5"]
    assert text == "\n".join(answer["text"]) and "2 (blunder) loses (proven)" in text


@pytest.mark.parametrize("game", [{"moves": ["1", "2", "5"]}, {"record": "1\n2\n5\n"}])
def test_review(session, game):
    answer, text = session.answer("review", game="tictactoe", **game)
    assert [step["mark"] for step in answer["review"]["steps"]] == [None, "??", None]
    assert "2??" in text and answer["limits"]["seconds"] == SETTINGS.seconds


@pytest.mark.parametrize(
    ("name", "arguments", "said", "where"),
    [
        ("show", {"game": "conect4"}, "no such game: unknown game 'conect4'; games are", "game"),
        ("show", {"game": "../x.py"}, "no such game: unknown game '../x.py'", "game"),
        ("show", {}, "bad request: Field required (game)", "game"),
        ("solve", {"game": "connect4", "position": "9"}, "no such position: ", "position"),
        ("solve", {"game": "connect4", "seconds": -1}, "greater than 0 (seconds)", "seconds"),
        ("solve", {"game": "connect4", "second": 1}, "not permitted (second)", "second"),
        ("play", {"game": "connect4"}, "Field required (moves)", "moves"),
        ("solve", {"game": "ur"}, "refused by the game: ur has chance", "game"),
        ("review", {"game": "tictactoe"}, "the game has no moves", "moves"),
    ],
)
def test_errors_say_what_is_wrong_and_where(session, name, arguments, said, where):
    refused, text = session.refusal(name, **arguments)
    assert said in text and "\n" not in text
    assert (refused["where"], refused["legal"]) == (where, None)


@pytest.mark.parametrize(
    ("name", "arguments", "where"),
    [
        ("play", {"moves": ["1", "1"]}, "moves[1]"),
        ("solve", {"position": "1", "moves": ["1"]}, "moves[0]"),
        ("explain", {"position": "1", "move": "1"}, "move"),
        ("review", {"record": "1\n1\n"}, "moves[1]"),
    ],
)
def test_an_illegal_move_gets_the_legal_ones_back(session, name, arguments, where):
    refused, text = session.refusal(name, game="tictactoe", **arguments)
    assert text == "no such move: cell 1 is marked already\nlegal moves: 2, 3, 4, 5, 6, 7, 8, 9"
    assert (refused["where"], refused["legal"]) == (where, [*"23456789"])


def test_a_long_list_of_legal_moves_is_cut(session):
    refused, text = session.refusal("play", game="hex:13x13", moves=["z99"])
    assert len(refused["legal"]) == mcp.MOST_LEGAL and text.endswith(" and 69 more")


def test_unknown_tools_are_errors_of_the_protocol(session):
    with pytest.raises(MCPError, match="unknown tool 'dance'; tools are games, show"):
        session.call("dance")


def test_limits_end_a_search(session):
    answer, text = session.answer("solve", game="connect4", nodes=5000, seconds=1000)
    assert (answer["value"], answer["reason"]) == (None, "node limit")
    assert answer["limits"]["seconds"] == SETTINGS.seconds
    assert text.startswith("value unknown (between -20 and 20: node limit)")


def test_a_cancelled_call_ends_its_search(session, monkeypatch):
    monkeypatch.setattr(mcp, "PROGRESS_SECONDS", 0.05)
    session.answer("solve", game="connect4", nodes=1)
    heard: list[tuple[float, str]] = []
    searching = threading.Event()

    async def progress(number: float, total: float | None, message: str | None) -> None:
        heard.append((number, message or ""))
        if message == "searching":
            searching.set()

    call = session.begin("solve", progress, game="connect4")
    assert searching.wait(60)
    (run,) = session.tools.pool.running
    call.cancel()
    with pytest.raises(CancelledError):
        call.result(60)
    assert run.question.stop.wait(60)
    numbers = [number for number, _ in heard]
    assert numbers == sorted(set(numbers))
    assert session.answer("solve", game="tictactoe")[0]["value"] == 0


# Processes


@pytest.fixture
def only_nim(tmp_path: Path) -> list[str]:
    """Options with which a server has only a game of a user's file."""
    (tmp_path / "nim.py").write_text(nim())
    return ["--games", str(tmp_path / "nim.py"), "--only"]


def process(*options: str) -> StdioServerParameters:
    command = ["-m", "cutnode", "mcp", "--table", "4", *options]
    return StdioServerParameters(
        command=sys.executable, args=command, env={**os.environ, **FROM_HERE}
    )


@contextmanager
def started(*options: str) -> Iterator[subprocess.Popen[str]]:
    given, pipe = process(*options), subprocess.PIPE
    command = [given.command, *given.args]
    with subprocess.Popen(command, env=given.env, stdin=pipe, stdout=pipe, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def assert_plays(server: Any) -> None:
    """Play Nim with a server that has no other game."""
    client = Client(server)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        session = Session(portal, client)
        assert len(session.listed()) == len(TOOLS)
        played, _ = session.answer("play", game="nim", moves=["3", "3", "2"])
        assert played["moves"] == ["1", "2"]
        assert "unknown game 'chess'; games are nim" in session.refusal("show", game="chess")[1]


def test_a_client_starts_the_command(only_nim):
    assert_plays(stdio_client(process(*only_nim)))


@pytest.mark.slow
def test_streamable_http(only_nim):
    with started(*only_nim, "--http", "0") as running:
        assert_plays(running.stdout.readline().strip())
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_signal_ends_the_command_while_it_reads():
    with started() as running:
        running.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        running.stdin.flush()
        assert running.stdout.readline()
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 128 + signal.SIGTERM
