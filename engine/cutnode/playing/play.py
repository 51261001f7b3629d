"""A game between a user and an engine, in any terminal.

A :class:`Session` holds the game and carries out commands.  It shows text and asks for input
through a :class:`View`, and prints nothing itself.
"""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cutnode.compiler.progress import running
from cutnode.contract.cells import Look
from cutnode.contract.collection import game_names
from cutnode.contract.dispatch import defines, game_name
from cutnode.contract.errors import CutnodeError, PositionError
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import board, chance_text
from cutnode.contract.notation import board_of, contents_of
from cutnode.contract.text import nearest, quoted
from cutnode.contract.verbs import chance, chance_outcome, outcome
from cutnode.kernels.scores import is_decisive, win_distance
from cutnode.playing.configurations import loads_code
from cutnode.playing.players import AutoPlayer, Choice, EnginePlayer, Player, make_player
from cutnode.playing.records import read_record, record_suffix, write_record
from cutnode.search.api import solve
from cutnode.search.record import Record
from cutnode.search.results import SearchResult
from cutnode.storage.evaluations import evaluation_text
from cutnode.storage.files import check_file, write_whole
from cutnode.storage.tables import Table

PERSON = "person"
"""The name of a human player, where an engine has a configuration."""

ADVISER = "level=expert,seconds=1"
"""The configuration of the engine that gives hints."""

OUTLOOK_SECONDS = 2.0
OUTLOOK_MEGABYTES = 64
"""The time and the table size for proving who can still win."""

FORMAT = "cutnode game"
VERSION = 1
"""The marks that identify a saved game."""


class View(Protocol):
    """The terminal or window of a session."""

    def show(self, text: str) -> None:
        """Show a text of one or more lines."""

    def ask(self, prompt: str) -> str | None:
        """Ask for a line of input; return None when the input has ended."""

    def thinking(self) -> AbstractContextManager[object]:
        """Show that an engine is thinking."""


