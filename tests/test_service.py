"""The service, queried over real sockets."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from cutnode import analyse, load_game, perft, search, solve
from cutnode.cli.serve import serve
from cutnode.compiler.progress import Progress
from cutnode.explaining.points import win_chance
from cutnode.service import games, pool, records
from cutnode.service.failures import Failure
from cutnode.service.listening import address, listen
from cutnode.service.pool import SearchPool
from cutnode.service.questions import Question
from cutnode.service.server import Server
from cutnode.service.settings import Settings
from cutnode.tablebases.building import build_tablebase

SETTINGS = Settings(
    games=("tictactoe", "connect4"),
    searches=2,
    queue=1,
    table=8,
    seconds=60.0,
    body=5000,
    patience=1.0,
    idle=1.0,
)
LONG = {"position": "", "seconds": 50}
"""A request about Connect Four that takes long."""


@contextmanager
def running(settings: Settings, **options: Any) -> Iterator[tuple[Server, str]]:
    """Run a service in a thread of this process."""
    listening = listen("127.0.0.1", 0)
    server = Server(settings, **options)
    thread = threading.Thread(target=server.run, args=([listening],))
    url = address(listening)
    thread.start()
    try:
        yield server, url
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Server, str]]:
    ready = threading.Event()
    with running(SETTINGS, ready=ready.set) as both:
        assert ready.wait(120)
        yield both


@pytest.fixture(scope="module")
def service(server: tuple[Server, str]) -> str:
    return server[1]


@pytest.fixture
def client(service: str) -> Iterator[httpx.Client]:
    # No certificates are read, as there is no encryption.
    with httpx.Client(base_url=service, timeout=60, verify=False) as client:
        yield client


@pytest.fixture
def connected(service: str) -> Iterator[Callable[[], socket.socket]]:
    """A function that opens a connection, which is closed after the test."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(socket.create_connection(tuple_of(service)))


def until(client: httpx.Client, **wanted: Any) -> None:
    """Wait until a service's health reports this."""
    for _ in range(1000):
        health = client.get("/health").json()
        if all(health[name] == value for name, value in wanted.items()):
            return
        time.sleep(0.01)
    raise AssertionError(health)


def error(response: httpx.Response) -> tuple[int, str, str | None]:
    data = response.json()
    assert set(data) == {"error", "detail", "where"}
    assert data["detail"]
    return response.status_code, data["error"], data["where"]


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# Requests and answers


def test_games(client: httpx.Client) -> None:
    games = client.get("/games").json()
    named = {game["name"]: game for game in games["games"]}
    assert {"chess", "connect4", "tictactoe", "ur"} <= set(named)
    assert named["connect4"]["variants"].endswith(": 8x7")
    assert named["chess"]["variants"] == ""
    assert (named["connect4"]["decisive"], named["connect4"]["repetitions"]) == (True, None)
    assert games["levels"][0] == "easy"
    assert {"cells", "own"} <= set(named["connect4"]["evaluations"])
    assert (named["ur"]["chance"], named["ur"]["solvable"]) == (True, False)
    assert set(games["compiled"]) >= {"connect4", "tictactoe"}
    assert client.get("/games/connect4:5x4").json()["start"] == "...../...../...../....."


def test_position(client: httpx.Client) -> None:
    view = client.get("/games/tictactoe/position", params={"position": "15"}).json()
    assert view["board"].splitlines()[0] == "x . ."
    assert view["cells"] == [1, 0, 0, 0, 2, 0, 0, 0, 0]
    first = {"move": "2", "position": "xx./.o./...", "again": False, "changes": [[1, 1]]}
    first["recurrence"] = None
    assert view["moves"][0] == first
    assert len(view["moves"]) == 7
    assert view["parts"] is None
    row = client.get("/games/kayles:9/position", params={"position": "3 6-7"}).json()
    assert row["parts"] == [[0, 1], [3, 4], [7, 8]]
    over = client.get("/games/tictactoe/position", params={"position": "14253"}).json()
    assert (over["over"], over["value"], over["moves"]) == (True, -1, [])
    dice = client.get("/games/ur:finkel-1/position").json()
    assert sum(outcome["probability"] for outcome in dice["chance"]) == pytest.approx(1)
    assert [outcome["text"] for outcome in dice["chance"]] == [f"roll of {n}" for n in range(5)]
    assert (dice["player"], dice["chance"][0]["again"]) == (0, True)


def test_sums_have_classes_and_nimbers(client: httpx.Client) -> None:
    row = client.post("/games/kayles:9/solve", json={}).json()
    assert (row["engine"], row["outcome_class"], row["nimber"]) == ("sums", "N", 4)


@pytest.mark.once
def test_notes_are_in_answers(client: httpx.Client) -> None:
    """Notes on text that is read differently from how it is written."""
    stale = {"position": "4k3/8/8/8/8/8/8/4K3 w K e6 0 1"}
    notes = [
        "castling K is read as -: king or rook is not at home for K",
        "en passant e6 is read as -: no pawn can just have passed there",
    ]
    view = client.get("/games/chess/position", params=stale).json()
    assert (view["position"], view["notes"]) == ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", notes)
    assert client.post("/games/chess/perft", json=stale | {"depth": 1}).json()["notes"] == notes
    assert client.post("/games/chess/evaluate", json=stale).json()["notes"] == notes
    assert client.get("/games/chess/position").json()["notes"] == []


def test_boards(client: httpx.Client) -> None:
    board = client.get("/games/morris:three/board").json()
    assert (board["shape"], len(board["places"]), board["editable"]) == ("points", 9, True)
    assert [0, 1] in board["lines"]
    assert [content["owner"] for content in board["contents"]] == [None, 0, 1]
    assert board["names"] == ["white", "black"]
    counted = client.get("/games/kalah/board").json()
    assert {content["owner"] for content in counted["contents"]} == {None}
    assert client.get("/games/uniform/board").json() is None


def test_reasons(client: httpx.Client) -> None:
    asked = {"position": "x../.o./..x", "nodes": 5_000}
    found = client.post("/games/tictactoe/explain", json=asked | {"move": "3"}).json()
    assert found["text"][0] == "With best play the game is a draw (proven)."
    assert found["explanation"]["notes"][0]["grade"] == "blunder"
    wrong = client.post("/games/tictactoe/explain", json=asked | {"move": "1"})
    assert error(wrong) == (404, "no such move", "body.move")
    moves = {"moves": ["1", "2", "5", "9"], "nodes": 20_000}
    review = client.post("/games/tictactoe/review", json=moves).json()["review"]
    assert [step["mark"] for step in review["steps"]][:2] == [None, "??"]
    nothing = client.post("/games/tictactoe/review", json={"moves": ["1", "1"]})
    assert error(nothing)[0] == 404


