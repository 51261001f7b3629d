"""The contents of wheels."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The names in a wheel built in a tree in which other builds have left their files."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("engine", "games"):
        ignored = shutil.ignore_patterns("node_modules", "__pycache__")
        shutil.copytree(ROOT / name, tree / name, ignore=ignored, symlinks=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tree)
    for folder in ("build/lib/games", "games/build/lib", "dist"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "deleted_game.py").write_text("x = 1\n")
    made = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tree / "made"]
    subprocess.run(made, cwd=tree, check=True, capture_output=True, timeout=120)
    (path,) = (tree / "made").iterdir()
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


def test_stale_builds_do_not_reach_a_wheel(wheel):
    assert [name for name in wheel if "deleted_game" in name] == []


def test_a_wheel_has_all_modules_and_their_data(wheel):
    tops = {name.partition("/")[0] for name in wheel if "dist-info" not in name}
    assert tops == {"cutnode"}
    wanted = {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in {
            "cutnode": ROOT / "engine/cutnode",
            "cutnode/games": ROOT / "games",
        }.items()
        for path in folder.rglob("*.py")
    }
    assert wanted <= wheel
    assert {"cutnode/games/chess.weights", "cutnode/service/web/index.html"} <= wheel
    assert "cutnode/lab/literature/entries/pearl.toml" in wheel


def test_pythons_that_are_declared_are_those_of_the_classifiers():
    allowed = SpecifierSet(PROJECT["requires-python"])
    named = {text.rpartition(" ")[2] for text in PROJECT["classifiers"] if "Python :: 3." in text}
    assert named == {f"3.{minor}" for minor in range(30) if f"3.{minor}" in allowed}


def test_an_editable_install_holds_no_copies(tmp_path):
    made = "from hatchling.build import build_editable; import sys; build_editable(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", made, tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (path,) = tmp_path.iterdir()
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if "dist-info" not in name]
        assert [Path(name).suffix for name in names] == [".pth"]
        folders = archive.read(names[0]).decode().split("\n")
    assert [Path(folder) for folder in folders] == [ROOT / "engine"]
