"""The board in a browser: Chromium, driven by Playwright."""

from __future__ import annotations

import io
import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from nim import nim
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from cutnode.compiler.progress import Progress
from cutnode.kernels.search import search_root
from cutnode.service import pool
from cutnode.service.listening import address, listen
from cutnode.service.pool import SearchPool
from cutnode.service.questions import Question
from cutnode.service.server import Server
from cutnode.service.settings import Settings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]

PATIENCE = 90_000
"""The milliseconds to wait for anything: games compile meanwhile, even on busy machines."""

expect.set_options(timeout=PATIENCE)


@contextmanager
def serving(games: tuple[str, ...], port: int = 0, **limits: Any) -> Iterator[str]:
    """A service in a thread of this process, as ``cutnode board`` starts it."""
    listening = listen("127.0.0.1", port)
    ready = threading.Event()
    settings = Settings(games=games, prepared=False, searches=2, **{"table": 8, **limits})
    server = Server(settings, ready=ready.set)
    thread = threading.Thread(target=server.run, args=([listening],))
    url = address(listening)
    thread.start()
    try:
        assert ready.wait(30)
        yield url
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("games") / "nim_of_a_user.py"
    file.write_text('"""Nim with one heap."""\n' + nim(heap=6))
    with serving((str(file),)) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test if its script fails, or if it sends a request elsewhere."""
    page = browser.new_page(viewport={"width": 1100, "height": 800})
    page.set_default_timeout(PATIENCE)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if is_policy(said.text) else None)
    yield page
    page.close()
    assert problems == []


def is_policy(text: str) -> bool:
    return "Content Security Policy" in text


def show(page: Page, service: str, game: str, position: str = "", *, analyse: bool = False) -> None:
    """Open a game; without analysis no engine is needed, and nothing is compiled."""
    page.add_init_script(
        "localStorage.setItem('cutnode.settings', localStorage.getItem('cutnode.settings') ?? "
        "JSON.stringify({players: ['person', 'person'], "
        f"analyse: {str(analyse).lower()}, seconds: '10', line: true}}))"
    )
    page.goto(f"{service}/#game={game}&position={position}")
    expect(page.locator("#status")).not_to_be_empty()


def cell(page: Page, number: int) -> Any:
    return page.locator(f'#board [data-cell="{number}"]')


def play(page: Page, *numbers: int) -> None:
    """Make moves that take one click each."""
    for number in numbers:
        steps = page.locator("#record button").count()
        cell(page, number).click()
        expect(page.locator("#record button")).to_have_count(steps + 1)


def status(page: Page, text: str) -> None:
    expect(page.locator("#status")).to_contain_text(re.compile(text, re.I))


def test_page_says_how_far_a_game_is_compiled(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    compile = SearchPool._compile

    def slowly(searches: SearchPool, question: Question) -> None:
        assert done.wait(60)
        compile(searches, question)

    known: list[int | None] = [None, 5, 9]
    monkeypatch.setattr(SearchPool, "_compile", slowly)
    monkeypatch.setattr(
        pool.progress,
        "running",
        lambda: Progress("search_root", "tictactoe.Position", 7, known[0], 1.5),
    )
    with serving(()) as url:
        show(page, url, "tictactoe", "15", analyse=True)
        for expected in ("7 functions", "7 of about 7 functions", "7 of about 9 functions"):
            expect(page.locator("#progress")).to_have_text(f"Compiling the game, once: {expected}")
            del known[: len(known) > 1]
        done.set()
        expect(page.locator("#progress")).not_to_contain_text("Compiling")
        expect(page.locator("#verdict")).not_to_be_empty()


def test_tictactoe_is_played_to_its_end_and_kept(page: Page, service: str) -> None:
    show(page, service, "tictactoe", analyse=True)
    expect(page.locator(".chip.draw")).to_have_count(9)
    play(page, 0, 3, 1, 4)
    expect(cell(page, 2)).to_have_attribute("aria-label", re.compile("win in 1 ply"))
    expect(cell(page, 2).locator(".chip.best")).to_have_count(1)
    expect(page.locator("#verdict")).to_contain_text("win in 1 ply")
    play(page, 2)
    status(page, r"first player \(x\) wins")
    expect(page.locator("#board .frame.won")).to_have_count(3)
    page.click("#whole")
    expect(page.locator("#graph .dot")).to_have_count(6)
    expect(page.locator("#whole")).to_have_text("Analyse whole game")
    page.reload()
    status(page, "wins")
    expect(page.locator("#record button")).to_have_count(6)
    page.keyboard.press("ArrowLeft")
    status(page, "first player .* to move")
    page.click("#first")
    expect(page.locator(".disc")).to_have_count(0)
    page.click("#redo")
    expect(page.locator(".disc")).to_have_count(1)
    page.locator("#graph .reach").nth(3).click()
    expect(page.locator(".disc")).to_have_count(3)


def test_a_level_answers(page: Page, service: str) -> None:
    show(page, service, "tictactoe")
    page.locator("#players select").nth(1).select_option("hard")
    cell(page, 0).click()
    expect(page.locator("#record button")).to_have_count(3)
    expect(cell(page, 4)).to_have_attribute("aria-label", re.compile("second player"))
    status(page, "first player .* to move")


def test_a_level_moves_while_the_game_is_compiled(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    compile = SearchPool._compile

    def slowly(searches: SearchPool, question: Question) -> None:
        assert done.wait(60)
        compile(searches, question)

    monkeypatch.setenv("CUTNODE_TIERS", "1")
    monkeypatch.setattr(search_root, "is_ready", lambda cls, evaluation: False)
    monkeypatch.setattr(SearchPool, "_compile", slowly)
    with serving(()) as url:
        show(page, url, "tictactoe")
        page.locator("#players select").nth(1).select_option("easy")
        cell(page, 0).click()
        status(page, "first player .* to move · that move came from plain Python")
        done.set()
        page.click("#undo")
        expect(page.locator("#status")).not_to_contain_text("Python")


def test_another_engine_analyses(page: Page, service: str) -> None:
    show(page, service, "tictactoe", "1425", analyse=True)
    expect(page.locator("#progress")).to_contain_text("depth")
    for engine, facts in (("auto", "after a trial"), ("mcts", "nodes")):
        page.select_option("#engine", engine)
        expect(page.locator("#verdict")).to_contain_text("Solved")
        expect(page.locator("#progress")).to_contain_text(facts)
        expect(page.locator("#progress")).not_to_contain_text("depth")
        expect(page.locator("#moves li.best")).to_have_count(1)
        expect(page.locator("#moves li").first).to_contain_text("3")
    page.reload()
    expect(page.locator("#engine")).to_have_value("mcts")


def test_connect4_by_columns_and_keys(page: Page, service: str) -> None:
    show(page, service, "connect4", "44444326555535", analyse=True)
    expect(cell(page, 23)).to_have_attribute("aria-label", re.compile(r"win \(\+2\)"))
    expect(page.locator("#verdict")).to_contain_text("Solved: first player (x) wins in 13 moves")
    expect(page.locator(".chip")).to_have_count(7)
    expect(page.locator(".step")).to_have_count(4)
    expect(page.locator("#moves li").first).to_contain_text("3")
    page.uncheck("#analyse")
    play(page, 0)  # the top of a column
    expect(cell(page, 35)).to_have_attribute("aria-label", re.compile("first player"))
    page.locator("#flip").focus()
    cell(page, 41).focus()  # as by Tab: after a click, the arrow keys step through the game
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(cell(page, 33)).to_have_attribute("aria-label", re.compile("second player"))


def test_pieces_are_dragged_or_clicked(page: Page, service: str) -> None:
    show(page, service, "breakthrough:5x5")
    cell(page, 16).click()
    expect(page.locator(".cell.next")).to_have_count(3)
    cell(page, 11).click()
    status(page, "second player")
    cell(page, 7).drag_to(cell(page, 12))
    status(page, "first player")
    expect(page.locator("#record button")).to_have_count(3)
    cell(page, 11).click()
    cell(page, 24).click()  # not a destination: another piece, or nothing, is selected
    expect(page.locator("#record button")).to_have_count(3)
    while "to move" in page.inner_text("#status"):
        before = page.locator("#record button").count()
        page.locator("#moves button").last.click()
        expect(page.locator("#record button")).to_have_count(before + 1)


def test_hexagons_on_a_phone(page: Page, service: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    show(page, service, "hex:4")
    play(page, 0, 1, 4, 5, 8, 9, 12)
    status(page, r"first player \(x\) has won")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_parts_have_tints_and_numbers(page: Page, service: str) -> None:
    show(page, service, "kayles:9", "3")
    expect(page.locator(".cell.part")).to_have_count(8)
    expect(cell(page, 1)).to_have_attribute("aria-label", "row 1, column 2, pin, part 1")
    expect(cell(page, 4).locator(".part-number")).to_have_text("2")
    expect(cell(page, 2)).to_have_attribute("aria-label", "row 1, column 3, fallen")
    page.evaluate("location.hash = '#game=kayles:9'")
    expect(page.locator(".cell.part")).to_have_count(0)  # a single part is the whole position


def test_dice(page: Page, service: str) -> None:
    show(page, service, "ur:finkel-1")
    expect(page.locator("#chance button")).to_have_count(6)
    page.get_by_role("button", name="1 (25 %)").click()
    status(page, "light to move")
    play(page, 3)
    status(page, "dark to roll")
    page.check("#auto-roll")
    status(page, "to move")
    for _ in range(4):
        before = page.locator("#record button").count()
        page.locator("#moves button").first.click()
        expect(page.locator("#record button")).not_to_have_count(before)
        status(page, "to move|wins")


def test_a_users_game_without_a_board(page: Page, service: str) -> None:
    show(page, service, "nim_of_a_user", analyse=True)
    expect(page.locator(".text-board")).to_have_text("left=6")
    expect(page.locator("#moves li").first.locator("b")).to_have_text("2")
    expect(page.locator("#verdict")).to_contain_text("win")
    for steps, move in enumerate(("2", "3", "1"), 2):
        page.locator("#choices").get_by_role("button", name=re.compile(f"^{move}\\b")).click()
        expect(page.locator("#record button")).to_have_count(steps)
    status(page, "first player wins")
    page.locator("summary", has_text="Search tree").click()
    page.click("#first")
    page.locator("#grow button").click()
    expect(page.locator(".tree .node").first).to_contain_text("root")


def test_a_lost_connection_comes_back(page: Page) -> None:
    with serving(()) as url:
        show(page, url, "tictactoe", analyse=True)
        expect(page.locator(".chip")).to_have_count(9)
    expect(page.locator("#connection")).to_contain_text("Connection lost")
    cell(page, 4).click()
    with serving((), int(url.rpartition(":")[2])):
        expect(page.locator("#connection")).to_be_hidden()
        status(page, "second player")
        expect(page.locator(".chip")).to_have_count(8)


def test_an_address_wins_over_what_the_page_shows_meanwhile(page: Page, service: str) -> None:
    show(page, service, "tictactoe")
    play(page, 4, 0)
    # The previous ply is shown, and its address written, before the page hears of the new one.
    page.evaluate("location.hash = '#game=connect4'; document.getElementById('undo').click()")
    expect(page.locator("#about")).to_contain_text("Connect Four")


def test_the_game_that_was_chosen_last_is_shown(page: Page, service: str) -> None:
    show(page, service, "tictactoe")
    waiting: list[Route] = []
    page.route("**/games/othello", lambda route: waiting.append(route))
    with page.expect_request("**/games/othello"):
        page.evaluate("location.hash = '#game=othello'")
    page.evaluate("location.hash = '#game=connect4'")
    expect(page.locator("#about")).to_contain_text("Connect Four")
    with page.expect_response("**/games/othello"):
        waiting.pop().continue_()
    page.wait_for_load_state("networkidle")
    expect(page.locator("#about")).to_contain_text("Connect Four")


def test_bad_input_is_said(page: Page, service: str) -> None:
    show(page, service, "tictactoe")
    page.locator("summary", has_text="Position as text").click()
    page.fill("#text", "55")
    page.get_by_role("button", name="Load position").click()
    expect(page.locator("#error")).to_have_text("move 2 of '55': cell 5 is marked already")
    page.fill("#text", "51")
    page.get_by_role("button", name="Load position").click()
    expect(page.locator(".disc")).to_have_count(2)
    expect(page.locator("#error")).to_be_hidden()

    page.click("#edit")
    cell(page, 8).click()
    cell(page, 7).click()
    cell(page, 6).click()
    page.click("#done")
    expect(page.locator("#error")).to_contain_text("x")
    cell(page, 7).click()
    cell(page, 6).click()
    page.get_by_role("radio", name="second player").click()
    page.click("#done")
    expect(page.locator(".disc")).to_have_count(3)
    page.goto(f"{service}/#game=shogi")
    expect(page.locator("#error")).to_contain_text("unknown game 'shogi'")
    page.select_option("#game", "hex")
    page.fill("#variant", "99")
    page.get_by_role("button", name="New game").click()
    expect(page.locator("#error")).to_contain_text("1 to 13 columns")


def test_every_click_on_a_move_counts_while_a_search_reports(page: Page, service: str) -> None:
    """Each press lasts as long as a finger's, while the search reports progress."""
    show(page, service, "connect4", analyse=True)
    for _ in range(12):
        steps = page.locator("#record button").count()
        row = page.locator("#moves button").first
        expect(row.locator(".tag")).not_to_be_empty()
        page.mouse.move(5, 5)
        page.hover("#moves")  # from now on, rows stay where they are
        box, move = row.bounding_box(), row.get_attribute("value")
        assert box is not None
        page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.wait_for_timeout(120)
        page.mouse.up()
        expect(page.locator("#record button")).to_have_count(steps + 1)
        expect(page.locator("#record [aria-current]")).to_have_text(move or "")


