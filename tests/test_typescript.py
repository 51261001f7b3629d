"""The TypeScript client: its types match the service, and it queries a real one."""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_service import running

from cutnode.service.app import make_app
from cutnode.service.settings import Settings
from cutnode.service.state import Service

pytestmark = pytest.mark.once

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "engine" / "typescript"
NODE = shutil.which("node")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DOCUMENT = json.loads((PACKAGE / "openapi.json").read_text())


def call(*command: str, folder: Path = PACKAGE, **variables: str) -> None:
    """Run a program in a folder, and show its output if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout


WORDS = {"title", "summary", "description", "operationId", "tags", "example", "examples"}
"""The keys of a document that are for people, whose texts may vary between versions of FastAPI."""


def meaning(part: Any, *, named: bool = False) -> Any:
    """Return the part of a document that matters to programs; names of fields are kept."""
    if isinstance(part, dict):
        return {
            key: meaning(value, named=key in ("properties", "schemas", "paths") and not named)
            for key, value in part.items()
            if named or key not in WORDS
        }
    return [meaning(each) for each in part] if isinstance(part, list) else part


# Committed files


def test_the_document_is_that_of_the_service() -> None:
    """After a change of the service, regenerate both, as the package's README says."""
    document = json.loads(json.dumps(make_app(Service(Settings())).openapi()))
    for name in ("paths", "components"):
        assert meaning(DOCUMENT[name]) == meaning(document[name])


def test_the_types_are_those_of_the_document() -> None:
    """By name, each with its fields, and which of them are optional."""
    text = (PACKAGE / "types" / "schema.d.ts").read_text()
    named = re.findall(r"^export type (\w+) = components\['schemas'\]", text, re.M)
    schemas = DOCUMENT["components"]["schemas"]
    assert sorted(named) == sorted(schemas)
    for name, schema in schemas.items():
        found = re.search(rf"^ {{8}}{name}: {{\n(.*?)^ {{8}}}};", text, re.M | re.S)
        assert found is not None
        fields = set(re.findall(r"^ {12}(\w+\??):", found[1], re.M))
        given = {*schema.get("required", ()), "event"}  # events always name themselves
        assert fields == {field + "?" * (field not in given) for field in schema["properties"]}


def test_versions_are_equal() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert json.loads((PACKAGE / "package.json").read_text())["version"] == version
    assert DOCUMENT["info"]["version"] == version


@pytest.mark.slow
@pytest.mark.skipif(not (PACKAGE / "node_modules").exists(), reason="npm install was not run")
def test_types_are_made_and_checked(tmp_path: Path) -> None:
    """Generated files are up to date, and sources and examples satisfy the type checker."""
    copy = tmp_path / "copy"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("node_modules", "types"))
    (copy / "node_modules").symlink_to(PACKAGE / "node_modules")
    call("npm", "run", "types", folder=copy)
    call("npm", "run", "check", folder=copy)
    made, committed = (
        {path.name: path.read_text() for path in (folder / "types").iterdir()}
        for folder in (copy, PACKAGE)
    )
    assert made == committed


# In use


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The address of the package, as served for its example."""
    handler = functools.partial(QuietHandler, directory=str(PACKAGE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def service(page: str) -> Iterator[str]:
    ready = threading.Event()
    settings = Settings(games=("tictactoe",), only=True, cors=(page,), searches=2, table=8)
    with running(settings, ready=ready.set) as (_, url):
        assert ready.wait(120)
        yield url


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="there is no Node")
def test_the_client(service: str) -> None:
    """The client's own tests, against their own servers and this service."""
    assert NODE is not None
    version = subprocess.check_output([NODE, "--version"], text=True).strip()
    if [int(part) for part in version[1:].split(".")[:2]] < [20, 10]:
        pytest.skip(f"Node {version} is older than the client supports")
    call(NODE, "--experimental-websocket", "--test", CUTNODE_SERVICE=service)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_the_example_in_a_browser(page: str, service: str) -> None:
    """A game through the worker, from another origin than the service."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    expect = playwright.expect
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        shown = browser.new_page()
        cells, status = shown.locator("#board button"), shown.locator("#status")
        expect.set_options(timeout=30_000)

        shown.goto(f"{page}/examples/worker/?service={service}")
        shown.get_by_text("Hint").click()
        expect(shown.locator("#hint")).to_contain_text("draw, depth")
        while status.inner_text() == "Your move.":
            marked = shown.locator("#board button:text('x')").count()
            shown.locator("#board button:enabled").first.click()
            expect(shown.locator("#board button:text('x')")).to_have_count(marked + 1)
            expect(status).not_to_have_text("The level is thinking.")
        expect(status).to_have_text(re.compile("You won|The level won|Draw"))

        shown.locator("[name=first]").select_option("the level")
        shown.get_by_role("button", name="New game").click()
        expect(status).to_have_text("Your move.")
        assert "".join(cells.all_inner_texts()) == "x"

        shown.goto(f"{page}/examples/worker/?service={service}&game=chess")
        expect(status).to_contain_text("unknown game 'chess'")
        shown.goto(f"{page}/examples/worker/?service=http://127.0.0.1:9")
        expect(status).to_contain_text("cannot reach http://127.0.0.1:9/")
        browser.close()
