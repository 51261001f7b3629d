"""Exports for the web: the package in Node, and the board as static files in Chromium."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from exported import OTHERS, Answers, positions, require_same_rules
from marks import LONG, compiled_only

import cutnode
from cutnode.contract.errors import CutnodeError
from cutnode.export.layout import parts_of
from cutnode.export.packages import Export, export
from cutnode.export.page import PageGame, joined, write_files, write_page
from cutnode.export.webassembly import with_instructions, with_products

pytestmark = pytest.mark.once

NODE = shutil.which("node")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ZIG = importlib.util.find_spec("ziglang") or shutil.which("zig")
HERE = Path(__file__).parent
ROOT = HERE.parent

TOYS = HERE / "toys"
GAME = f"{TOYS / 'hexapawn.py'}:3x4"
LONG_GAME = "connect4"
PAGE_GAMES = ["connect4", "othello", "breakthrough", "kalah", "chess"]
STACK_KIB = 1 << 18
"""The stack of Node: proofs of chess go thousands of plies deep."""

PATIENCE = 60_000
"""The milliseconds to wait for anything in the browser."""

ABOUT = {
    "game": "nim",
    "about": "Nim.",
    "parts": ["rules", "search"],
    "levels": {"easy": {"depth": 1, "seconds": None}},
}

needs_node = pytest.mark.skipif(NODE is None, reason="there is no Node")
needs_zig = pytest.mark.skipif(ZIG is None, reason="there is no zig (the package ziglang)")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


# Files


def script_of(modules: dict[str, str], entry: str) -> str:
    """Run the modules as one script, and return what it writes."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--eval", joined(modules, entry)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_node
def test_modules_are_joined_in_the_order_of_their_imports() -> None:
    modules = {
        "page/main.js": 'import { twice } from "../lib/sums.js";\n'
        'import {\n  ONE,\n  Two as Pair,\n} from "./numbers.js";\n'
        "console.log(twice(ONE), new Pair().value);\n",
        "page/numbers.js": "export const ONE = 1;\nexport class Two {\n  value = ONE + ONE;\n}\n",
        "lib/sums.js": 'import { ONE } from "../page/numbers.js";\n'
        "const hidden = ONE;\nexport function twice(number) {\n  return 2 * hidden * number;\n}\n",
        "lib/unused.js": "throw new Error();\n",
    }
    assert script_of(modules, "page/main.js") == "2 2\n"


def test_modules_that_cannot_be_joined_are_refused() -> None:
    with pytest.raises(AssertionError, match=r"main\.js imports or exports in a way"):
        joined({"main.js": "export default 1;\n"}, "main.js")


