"""Exported engines: the same answers as Python's, in C, and no crash whatever the arguments."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from random import Random

import pytest
from commands import ROOT
from exported import OTHERS, PROGRESS, Answers, Exported, positions, require_same_rules
from marks import LONG, compiled_only
from nim import nim

import cutnode
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.verbs import chance
from cutnode.export import packages
from cutnode.export.layout import parts_of
from cutnode.export.packages import export
from cutnode.export.targets import Linker, target_of

pytestmark = [
    compiled_only,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.skipif(sys.platform != "linux", reason="loads a library for Linux"),
]

GAME = "tictactoe"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return export(cutnode.load_game(GAME), tmp_path_factory.mktemp("export"))


@pytest.fixture
def engine(made):
    engine = Exported(made)
    yield engine
    engine.free()


def compare(game, made, count):
    cls = type(game.start())
    engine, answers = Exported(made), Answers(cls, parts_of(cls))
    for record in positions(game, engine, count):
        require_same_rules(engine, record)
        if not record.ending():
            answers.compare(engine, record, 3, 3000)
    engine.free()


def test_answers_are_those_of_python(made):
    compare(cutnode.load_game(GAME), made, 20)


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG) for name in OTHERS])
def test_answers_of_games_are_those_of_python(name, tmp_path):
    game = cutnode.load_game(name)
    compare(game, export(game, tmp_path), 100)


def test_code_for_this_processor_answers_the_same(tmp_path):
    game = cutnode.load_game("breakthrough:4x5")  # with a network and counted bits
    compare(game, export(game, tmp_path, cpu="native"), 10)


def test_moves_are_read_and_written(engine):
    texts = [engine.function("move_text")(move, 0) for move in engine.moves()]
    assert texts[:4] == [b"1", b"2", b"3", b"4"]
    assert [engine.call("parse_move", text) for text in texts] == engine.moves()
    assert engine.function("move_text")(99, 0) is None


def test_lines_are_counted(made, engine):
    start = cutnode.load_game(GAME).start()
    assert [engine.perft(depth) for depth in range(6)] == [
        cutnode.perft(start, depth) for depth in range(6)
    ]


def test_the_package(made):
    names = [str(file).partition("export0/")[2] for file in made.files]
    assert names == [
        "CMakeLists.txt",
        "example.c",
        "include/tictactoe.h",
        f"lib/{target_of('host').name}/libtictactoe.a",
        f"lib/{target_of('host').name}/libtictactoe.so",
    ]
    assert made.about["parts"] == ["rules", "search", "solve", "mate", "mcts"]
    assert made.about["board"]["shape"] == "grid"


def compiled(made, tmp_path, source, *options):
    """Compile a program of C that uses the package, and return it."""
    folder = made.files[0].parent
    program = tmp_path / "program"
    place = f"-L{folder / 'lib' / target_of('host').name}"
    strict = ["-Wall", "-Wextra", "-Werror", "-std=c11"]
    parts = [f"-I{folder / 'include'}", place, f"-l:lib{made.name}.a", "-lm", "-o", str(program)]
    subprocess.run(["cc", *strict, *options, str(source), *parts], check=True)
    return program


def test_the_example(made, tmp_path):
    program = compiled(made, tmp_path, made.files[0].parent / "example.c")
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")
    assert said[0].endswith("\tvalue 0, depth 9, 1290 nodes") or said[0]


def test_positions_travel_as_words(engine):
    engine.call("play", engine.moves()[0])
    words, moves = engine.words(), engine.moves()
    engine.call("reset")
    engine.call("set_words", words, len(words))
    assert engine.moves() == moves
    for at in range(len(words)):
        broken = engine.words()
        broken[at] ^= 1 << 7
        with pytest.raises(ValueError, match="their seal does not fit"):
            engine.call("set_words", broken, len(broken))
    with pytest.raises(ValueError, match=r"a position has TICTACTOE_WORDS \+ 1 words, got 1"):
        engine.call("set_words", words, 1)
    assert engine.moves() == moves


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (("play", 99), "-4: the move must be one of tictactoe_moves, got 99"),
        (("roll", 0), "-4: the game has no chance"),
        (("undo",), "-4: there is no move to take back"),
        (("cells", None, 1), "-2: there must be room for TICTACTOE_CELLS cells, got 1"),
        (("moves", None, 1), "-2: there must be room for TICTACTOE_MOST_MOVES moves, got 1"),
        (("perft", -1, None), "-2: the depth must be 0..TICTACTOE_MOST_PLIES, got -1"),
        (("parse_move", b"e4"), "-4: the text must name a legal move"),
    ],
)
def test_wrong_calls(engine, call, wrong):
    with pytest.raises(ValueError) as error:
        engine.call(*call)
    assert str(error.value) == wrong


@pytest.mark.parametrize(
    ("search", "limits", "wrong"),
    [
        ("search", {}, "a search needs a limit: a depth, nodes, seconds, or a progress function"),
        ("search", {"depth": 64}, "the depth must be 0..63, got 64"),
        ("search", {"seconds": -1}, "the seconds must be 0 or more"),
        ("solve", {"nodes": -1}, "nodes and playouts must be 0 or more"),
        ("search", {"depth": 1, "techniques": 3}, "the techniques must be 0..2, got 3"),
        ("mate", {"depth": 33}, "the depth must be 1..32 moves, got 33"),
    ],
)
def test_wrong_limits(engine, search, limits, wrong):
    with pytest.raises(ValueError) as error:
        engine.ask(search, **limits)
    assert str(error.value) == f"-2: {wrong}"


def test_no_room_for_a_tree(made):
    engine = Exported(made, tree=0)
    with pytest.raises(ValueError, match="create the engine with a larger tree_mib"):
        engine.ask("playouts", playouts=1)
    engine.free()
    with pytest.raises(ValueError, match="there is no engine"):
        Exported(made, table=0)


def test_a_game_that_is_over(engine):
    random = Random(1)
    while engine.moves():
        engine.call("play", random.choice(engine.moves()))
    assert engine.state().ending == 1
    with pytest.raises(ValueError, match="-4: the game is over: there is nothing to search"):
        engine.ask("search", depth=1)
    with pytest.raises(ValueError, match="-4: the game is over: no move can be played, got 0"):
        engine.call("play", 0)


def test_progress_stops_a_search(engine):
    told = []

    def progress(result, user):
        told.append(result.contents.depth)
        return len(told) < 3

    function = PROGRESS(progress)
    engine.call("on_progress", function, None)
    result = engine.ask("search", depth=9, techniques=2)
    assert len(told) == 3
    assert (result.reason, result.depth) == (1, told[-1])


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A game that no search finishes."""
    folder = tmp_path_factory.mktemp("large")
    return export(cutnode.load_game("connect4"), folder, parts=["search"])