def test_rows_are_kept_and_ordered_when_the_pointer_leaves(page: Page, service: str) -> None:
    show(page, service, "tictactoe", "1245")
    page.evaluate("window.row = document.querySelector('#moves button[value=\"9\"]')")
    page.hover("#moves button[value='9']")
    before = page.locator("#moves button").evaluate_all("rows => rows.map((row) => row.value)")
    page.evaluate("document.getElementById('analyse').click()")
    expect(page.locator("#verdict")).to_contain_text("Solved")
    expect(page.locator("#moves li.best b")).to_have_text("7")
    after = page.locator("#moves button").evaluate_all("rows => rows.map((row) => row.value)")
    assert after == before == ["3", "6", "7", "8", "9"]
    page.mouse.move(5, 5)
    expect(page.locator("#moves button").first).to_have_attribute("value", "7")
    assert page.evaluate("window.row === document.querySelector('#moves button[value=\"9\"]')")


def test_an_error_stays_until_a_person_acts(page: Page, service: str) -> None:
    show(page, service, "connect4", analyse=True)
    expect(page.locator("#progress")).to_contain_text("depth")
    page.locator("summary", has_text="Position as text").click()
    page.fill("#text", "99")
    page.get_by_role("button", name="Load position").click()
    expect(page.locator("#error")).to_be_visible()
    depth = page.inner_text("#progress")
    expect(page.locator("#progress")).not_to_have_text(depth)  # it reports
    page.wait_for_timeout(300)
    expect(page.locator("#error")).to_be_visible()
    page.locator("#moves button").first.click()
    expect(page.locator("#error")).to_be_hidden()