def test_the_files_of_a_page(tmp_path: Path) -> None:
    made = write_files(
        [PageGame(ABOUT, b"\0asm"), PageGame(ABOUT | {"game": "nim:5"}, b"")], tmp_path
    )
    names = sorted(str(path.relative_to(tmp_path)) for path in made)
    assert names == [
        *("board.js", "games/0-nim.js", "games/1-nim-5.js", "index.html"),
        *("web/icon.svg", "web/style.css"),
    ]
    page = (tmp_path / "index.html").read_text()
    assert "mcts" not in page and "footer" not in page and "module" not in page
    found = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert found and all((tmp_path / name).exists() for name in found)
    again = [path.read_bytes() for path in made]
    write_files([PageGame(ABOUT, b"\0asm"), PageGame(ABOUT | {"game": "nim:5"}, b"")], tmp_path)
    assert [path.read_bytes() for path in made] == again


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(CutnodeError, match=r"^a page needs at least one game$"):
        write_files([], tmp_path)
    with pytest.raises(CutnodeError, match=r"^a page can have only one game 'nim'$"):
        write_files([PageGame(ABOUT, b""), PageGame(ABOUT, b"")], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(CutnodeError, match=r"cannot be made: Not a directory$"):
        write_files([PageGame(ABOUT, b"")], tmp_path / "file")


def test_shifts_of_four_lanes_become_pairs() -> None:
    code = (
        "define <4 x i64> @f(<4 x i64> %a) {\n"
        "  %b = shl nuw <4 x i64> %a, <i64 1, i64 7, i64 8, i64 9>\n"
        "  %c = lshr <4 x i64> %b, <i64 2, i64 2, i64 3, i64 4>, !tbaa !1\n"
        "  %d = shl <4 x i64> %c, splat (i64 1)\n"
    )
    lines = with_instructions(code).splitlines()
    assert sum("<2 x i64> %part." in line and "shl" in line for line in lines) == 4
    assert sum("lshr" in line for line in lines) == 3
    assert lines[-1] == "  %d = shl <4 x i64> %c, splat (i64 1)"
    assert "<4 x i64> %a, <i64" not in with_instructions(code)


def test_bytes_are_reversed_in_a_vector() -> None:
    code = "  %b.1 = tail call noundef i64 @llvm.bswap.i64(i64 %a), !range !1\n"
    lines = with_instructions(code).splitlines()
    assert "i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0, i32 15" in lines[2]
    assert lines[-1] == "  %b.1 = extractelement <2 x i64> %part.b.1.3, i32 0"


def test_sums_of_addresses_do_not_wrap() -> None:
    code = (
        "define i64 @f(ptr %p, i32 %i) {\n"
        "  %1 = getelementptr i8, ptr %p, i32 8\n"
        "  %2 = getelementptr i8, ptr %p, i32 -8\n"
        "  %read = getelementptr i64, ptr @table, i32 %i\n"
        "  %part = getelementptr i64, ptr @table, i32 %i\n"
        "  %4 = getelementptr i8, ptr %part, i32 %i\n"
        "  %5 = lshr i32 %i, 3\n"
        "  %known = getelementptr i64, ptr @table, i32 %5\n"
        "  %6 = getelementptr i8, ptr %known, i32 %i\n"
    )
    marked = [line.split()[0] for line in with_instructions(code).splitlines() if "nuw" in line]
    assert marked == ["%1", "%read", "%known"]


def test_products_are_functions() -> None:
    code = (
        "  %1 = mul i128 %a, %b\n"
        "  %2 = sext <16 x i16> %c to <16 x i32>\n"
        "  %3 = sext <16 x i16> %d to <16 x i32>\n"
        "  %4 = mul <16 x i32> %2, %3\n"
        "  %5 = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %4)\n"
    )
    text = with_products(code)
    assert "  %1 = call i128 @product(i128 %a, i128 %b)\n" in text
    assert "  %5 = call i32 @dot16(<16 x i16> %c, <16 x i16> %d)\n" in text
    assert text.count("@llvm.wasm.dot(<8 x i16> %x") == 2
    assert "@llvm.wasm.dot" not in with_products("  %1 = mul i128 %a, %b\n")


# The package


def package(game: str, folder: Path, *parts: str) -> Export:
    return export(cutnode.load_game(game), folder, parts=parts, targets=["wasm"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Export:
    return package(GAME, tmp_path_factory.mktemp("export"))


@pytest.fixture(scope="module")
def long_made(tmp_path_factory: pytest.TempPathFactory) -> Export:
    return package(LONG_GAME, tmp_path_factory.mktemp("export"), "search", "solve")


def index_of(made: Export) -> Path:
    (index,) = (file for file in made.files if file.name == "index.js")
    return index


class WebEngine:
    """An engine in Node, with the methods of an exported library (:class:`exported.Exported`)."""

    def __init__(self, made: Export) -> None:
        assert NODE is not None
        driver = HERE / "data" / "export_engine.mjs"
        node = f"ulimit -s {STACK_KIB}; exec {NODE} --stack-size={STACK_KIB * 3 // 4}"
        self.process = subprocess.Popen(
            ["sh", "-c", f'{node} "$@"', NODE, str(driver), str(index_of(made))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def free(self) -> None:
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0

    def call(self, name: str, *given: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, *given]) + "\n")
        said = json.loads(self.process.stdout.readline())
        if "error" in said:
            code = {"broken game": "-6: "}.get(said["kind"], "")
            raise ValueError(f"{code}{said['error']}")
        return said["result"]

    def state(self) -> Any:
        return SimpleNamespace(**self.call("state"))

    def moves(self) -> Any:
        return self.call("moves")

    def cells(self) -> Any:
        return self.call("cells")

    def words(self) -> list[int]:
        return [int(word) for word in self.call("words")]

    def odds(self, outcome: int) -> Any:
        return self.call("odds", outcome)

    def ask(self, search: str, **limits: Any) -> Any:
        found = self.call("ask", search, limits)
        return SimpleNamespace(**found, moves=tuple(found["line"]))


def compare(game: str, made: Export, count: int) -> None:
    loaded = cutnode.load_game(game)
    cls = type(loaded.start())
    engine, answers = WebEngine(made), Answers(cls, parts_of(cls))
    try:
        for record in positions(loaded, engine, count):
            require_same_rules(engine, record)
            if not record.ending():
                answers.compare(engine, record, 3, 3000)
    finally:
        engine.free()


@pytest.mark.slow
@compiled_only
@needs_node
@needs_zig
def test_answers_are_those_of_python(made: Export) -> None:
    compare(GAME, made, 30)


@compiled_only
@needs_node
@needs_zig
@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG) for name in OTHERS])
def test_answers_of_games_are_those_of_python(name: str, tmp_path: Path) -> None:
    compare(name, package(name, tmp_path), 100)


