"""Files of arrays, with a header that describes them.

A file is refused, with the reason, if it is damaged, truncated, of another version or kind, or
was made by other rules than the ones that run: a proof holds only for the rules that made it.
Large arrays are mapped copy-on-write, so processes share their memory.

The format, in the machine's byte order, which the header names::

    the kind of file          a line of text
    2 words of 32 bits        the length of the header, and its CRC-32 (little-endian)
    the header                JSON: what the file holds, and the names and places of its arrays
    the checksums             CRC-32 of each MiB of what follows; the header has a CRC of these
    the arrays                each begins at a multiple of 4096 bytes

A table is stored as it lies in memory, free entries included, and uncompressed: compressing takes
a second per GiB, as does expanding, and a compressed table cannot be mapped.  Only the region in
use is stored (see ``cutnode.kernels.table``).
"""

from __future__ import annotations

import ast
import functools
import importlib
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from cutnode.compiler.sources import STARTED, own_sources
from cutnode.contract.collection import COLLECTION, PACKAGE, former_name, game_names, present_name
from cutnode.contract.dispatch import defines, game_name, is_plain, module_of
from cutnode.contract.errors import CutnodeError, GameError, require_path
from cutnode.contract.text import quoted
from cutnode.storage.files import header, read_header, writing

VERSION = 1
PAGE = 4096
BLOCK = 1 << 20

MEANING = (
    "contract/bits.py",
    *(f"kernels/{name}.py" for name in ("chance_table", "node", "quiescence", "scores")),
    *(f"kernels/{name}.py" for name in ("search", "table")),
)
"""The engine's modules on which keys and entries depend, in addition to the game."""


# Arrays