def test_edges_are_in_the_colours_of_their_players(page: Page, service: str) -> None:
    show(page, service, "hex:4")
    for player, where in (("first", "top"), ("first", "bottom"), ("second", "left")):
        edge = page.locator(f"#board .edge.{player}").nth(1 if where == "bottom" else 0)
        box, board = edge.bounding_box(), page.locator("#board svg").bounding_box()
        assert box is not None and board is not None
        if where == "left":
            assert box["x"] + box["width"] < board["x"] + board["width"] * 0.6
        else:
            assert (box["y"] < board["y"] + board["height"] / 2) == (where == "top")
    names = [f"Edge of {name} player ({mark})" for name, mark in (("first", "x"), ("second", "o"))]
    labels = page.locator("#board g[role=img]")
    assert labels.evaluate_all("edges => edges.map((edge) => edge.ariaLabel)") == [
        *(names[:1] * 2),
        *(names[1:] * 2),
    ]
    show(page, service, "y:3")
    expect(page.get_by_label("Edge of both players")).to_have_count(3)


def test_draughtsmen_are_discs(page: Page, service: str) -> None:
    show(page, service, "draughts", "B:WK9,21:B1")
    expect(page.locator("#board .disc.light")).to_have_count(2)
    expect(page.locator("#board .disc.dark")).to_have_count(1)
    expect(page.locator("#board .crown.light")).to_have_count(1)
    size, square = (
        page.locator(f"#board {part}").first.bounding_box() for part in (".disc.dark", ".outline")
    )
    assert size is not None and square is not None
    assert size["width"] > 0.7 * square["width"]