@pytest.mark.once
def test_puzzles(client: httpx.Client) -> None:
    asked = {"count": 2, "seed": 1, "nodes": 5_000}
    found = client.post("/games/tictactoe/puzzles", json=asked).json()
    assert (found["reason"], len(found["puzzles"])) == ("done", 2)
    puzzle = found["puzzles"][0]
    scores = client.post("/games/tictactoe/analyse", json={"position": puzzle["position"]}).json()
    best = {move for move, value in scores["scores"].items() if value == scores["value"]}
    assert best == {puzzle["solution"]}
    ended = client.post("/games/connect4/puzzles", json={"count": 50, "seconds": 0.01}).json()
    assert (ended["reason"], ended["puzzles"]) == ("time limit", [])
    assert error(client.post("/games/ur/puzzles", json={}))[0] == 409
    assert client.get("/puzzles").json() == {"puzzles": []}


def test_boards_are_set_up(client: httpx.Client) -> None:
    route = "/games/hex:3/setup"
    cells = [1, 0, 0, 0, 2, 0, 0, 0, 0]
    view = client.post(route, json={"cells": cells, "mover": "o"}).json()
    assert (view["position"], view["cells"], view["player"]) == ("x../.o./... o", cells, 1)
    assert error(client.post(route, json={"cells": cells})) == (
        404,
        "no such position",
        "body.mover",
    )
    for wrong in ([1], [9] * 9):
        refused = client.post(route, json={"cells": wrong, "mover": "o"})
        assert error(refused) == (404, "no such position", "body.cells")
    three = client.post("/games/tictactoe/setup", json={"cells": [1, 1, 1, 0, 0, 0, 0, 0, 0]})
    assert error(three) == (404, "no such position", "body.cells")
    none = client.post("/games/uniform/setup", json={"cells": [1]})
    assert error(none) == (409, "refused by the game", "path.game")


LISTED = """# moves of tictactoe, from .../.../...
# Event: a game
# an opening
5 !?
# the centre
1
(
2
# other
3 $1 ?
(
4
)
)
9
"""


def test_recorded_games_are_read(client: httpx.Client) -> None:
    view = client.post("/games/tictactoe/record", json={"text": LISTED}).json()
    assert (view["headers"], view["notes"]) == ({"Event": "a game"}, [])
    plies = [(p["parent"], p["move"], p["mark"], p["comment"]) for p in view["plies"]]
    assert plies == [
        (None, None, "", "an opening"),
        *((0, "5", "!?", "the centre"), (1, "1", "", ""), (2, "9", "", "")),
        *((1, "2", "", "other"), (4, "3", "$1 ?", ""), (4, "4", "", "")),
    ]
    last = view["plies"][3]
    assert (last["position"], last["side"], last["changed"]) == ("o../.x./..x", 1, [8])
    dice = client.post("/games/ur/record", json={"text": "chance 1\nhand-1\n"}).json()["plies"]
    assert [(p["outcome"], p["chance"], p["side"]) for p in dice] == [
        *((None, None, 0), (1, "roll of 1", 0), (None, None, 1))
    ]


def test_recorded_games_are_written_in_the_games_format(client: httpx.Client) -> None:
    text = (
        '[White "Ann"]\n[FEN "7k/8/5K2/8/8/8/8/6Q1 b - - 4 60"]\n\n'
        "60... Kh7 {forced} (60... Ke8 61. Qg8#) 61. Qg7# (61. -- Kh8) 1-0"
    )
    first = client.post("/games/chess/record", json={"text": text}).json()
    assert [note.partition(":")[0] for note in first["notes"]] == [
        *("a variation is cut short at step 1",) * 2,
    ]
    written = client.post("/games/chess/record/own", json={"text": text}).json()
    assert written["suffix"] == ".pgn"
    assert '[Result "1-0"]' in written["text"] and '[White "Ann"]' in written["text"]
    assert "\n60... Kh7 {forced} 61. Qg7# 1-0\n" in written["text"]
    again = client.post("/games/chess/record", json={"text": written["text"]}).json()
    assert again["plies"] == first["plies"]


@pytest.mark.parametrize(
    ("game", "text", "detail"),
    [
        ("tictactoe", "5\n5\n", "step 2: cell 5 is marked already"),
        ("tictactoe", "5 1 9 9", "step 4: cell 9 is marked already"),
        ("tictactoe", "# moves of hex\na1", "it has moves of 'hex', not of 'tictactoe'"),
        ("tictactoe", "(\n5\n)", "a variation must follow the step that it replaces"),
        ("tictactoe", "5\n(\n1\n", "a variation is not closed: its parenthesis is missing"),
        ("tictactoe", "5\n)\n", "a parenthesis is closed that was not opened"),
        ("tictactoe", "5\n(\n1\n" * 40, "variations are nested more than 32 deep"),
        ("tictactoe", "1\n4\n2\n5\n3\n6", "step 6: '6' is played after the game is over"),
        ("tictactoe", "# moves of tictactoe, from x\n5", "the board has 1 rows"),
        ("ur", "hand-1", "step 1: 'hand-1' is no outcome of chance: write chance 0 to chance 4"),
        ("chess", "1. e4 e6 2. Ke3", "step 3: 'Ke3' is not a legal move of white"),
        ("chess", "1. e4 (" * 40, "variations are nested more than 32 deep"),
        ("chess", "", "it holds no game in PGN"),
    ],
)
def test_games_that_cannot_be_read_are_refused(
    client: httpx.Client, game: str, text: str, detail: str
) -> None:
    answer = client.post(f"/games/{game}/record", json={"text": text})
    assert error(answer) == (404, "no such move", "body.text")
    assert detail in answer.json()["detail"]


