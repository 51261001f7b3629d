"""First moves: moves in plain Python while the search of a game is compiled."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace

import httpx
import pytest
from marks import LONG, compiled_only
from test_interpreted import random_positions
from test_play import Script, session
from test_service import running
from test_tiers import NIM, made

import cutnode
from cutnode import CutnodeError, GameError, load_game, make_player
from cutnode.kernels.chance import chance_root
from cutnode.kernels.search import search_root
from cutnode.playing import first_moves
from cutnode.playing.play import PERSON
from cutnode.playing.players import EnginePlayer
from cutnode.service.pool import SearchPool
from cutnode.service.settings import Settings

pytestmark = [compiled_only, pytest.mark.once]


@pytest.fixture(autouse=True)
def on(monkeypatch):
    """Switch first moves on."""
    monkeypatch.setenv("CUTNODE_TIERS", "1")


@pytest.fixture
def unready(monkeypatch):
    """Games are searched as if they were not compiled yet."""
    for root in (search_root, chance_root):
        monkeypatch.setattr(root, "is_ready", lambda cls, evaluation: False)


def until_compiled(choose):
    """Return the first choice of a compiled search."""
    for _ in range(1000):
        choice = choose()
        if choice.compiled:
            return choice
        time.sleep(0.1)
    raise AssertionError(choice)


def test_a_player_moves_before_its_search_is_compiled_and_after(tmp_path):
    start = made(tmp_path)
    player = make_player(start, "depth=5", ready=False)
    first = player.choose(start)
    assert not first.compiled
    player.prepare()
    then = until_compiled(lambda: player.choose(start))
    assert replace(first, seconds=0, compiled=True) == replace(then, seconds=0)
    assert make_player(start, "depth=5", ready=False).choose(start).compiled


def test_rules_that_do_not_compile_are_reported_after_the_first_moves(tmp_path):
    start = made(tmp_path, NIM.replace("position.left - move", "position.left - len([0] * move)"))
    player = make_player(start, "depth=2", ready=False)
    assert not player.choose(start).compiled
    player.prepare()
    with pytest.raises(GameError, match="play"):
        until_compiled(lambda: player.choose(start))


@pytest.mark.parametrize(
    "name",
    [
        "tictactoe",
        pytest.param("connect4", marks=pytest.mark.slow),
        *(
            pytest.param(name, marks=LONG)
            for name in cutnode.game_names()
            if name not in ("tictactoe", "connect4")
        ),
    ],
)
def test_a_level_chooses_the_same_moves(name, unready):
    start = load_game(name).start()
    for level in ("easy", "medium"):
        compiled, first = (make_player(start, level, ready=ready) for ready in (True, False))
        for seed, position in enumerate(random_positions(start, 10, 2, seed=name)):
            for player in (compiled, first):
                player.new_game(seed)
            choices = compiled.choose(position), first.choose(position)
            assert [choice.compiled for choice in choices] == [True, False]
            assert replace(choices[0], seconds=0) == replace(choices[1], seconds=0, compiled=True)


def test_a_first_move_takes_little_time(unready, monkeypatch):
    monkeypatch.setattr(first_moves, "FIRST_SECONDS", 1e-3)
    choice = make_player("connect4", "depth=20", ready=False).choose(load_game("connect4").start())
    assert (choice.reason, choice.compiled) == ("time limit", False)


def test_what_plain_python_cannot_do_is_compiled(unready, monkeypatch):
    def fail(self, *args, **options):
        raise CutnodeError("it fails")

    monkeypatch.setattr(first_moves.FirstSearcher, "run", fail)
    player = make_player("tictactoe", "depth=2", ready=False)
    assert player.choose(load_game("tictactoe").start()).compiled
    assert make_player("tictactoe", "depth=2", ready=True)._first is None


def test_the_terminal_says_which_moves_are_first_ones(unready, monkeypatch):
    monkeypatch.setattr(EnginePlayer, "prepare", lambda self: None)
    view = Script("4", "quit")
    session("level=easy", PERSON).run(view)
    assert sum("as plain Python" in line for line in view.shown) >= 1
    watched = Script()
    session("level=easy", "level=easy").run(watched)
    assert not any("as plain Python" in line for line in watched.shown)


def test_the_service_moves_while_it_compiles(unready, monkeypatch):
    go = threading.Event()
    compile_now = SearchPool._compile

    def compile_then(self, question):
        assert go.wait(60)
        if question.name == "connect4":
            raise GameError("it does not compile")
        compile_now(self, question)

    monkeypatch.setattr(SearchPool, "_compile", compile_then)
    ready = threading.Event()
    settings = Settings(prepared=False, searches=1, table=1)
    with running(settings, ready=ready.set) as (_, url), httpx.Client(base_url=url) as ask:
        assert ready.wait(60)

        def move(game):
            return ask.post(f"/games/{game}/move", json={"level": "medium", "seed": 3})

        first = move("tictactoe").json()
        assert not first["compiled"]
        assert not move("connect4").json()["compiled"]
        go.set()
        for _ in range(1000):
            then, refused = move("tictactoe").json(), move("connect4")
            if then["compiled"] and refused.status_code != 200:
                break
            time.sleep(0.05)
        assert then == first | {"compiled": True, "seconds": then["seconds"]}
        assert "does not compile" in json.dumps(refused.json())