def test_the_player_to_move_is_named_once(page: Page, service: str) -> None:
    for game, rest in (("chess", "Castling KQkq"), ("morris", "White has 9"), ("oware", "")):
        show(page, service, game)
        status(page, "to move")
        expect(page.locator("#caption")).not_to_contain_text("to move")
        expect(page.locator("#caption")).to_contain_text(rest)


SMALL = """[...document.querySelectorAll("button, a, input, select, summary, [role=button]")]
  .filter((element) => element.getClientRects().length)
  .map((element) => [element.outerHTML.slice(0, 80), element.getBoundingClientRect()])
  .filter(([, { width, height }]) => Math.min(width, height) < 24)
  .map(([text]) => text)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, service: str, scheme: Any) -> None:
    """On a wide screen and a phone, with a search, an editor, an error and a tree."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for width, game in ((1100, "tictactoe"), (360, "hex:4"), (360, "mnk:15x15x5"), (1100, "ur")):
        page = browser.new_page(viewport={"width": width, "height": 740}, color_scheme=scheme)
        show(page, service, game, analyse=game == "tictactoe")
        if game == "tictactoe":
            expect(page.locator("#verdict")).to_contain_text("Solved")
            text = json.dumps(PUZZLES[0]).encode()
            file: Any = {"name": "a.jsonl", "mimeType": "text/plain", "buffer": text}
            page.set_input_files("#puzzle-file", file)
            page.click("#puzzle-hint")
        page.eval_on_selector_all("details", "all => all.forEach((each) => (each.open = true))")
        page.fill("#text", "?")
        page.get_by_role("button", name="Load position").click()
        expect(page.locator("#error")).to_be_visible()
        if game != "ur":
            page.click("#grow button")
            expect(page.locator(".tree .node").first).to_be_visible()
        if game == "hex:4":
            page.click("#edit")
        for dialog in ("", "help", "open-game") if game == "hex:4" else ("",):
            if dialog:
                page.click(f"#{dialog}")
            found = axe.run(page)
            assert found.violations_count == 0, found.generate_report()
            assert page.evaluate(SMALL) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.keyboard.press("Escape")
        page.close()