def test_recorded_games_are_bounded(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_PLIES", 3)
    for text in ("5 1 9 2", "5\n1\n9\n(\n8\n7\n)\n"):
        answer = client.post("/games/tictactoe/record", json={"text": text})
        assert answer.json()["detail"] == "a game may have at most 3 plies"
    none = client.post("/games/tictactoe/record/own", json={"text": "5"})
    assert error(none) == (409, "refused by the game", "path.game")


def test_levels_move(client: httpx.Client) -> None:
    route, asked = "/games/tictactoe/move", {"position": "1245", "level": "easy"}
    moved = client.post(route, json=asked).json()
    assert (moved["move"], moved["level"]) == ("7", "easy")
    assert client.post(route, json=asked).json() == moved | {"seconds": pytest.approx(0, abs=9)}
    over = client.post(route, json={"position": "14253"})
    assert error(over) == (409, "refused by the game", None)
    assert error(client.post(route, json={"level": "god"})) == (422, "bad request", "body.level")


def test_trees(client: httpx.Client) -> None:
    route, asked = "/games/tictactoe/tree", {"position": "1245", "depth": 2, "size": 20}
    tree = client.post(route, json=asked).json()
    best = tree["root"]["best"]
    assert (tree["score"], best) == ("win in 1", "7")
    assert any(child["move"] == best and child["principal"] for child in tree["root"]["children"])
    asked = {"depth": 3, "search": "alphabeta", "width": 2}
    root = client.post(route, json=asked).json()["root"]
    assert root["more"] == 7
    cut = root["children"][1]["children"][1]
    assert (cut["kind"], cut["bound"], cut["reason"]) == ("cut", "lower", "cutoff by 3")
    assert {left["reason"] for left in cut["unsearched"]} == {"cutoff"}
    large = client.post("/games/connect4/tree", json={"depth": 12, "search": "minimax"})
    assert error(large) == (409, "refused by the game", "body.depth")
    mixed = client.post(route, json={"search": "minimax", "exact": True})
    assert error(mixed) == (422, "bad request", "body")


def test_sessions(client: httpx.Client) -> None:
    asked = {"position": "44444326555535"}
    nodes = [client.post("/games/connect4/solve", json=asked).json()["nodes"] for _ in range(2)]
    assert nodes[0] == nodes[1]
    mine = [
        client.post("/games/connect4/solve", json=asked | {"session": "mine"}).json()["nodes"]
        for _ in range(2)
    ]
    assert mine[0] == nodes[0] > mine[1]
    others = client.post("/games/connect4/solve", json=asked | {"session": "another"}).json()
    assert others["nodes"] == nodes[0]


def test_pages_need_no_network(client: httpx.Client) -> None:
    for page in ("/", "/docs"):
        answer = client.get(page)
        assert answer.status_code == 200
        for asset in re.findall(r"""(?:src|href)=["'](.*?)["']""", answer.text):
            assert "//" not in asset
            assert client.get(f"/{asset.lstrip('/')}").status_code == 200
    assert "default-src 'self'" in client.get("/").headers["content-security-policy"]
    assert client.get("/web/main.js").headers["content-type"].startswith("text/javascript")
    assert error(client.get("/web/nothing.js")) == (404, "no such page", None)
    assert error(client.get("/web/..%2fapp.py"))[0] == 404


def test_other_origins(service: str, client: httpx.Client) -> None:
    origin = "https://games.example"
    asked = {"origin": origin, "access-control-request-method": "POST"}
    allowed = "access-control-allow-origin"
    assert allowed not in client.options("/games/tictactoe/solve", headers=asked).headers
    with running(Settings(cors=(origin,), prepared=False)) as (_, url):
        answer = httpx.options(f"{url}/games/tictactoe/solve", headers=asked)
        assert answer.headers[allowed] == origin
        refused = httpx.get(f"{url}/games/shogi", headers={"origin": origin})
        assert (refused.status_code, refused.headers[allowed]) == (404, origin)
        other = httpx.get(f"{url}/games/shogi", headers={"origin": "https://other.example"})
        assert allowed not in other.headers
        with conversation(url, origin=origin):
            pass
        with pytest.raises(InvalidStatus), conversation(url, origin="https://other.example"):
            pass


def test_answers_are_those_of_the_functions(client: httpx.Client) -> None:
    position = load_game("connect4").parse("44")
    asked = {"position": "44", "depth": 6, "lines": 2, "exact": True}
    found = client.post("/games/connect4/search", json=asked).json()
    result = search(position, depth=6, lines=2, exact=True)
    facts = {"verdict": None, "distance": None}
    assert found["lines"] == [
        line | facts | {"points": win_chance(type(position), line["value"])}
        for line in result.to_dict()["lines"]
    ]
    assert (found["reason"], found["limits"]["depth"]) == ("depth limit", 6)

    asked = {"position": "1425", "engine": "mcts", "playouts": 50}
    found = client.post("/games/tictactoe/search", json=asked).json()
    assert (found["best_move"], found["win_rate"], found["reason"]) == ("3", 1.0, "proven")
    assert found["statistics"]["playouts"] == 1
    assert [found["playouts"], found["moves"][0]["move"], len(found["moves"])] == [1, "3", 5]
    tree = {"priors": "evaluation", "rave": 20.0, "minimax": 0.1, "cut_after": 3, "memory": 4}
    asked = {"position": "1", "engine": "mcts", "playouts": 50, "seed": 3} | tree
    found = client.post("/games/tictactoe/search", json=asked).json()
    tree["memory"] = 4 << 20
    position = load_game("tictactoe").parse("1")
    result = search(position, engine="mcts", playouts=50, seed=3, **tree)
    for move, known in zip(found["moves"], result.to_dict()["moves"], strict=True):
        assert known | move == known
    assert found["limits"]["table"] == 4
    assert sum(move["visits"] for move in found["moves"]) >= 49
    asked = {"position": "1425", "engine": "auto", "seconds": 1, "session": "one that tries"}
    found = client.post("/games/tictactoe/search", json=asked).json()
    assert (found["best_move"], found["reason"]) == ("3", "proven")
    assert found["why"].startswith(("alphabeta, after a trial", "mcts, after a trial"))
    assert "no pair of games" not in found["why"]  # what compiled it was too short for a pair
    auto = {"engine": "auto"}
    for wrong in ({"engine": "mcts", "depth": 3}, {"playouts": 5}, auto | {"rave": 5.0}):
        refused = client.post("/games/tictactoe/search", json=wrong)
        assert error(refused) == (422, "bad request", "body")

    text = "44444326555535"
    position = load_game("connect4").parse(text)
    solved = client.post("/games/connect4/solve", json={"position": text}).json()
    assert solved["value"] == solve(position).value == 2
    assert solved["meaning"] == "first player (x) wins in 13 moves, with stone 39"
    weakly = client.post("/games/connect4/solve", json={"position": text, "weak": True}).json()
    assert weakly["value"] == 1
    for at_least, answer in ((2, True), (3, False)):
        asked = {"position": text, "at_least": at_least, "engine": "pn"}
        known = client.post("/games/connect4/solve", json=asked).json()
        assert (known["at_least"], known["answer"]) == (at_least, answer)
    asked["nodes"] = 1
    asked["position"] = ""
    known = client.post("/games/connect4/solve", json=asked).json()
    assert (known["answer"], known["target"], known["reason"]) == (None, 3, "node limit")
    refused = client.post("/games/connect4/solve", json={"at_least": 99_999})
    assert error(refused) == (409, "refused by the game", "body.at_least")
    refused = client.post("/games/connect4/analyse", json={"at_least": 1})
    assert error(refused) == (422, "bad request", "body.at_least")
    scored = client.post("/games/tictactoe/analyse", json={"position": "5"}).json()
    assert scored["scores"] == analyse(load_game("tictactoe").parse("5")).to_dict()["scores"]

    counted = client.post("/games/tictactoe/perft", json={"depth": 6.0}).json()
    assert counted["lines"] == perft(load_game("tictactoe").start(), 6) == 54720
    estimate = client.post("/games/tictactoe/evaluate", json={"position": "5"}).json()
    assert estimate["value"] == -4
    asked = {"position": "44", "evaluation": "cells"}
    assert client.post("/games/connect4/evaluate", json=asked).json()["value"] == -3
    game = load_game("connect4")
    asked = {"position": "44", "evaluation": "own"}
    own = client.post("/games/connect4/evaluate", json=asked).json()["value"]
    assert own == game.module.evaluate(game.parse("44"))


def test_choices_and_history_are_kept_to(client: httpx.Client) -> None:
    asked = {"moves": ["1", "9"], "history": [""], "seed": 3, "depth": 2}
    assert client.post("/games/tictactoe/search", json=asked).json()["best_move"] in ("1", "9")


def test_limits_are_kept_to(client: httpx.Client) -> None:
    solved = client.post("/games/connect4/solve", json={"nodes": 2000}).json()
    assert solved["reason"] == "node limit"
    assert solved["value"] is None
    assert solved["lower"] < solved["upper"]
    assert solved["nodes"] < 4000
    solved = client.post("/games/connect4/solve", json={"seconds": 0.01}).json()
    assert solved["reason"] == "time limit"
    counted = client.post("/games/connect4/perft", json={"depth": 42, "seconds": 0.05}).json()
    assert (counted["lines"], counted["reason"]) == (None, "time limit")
    more = {"seconds": 1e300, "nodes": 10**30, "table": 10**9, "depth": 1}
    limits = client.post("/games/tictactoe/search", json=more).json()["limits"]
    assert (limits["seconds"], limits["table"], limits["threads"]) == (60, 8, 1)


def test_a_search_without_limits_takes_a_second(client: httpx.Client) -> None:
    found = client.post("/games/connect4/search", json={}).json()
    assert (found["reason"], found["limits"]["seconds"]) == ("time limit", 1)


# Streams


@pytest.mark.once
def test_stream(client: httpx.Client) -> None:
    response = client.post("/games/connect4/search/stream", json={"depth": 5, "lines": 2})
    assert response.headers["content-type"] == "application/x-ndjson"
    started, *iterations, last = events(response.text)
    assert (started["event"], started["limits"]["depth"]) == ("started", 5)
    assert [event["depth"] for event in iterations] == [1, 3, 5]
    assert last["event"] == "result"
    assert last["result"]["value"] == iterations[-1]["value"]
    asked = {"seconds": 1.4}
    proof = events(client.post("/games/connect4/solve/stream", json=asked).text)
    first, *between, last = (event["event"] for event in proof)
    assert (first, set(between), last) == ("started", {"progress"}, "result")
    assert proof[1]["nodes"] > 0
    assert proof[1]["lower"] < proof[1]["upper"]
    asked = {"position": "44444326555535"}
    *_, last = events(client.post("/games/connect4/analyse/stream", json=asked).text)
    assert last["result"]["scores"]["3"] == 2
    assert client.post("/games/ur/solve/stream", json={}).status_code == 409


def test_a_client_that_leaves_ends_its_search(client: httpx.Client) -> None:
    with client.stream("POST", "/games/connect4/search/stream", json=LONG) as response:
        lines = response.iter_lines()
        assert json.loads(next(lines))["event"] == "started"
        until(client, searching=1)
    until(client, searching=0)
    with pytest.raises(httpx.ReadTimeout):
        client.post("/games/connect4/solve", json=LONG, timeout=0.2)
    until(client, searching=0)


@contextmanager
def conversation(service: str, **options: Any) -> Iterator[ClientConnection]:
    with connect(service.replace("http", "ws") + "/stream", **options) as socket:
        yield socket


def say(socket: ClientConnection, **message: Any) -> None:
    socket.send(json.dumps(message))


def hear(socket: ClientConnection) -> dict[str, Any]:
    return json.loads(socket.recv(60))


@pytest.mark.parametrize(
    ("message", "detail"),
    [({}, "Field required"), ({"do": "x"}, "Input should be one of 'start', 'stop'")],
)
def test_what_a_message_does_is_required(
    service: str, message: dict[str, Any], detail: str
) -> None:
    with conversation(service) as socket:
        say(socket, **message)
        answer = hear(socket)
    assert (answer["error"], answer["detail"], answer["where"]) == ("bad request", detail, "do")


def test_websocket(service: str, client: httpx.Client) -> None:
    with conversation(service) as socket:
        say(socket, do="stop")
        assert hear(socket)["error"] == "refused by the game"
        asked = {"position": "5", "depth": 2}
        say(socket, do="start", kind="search", game="tictactoe", request=asked)
        heard = [hear(socket) for _ in range(3)]
        assert [event["event"] for event in heard] == ["started", "iteration", "result"]

        say(socket, do="start", kind="search", game="connect4", request=LONG)
        assert hear(socket)["event"] == "started"
        while hear(socket)["depth"] < 4:
            pass
        say(socket, do="start", kind="solve", game="connect4")
        heard = [hear(socket)]
        while heard[-1]["event"] == "iteration":
            heard.append(hear(socket))
        assert heard[-1]["event"] == "error"
        say(socket, do="stop")
        while heard[-1]["event"] != "result":
            heard.append(hear(socket))
        assert heard[-1]["result"]["reason"] == "stopped"

        say(socket, do="start", kind="solve", game="connect4", request=LONG)
        assert hear(socket)["event"] == "started"
        until(client, searching=1)
    until(client, searching=0)


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, threading.Event]]:
    """A service that compiles its first question until the event is set."""
    done = threading.Event()
    compile = SearchPool._compile

    def slowly(searches: SearchPool, question: Question) -> None:
        assert done.wait(60)
        compile(searches, question)

    now = Progress("search_root", "tictactoe.Position", 7, 9, 1.5)
    monkeypatch.setattr(pool, "COMPILING_SECONDS", 0.01)
    monkeypatch.setattr(pool.progress, "running", lambda: now)
    monkeypatch.setattr(SearchPool, "_compile", slowly)
    ready = threading.Event()
    with running(Settings(searches=1, table=8), ready=ready.set) as (_, url):
        assert ready.wait(60)
        yield url, done
        done.set()