@pytest.mark.slow
@compiled_only
@needs_node
@needs_zig
@pytest.mark.parametrize("unshared", ["", "1"])
def test_the_client(made: Export, long_made: Export, unshared: str) -> None:
    """With shared memory, and as in a page that may not have it."""
    assert NODE is not None
    variables = {
        "PACKAGE": str(index_of(made)),
        "GAME": made.about["game"],
        "LONG_PACKAGE": str(index_of(long_made)),
        "LONG_GAME": long_made.about["game"],
        "UNSHARED": unshared,
    }
    done = subprocess.run(
        [NODE, "--test", str(HERE / "data" / "export_client.test.mjs")],
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@compiled_only
@needs_node
@needs_zig
def test_the_package_is_ready_for_npm(made: Export) -> None:
    folder = index_of(made).parent
    about = json.loads((folder / "package.json").read_text())
    assert about["name"] == "cutnode-hexapawn-3x4"
    assert about["version"] == cutnode.__version__
    readme = (folder / "README.md").read_text()
    assert 'from "cutnode-hexapawn-3x4"' in readme and "NAME" not in readme
    code = re.search(r"```js\n(.*?)```", readme, re.S)
    assert code is not None and NODE is not None
    text = code[1].replace("cutnode-hexapawn-3x4", "./index.js")
    (folder / "example.mjs").write_text(text)
    done = subprocess.run(
        [NODE, "example.mjs"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) >= 3


@pytest.mark.slow
@compiled_only
@needs_node
@needs_zig
def test_examples_of_the_documentation(long_made: Export) -> None:
    """They print what their comments say."""
    folder = index_of(long_made).parent
    text = (ROOT / "engine" / "docs" / "howto" / "web.md").read_text()
    examples = [code for code in re.findall(r"^```js\n(.*?)^```", text, re.M | re.S)]
    examples = [code.replace('"cutnode-connect4"', '"./index.js"') for code in examples]
    examples = [code for code in examples if "cutnode-client" not in code]
    assert len(examples) == 4
    for code in examples:
        (folder / "example.mjs").write_text(code)
        assert NODE is not None
        done = subprocess.run(
            [NODE, "example.mjs"], cwd=folder, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        wanted = re.findall(r"console\.log\(.*\); // (.*)", code)
        assert done.stdout.splitlines() == wanted


# The page


@pytest.fixture
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def visit(browser: Any, folder: Path, game: str) -> None:
    """Play a move in a page from the disk without a network, and let a level answer."""
    from playwright.sync_api import expect

    context = browser.new_context(viewport={"width": 1100, "height": 800}, offline=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((folder / "index.html").as_uri())
    page.locator("#games button").filter(has_text=re.compile(f"^{re.escape(game)}")).click()
    moves = page.locator("#moves li")
    expect(moves.first).to_be_visible()
    expect(page.locator("#moves .tag:empty")).to_have_count(0)
    assert page.locator("#board .chip").count() > 0
    expect(page.locator("#verdict")).not_to_be_empty()
    moves.first.locator("button").click()
    expect(page.locator("#record button")).to_have_count(2)
    for side in range(2):  # a player may move again
        page.locator("#players select").nth(side).select_option("medium")
    expect(page.locator("#record button").nth(2)).to_be_visible()
    for side in range(2):
        page.locator("#players select").nth(side).select_option("person")
    expect(page.locator("#error")).to_be_hidden()
    page.locator("#first").click()
    page.locator("#redo").click()
    text = page.locator("#text")
    page.locator("summary", has_text="Position as text").click()
    expect(text).to_have_value(re.compile(r"^\S+$"))
    text.fill("nonsense")
    page.locator("#load button[type=submit]").click()
    expect(page.locator("#error")).to_contain_text("move 1 of 'nonsense'")
    assert problems == []
    context.close()


@pytest.mark.slow
@compiled_only
@needs_zig
@needs_chromium
def test_the_page_works_from_the_disk(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "pawns.py"
    file.write_text((TOYS / "hexapawn.py").read_text())
    games = [cutnode.load_game("tictactoe"), cutnode.load_game(str(file))]
    made = write_page(games, tmp_path / "page")
    assert tmp_path / "page" / "index.html" in made
    visit(browser, tmp_path / "page", "tictactoe")
    visit(browser, tmp_path / "page", "pawns")


@pytest.mark.slow
@pytest.mark.long
@compiled_only
@needs_zig
@needs_chromium
def test_pages_of_games(browser: Any, tmp_path: Path) -> None:
    write_page([cutnode.load_game(name) for name in PAGE_GAMES], tmp_path)
    for name in PAGE_GAMES:
        visit(browser, tmp_path, name)