def test_games_are_listed(page: Page, service: str) -> None:
    page.goto(service)
    page.locator("#games button", has_text="Breakthrough").click()
    status(page, "first player .* to move")
    cell(page, 48).click()
    cell(page, 40).click()
    status(page, "second player .* to move")


def test_notes_on_a_position_are_shown_until_a_move(page: Page, service: str) -> None:
    show(page, service, "chess", "4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1")
    caption = page.locator("#caption")
    expect(caption).to_contain_text("castling KQkq is read as K: king or rook is not at home")
    cell(page, 60).click()
    cell(page, 52).click()
    expect(page.locator("#record button")).to_have_count(2)
    expect(caption).not_to_contain_text("is read as")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("position=15", "the address must name a game"),
        ("garbage", "the address must name a game"),
        ("game=", "the address must name a game"),
        ("game=..", "unknown game '..'"),
        ("game=tictactoe%2Fboard", "unknown game 'tictactoe/board'"),
        ("game=nosuch", "unknown game 'nosuch'"),
    ],
)
def test_an_address_of_no_game_is_said_and_games_are_listed(
    page: Page, service: str, address: str, said: str
) -> None:
    page.goto(f"{service}/#{address}")
    expect(page.locator("#error")).to_contain_text(said)
    expect(page.locator("#games")).to_contain_text("tictactoe")


def test_an_address_that_is_emptied_comes_back(page: Page, service: str) -> None:
    show(page, service, "tictactoe")
    play(page, 0)
    page.evaluate("location.hash = ''")
    expect(page).to_have_url(re.compile("game=tictactoe&position="))
    expect(page.locator("#error")).to_be_hidden()


def test_an_answer_that_is_no_json_is_said(page: Page, service: str) -> None:
    show(page, service, "tictactoe")
    page.route("**/games/hex**", lambda route: route.fulfill(status=502, body="<h1>Bad Gateway"))
    page.evaluate("location.hash = 'game=hex'")
    expect(page.locator("#error")).to_contain_text("not from a cutnode service (status 502)")


@pytest.mark.parametrize(
    "kept",
    [
        '{"players": ["nobody", 5], "analyse": false, "seconds": "-5", "engine": "gone"}',
        '{"players": "ab", "analyse": false, "seconds": "3"}',
        '{"players": {}, "analyse": false}',
    ],
)
def test_settings_that_mean_nothing_any_more_are_left(page: Page, service: str, kept: str) -> None:
    page.add_init_script(f"localStorage.setItem('cutnode.settings', {kept!r})")
    page.goto(f"{service}/#game=tictactoe")
    status(page, "to move")
    expect(page.locator("#players select").first).to_have_value("person")
    expect(page.locator("#seconds")).to_have_value("3")
    expect(page.locator("#engine")).to_have_value("alphabeta")
    expect(page.locator("#error")).to_be_hidden()


def test_a_level_that_was_kept_plays(page: Page, service: str) -> None:
    kept = '{"players": ["easy", "person"], "analyse": false, "seconds": "3", "line": true}'
    page.add_init_script(f"localStorage.setItem('cutnode.settings', {kept!r})")
    page.goto(f"{service}/#game=tictactoe")
    expect(page.locator("#record button")).to_have_count(2)
    status(page, r"second player \(o\) to move")


# Set-up of positions


def test_seeds_and_pieces_are_set_up(page: Page, service: str) -> None:
    show(page, service, "kalah:4x3")
    page.click("#edit")
    page.click("#clear")
    for seeds, number in (("1", 1), ("1", 6), ("11", 9), ("11", 0)):
        page.locator("#palette select").select_option(seeds)
        cell(page, number).click()
    page.select_option("#mover", "north")
    page.click("#done")
    expect(page.locator("#text")).to_have_value("[11] 1 0 0 0 / 0 1 0 0 [11] north")
    show(page, service, "chess", "4k3/8/8/8/8/8/4P3/4K2R w K - 0 1")
    expect(page.locator("#about")).to_contain_text("Chess")
    page.click("#edit")
    page.get_by_role("radio", name="black rook").click()
    cell(page, 60).click()
    page.click("#done")
    expect(page.locator("#error")).to_have_text("white has 0 kings; a player has one")
    page.get_by_role("radio", name="white king").click()
    cell(page, 60).click()
    cell(page, 52).click()
    cell(page, 52).click()  # empty
    page.click("#done")
    expect(page.locator("#text")).to_have_value("4k3/8/8/8/8/8/8/4K2R w K - 0 1")