COMPILING = {
    "event": "compiling",
    "game": "tictactoe.Position",
    "kernel": "search_root",
    "functions": 7,
    "expected": 9,
    "seconds": 1.5,
}


def test_streams_say_how_far_a_first_search_is_compiled(
    compiling: tuple[str, threading.Event],
) -> None:
    url, done = compiling
    asked = {"position": "15", "depth": 1}
    with httpx.Client(base_url=url, timeout=60) as client:
        path = "/games/tictactoe/search/stream"
        with client.stream("POST", path, json=asked) as response:
            heard = map(json.loads, response.iter_lines())
            assert next(heard) == next(heard) == COMPILING
            done.set()
            found = [event["event"] for event in heard]
        assert [name for name in found if name != "compiling"] == ["started", "iteration", "result"]
        again = events(client.post(path, json=asked).text)
        assert [event["event"] for event in again] == ["started", "iteration", "result"]


def test_socket_says_how_far_a_first_search_is_compiled_and_stops_it(
    compiling: tuple[str, threading.Event],
) -> None:
    url, done = compiling
    with conversation(url) as socket:
        say(socket, do="start", kind="search", game="tictactoe", request={"seconds": 50})
        assert hear(socket) == hear(socket) == COMPILING
        say(socket, do="stop")
        assert hear(socket) == COMPILING  # a compilation cannot be interrupted
        done.set()
        while (event := hear(socket)) == COMPILING:
            pass
        assert event["event"] == "started"
        while event["event"] != "result":
            event = hear(socket)
        assert event["result"]["reason"] in {"stopped", "proven"}


