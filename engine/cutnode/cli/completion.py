"""Shell completion, which works without loading a game.

Click does the rest: ``_CUTNODE_COMPLETE=bash_source cutnode`` prints the script for the shell.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from click import Context, Parameter
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    split_arg_string,
)

from cutnode.contract.choices import STYLES
from cutnode.contract.collection import described, functions_of_file, game_names
from cutnode.kernels.techniques import OPTIONAL, TECHNIQUES, parameters_of
from cutnode.playing.levels import LEVELS

ENTRIES = Path(__file__).parents[1] / "lab" / "literature" / "entries"
"""The folder of published results; their modules take long to import."""

Completer = Callable[[Context, Parameter, str], list[CompletionItem]]

PLAYERS = (
    *("random", *(f"level={level}" for level in LEVELS), "strength="),
    *("depth=", "nodes=", "seconds=", "engine=mcts,playouts=", "engine=auto,seconds=", "path="),
)
"""The ways to begin the description of a player in a match."""


def complete_game(ctx: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a game, its variant after a colon, or the path of a file."""
    source, colon, _ = incomplete.partition(":")
    if colon:
        return _beginning(incomplete, (f"{source}:{variant}" for variant in _variants(source)))
    found = _beginning(incomplete, game_names())
    return found if found and "/" not in incomplete else found + _python_files(incomplete)


def complete_evaluation(
    ctx: Context, parameter: Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of an evaluation: of the game named earlier, a style, or from a file.

    After the name of a file and a colon, complete one of its functions.
    """
    file, colon, _ = incomplete.partition(".py:")
    if colon:
        return _beginning(incomplete, (f"{file}.py:{name}" for name in _functions(f"{file}.py")))
    words = split_arg_string(os.environ.get("COMP_WORDS", ""))  # click has not parsed any yet
    sources = [word.partition(":")[0] for word in words]
    known = game_names()
    game = next((name for name in sources if name in known or name.endswith(".py")), "")
    try:
        own = described(game).evaluations
    except (OSError, SyntaxError):
        own = ()
    found = _beginning(incomplete, (*own, "own", *STYLES))
    return found if found and "/" not in incomplete else _python_files(incomplete)


def complete_techniques(
    ctx: Context, parameter: Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the last name in a list of techniques separated by commas."""
    before, comma, _ = incomplete.rpartition(",")
    left = (name for name in (*TECHNIQUES, *OPTIONAL) if name not in before.split(","))
    return _beginning(incomplete, (f"{before}{comma}{name}" for name in left))


def complete_parameter(ctx: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a parameter of a technique."""
    names = (name for name, _, _ in parameters_of(TECHNIQUES.values()))
    return _beginning(incomplete, (f"{name}=" for name in names))


def complete_player(ctx: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the beginning of a player of a match."""
    return _beginning(incomplete, PLAYERS)


def complete_entry(ctx: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a published result."""
    return _beginning(incomplete, sorted(path.stem for path in ENTRIES.glob("*.toml")))


def complete_file(ctx: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the path of a file."""
    return [CompletionItem(incomplete, type="file")]


def complete_folder(ctx: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the path of a folder."""
    return [CompletionItem(incomplete, type="dir")]


def _beginning(incomplete: str, words: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _functions(path: str) -> list[str]:
    """Return the functions of a file that can serve as evaluations."""
    try:
        return functions_of_file(path, 1)
    except (OSError, SyntaxError):
        return []


def _variants(source: str) -> tuple[str, ...]:
    try:
        return described(source).variants
    except (OSError, SyntaxError):
        return ()


def _python_files(incomplete: str) -> list[CompletionItem]:
    """Return the Python files and the folders whose paths begin with *incomplete*."""
    folder, name = os.path.split(incomplete)
    try:
        entries = sorted(Path(folder or ".").iterdir())
    except OSError:
        return []
    paths = (
        os.path.join(folder, entry.name) + "/" * entry.is_dir()
        for entry in entries
        if entry.name.startswith(name)
        and not entry.name.startswith((".", "_"))
        and (entry.suffix == ".py" or entry.is_dir())
    )
    return [CompletionItem(path) for path in paths]


@add_completion_class
class Bash(BashComplete):
    """Completion for Bash, which breaks words at colons."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.given = ""
        """The part of the last word that Bash keeps, up to its last colon."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        for word in (*args, incomplete):
            if words and (word == ":" or words[-1].endswith(":")):
                words[-1] += word
            else:
                words.append(word)
        *args, incomplete = words
        self.given = incomplete[: incomplete.rfind(":") + 1]
        return args, incomplete

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{item.value.removeprefix(self.given)}"