# Recorded games


def moves(page: Page) -> str:
    """Return the game as the page writes it."""
    words = page.locator("#record > *").evaluate_all(
        "all => all.flatMap((part) => part.children.length ? [...part.children] : part)"
        ".map((part) => part.textContent.trim())"
    )
    return " ".join(filter(None, words))


def open_game(page: Page, text: str) -> None:
    page.click("#open-game")
    page.fill("#game-text", text)
    page.click("#import")


def saved(page: Page, button: str) -> str:
    with page.expect_download() as waiting:
        page.click(button)
    return Path(waiting.value.path()).read_text()


def test_variations_are_kept_promoted_and_deleted(page: Page, service: str) -> None:
    show(page, service, "tictactoe")
    play(page, 4, 0, 8)
    page.keyboard.press("ArrowLeft")
    play(page, 2)
    assert moves(page) == "Start 1. 5 1 2. 9 ( 2. 3 )"
    expect(cell(page, 2)).to_have_attribute("aria-label", re.compile("first player"))
    page.keyboard.press("ArrowUp")
    expect(page.locator("#record [aria-current]")).to_have_text("9")
    expect(page.locator("#promote")).to_be_disabled()
    page.keyboard.press("ArrowDown")
    page.fill("#comment", "better: a fork")
    page.select_option("#mark", "!")
    page.reload()
    expect(page.locator("#record .comment").last).to_have_text("better: a fork")
    page.keyboard.press("p")
    expect(page.locator("#promote")).to_be_disabled()
    assert moves(page) == "Start 1. 5 1 2. 3! better: a fork ( 2. 9 )"
    page.click("#undo")
    page.click("#undo")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.keyboard.press("Delete")
    assert moves(page).endswith("( 2. 9 )")
    page.once("dialog", lambda dialog: dialog.accept())
    page.keyboard.press("Delete")
    expect(page.locator("#record button")).to_have_count(1)


PGN = """[Event "Club match"]
[White "Ann"]
[Black "Bob"]
[Result "0-1"]

{A short game} 1. f3 e5 (1... d5 $6 {slow} 2. e4 (2. d4 c5) 2... dxe4) 2. g4?? {Oh} Qh4# 0-1
"""


def test_pgn_is_opened_annotated_and_saved(page: Page, service: str) -> None:
    pgn = pytest.importorskip("chess.pgn")
    show(page, service, "tictactoe")
    open_game(page, PGN)
    status(page, "black has won")
    expect(page.locator("#headers")).to_contain_text("White: Ann · Black: Bob")
    assert moves(page) == (
        "Start A short game 1. f3 e5 ( 1… d5?! slow 2. e4 ( 2. d4 c5 ) dxe4 ) 2. g4?? Oh Qh4#"
    )
    expect(page.locator(".frame.won")).to_have_count(2)
    page.fill("#comment", "mate {at last}")
    text = saved(page, "#save-own")
    game = pgn.read_game(io.StringIO(text))
    assert (game.errors, game.headers["White"], game.headers["Result"]) == ([], "Ann", "0-1")
    assert game.comment == "A short game"
    line = list(game.mainline())
    assert [node.san() for node in line] == ["f3", "e5", "g4", "Qh4#"]
    assert (line[2].nags, line[2].comment, line[3].comment) == ({4}, "Oh", "mate (at last)")
    other = line[0].variations[1]
    assert (other.san(), other.comment, other.nags) == ("d5", "slow", {6})
    assert [node.san() for node in other.variations] == ["e4", "d4"]

    before = moves(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy-game")
    expect(page.locator("#copy-game")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == saved(page, "#save-game")
    page.evaluate("location.hash = '#game=connect4'")
    expect(page.locator("#about")).to_contain_text("Connect Four")
    open_game(page, copied)
    expect(page.locator("#about")).to_contain_text("Chess")
    assert moves(page) == before


def test_a_link_holds_the_whole_game(page: Page, service: str) -> None:
    show(page, service, "ur:finkel-1")
    for outcome in ("1 (25 %)", "1 (25 %)"):
        page.get_by_role("button", name=outcome).click()
        page.locator("#moves button").first.click()
        status(page, "to roll")
    page.click("#undo")
    page.click("#undo")
    page.get_by_role("button", name="2 (37.5 %)").click()
    expect(page.locator("#record .bracket")).to_have_count(2)
    page.fill("#comment", "a & b # c")
    before, shown = moves(page), page.inner_text("#record [aria-current]")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy-link")
    expect(page.locator("#copy-link")).to_have_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    page.evaluate("sessionStorage.clear()")
    page.evaluate("link => (location.href = link)", link)
    expect(page.locator("#record [aria-current]")).to_have_text(shown)
    assert moves(page) == before
    expect(page).to_have_url(re.compile("game=ur.*position=[^&]*$"))
    page.fill("#comment", "x" * 8000)
    page.click("#copy-link")
    expect(page.locator("#error")).to_contain_text("a link holds at most 8000 characters")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1. e4 e6 2. Ke3", "step 2: '.' is not a cell; cells are 1..9"),
        ('[Event "?"]\n\n1. e4 e6 2. Ke3', "step 3: 'Ke3' is not a legal move of white"),
        ("# moves of shogi\n1", "unknown game 'shogi'"),
        ("# moves of tictactoe\n5\n(\n1\n", "a variation is not closed"),
        ("# moves of tictactoe, from x\n5\n", "the board has 1 rows"),
        ("5 1 9 9", "step 4: cell 9 is marked already"),
    ],
)
def test_games_that_cannot_be_read_are_said(page: Page, service: str, text: str, said: str) -> None:
    show(page, service, "tictactoe")
    play(page, 4)
    open_game(page, text)
    expect(page.locator("#import-error")).to_contain_text(said)
    page.keyboard.press("Escape")
    expect(page.locator("#record button")).to_have_count(2)