def test_client_that_leaves_does_not_start_its_search(
    compiling: tuple[str, threading.Event],
) -> None:
    url, done = compiling
    with httpx.Client(base_url=url, timeout=60) as client:
        path = "/games/connect4/search/stream"
        with client.stream("POST", path, json=LONG) as response:
            assert json.loads(next(response.iter_lines()))["event"] == "compiling"
        with conversation(url) as socket:
            say(socket, do="start", kind="search", game="connect4", request=LONG)
            assert hear(socket)["event"] == "compiling"
        done.set()
        until(client, games=1)
        until(client, searching=0, waiting=0)


def test_failed_compilation_ends_a_stream_that_has_begun(
    compiling: tuple[str, threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, done = compiling

    def fail(searches: SearchPool, question: Question) -> None:
        assert done.wait(60)
        raise Failure(409, "its rules do not compile")

    monkeypatch.setattr(SearchPool, "_compile", fail)
    with httpx.Client(base_url=url, timeout=60) as client:
        path = "/games/tictactoe/search/stream"
        with client.stream("POST", path, json={"depth": 1}) as response:
            lines = response.iter_lines()
            assert json.loads(next(lines)) == COMPILING
            done.set()
            *_, last = lines
        assert json.loads(last)["event"] == "error"
        assert json.loads(last)["detail"] == "its rules do not compile"


@pytest.mark.parametrize(
    ("message", "what", "where"),
    [
        ("{", "bad request", None),
        ('{"do": "start"', "bad request", None),
        ('{"do": "dance"}', "bad request", None),
        ('{"do": "start", "kind": "search"}', "bad request", "start.game"),
        ('{"do": "start", "kind": "search", "game": "\\u0000"}', "no such game", "path.game"),
        (
            '{"do": "start", "kind": "search", "game": "tictactoe", "request": {"depth": 1.5}}',
            "bad request",
            "depth",
        ),
        (
            '{"do": "start", "kind": "solve", "game": "tictactoe", "request": {"position": "55"}}',
            "no such position",
            "body.position",
        ),
        ("[" * 4000, "bad request", None),
    ],
)
def test_websocket_survives_bad_messages(
    service: str, message: str, what: str, where: str | None
) -> None:
    with conversation(service) as socket:
        socket.send(message)
        heard = hear(socket)
        assert (heard["event"], heard["error"]) == ("error", what)
        if where is not None:
            assert heard["where"] == where
        say(socket, do="start", kind="search", game="tictactoe", request={"depth": 0})
        assert [hear(socket)["event"] for _ in range(2)] == ["started", "result"]


def test_websocket_limits(service: str) -> None:
    for message in ("x" * 6000, b"binary"):
        with conversation(service) as socket, pytest.raises(ConnectionClosed) as closed:
            socket.send(message)
            hear(socket)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code in (1009, 1003)
    with conversation(service) as socket, pytest.raises(ConnectionClosed) as closed:
        hear(socket)  # silent, and so told to leave
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001
    with pytest.raises(InvalidStatus), conversation(service, origin="http://elsewhere.example"):
        pass
    with conversation(service, origin=service):
        pass


# Hosts and origins


def handshake(service: str, host: str) -> bytes:
    """Return the beginning of a service's answer to a WebSocket request with a host name."""
    head = "GET /stream HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    with socket.create_connection(tuple_of(service)) as one:
        one.sendall(f"{head}{key}Host: {host}\r\n\r\n".encode())
        one.settimeout(30)
        answer = b""
        while b"\r\n\r\n" not in answer or (b" 403 " in answer and b"}" not in answer):
            answer += one.recv(65536)
        return answer


LOOPBACK = [
    "localhost",
    "LOCALHOST:1",
    "localhost.:80",
    "127.0.0.1",
    "127.1.2.3:99",
    "[::1]",
    "[::1]:8000",
    "[0:0:0:0:0:0:0:1]:8",
    "[::ffff:127.0.0.1]:8000",
]
OTHERS = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "here",
    "evil.localhost",
    "10.1.2.3",
    "[2001:db8::1]:80",
    "192.168.0.1:8000",
    "0.0.0.0:80",
    "[::]",
    "localhost:80:80",
    "a@localhost",
    "localhost/",
    "::1",
    "[::1",
    "*",
    "2130706433",
]


@pytest.mark.parametrize("host", LOOPBACK)
def test_hosts_of_this_machine(service: str, client: httpx.Client, host: str) -> None:
    assert client.get("/games/tictactoe", headers={"host": host}).status_code == 200
    assert handshake(service, host).startswith(b"HTTP/1.1 101")


@pytest.mark.parametrize("host", [*OTHERS, "", "local host"])
def test_other_hosts_are_refused(service: str, client: httpx.Client, host: str) -> None:
    for method, path in (("GET", "/"), ("GET", "/games"), ("POST", "/games/tictactoe/search")):
        answer = client.request(method, path, headers={"host": host})
        assert error(answer) == (403, "not allowed", "header.host")
        assert "--allow-host" in answer.json()["detail"]
    refused = handshake(service, host)
    assert refused.startswith(b"HTTP/1.1 403")
    assert b"--allow-host" in refused


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        ("games.example", "games.example:8000", 200),
        ("games.example", "GAMES.example.", 200),
        ("games.example", "more.games.example", 403),
        ("Games.Example", "games.example", 200),
        ("10.1.2.3", "10.1.2.3:80", 200),
        ("10.1.2.3", "10.1.2.4", 403),
        ("2001:DB8::1", "[2001:db8:0::1]:80", 200),
        ("[2001:db8::1]", "[2001:db8::1]", 200),
        ("0.0.0.0", "192.168.0.1:8000", 200),
        ("0.0.0.0", "evil.example", 403),
        ("::", "[2001:db8::1]:80", 200),
        ("::", "127.0.0.1.nip.io", 403),
        ("*", "evil.example", 200),
    ],
)
def test_hosts_are_allowed(allowed: str, host: str, status: int) -> None:
    with running(Settings(hosts=(allowed,), prepared=False)) as (_, url):
        assert httpx.get(f"{url}/games/hex", headers={"host": host}).status_code == status
        assert httpx.get(f"{url}/games/hex").status_code == 200