class Session:
    """A game between a user and an engine, two users, or two engines.

    *name* is the game's name as the user gave it; *record* holds the steps played so far.
    *players* are the configurations of sides 0 (to move at the start) and 1, or :data:`PERSON`.
    With *thoughts*, the engine's value and line are shown with its moves.  Hints use the
    *tablebase* in that folder.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        record: Record,
        *,
        players: tuple[str, str],
        thoughts: bool = False,
        tablebase: str | None = None,
    ):
        self.game = game
        self.name = name
        self.record = record
        self.players = list(players)
        self.thoughts = thoughts
        self._adviser = ADVISER if tablebase is None else f"{ADVISER},tablebase={tablebase}"
        self.look: Look = {}
        """The options for drawing boards."""
        self.saved: tuple[str, dict[str, Any]] | None = None
        """The file in which the game was last saved, and its contents."""
        self._made: dict[str, Player] = {}
        for configuration in self._engines():
            self._player(configuration)

    # The course of the game

    def run(self, view: View) -> bool:
        """Play until a user quits, the input ends, or a game between engines is over.

        Return False if Ctrl-C ended it.
        """
        view.show(self._greeting())
        try:
            if self._run(view):
                return True
        except KeyboardInterrupt:
            pass
        view.show(self._farewell())
        return False

    def _run(self, view: View) -> bool:
        shown: Any = None
        while True:
            if self.record.is_chance():
                view.show(self._chance())
                continue
            ending = self.record.ending()
            is_asked = bool(ending) or self._mover() == PERSON
            if (is_asked or PERSON not in self.players) and shown is not self.record.position:
                shown = self.record.position
                look: Look = {**self.look, "marked": self._changed()}
                drawn = board(shown, **look)
                view.show(f"\n{drawn}\n" + (f"\n{self.result_text()}" if ending else ""))
            if not is_asked:
                if self._engine_moves(view).reason == "interrupted" and PERSON not in self.players:
                    return False
                continue
            if PERSON not in self.players:
                return True
            line = view.ask(self._prompt())
            if line is None or not self._answer(line.strip(), view):
                view.show(self._farewell())
                return True

    def _changed(self) -> list[int]:
        """Return the cells that the last step changed."""
        if len(self.record.positions) < 2:
            return []
        before, now = map(contents_of, self.record.positions[-2:])
        return [cell for cell in range(len(now)) if before[cell] != now[cell]]

    def _legend(self) -> str:
        """Return a line with the symbols of the board, if it is drawn for people; else ""."""
        cells = board_of(type(self.record.position))
        if cells is None or not self.look:
            return ""
        legend = cells.legend(range(len(cells.contents)), **self.look)
        return legend and f"\n{legend}"

    def _chance(self) -> str:
        before = self.record.position
        index = self.record.draw()
        odds = f"with probability {chance_outcome(before, index)[0]:.3g}"
        return f"chance decides: {chance_text(before, index)}, {odds}"

    def _engine_moves(self, view: View) -> Choice:
        position, who = self.record.position, self._who(self.record.side)
        with view.thinking():
            choice = self._player(self._mover()).choose(position, **self.record.line())
        text = f"{who} plays {self.game.notation.move_text(position, choice.move)}"
        if self.thoughts and choice.value is not None:
            value, line = _signed(choice.value), self._line(choice.pv)
            text += f"  (value {value} at depth {choice.depth}: {line})"
        if not choice.compiled:
            now = running()
            text += "  (as plain Python)" if now is None else f"  (as plain Python, {now})"
        if choice.reason == "tablebase" and choice.value is not None:
            text += f", and {self._certainty(choice.value)}"
        self.record.play(choice.move)
        view.show(text)
        return choice

    def _answer(self, line: str, view: View) -> bool:
        """Carry out a line of input; return False to quit.  Legal moves win over commands."""
        if not line:
            return True
        try:
            self.record.play(self.game.notation.parse_move(self.record.position, line))
            return True
        except PositionError as error:
            problem = str(error)
        name, _, argument = line.partition(" ")
        command = COMMANDS.get(name.lower())
        if command is None:
            near = nearest(name, COMMANDS) if name.isalpha() and len(name) > 2 else ""
            view.show(f"{problem}{near} (moves lists the moves, help lists the commands)")
            return True
        try:
            with view.thinking():
                answer = command.do(self, argument.strip())
        except CutnodeError as error:
            answer = str(error)
        except KeyboardInterrupt:
            answer = "interrupted"
        if answer is None:
            return False
        view.show(answer)
        return True

    # Words

    def result_text(self) -> str:
        """Say how the game ended."""
        ending = self.record.ending()
        if ending == "repetition" and self.record.value() == 0:
            return "draw: the position repeats"
        if ending == "plies":
            return f"draw: the game reached the limit of {self.record.plies} steps"
        value = self.record.value()
        if value == 0:
            return "draw" if outcome(self.record.position)[0] else "draw: a rule ends the game"
        winner = self._who(0 if value > 0 else 1)
        by = "" if is_decisive(type(self.record.position)) else f" by {abs(value):g}"
        return f"{winner} win{'' if winner == 'you' else 's'}{by}"

    def _who(self, side: int) -> str:
        if self.players.count(PERSON) != 1:
            return f"player {side + 1}"
        return "you" if self.players[side] == PERSON else "the engine"

    def _prompt(self) -> str:
        if self.record.ending():
            return "undo, save or quit> "
        who = self._who(self.record.side)
        return "your move> " if who == "you" else f"{who}> "

    def _greeting(self) -> str:
        players = (
            f"player {side + 1}: {who}{self._estimates(who)}"
            for side, who in enumerate(self.players)
        )
        about = f"{game_name(type(self.record.position))}, {', '.join(players)}"
        seed = f", seed {self.record.seed}" if self._engines() or self._has_chance() else ""
        commands = "; help lists the commands" if PERSON in self.players else ""
        return about + seed + commands + self._legend()

    def _estimates(self, who: str) -> str:
        """Return the evaluation that an engine uses, in parentheses."""
        player = None if who == PERSON else self._player(who)
        engine = getattr(player, "engine", None)
        if isinstance(player, AutoPlayer):
            engine = player.engine.alphabeta
        if engine is None:
            return ""
        return f" ({evaluation_text(engine.cls, engine.evaluation)})"

    def _farewell(self) -> str:
        """Say how to resume the game later."""
        if self.saved is not None and self.saved[1] == self.to_dict():
            listed = self.name in game_names() or self.name.partition(":")[0] in game_names()
            words = [] if listed else [self.name]
            return f"to resume: cutnode play {shlex.join([*words, '--resume', self.saved[0]])}"
        if self.record.ending():
            return "goodbye"
        text = self.game.notation.position_text(self.record.position)
        words = [self.name, *(["--"] if text.startswith("-") else []), text]
        return f"to continue from here: cutnode play {shlex.join(words)}"

    def _line(self, line: tuple[int, ...]) -> str:
        return " ".join(Record(self.record.position).texts_of(line))

    # Players

    def _mover(self) -> str:
        return self.players[self.record.side]

    def _engines(self) -> list[str]:
        return [player for player in self.players if player != PERSON]

    def _player(self, configuration: str) -> Player:
        if configuration not in self._made:
            waits = PERSON in self.players
            player = make_player(self.record.position, configuration, ready=not waits)
            player.new_game(self.record.seed)
            if isinstance(player, EnginePlayer):
                player.prepare()
            self._made[configuration] = player
        return self._made[configuration]

    def _advice(self, lines: int = 1) -> SearchResult:
        """Search the position with the engine that gives hints."""
        if self.record.ending():
            raise PositionError("the game is over")
        adviser = self._player(self._adviser)
        assert isinstance(adviser, EnginePlayer)
        return adviser.search(self.record.position, lines=lines, **self.record.line())

    def _certainty(self, score: float) -> str:
        """Return what a tablebase says of a move with this score for the mover."""
        if not is_decisive(type(self.record.position)):
            return f"the value is {_signed(score)}"
        if score == 0:
            return "it is a draw"
        distance = win_distance(score) or 0
        plies = "1 ply" if distance == 1 else f"{distance:g} plies"
        return f"{'wins' if score > 0 else 'loses'} in {plies}"

    def _has_chance(self) -> bool:
        return defines(type(self.record.position), "chance")

    # Commands

    def help(self, argument: str) -> str:
        width = max(len(command.usage) for command in COMMANDS.values())
        lines = [f"{command.usage:{width}}  {command.about}" for command in COMMANDS.values()]
        return "\n".join(["enter a move, or one of:", *lines])

    def moves(self, argument: str) -> str:
        position = self.record.position
        if self.record.ending():
            return "none: the game is over"
        texts = (self.game.notation.move_text(position, move) for move in self.record.legal_moves())
        return textwrap.fill(" ".join(texts), 78, break_long_words=False, break_on_hyphens=False)

    def hint(self, argument: str) -> str:
        advice = self._advice()
        if advice.reason == "tablebase":
            advice = self._advice(lines=len(self.record.legal_moves()))
        best = advice.best_move
        assert best is not None
        named = {
            line.move: self.game.notation.move_text(self.record.position, line.move)
            for line in advice.lines
        }
        text = f"try {named[best]}"
        if advice.reason == "tablebase":
            known = (f"{named[line.move]}: {self._certainty(line.value)}" for line in advice.lines)
            text = "\n".join([text, *known])
        return text

    def eval(self, argument: str) -> str:
        result = self._advice()
        about = f"value {_signed(result.value)} for the player to move ({result.meaning()})"
        return f"{about}\nline  {self._line(result.pv)}"

    def outlook(self, argument: str) -> str:
        if self.record.ending():
            return self.result_text()
        position = self.record.position
        who = self._who(self.record.side)
        lose = "lose" if who == "you" else "loses"
        if not (self._has_chance() or defines(type(position), "reversible")):
            table = Table(OUTLOOK_MEGABYTES)
            result = solve(position, weak=True, table=table, seconds=OUTLOOK_SECONDS)
            proven = {
                (1, 1): "can force a win",
                (0, 0): "can force a draw, but no more",
                (-1, -1): f"{lose} against best play",
                (0, 1): "can force at least a draw",
                (-1, 0): "can no longer force a win",
            }.get((max(-1, result.lower), min(1, result.upper)))
            if proven is not None:
                return f"proven: {who} {proven}"
        found = self._advice()
        chances = "equal" if found.value == 0 else "better" if found.value > 0 else "worse"
        sure = "proven" if found.proven else f"estimated {found.depth} plies deep"
        whose = "your" if who == "you" else f"{who}'s"
        return f"{sure}: {whose} chances are {chances} (value {_signed(found.value)})"

    def undo(self, argument: str) -> str:
        record = self.record
        turns = (
            number
            for number in reversed(range(len(record.steps)))
            if self.players[record.sides[number]] == PERSON and not chance(record.positions[number])
        )
        turn = next(turns, None)
        if turn is None:
            return "there is no move of yours to take back"
        while len(record.steps) > turn:
            record.take_back()
        return "taken back"

    def level(self, argument: str) -> str:
        return self._change("level", argument)

    def strength(self, argument: str) -> str:
        return self._change("strength", argument)

    def _change(self, setting: str, argument: str) -> str:
        engines = self._engines()
        if not engines:
            raise CutnodeError("no engine plays in this game")
        if not argument:
            return f"the engine plays with {engines[0]}"
        configuration = f"{setting}={argument}"
        self._player(configuration)
        self.players = [PERSON if who == PERSON else configuration for who in self.players]
        return f"the engine plays with {configuration} from now on"

    def swap(self, argument: str) -> str:
        if not self._engines():
            raise CutnodeError("no engine plays in this game")
        self.players.reverse()
        return "sides are swapped"

    def save(self, argument: str) -> str:
        """Write the game to a file, completely or not at all."""
        if not argument:
            raise CutnodeError("save needs the name of a file")
        cls = type(self.record.position)
        suffix = record_suffix(argument, cls)
        if suffix == "" and record_suffix(argument):
            raise CutnodeError(f"{self.name} has no {Path(argument).suffix} files")
        if Path(argument).exists():
            try:
                read_record(argument, None) if suffix else _read(argument)
            except CutnodeError:
                raise CutnodeError(f"{argument} exists, and is not a saved game") from None
        check_file(argument)
        text = json.dumps(self.to_dict(), indent=1) + "\n"
        if suffix:
            players = self.players[0], self.players[1]
            text = write_record(self.name, self.record, players, suffix)
        write_whole(argument, text.encode())
        self.saved = argument, self.to_dict()
        return f"saved; to resume later: cutnode play --resume {shlex.quote(argument)}"

    def quit(self, argument: str) -> None:
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the game as plain data, in the form in which it is saved."""
        about = {"format": FORMAT, "version": VERSION, "game": self.name}
        settings = {"players": list(self.players), "thoughts": self.thoughts}
        course = self.record.to_dict()
        del course["positions"]
        return about | settings | course