def test_a_line_of_moves_and_a_file_are_opened(page: Page, service: str, tmp_path: Path) -> None:
    show(page, service, "tictactoe")
    open_game(page, "5 1 9")
    expect(page.locator("#record button")).to_have_count(4)
    file = tmp_path / "game.txt"
    file.write_text("# moves of hex:4, from ..../..../..../.... x\na1\nb2\n")
    page.click("#open-game")
    page.set_input_files("#game-file", file)
    expect(page.locator("#game-text")).to_have_value(re.compile("moves of hex"))
    page.click("#import")
    expect(page.locator("#about")).to_contain_text("Hex")
    expect(page.locator(".disc")).to_have_count(2)


# Choices and keys


def test_themes_keys_and_the_evaluation_bar(page: Page, service: str) -> None:
    show(page, service, "tictactoe", "1425", analyse=True)
    expect(page.locator("#bar")).to_have_attribute("aria-valuetext", re.compile("first player"))
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.select_option("#theme", "dark")
    dark = page.evaluate(colour)
    assert dark != light
    page.reload()
    status(page, "to move")
    assert page.evaluate(colour) == dark
    page.locator("body").click(position={"x": 2, "y": 2})
    place = cell(page, 0).evaluate("cell => cell.getBoundingClientRect().y")
    page.keyboard.press("f")
    expect(cell(page, 0)).to_be_visible()
    lower = "y => document.querySelector('[data-cell=\"0\"]').getBoundingClientRect().y > y"
    page.wait_for_function(lower, arg=place)
    page.keyboard.press("?")
    expect(page.locator("#helping")).to_be_visible()
    page.keyboard.press("f")
    page.keyboard.press("Escape")
    expect(page.locator("#helping")).to_be_hidden()


def test_lines_threads_and_table_are_chosen(page: Page) -> None:
    sent: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda text: sent.append(text)))
    with serving((), threads=4, table=64) as url:
        show(page, url, "tictactoe", "1")
        for id, value, known in (("threads", "2", "1 2 4"), ("table-size", "16", "16 32 64")):
            options = page.locator(f"#{id} option")
            expect(options).to_have_count(3)
            assert " ".join(options.evaluate_all("all => all.map((o) => o.value)")) == known
            page.select_option(f"#{id}", value)
        page.select_option("#lines", "3")
        page.check("#analyse")
        expect(page.locator("#verdict")).to_contain_text("Solved")
        asked = json.loads(sent[0])["request"]
        assert (asked["lines"], asked["threads"], asked["table"]) == (3, 2, 16)


# Reasons