def test_pages_of_other_sites_make_no_work(client: httpx.Client, service: str) -> None:
    """Without asking first, a page may only send requests with no type, or plain text."""
    asked = b'{"depth": 1}'
    elsewhere = service.replace("127.0.0.1", "localhost")
    for origin in ("http://evil.example", "http://[::1", "null", elsewhere):
        for kind in ({}, {"content-type": "text/plain"}, {"content-type": "application/json"}):
            headers = {"origin": origin} | kind
            answer = client.post("/games/tictactoe/search", content=asked, headers=headers)
            assert error(answer) == (403, "not allowed", "header.origin")
            assert "--cors" in answer.json()["detail"]
        assert client.get("/games/tictactoe", headers={"origin": origin}).status_code == 200
    own = {"origin": service, "content-type": "application/json"}
    assert client.post("/games/tictactoe/search", content=asked, headers=own).status_code == 200


# Bad requests


@pytest.mark.parametrize(
    ("body", "status", "what", "where"),
    [
        (b"{", 400, "bad request", "body"),
        (b'{"depth": 1e}', 400, "bad request", "body"),
        (b'{"position": "\xff"}', 400, "bad request", "body"),
        (b"[" * 4000, 400, "bad request", "body"),
        (b'{"depth": ' + b"9" * 4400 + b"}", 400, "bad request", "body"),
        (b"", 422, "bad request", "body"),
        (b"[]", 422, "bad request", "body"),
        (b"null", 422, "bad request", "body"),
        (b'{"depth": NaN}', 422, "bad request", "body.depth"),
        (b'{"depth": 1e400}', 422, "bad request", "body.depth"),
        (b'{"seconds": NaN}', 422, "bad request", "body.seconds"),
        (b'{"seconds": Infinity}', 422, "bad request", "body.seconds"),
        (b'{"seconds": 0}', 422, "bad request", "body.seconds"),
        (b'{"seconds": true}', 422, "bad request", "body.seconds"),
        (b'{"depth": 3.5}', 422, "bad request", "body.depth"),
        (b'{"depth": "3"}', 422, "bad request", "body.depth"),
        (b'{"depth": 64}', 422, "bad request", "body.depth"),
        (b'{"depth": 1000000000000000000000000}', 422, "bad request", "body.depth"),
        (b'{"nodes": -1}', 422, "bad request", "body.nodes"),
        (b'{"seed": 99999999999999999999}', 422, "bad request", "body.seed"),
        (b'{"speed": 1}', 422, "bad request", "body.speed"),
        (b'{"position": 1}', 422, "bad request", "body.position"),
        (b'{"position": "\\ud800"}', 422, "bad request", "body.position"),
        (b'{"\\ud800 ": 1}', 422, "bad request", "body"),
        (b'{"position": "' + b"1" * 4100 + b'"}', 422, "bad request", "body.position"),
        (b'{"moves": []}', 422, "bad request", "body.moves"),
        (b'{"history": ["", 3]}', 422, "bad request", "body.history[1]"),
        (b'{"position": "55"}', 404, "no such position", "body.position"),
        (b'{"position": "\\u0000"}', 404, "no such position", "body.position"),
        (b'{"position": "x../.o./o.."}', 404, "no such position", "body.position"),
        (b'{"position": "......./......./......."}', 404, "no such position", "body.position"),
        (b'{"position": "' + b"1" * 4000 + b'"}', 404, "no such position", "body.position"),
        (b'{"history": ["1", "77"]}', 404, "no such position", "body.history[1]"),
        (b'{"moves": ["x"]}', 404, "no such move", "body.moves[0]"),
        (b'{"evaluation": "nice"}', 404, "no such evaluation", "body.evaluation"),
        (b'{"evaluation": "a.weights"}', 404, "no such evaluation", "body.evaluation"),
        (b'{"position": "' + b"1" * 6000 + b'"}', 413, "too large", "body"),
    ],
)
@pytest.mark.parametrize("route", ["search", "search/stream"])
def test_bad_requests(
    client: httpx.Client, route: str, body: bytes, status: int, what: str, where: str
) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post(f"/games/tictactoe/{route}", content=body, headers=headers)
    assert error(answer) == (status, what, where)