def _signed(value: float) -> str:
    """Format a value with its sign; values of games of chance are not integers."""
    return f"{value:+d}" if isinstance(value, int) else f"{value:+.3f}"


class Command(NamedTuple):
    """A command of a session."""

    usage: str
    about: str
    do: Callable[[Session, str], str | None]


COMMANDS = {
    command.usage.partition(" ")[0]: command
    for command in (
        Command("help", "show this list", Session.help),
        Command("moves", "list the legal moves", Session.moves),
        Command("hint", "suggest a move", Session.hint),
        Command("eval", "show the engine's value of the position, and its line", Session.eval),
        Command("outlook", "say who can still win, proven if possible", Session.outlook),
        Command("undo", "take back your last move; repeat to go further back", Session.undo),
        Command("level NAME", "set the level: easy, medium, hard or expert", Session.level),
        Command("strength N", "set the strength: 0 (errs most) to 100", Session.strength),
        Command("swap", "swap sides with the engine", Session.swap),
        Command("save FILE", "write the game to a file; .txt, .pgn: the moves", Session.save),
        Command("quit", "leave", Session.quit),
    )
}
"""The commands by name."""


# Saved games


def resume(file: str, name: str | None = None) -> Session:
    """Load a saved session; :class:`CutnodeError` says why it cannot be resumed.

    *name* is needed for a game in the user's own module or file: without it, only cutnode's own
    games are loaded.  No other code is loaded, whatever players the file names.
    """
    data = _read(file)
    try:
        if data["version"] != VERSION:
            raise CutnodeError(f"it has version {data['version']!r}, not {VERSION}")
        saved, players, steps = data["game"], data["players"], data["steps"]
        if not all(isinstance(part, str) for part in (saved, data["start"], *players)):
            raise CutnodeError("its game, start and players must be texts")
        if len(players) != 2 or not isinstance(steps, list):
            raise CutnodeError("it must have two players and a list of steps")
        for player in players:
            if loads_code(player):
                raise CutnodeError(f"its player {quoted(player)} would load code from other files")
        if name is None and saved.partition(":")[0] not in game_names():
            raise CutnodeError(
                f"it is a game of {quoted(saved)}, which has to be named: "
                f"cutnode play {shlex.join([saved, '--resume', file])}"
            )
        if name is not None and name != saved:
            raise CutnodeError(f"it is a game of {quoted(saved)}, not {quoted(name)}")
        game = load_game(saved)
        record = Record(game.parse(data["start"]), seed=data["seed"])
        record.follow(steps)
        session = Session(
            game,
            saved,
            record,
            players=(players[0], players[1]),
            thoughts=bool(data["thoughts"]),
        )
    except KeyError as error:
        raise CutnodeError(f"{file} cannot be resumed: it lacks {error}") from None
    except (CutnodeError, TypeError) as error:
        raise CutnodeError(f"{file} cannot be resumed: {error}") from None
    session.saved = file, session.to_dict()
    return session


def _read(file: str) -> dict[str, Any]:
    """Read a saved game; :class:`CutnodeError` if the file is not one."""
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise CutnodeError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise CutnodeError(f"{file} is not a saved game: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CutnodeError(f"{file} is not a saved game of cutnode")
    return data