def test_a_position_and_a_move_are_explained_and_a_game_is_reviewed(
    page: Page, service: str
) -> None:
    show(page, service, "tictactoe")
    expect(page.locator("#explain-move")).to_be_disabled()
    expect(page.locator("#review")).to_be_disabled()
    for number in (0, 1):
        cell(page, number).click()
        expect(page.locator("#record [aria-current]")).to_have_text(str(number + 1))
    page.locator("#explain-move").click()
    expect(page.locator("#why h3")).to_have_text("The move 2")
    expect(page.locator("#why li").nth(2)).to_contain_text("2 (blunder) loses (proven)")
    cell(page, 4).click()
    expect(page.locator("#why")).to_be_empty()
    page.keyboard.press("w")
    expect(page.locator("#why h3")).to_have_text("This position")
    page.locator("#review").click()
    expect(page.locator("#why h3")).to_have_text("Review")
    expect(page.locator("#record")).to_contain_text("2??")
    page.locator("#why button").first.click()
    expect(page.locator("#record [aria-current]")).to_have_text("2??")
    expect(page.locator("#comment")).to_have_value(re.compile("blunder; best was"))


# Puzzles

PUZZLES = [
    {
        "game": "tictactoe",
        "position": ".x./.../..o",
        "goal": "First player to move and win",
        "aim": "win",
        "within": None,
        "line": ["3", "1", "5", "4", "7"],
        "grade": "easy",
        "claim": "Of 7 moves, only 3 keeps the win (proven).",
        "hints": ["5 looks best at first.", "Look at the upper right part.", "Play 3."],
    },
    {
        "game": "tictactoe",
        "position": "xo./.../...",
        "goal": "First player to move and win in 3",
        "aim": "win",
        "within": 3,
        "line": ["5", "9", "4", "6", "7"],
        "grade": "hard",
        "claim": "5 wins in 3.",
        "hints": ["Play 5."],
    },
]


def test_puzzles_of_a_file_are_solved(page: Page, service: str, tmp_path: Path) -> None:
    show(page, service, "connect4:5x4", analyse=True)
    page.locator("#puzzle-panel summary").click()
    file = tmp_path / "puzzles.jsonl"
    file.write_text('{"game": "tictactoe"}\n')
    page.set_input_files("#puzzle-file", file)
    expect(page.locator("#error")).to_contain_text("line 1 is no puzzle")
    file.write_text("".join(f"{json.dumps(puzzle)}\n" for puzzle in PUZZLES))
    page.set_input_files("#puzzle-file", file)
    goal, place, said = (page.locator(f"#puzzle-{part}") for part in ("goal", "place", "said"))
    expect(goal).to_have_text("First player to move and win")
    expect(place).to_have_text("Puzzle 1 of 2 · easy · 0 solved")
    expect(page.locator("#error")).to_be_hidden()
    page.locator("#status").click()
    page.keyboard.press("h")
    expect(page.locator("#puzzle-hints li")).to_have_text(["5 looks best at first."])
    cell(page, 4).click()
    expect(said).to_contain_text("5 is wrong: it does not keep the win.")
    expect(said).to_contain_text("5 (missed win)")
    expect(page.locator(".chip")).to_have_count(0)  # the analysis would give the solution away
    page.click("#puzzle-again")
    expect(said).to_be_empty()
    cell(page, 2).click()
    expect(said).to_have_text("Solved. Of 7 moves, only 3 keeps the win (proven).")
    expect(place).to_contain_text("1 solved")
    expect(page.locator("#record button")).to_have_count(6)  # the rest of the line is there
    expect(page.locator(".chip")).not_to_have_count(0)

    page.keyboard.press("n")
    expect(goal).to_have_text("First player to move and win in 3")
    cell(page, 4).click()
    expect(page.locator("#record [aria-current]")).to_have_text("9")
    cell(page, 6).click()  # another move that wins as well
    expect(said).to_contain_text("Solved. 7 (")
    expect(place).to_contain_text("2 solved")
    expect(page.locator("#puzzle-next")).to_be_disabled()
    page.keyboard.press("b")
    expect(place).to_contain_text("Puzzle 1 of 2")


def test_puzzles_of_the_service_are_opened(page: Page) -> None:
    puzzles = tuple(puzzle | {"game": "/home/user/tictactoe.py"} for puzzle in PUZZLES)
    with serving((), puzzles=puzzles) as url:
        page.goto(f"{url}/#game=tictactoe&puzzles=2")
        expect(page.locator("#puzzle-place")).to_contain_text("Puzzle 1 of 2")
        expect(page.locator("#game")).to_have_value("tictactoe")


def test_puzzles_are_found(page: Page, service: str) -> None:
    show(page, service, "tictactoe")
    page.locator("#puzzle-panel summary").click()
    page.click("#find-puzzles")
    expect(page.locator("#puzzle-place")).to_have_text(re.compile(r"Puzzle 1 of \d"))
    page.click("#puzzle-hint")
    page.click("#puzzle-hint")
    expect(page.locator("#puzzle-hint")).to_have_text("Solution")
    page.locator("#game").select_option("tictactoe")
    page.click("#choose button")
    expect(page.locator("#puzzle")).to_be_hidden()