def test_what_is_not_there(client: httpx.Client) -> None:
    assert error(client.get("/games/shogi")) == (404, "no such game", "path.game")
    assert error(client.get("/games/%00")) == (404, "no such game", "path.game")
    assert error(client.get("/games/tictactoe:3x3")) == (404, "no such game", "path.game")
    assert error(client.get("/games/connect4:99x99")) == (404, "no such game", "path.game")
    assert error(client.get("/games/games.connect4")) == (404, "no such game", "path.game")
    assert error(client.get("/games/..%2fmine.py"))[0] == 404
    assert error(client.get(f"/games/{'x' * 300}")) == (422, "bad request", "path.game")
    position = {"position": "111"}
    missing = client.get("/games/tictactoe/position", params=position)
    assert error(missing) == (404, "no such position", "query.position")
    assert error(client.get("/nowhere")) == (404, "no such page", None)
    assert error(client.delete("/games")) == (405, "wrong method", None)
    refused = client.post("/games/ur/solve", json={})
    assert error(refused) == (409, "refused by the game", "path.game")
    plain = client.post("/games/tictactoe/search", content=b"{}", headers={"content-type": "a/b"})
    assert plain.status_code == 422


def test_a_body_of_unknown_length_is_bounded(client: httpx.Client) -> None:
    parts = (b" " * 1000 for _ in range(100))
    headers = {"content-type": "application/json"}
    answer = client.post("/games/tictactoe/search", content=parts, headers=headers)
    assert error(answer) == (413, "too large", "body")


# Many clients, and slow ones


def test_too_many_clients(connected: Callable[[], socket.socket], client: httpx.Client) -> None:
    sockets = [connected() for _ in range(3)]
    body = json.dumps(LONG).encode()
    head = (
        f"POST /games/connect4/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
        f"\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    for one in sockets:
        one.sendall(head.encode() + body)
    until(client, searching=2, waiting=1)
    assert client.get("/games/tictactoe").status_code == 200  # what needs no search is answered
    answer = client.post("/games/tictactoe/search", json={"depth": 1})
    for one in sockets:
        one.close()
    assert error(answer) == (503, "too many", None)
    assert 1 <= int(answer.headers["retry-after"]) <= 51
    until(client, searching=0, waiting=0)
    assert client.post("/games/tictactoe/search", json={"depth": 1}).status_code == 200


def tuple_of(service: str) -> tuple[str, int]:
    host, port = service.removeprefix("http://").split(":")
    return host, int(port)


def received(one: socket.socket) -> bytes:
    """Return everything that arrives until the other side closes the connection."""
    data = b""
    one.settimeout(30)
    try:
        while part := one.recv(65536):
            data += part
    except ConnectionResetError:
        pass
    return data


def test_slow_clients_are_left(
    connected: Callable[[], socket.socket], server: tuple[Server, str]
) -> None:
    head = b"POST /games/tictactoe/search HTTP/1.1\r\nHost: localhost\r\n"
    more = b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    half_a_body = connected()
    half_a_body.sendall(head + more)
    half_a_head = connected()
    half_a_head.sendall(head)
    silent, deaf = connected(), connected()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300)
    assert received(silent) == b""
    assert received(half_a_head) == b""
    answer = received(half_a_body)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"too slow"' in answer
    for _ in range(6000):
        if not server[0].server_state.connections:
            break
        time.sleep(0.01)  # the deaf client has not exceeded its time limit when all are done
    assert received(deaf).count(b"HTTP/1.1 200") < 300


def test_memory_stays_below_what_was_said(client: httpx.Client) -> None:
    for table in (1, 2, 3, 4, 5, 6, 7, 8, 1, 2):
        asked = {"depth": 2, "table": table}
        assert client.post("/games/tictactoe/search", json=asked).status_code == 200
        health = client.get("/health").json()
        assert health["megabytes"] <= health["room"] == SETTINGS.room
    assert health["engines"] > 1


def one_game(client: httpx.Client, game: str, kind: str = "perft", **asked: Any) -> httpx.Response:
    return client.post(f"/games/{game}/{kind}", json={"depth": 1} | asked)


def test_compiled_games_are_bounded() -> None:
    settings = Settings(games=("tictactoe",), most_games=2, table=1, searches=2)
    ready = threading.Event()
    with running(settings, ready=ready.set) as (server, url), httpx.Client(base_url=url) as ask:
        assert ready.wait(60)
        ask.timeout = 60
        with ThreadPoolExecutor(4) as pool:  # the first requests for one game, all at once
            found = pool.map(lambda _: one_game(ask, "uniform:2x2").status_code, range(4))
            assert set(found) == {200}
        health = ask.get("/health").json()
        assert (health["games"], health["most_games"]) == (2, 2)
        refused = one_game(ask, "uniform:2x3")
        assert error(refused) == (503, "too many", None)
        held = "2 games are compiled or compiling (tictactoe, uniform:2x2,random), and no more fit"
        assert refused.json()["detail"].startswith(held)
        assert "--max-games" in refused.json()["detail"]
        assert "retry-after" not in refused.headers
        again = one_game(ask, "tictactoe", "search", evaluation="own")
        assert error(again) == (503, "too many", None)
        with conversation(url) as socket:
            say(socket, do="start", kind="search", game="uniform:2x3")
            assert hear(socket)["detail"] == held + refused.json()["detail"].removeprefix(held)
        assert (
            one_game(ask, "tictactoe").status_code
            == one_game(ask, "uniform:2x2").status_code
            == 200
        )
        assert ask.get("/games/uniform:2x3/position").status_code == 200
        assert ask.get("/games").json()["compiled"] == ["tictactoe", "uniform:2x2,random"]
        assert "cutnode_games 2.0" in ask.get("/metrics").text
        assert server.service.pool.code.count == 2