def test_time_and_other_threads_stop_a_search(large):
    engine = Exported(large)
    result = engine.ask("search", seconds=0.05)
    assert result.reason == 3
    assert result.depth > 0
    stopper = threading.Timer(0.05, lambda: engine.call("stop"))
    stopper.start()
    assert engine.ask("search", depth=63, seconds=60).reason == 1
    with pytest.raises(
        ValueError, match="-5: the solver was not exported: see cutnode export --solve"
    ):
        engine.ask("solve")
    engine.free()


def test_the_programs_of_the_how_to(large, tmp_path):
    text = (ROOT / "engine" / "docs" / "howto" / "c.md").read_text()
    in_c, in_python = (text.split(f"```{name}\n")[1].split("```")[0] for name in ("c", "python"))
    (tmp_path / "program.c").write_text(in_c)
    program = compiled(large, tmp_path, tmp_path / "program.c")
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("4: ") and " at depth " in said
    (tmp_path / "connect4").symlink_to(large.files[0].parent)
    program = [sys.executable, "-c", in_python]
    said = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.startswith("3 ")


def test_engines_of_threads_are_independent(large):
    found = []

    def search():
        engine = Exported(large)
        found.append(engine.ask("search", depth=4).nodes)
        engine.free()

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


def test_the_same_question_gives_the_same_bytes(tmp_path):
    """With weights, which are addresses in part, and with kernels that call kernels."""
    game, folders = cutnode.load_game("ur"), [tmp_path / "first", tmp_path / "second"]
    first, second = (export(game, folder, parts=["search"]) for folder in folders)
    assert [file.read_bytes() for file in first.files] == [
        file.read_bytes() for file in second.files
    ]


