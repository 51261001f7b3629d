"""The command ``cutnode``: it finds its commands, and turns errors into a line and an exit code.

Standard output holds only results; progress and summaries go to standard error, and only if it
is a terminal or an option asks for them.  A command is imported when it runs, so help and version
take no longer than Python and click.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import functools
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

import cutnode
from cutnode.cli.exit_codes import (
    BAD_INPUT,
    BREAKS_CONTRACT,
    EPILOG,
    ended_from_outside,
    interrupted,
    pipe_closed,
)
from cutnode.cli.watchdog import telling_of_loops
from cutnode.contract.errors import ContractError, CutnodeError, forgiving
from cutnode.contract.notes import notes_to

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "cutnode.commands"
"""The group of entry points, ``name = "module:command"``, that are click commands."""

MODULES = {
    "boards": ("perft", "show"),
    "check": ("check", "games", "new"),
    "proving": ("analyse", "solve", "verify"),
    "serve": ("board", "serve"),
}
OWN_COMMANDS = {
    **{command: module for module, commands in MODULES.items() for command in commands},
    **{name: name for name in ("batch", "book", "cluster", "lab", "match", "mate", "play")},
    **{name: name for name in ("export", "puzzles", "search", "tablebase", "train", "tree")},
    "warm": "warm",
}
"""The module of each command of this package."""


def own_command(name: str) -> EntryPoint:
    """Return the entry point of a command of this package."""
    from importlib.metadata import EntryPoint

    return EntryPoint(name, f"cutnode.cli.{OWN_COMMANDS[name]}:{name}", GROUP)


@functools.cache
def added_commands() -> dict[str, EntryPoint]:
    """Return the commands that installed packages add, by name."""
    from importlib.metadata import entry_points  # the lookup takes a while

    return {entry.name: entry for entry in entry_points(group=GROUP)}


class Commands(click.Group):
    """A group whose commands fail with one line and a documented exit code.

    A command of this package takes precedence over one of the same name elsewhere.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*OWN_COMMANDS, *added_commands()})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in OWN_COMMANDS:
            return loaded_command(own_command(name))
        entry = added_commands().get(name)
        return None if entry is None else loaded_command(entry)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands; import only those whose help is not found in their source."""
        entries = added_commands() | {name: own_command(name) for name in OWN_COMMANDS}
        width = formatter.width - 6 - max(map(len, entries))
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, described(entries[name]).get_short_help_str(width))
                    for name in sorted(entries)
                ]
            )

    def main(self, *args: Any, **settings: Any) -> Any:
        with ended_from_outside():
            return super().main(*args, **settings)

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Parse the arguments of a command, or print help."""
        with ending_quietly():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with ending_quietly(), telling_of_loops(), forgiving() as failures, notes_to(tell_note):
            try:
                found = super().invoke(ctx)
                sys.stdout.flush()
                return found
            except CutnodeError as error:
                fail(error)
            except (click.exceptions.NoArgsIsHelpError, click.exceptions.Exit, click.Abort):
                raise
            except click.ClickException as error:
                complain(error)
            except (Exception, SystemExit) as error:  # a game can call exit()
                if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EPIPE):
                    raise
                from cutnode.contract.messages import explained  # it needs the compiler

                failure = explained(error)
                if failure is None:
                    raise
                fail(failure)
            finally:
                if failures and not isinstance(sys.exc_info()[1], Exception):
                    fail(failures[0])


@contextlib.contextmanager
def ending_quietly() -> Iterator[None]:
    """End without a traceback at Ctrl-C, and when output can no longer be written."""
    try:
        yield
    except KeyboardInterrupt:
        interrupted()
    except BrokenPipeError:
        pipe_closed()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        written = error.filename or "standard output"
        fail(CutnodeError(f"{written} cannot be written: {error.strerror}"))


def described(entry: EntryPoint) -> click.Command:
    """Make a command with an entry point's help; import it only if its source is not found."""
    package, *inner = entry.module.split(".")
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        source = Path(folder, *inner).with_suffix(".py")
        if not source.is_file():
            continue
        for node in ast.parse(source.read_bytes()).body:
            if isinstance(node, ast.FunctionDef) and node.name == entry.attr:
                return click.Command(entry.name, help=ast.get_docstring(node))
    return loaded_command(entry)


def loaded_command(entry: EntryPoint) -> click.Command:
    """Load an entry point's command, or make one that says why it cannot be loaded."""
    try:
        command = entry.load()
        if not isinstance(command, click.Command):
            raise TypeError(f"it is {command!r}, not a click command")
        return command
    except Exception as error:
        owner = "" if entry.dist is None else f" of {entry.dist.name}"
        reason = f"{type(error).__name__}: {error}"
        broken = CutnodeError(f"{entry.name}{owner} ({entry.value}) cannot be loaded: {reason}")

        def refuse(args: tuple[str, ...]) -> NoReturn:
            fail(broken)

        rest = click.Argument(["args"], nargs=-1, type=click.UNPROCESSED)
        settings = {"ignore_unknown_options": True}
        return click.Command(
            entry.name, settings, refuse, [rest], short_help=f"Cannot be loaded: {reason}"
        )


def tell_note(text: str) -> None:
    """Print a note to standard error, such as on input that was not read as it is written."""
    click.echo(f"cutnode: note: {' '.join(text.split())}", err=True)


def complain(error: click.ClickException) -> NoReturn:
    """End with one line that says what is wrong with the arguments."""
    said = " ".join(error.format_message().split()).removesuffix(".")
    ctx = getattr(error, "ctx", None)
    told = f"; see {ctx.command_path} --help" if ctx is not None else ""
    click.echo(f"cutnode: {said[:1].lower()}{said[1:]}{told}", err=True)
    sys.exit(error.exit_code)


def fail(error: CutnodeError) -> NoReturn:
    """End with one line that says what is wrong."""
    click.echo(f"cutnode: {' '.join(str(error).split())}", err=True)
    sys.exit(BREAKS_CONTRACT if isinstance(error, ContractError) else BAD_INPUT)


def show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print the installed version, and end."""
    if wanted and not ctx.resilient_parsing:
        click.echo(f"cutnode {cutnode.__version__}")
        ctx.exit()


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Solve, search and play board games, and measure how well the search does."""
    sys.path.append(os.getcwd())  # where the user's own modules may be