def test_games_that_do_not_compile_take_no_room(tmp_path: Path) -> None:
    rules = """
from typing import NamedTuple

class Position(NamedTuple):
    left: int = 6

def moves(position, buffer, at):
    buffer[at] = 1
    return at + (1 if position.left else 0)

def play(position, move):
    return Position(position.left - 1)

def outcome(position):
    if position.left == 6:
        raise ValueError("broken")
    return position.left == 0, -1
"""
    file = tmp_path / "broken_at_the_start.py"
    file.write_text(rules)
    settings = Settings(games=(str(file),), most_games=1, prepared=False, table=1)
    ready = threading.Event()
    with running(settings, ready=ready.set) as (_, url), httpx.Client(base_url=url) as ask:
        assert ready.wait(60)
        ask.timeout = 60
        assert one_game(ask, "broken_at_the_start", "search").status_code == 500
        assert ask.get("/health").json()["games"] == 0
        assert one_game(ask, "tictactoe").status_code == 200
        assert one_game(ask, "broken_at_the_start").status_code == 503


def test_names_of_variants_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "MOST_NAMES", 3)
    registry = games.GameRegistry(("tictactoe",), False)
    for name in ("hex:2", "hex:3", "hex:3", "hex:4"):
        registry.game(name)
    with pytest.raises(Failure, match="3 variants") as refused:
        registry.game("hex:5")
    assert refused.value.status_code == 503
    assert registry.game("tictactoe").start() and registry.game("hex:3").start()
    with pytest.raises(Failure) as unknown:
        games.GameRegistry((), False).game("hex:99")
    assert unknown.value.status_code == 404


def test_metrics(client: httpx.Client) -> None:
    client.post("/games/tictactoe/search", json={"depth": 3})
    text = client.get("/metrics").text
    assert 'cutnode_nodes_total{game="tictactoe",kind="search"}' in text
    assert 'cutnode_requests_total{route="/games/{game}/search",status="200"}' in text
    assert "cutnode_engine_megabytes " in text


# Start and end


def test_it_says_when_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    go, ready = threading.Event(), threading.Event()
    told = []

    def say(game: str) -> None:
        told.append(game)
        go.wait(60)

    settings = Settings(games=("tictactoe",), only=True)
    with running(settings, say=say, ready=ready.set) as (_, url), httpx.Client(base_url=url) as ask:
        answer = ask.get("/health")
        assert (answer.status_code, answer.json()["status"]) == (503, "starting")
        refused = ask.post("/games/tictactoe/search", json={"depth": 1})
        assert error(refused) == (503, "starting", None)
        assert "retry-after" in refused.headers
        go.set()
        assert ready.wait(60)
        assert told == ["tictactoe"]
        answer = ask.get("/health")
        assert (answer.status_code, answer.json()["status"]) == (200, "ready")
        assert [game["name"] for game in ask.get("/games").json()["games"]] == ["tictactoe"]
        assert error(ask.get("/games/connect4")) == (404, "no such game", "path.game")


@pytest.mark.once
def test_tablebases(tmp_path: Path) -> None:
    build_tablebase(load_game("tictactoe").start(), tmp_path)
    settings = Settings(games=("tictactoe",), only=True, tablebases=(str(tmp_path),))
    ready = threading.Event()
    with running(settings, ready=ready.set) as (_, url), httpx.Client(base_url=url) as ask:
        assert ready.wait(60)
        answer = ask.post("/games/tictactoe/solve", json={"position": "12"}).json()
        assert (answer["value"], answer["nodes"], len(answer["pv"])) == (1, 0, 5)
        found = ask.post("/games/tictactoe/search", json={"position": "12", "depth": 1}).json()
        assert found["proven"] and found["nodes"] == 0


COMMAND = [sys.executable, "-c", "from cutnode.cli.serve import serve; serve()"]


@pytest.mark.once
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_a_signal_ends_it_in_the_middle_of_a_search(number: signal.Signals) -> None:
    arguments = ["--port", "0", "--games", "connect4", "--only", "--table", "8", "--searches", "2"]
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        route = f"{url}/games/connect4/search/stream"
        with conversation(url) as socket, httpx.stream("POST", route, json=LONG) as response:
            say(socket, do="start", kind="solve", game="connect4")
            assert hear(socket)["event"] == "started"
            lines = response.iter_lines()
            assert json.loads(next(lines))["event"] == "started"
            process.send_signal(number)
            last = json.loads(list(lines)[-1])
            assert last["result"]["reason"] == hear(socket)["result"]["reason"] == "stopped"
            with pytest.raises(ConnectionClosed):
                hear(socket)
        assert process.wait(30) == 0


def test_the_command_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def failure(*arguments: str) -> str:
        return str(CliRunner().invoke(serve, arguments).exception)

    with listen("127.0.0.1", 0) as taken:
        assert "cannot listen on" in failure("--port", str(taken.getsockname()[1]))
    assert "got 10" in failure("--memory", "10")
    assert "raise --max-games" in failure("--games", "tictactoe,hex", "--max-games", "1")
    for host in ("http://a.example", "a.example:80", "a b", ""):
        assert f"'{host}' is not a host" in failure("--allow-host", host)
    assert "--games" in failure("--only")
    assert "'example.com' is not an origin" in failure("--cors", "example.com")
    assert "unknown game 'shogi'" in failure("--games", "shogi", "--port", "0")
    assert "there is no tablebase in" in failure("--tablebase", "nowhere", "--port", "0")
    monkeypatch.delitem(sys.modules, "cutnode.service.server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'cutnode[serve]'" in failure()


def test_the_engine_needs_none_of_it() -> None:
    code = "import cutnode, sys; print([m for m in ('fastapi', 'uvicorn') if m in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert printed.stdout.strip() == b"[]"


# The API description


def test_every_answer_is_described(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert len(document["paths"]) == 23
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation["summary"] and operation["tags"]
            if path.startswith("/games/{game}/") and "post" in operations:
                assert {"200", "400", "404", "408", "413", "422"} <= set(operation["responses"])


@pytest.mark.slow
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """All checks of Schemathesis, against the service as it describes itself."""
    settings = Settings(games=("tictactoe",), only=True, table=1, seconds=0.05)
    rejecting = [400, 404, 405, 408, 413, 415, 422, 429, "5xx"]  # 413: a body of over a megabyte
    config = f"[checks.negative_data_rejection]\nexpected-statuses = {json.dumps(rejecting)}\n"
    (tmp_path / "schemathesis.toml").write_text(config)
    ready = threading.Event()
    with running(settings, ready=ready.set) as (_, url):
        assert ready.wait(120)
        command = [sys.executable, "-c", "from schemathesis.cli import schemathesis as run; run()"]
        limits = ["--max-examples", "5", "--seed", "1", "--no-color"]
        found = subprocess.run(
            [*command, "run", f"{url}/openapi.json", *limits],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
    assert found.returncode == 0, found.stdout