@pytest.mark.parametrize("name", [GAME, pytest.param("toys.pig", marks=LONG)])
def test_any_arguments(name, tmp_path):
    """Random calls under the sanitizers of addresses and of undefined behaviour."""
    game = cutnode.load_game(name)
    target, linker = target_of("host"), Linker.of(target_of("host"))
    work = tmp_path / "work"
    work.mkdir()
    packages._compile(game, [], [target], None, "soaked", work)
    sanitized = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"]
    objects = packages._objects(work, target, linker, "soaked", [*sanitized, "-Werror"])
    source = work / "soak.c"
    text = (ROOT / "tests" / "data" / "export_soak.c").read_text()
    source.write_text(packages._for_game(text, "soaked"))
    (work / "soaked.h").write_text(packages._header(work, "soaked"))
    program = work / "soak"
    command = ["cc", "-O1", *sanitized, str(source), *map(str, objects), "-lm", "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([program, "1000000"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("1000000 calls, ")


@pytest.mark.skipif(shutil.which("qemu-aarch64-static") is None, reason="needs qemu")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=LONG) for name in ["chess", "connect4", "othello", "ur", "oware"]],
)
def test_another_processor_gives_the_same_answers(name, tmp_path):
    zig = pytest.importorskip("ziglang")
    game = cutnode.load_game(name)
    host = target_of("host").name
    made = export(game, tmp_path, targets=["host", "aarch64-linux"])
    engine, games = Exported(made), []
    for record in positions(game, engine, 100):
        if not record.ending():
            steps = zip(record.positions[:-1], record.steps, strict=True)
            games.append(" ".join("r" * (chance(before) > 0) + str(step) for before, step in steps))
    source = tmp_path / "answers.c"
    text = (ROOT / "tests" / "data" / "export_answers.c").read_text()
    source.write_text(packages._for_game(text, made.name))
    zig_cc = [sys.executable, "-m", zig.__name__, "cc", "-target", "aarch64-linux-musl", "-static"]
    said = []
    for target, compiler, runner in (
        (host, ["cc"], []),
        ("aarch64-linux", zig_cc, ["qemu-aarch64-static"]),
    ):
        library = tmp_path / "lib" / target / f"lib{made.name}.a"
        program = tmp_path / f"answers-{target}"
        parts = [str(source), f"-I{tmp_path / 'include'}", str(library), "-lm", "-o", str(program)]
        subprocess.run([*compiler, *parts], check=True)
        done = subprocess.run(
            [*runner, str(program)], input="\n".join(games) + "\n", capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        said.append(done.stdout.splitlines())
    assert len(said[0]) == len(games) > 50
    assert said[0] == said[1]


def test_games_that_cannot_be_exported(tmp_path):
    plain = tmp_path / "plain.py"
    plain.write_text(nim())
    with pytest.raises(GameError, match=r"plain is written in plain Python: .* put @compiled"):
        export(cutnode.load_game(plain), tmp_path)
    with pytest.raises(CutnodeError, match=r"there is no target 'hots' .did you mean 'host'"):
        export(cutnode.load_game(GAME), tmp_path, targets=["hots"])
    with pytest.raises(CutnodeError, match="the name of a library must match"):
        export(cutnode.load_game(GAME), tmp_path, name="3x4")
    assert [*tmp_path.iterdir()] == [plain]