def write_arrays(
    path: str | os.PathLike[str], kind: bytes, about: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a file of a *kind* with flat arrays by name, and *about* in its header.

    Instead of an array there may be an object with a length, a ``dtype`` and ``parts()``, which
    yields it in arrays of a multiple of a MiB but for the last.  It is called twice.
    """
    listed, at = [], 0
    for name, array in arrays.items():
        listed.append({"name": name, "type": array.dtype.str, "count": len(array), "at": at})
        at += -(-len(array) * array.dtype.itemsize // PAGE) * PAGE
    parts = (part for array in arrays.values() for part in _parts(array))
    checks = np.concatenate([np.zeros(0, "<u4"), *map(_checksums, parts)])
    text = {
        "version": VERSION,
        "byte order": sys.byteorder,
        **about,
        "arrays": listed,
        "checksums": len(checks),
        "checksum": zlib.crc32(checks.tobytes()),
    }
    front = header(kind, text) + checks.tobytes()
    with writing(path) as file:
        file.write(front + bytes(-len(front) % PAGE))
        for array in arrays.values():
            for part in _parts(array):
                file.write(memoryview(part).cast("B"))
            file.write(bytes(-len(array) * array.dtype.itemsize % PAGE))


def _parts(array: Any) -> Iterable[Any]:
    return array.parts() if hasattr(array, "parts") else [array]


def read_arrays(
    path: str | os.PathLike[str], kind: bytes, error: type[CutnodeError], *, map: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file of a *kind*; raise *error* if it is unusable.

    With *map*, arrays are mapped instead of read; writing to them does not change the file.
    """
    path = require_path(path, "path")
    try:
        with open(path, "rb") as file:
            about = read_header(file, kind)
            if about.get("version") != VERSION:
                raise ValueError(f"has format version {about.get('version')}, not {VERSION}")
            if about.get("byte order") != sys.byteorder:
                raise ValueError(f"was made by a {about.get('byte order')}-endian machine")
            size = 4 * _count_in(about, "checksums")
            checks = np.frombuffer(file.read(size), "<u4") if size else np.zeros(0, "<u4")
            if len(checks) != about["checksums"] or zlib.crc32(checks.tobytes()) != about.get(
                "checksum"
            ):
                raise ValueError("is damaged in its checksums")
            start = -(-file.tell() // PAGE) * PAGE
            size = os.fstat(file.fileno()).st_size
            arrays, found = _arrays(path, about.get("arrays"), start, size, map)
        if not np.array_equal(np.concatenate([np.zeros(0, "<u4"), *found]), checks):
            raise ValueError("is damaged")
    except OSError as failure:
        raise error(f"{path} cannot be read: {failure.strerror}") from None
    except ValueError as reason:
        raise error(f"{path} {reason}") from None
    return about, arrays


def _count_in(about: Any, name: str) -> int:
    """Return a number from a header."""
    count = about.get(name) if isinstance(about, dict) else None
    if not isinstance(count, int) or not 0 <= count < 1 << 48:
        raise ValueError("is damaged in its header")
    return count


def _arrays(
    path: str | os.PathLike[str], listed: Any, start: int, size: int, map: bool
) -> tuple[dict[str, Any], list[Any]]:
    """Return the arrays of a file, and the checksums of each.

    The checksums of an array that is mapped come from the file: its pages stay out of memory until
    they are used.
    """
    arrays: dict[str, Any] = {}
    checks = []
    end = start
    for entry in listed if isinstance(listed, list) else [{}]:
        count, at = _count_in(entry, "count"), start + _count_in(entry, "at")
        dtype = _type_in(entry)
        end = at + -(-count * dtype.itemsize // PAGE) * PAGE
        if end > size:
            raise ValueError(f"is truncated: it has {size:,} bytes, but needs at least {end:,}")
        if map and count:
            arrays[entry["name"]] = np.memmap(path, dtype, "c", at, count).view(np.ndarray)
            read = functools.partial(_block_of_file, path, at, count * dtype.itemsize)
            checks.append(_each_checksum(count * dtype.itemsize, read))
        else:
            arrays[entry["name"]] = np.fromfile(path, dtype, count, offset=at)
            checks.append(_checksums(arrays[entry["name"]]))
    if end != size:
        raise ValueError(f"has {size:,} bytes, but should have {end:,}")
    return arrays, checks


def _type_in(entry: dict[str, Any]) -> np.dtype[Any]:
    try:
        return np.dtype(str(entry["type"]))
    except (KeyError, TypeError):
        raise ValueError("is damaged in its header") from None


def _checksums(array: Any) -> Any:
    """Return the CRC-32 of each block of an array."""
    data = memoryview(array).cast("B")
    return _each_checksum(len(data), lambda at: data[at : at + BLOCK])


def _block_of_file(path: str | os.PathLike[str], start: int, size: int, at: int) -> bytes:
    """Return the block at a place of *size* bytes that begin at *start* in a file."""
    with open(path, "rb") as file:
        file.seek(start + at)
        return file.read(min(BLOCK, size - at))


def _each_checksum(size: int, block: Callable[[int], Any]) -> Any:
    """Return the CRC-32 of each block of *size* bytes, in several threads if there are many."""
    places = range(0, size, BLOCK)
    if len(places) < 16:
        return np.array([zlib.crc32(block(at)) for at in places], "<u4")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.array(list(pool.map(lambda at: zlib.crc32(block(at)), places)), "<u4")


# Rules


REWORDED = {
    "a53d7c621f0fc9fe4cce4a3f7a53625e": "46ccc2c7c622983ce9a6902a09d96a67",  # breakthrough
    "1a90729b7d1b176e85fd76829d483972": "e54da9d952cdd1717e0ea97d34dc1518",  # breakthrough
    "1010f37df22056a33c6f162b1ddbf5e4": "27754eb6809792ed02522d0bf4e6d5ac",  # chess
    "4af627e9d84a1963df6599542ec6abd2": "9f57ec647da9f0be8afe92a7e33dfe21",  # chess
    "20def5d4311b7f53b802f12636221350": "e09218d2b0118fbf355930536858bc7c",  # chess
    "6a65175dd8387e3120543cb86118f776": "fcd16b3a2d0e764c91ec47ecc5a35b0b",  # chess
    "f70267fea02cacc91428cce4fd5fa97d": "749e5b16469c9fa56ec279fc75735ad1",  # clobber
    "cf5f1c255e9640278576f1183a57e154": "132abd874616deac33da668ca8f75445",  # connect4
    "59e0974df549e83de405a75963b83659": "3d6033cb9459d97ea612b7fe9b506e2b",  # connect4
    "60bba6735d9f24b41dcd9c1f7350965d": "6726a75c137c099adeec8b4643ee0aae",  # connect4
    "9256842987b96dda1d59ce031ddbaf7c": "b0b1515b866df487cace49843e1fb276",  # connect4
    "4f1856cc4b70e723bcc963e4aa049c22": "bc2b5341b0b2ceacfc81f1f0d30d44a4",  # connect4
    "0ba03d9c4b5e35b0b5c02135bdfc3b8c": "e542ddbfc87758107c23172a07810444",  # connect4
    "8ff1991f4ab769c808c97c5c912aaa2c": "b408dd3deac6ccc7ca94cf40ef1038a5",  # cram
    "0ad015032316963725412458301070ca": "3268b8522a512fa827c9dcf8ce3d0885",  # dobutsu
    "b7ef47ac1f0d6a07c8b6f422ec1474b4": "412246a27e5340420a00cbd79822e870",  # dobutsu
    "0dff9ba89935385aa7653fe33e2130e9": "5f3cbb8417ee37add0d85112d2ddbc15",  # dobutsu
    "09ac8e65211b0f191edc5eeb4da9207f": "fd1171f883a336051f253d9b5cb4ea2e",  # dobutsu
    "aa8e480e6b18560b594bccf569bc7b09": "606e3324e3c0d79dfae8936c01525110",  # domineering
    "e3b5c454a4fc8fe70b5e97949d54c620": "62a3600a573eec1df27b798599e0229c",  # domineering
    "577349f4b64bb187d600d377dcce0d9f": "ab4056e2d007de2bf1c8911a3b83aafa",  # draughts
    "8e5eb721dc818fb97114f3fabb7e27f9": "f240f2f9060f36204a0302b0d40a79c6",  # draughts
    "d7d8dc4f64ec6b27b3eb37cabc190b10": "44769e7c5db6030ab805cd2f76b8158e",  # go
    "6bc9b8055d013681d7f5db271e76e314": "cce5e536a713a458f668cc12fdef7e93",  # go
    "e03dd9543f09b12eb616ad7696e1436d": "378addb5fb25072936ebbf2cc97f0aa4",  # hex
    "5721dae55e0c5661a75d2174c6a3ba73": "752b28407ee904cb10dea650cff45339",  # hex
    "33eb2a0d988dd1c32240aa1b78f49e31": "b3e576e29972797d4b412257fc0c6a2b",  # hex
    "b57e6c9b6aead96b29d07b122825dd4a": "017f68d249d3a9d9ea148a59302d27ca",  # kalah
    "8b3b683bc253cab28ba0644e5ed20377": "7e34a92bd793ab68edff22cbd1256dcc",  # kalah
    "74f23d88d019382a66b69ac95f9d30e9": "ad9e38c95676f7293f77b904eb43b35d",  # kalah
    "37398a3c808e9feba8d6403dabf9a8d4": "db2a55922beba1d16f5f2bf24eab91f6",  # kalah
    "8523c5bd5375f6844c5bf90c87734d2e": "178c35647db32c3346f06a7b268d03e2",  # kayles
    "060b36d28424d1e6637b41f8c00c6a66": "7bb455232f1d980289a60242553a0c4a",  # kayles
    "d022700bfcbc058a52e4db7bc5abe592": "5a5ca5dfe6da2ea8bd9c30b18f3bd70f",  # mnk
    "454195935c62071a1c6ecf93af8adb53": "b1b40443eff30de71dc59b3e8f7e69ce",  # mnk
    "e0ac7efeae5f0747cdbbe25c1fa21a41": "c14d9b66822bfb83517815b80a3341d6",  # mnk
    "5632680347a33e0e7d778efb8254640c": "c76f74860b7a285848685197ce8a12a2",  # mnk
    "83657b23dc2409b6be6af375e81822d2": "e8587730253e60b14ddbbc16c304fae3",  # mnk
    "e1c080e14e6f422c66cd1ca712d7dd5e": "f946e5e979b7c2ce51ec42271d2a8b68",  # mnk
    "a75c784b14c855e5b70feaf463a5eb72": "436dbb10c4c8512f6adbb1d8f5ba7e51",  # morris
    "4625e5fa31fd6eae68e202b20e306716": "5c709003813be123cd6b4e04db837d7e",  # morris
    "a00c9bfa9214b0b30047dc1f729008af": "9184aaae845b68b8029517dcc365f97d",  # morris
    "b1528b2a0e4cbbe55267651c35506c15": "d6be4d2b6d5f1c4bdd001cbffbd46dec",  # morris
    "3cb5118b96d528aef64d92b8e53f396e": "505b078ea741898dd3d554a5b5b715c9",  # nogo
    "d10d6b791b25257f04434591c9988249": "6095af9606d23be506cf0a373a8395e8",  # othello
    "cc937b65de40c46b94d5dafcda8c4793": "7708030a90b381b7411e2fb2c836a00a",  # othello
    "bdd6a800942e611f3c7458e59febc341": "7c5c84b63fe486ee6360f3f7918ada11",  # othello
    "21aebdbbccd5b23986c8f765e8ea8206": "87c89ab4e6010c9a3fb470d07360a39e",  # othello
    "44ab8d80d2782700a766b8105664b1bf": "decebc2fa00863ae9948ce4b70d9c2fe",  # othello
    "0fc7085b2191c8c2c964d241ee285809": "df3275214b8e860501f409fb4ad9fa7b",  # othello
    "3779bf357f786b1bd63e687509117bcf": "7d6c6f80df3fc0d9aa30a4f38659f914",  # oware
    "764431953a732fcd9059e1c70a99f5a4": "8b04237a1665930e1becc5146d0ef7b0",  # oware
    "b197347387915e5212e3412bb98bd993": "91b6b2a4003707f806b557b0d0e7ad86",  # oware
    "790e42ce8b63a11a0085708bc542bf88": "c0fc10ea5571feb901b730110fef386a",  # oware
    "cb481f11d1f09a4e7aa0abede1569cd3": "0f0060fee16e669b6fc47d7ae85683ee",  # qubic
    "c3339ff484cd3791a54d1c1abc591ae7": "1a4aa7bf61a0aa7ed32319b7831045e3",  # qubic
    "765869d2bd1a1394e8b6c1d410ea26a9": "4f478880d863fb5d326f5ebc7113253d",  # qubic
    "1f34cc6b1752266e9fce8cf06c321e9f": "5f966698f2eb6a4576bd7e3e338b424d",  # qubic
    "49c38a008425660b57d74e52f70b2abe": "780e802b4a1341de4d02c4fe7da3f03b",  # qubic
    "279be4b4dbcb879d3b3fb2226abd0478": "cf299b8fdb9cdd700d604c6741f54633",  # qubic
    "0d5043bec158adc5cbc6d0edde0c46d7": "39d4a2fdabb7103a7309c46891679859",  # skirmish
    "fa182765c791942b59a40afd0f6bb63d": "66ba5b618ab00b738d775cc560c1db0c",  # skirmish
    "a4e1ed5288b8f41eab62f6e4c88c485f": "aa1543ac8483a194e1a39b2006e1058c",  # skirmish
    "32a71bc51e169144992708776f6cd78a": "f37b79d06c34fa9ce935e5e4b52d0316",  # skirmish
    "2252d06e78230176daebc6eaff68e4a2": "2196ef0bb44359e94cc36f8da0e07a63",  # tictactoe
    "646a759678f56fd397671579a278ee68": "2aebc81b49f0bc80bd3e6591441c259f",  # tictactoe
    "be90a4b4078c0ea26c2b5d5d28ba1e01": "30a5e795272a51fdd377d4c8892a14c3",  # tictactoe
    "5462ecda601e28ac66591d10d9c821e2": "67aa2eab61f7dbac4f0300285b1b0886",  # tictactoe
    "00e842cd16e528786d022e143b34bf97": "94c3737c2aefd81f40d47992d3e202b2",  # tictactoe
    "0503e151109dd4302a5cc4a497753f39": "afa100318d4c6ed19d0826440d54f12a",  # tictactoe
    "e518ef05a5c2667250a6cebfc924185d": "ee87dccbc2d70fcdf0165365a993060d",  # toads
    "44ffa7a02bec6b80897fcd9bf59d40d9": "3478beec7b9433e1307ae092e656c14a",  # uniform
    "ed44ec0a738fd55139b06983c876d4d5": "fce13fa1456f76b68548c9cb74eb5c7d",  # uniform
    "2ff3829d72b577424164d05d65603522": "23389b18f71a17376159854cce9f4f50",  # ur
    "97a2a340bdcd17bad05c687f116c354d": "386b2c9a20cc69cc77a0b22cee2c7f28",  # ur
    "b0798ac99aab2f14f7d835bdafd580c5": "ed57ffbc258dfc0f5301709934fa6ca4",  # ur
    "089d6a5bfaf9c7547af31015fd9026fc": "f2194ab6b50a05d069f2b5aeb85b75d7",  # ur
    "4cd6e99c3dbbb739258d685a8ebffa61": "139b12d0bff4ee848b797c40676e3e41",  # y
    "aedc368e78a3dec1ae3f659271399632": "1bdad577b28b64f45a36775deeb516bf",  # y
    "3b9c58e2e678bb5fbbebb186ead6cf2e": "2738cbc2d203b5dd969ef1d190f77135",  # y
    "f1fdc4fa9f27f4cc27581a7af0b20924": "6f82d37c393285e6483f2fcccec65cd5",  # y
    "8dece839804d6b2e9b29330bb73e5cd2": "b93acf8f4513ecbe9dfae907d8879c46",  # y
    "bd33fb03f31f46b75c1dc30460c4a759": "dd9f861ce3a26ae478cd7542b7736e46",  # y
}
"""The digests that saved files have, by the present ones, of games whose sources say the same in
other words: messages reworded, functions renamed, rules shared with other games
(:mod:`cutnode.contract.stones`), functions for people added, or a search that stores the same
entries in another way.

Most have two for each set of modules, as Python 3.12 writes sources differently from 3.11.
"""


@functools.cache
def rules_digest(cls: type, modules: tuple[str, ...] = MEANING) -> str:
    """Return a digest, in hexadecimal, of the rules that determine keys and values.

    It depends on the sources of the game and of the engine's *modules* that determine entries, but
    not on comments and docstrings.  :class:`GameError` if the rules are not in a file, or if a file
    was changed since this process began and so may differ from the code that runs.
    """
    module = module_of(cls)
    sources = sorted(set(own_sources(module)))
    if cls.__module__ == "__main__" or not sources:
        raise GameError(
            f"saving anything about {game_name(cls)} needs its rules in a file of their own, which "
            f"is a module of this program"
        )
    if is_plain(cls) and not defines(cls, "key"):
        raise GameError(
            f"{game_name(cls)} has no key: its positions are numbered as they are met, which "
            f"means nothing to another process"
        )
    sources += [PACKAGE / name for name in modules]
    digest = blake2b(digest_size=16)
    for path in sources:
        if path.stat().st_mtime_ns > STARTED:
            raise GameError(f"{path.name} was changed since this program began: start it again")
        digest.update(path.name.encode() + b"\0" + _meaning(path) + b"\0")
    found = digest.hexdigest()
    return REWORDED.get(found, found)


def _meaning(path: Path) -> bytes:
    """Return a file's source without comments and docstrings, with former names of modules."""
    data = path.read_bytes()
    if path.suffix != ".py":
        return data
    tree = ast.parse(data)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [step for step in node.body if not _is_text(step)] or [ast.Pass()]
    if path.is_relative_to(PACKAGE):
        _restore_imports(tree)
    return ast.unparse(tree).encode()


def _restore_imports(tree: ast.Module) -> None:
    """Restore the former names and order of cutnode's imports at the top of a module."""
    ours = [
        (at, step)
        for at, step in enumerate(tree.body)
        if isinstance(step, ast.ImportFrom) and (step.module or "").partition(".")[0] == "cutnode"
    ]
    for _, step in ours:
        step.module = former_name(step.module or "")
    steps = sorted((step for _, step in ours), key=lambda step: str(step.module))
    for (at, _), step in zip(ours, steps, strict=True):
        tree.body[at] = step


def _is_text(step: ast.stmt) -> bool:
    return (
        isinstance(step, ast.Expr)
        and isinstance(step.value, ast.Constant)
        and isinstance(step.value.value, str)
    )


def identity(cls: type, modules: tuple[str, ...] = MEANING) -> dict[str, Any]:
    """Return the part of a header that names the game of a file's positions.

    *modules* are the engine's modules that define what the file's entries mean.
    """
    return {
        "game": game_name(cls),
        "class": [former_name(cls.__module__), cls.__qualname__],
        "rules": rules_digest(cls, modules),
    }


def class_in(
    about: Mapping[str, Any],
    path: str | os.PathLike[str],
    error: type[CutnodeError],
    modules: tuple[str, ...] = MEANING,
) -> Any:
    """Return the class of positions that a header names; raise *error* if its rules changed."""
    module, name = about["class"]
    if module not in sys.modules:
        module = present_name(module)
        if module in {f"{COLLECTION}.{game}" for game in game_names()}:
            importlib.import_module(module)
    cls = getattr(sys.modules.get(module), name, None)
    if cls is None:
        raise error(
            f"{path} is about {quoted(about['game'])}, which is not loaded: call load_game first, "
            f"or name the game in the command"
        )
    if rules_digest(cls, modules) != about["rules"]:
        raise error(f"{path} was made by other rules of {about['game']} than those that run")
    return cls
