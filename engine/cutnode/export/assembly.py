"""From kernels to one object file of plain C functions: no Python, no numba at run time.

The LLVM code of all kernels is linked, and each gets a function that C can call: arrays become a
pointer and a length, positions a pointer to their words, records a pointer.  Everything else is
private and renamed in order, so the same sources and target give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from numba import types
from numba.core.llvm_bindings import create_pass_builder

from cutnode.compiler.parts import Part
from cutnode.contract.constants import array_of, symbol_of
from cutnode.contract.errors import CutnodeError
from cutnode.contract.host import LOOK, REPORT
from cutnode.contract.linking import linked
from cutnode.export.webassembly import with_instructions, with_products
from cutnode.kernels.evaluation import EvaluationType
from cutnode.kernels.learned import LearnedType

LINE = 64
"""The alignment of data in bytes: a cache line, so that no vector straddles two."""

MATHEMATICS = frozenset(
    f"{name}{kind}"
    for name in (
        *("acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp2", "expm1", "fmod", "log"),
        *("log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh", "cbrt", "hypot"),
    )
    for kind in ("", "f")
)
"""Functions of C's library that rules may call."""

ADDRESS = "address"
"""Part of the names of objects of this process: numba mentions some that no code uses."""

_NAME = re.compile(r'@(?:"([^"]+)"|([-\w$.]+))')
_MESSAGE = re.compile(
    r"^(@\S*\.const\.picklebuf\.\S+ = internal constant (\{[^{}]*\})) \{.*$", re.M
)
_ADDRESS = re.compile(r"^(@numba\.dynamic\.globals\.\S+ = \w+ global ptr) inttoptr .*$", re.M)
_TICKS = re.compile(r"= call i64 @llvm\.read(cycle|steady)counter\(\)")


class Processor(NamedTuple):
    """The kind of processor to generate code for, in LLVM's words."""

    triple: str
    name: str = ""
    features: str = ""

    def machine(self) -> Any:
        """Return LLVM's target machine."""
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(
            cpu=self.name,
            features=self.features,
            opt=3,
            reloc="static" if self.triple.startswith("wasm") else "pic",
            codemodel="default",
        )


class Entry(NamedTuple):
    """A kernel, and the name of the C function that calls it."""

    name: str
    part: Part
    weights: str = ""
    """The name of the data with the weights of its evaluation, if that is a learned one."""


def assemble(
    entries: Iterable[Entry], data: Mapping[str, Any], processor: Processor, prefix: str
) -> bytes:
    """Return an object file that defines a function for each entry, and the arrays *data*.

    All names in it begin with *prefix*.  :class:`CutnodeError` if the code calls something that is
    not there without Python.
    """
    entries = list(entries)
    machine = processor.machine()
    module = linked(entry.part.code for entry in entries)
    symbols = [entry.part.symbol for entry in entries]
    heads = [
        _wrapper(entry, [str(each.type) for each in module.get_function(symbol).arguments], prefix)
        for entry, symbol in zip(entries, symbols, strict=True)
    ]
    module = _private(_retargeted(str(module), processor.triple, machine), symbols, machine)
    text, names = _renamed(str(module), prefix)
    in_webassembly = processor.triple.startswith("wasm")
    parts = [_without_declarations(text)]
    if in_webassembly:
        parts = [with_products(parts[0])]
    for head, symbol in zip(heads, symbols, strict=True):
        parts.append(head.replace("@KERNEL", f"@{names[symbol]}"))
    for symbol in _constants(text):
        parts.append(_array_text(f'"{symbol}"', array_of(symbol), "internal constant"))
    for name, array in data.items():
        kind = "global" if name == "weights" else "constant"
        parts.append(_array_text(f"{prefix}_{name}", array, f"hidden {kind}"))
    whole = llvm.parse_assembly("\n".join(parts))
    _optimise(whole, machine)
    if in_webassembly:
        whole = llvm.parse_assembly(with_instructions(str(whole)))
    _require_defined(whole, {f"{prefix}_{name}" for name in (LOOK, REPORT)})
    return bytes(machine.emit_object(whole))


def _retargeted(text: str, triple: str, machine: Any) -> str:
    """Return the code for another target, without clocks, and without messages for Python."""
    layout = f'target datalayout = "{machine.target_data}"'
    text = re.sub(r'^target datalayout = ".*"', layout, text, flags=re.M)
    text = re.sub(r'^target triple = ".*"', f'target triple = "{triple}"', text, flags=re.M)
    text = text.replace(" = common global ", " = internal global ")
    text = _TICKS.sub("= add i64 0, 0", text)
    text = _as_instructions(text)
    text = _ADDRESS.sub(r"\1 null", text)
    return _MESSAGE.sub(r"\1 zeroinitializer", text)


def _as_instructions(text: str) -> str:
    """Return the code with instructions in place of calls of C's library, where there are some."""
    for name in ("sqrt", "floor", "ceil", "trunc", "fabs"):
        text = re.sub(rf"@{name}\(", f"@llvm.{name}.f64(", text)
        declared = rf"^declare double @llvm\.{name}\.f64\(double.*$"
        lines = re.findall(declared, text, re.M)
        if lines:
            text = (
                re.sub(declared, "", text, flags=re.M)
                + f"\ndeclare double @llvm.{name}.f64(double)\n"
            )
    return text


def _private(text: str, kept: Iterable[str], machine: Any) -> Any:
    """Return the module of some code, of which only what the functions *kept* need is left."""
    kept = frozenset(kept)
    module = llvm.parse_assembly(text)
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration:
            each.linkage = "external" if each.name in kept else "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, create_pass_builder(machine))
    return module


def _renamed(text: str, prefix: str) -> tuple[str, dict[str, str]]:
    """Return the code with short names for all that it defines, and these names."""
    names: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith(("define ", "@")) and " external " not in line:
            found = _NAME.search(line)
            assert found
            name = found[1] or found[2]
            kind = ADDRESS if name.startswith("numba.dynamic.globals.") else ""
            names[name] = f"{prefix}_{kind}{len(names)}"
    for name in (LOOK, REPORT):
        names[name] = f"{prefix}_{name}"

    def renamed(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return f"@{names[name]}" if name in names else found[0]

    return _NAME.sub(renamed, text), names


def _constants(text: str) -> list[str]:
    """Return the symbols of the constants (:class:`Constant`) that some code reads."""
    found = re.findall(rf'^@"?({re.escape(symbol_of(""))}[^"=]*?)"? = external', text, re.M)
    return sorted(found)


def _without_declarations(text: str) -> str:
    """Return the code without the declarations of constants, which follow as definitions."""
    return re.sub(rf'^@"?{re.escape(symbol_of(""))}.* = external .*$', "", text, flags=re.M)


def _array_text(name: str, array: Any, kind: str) -> str:
    """Return the definition of an array of bytes."""
    data = np.ascontiguousarray(array).tobytes()
    content = "".join(map(_ESCAPED.__getitem__, data))
    return f'@{name} = {kind} [{len(data)} x i8] c"{content}", align {LINE}'


_ESCAPED = [f"\\{byte:02X}" for byte in range(256)]


# The functions for C


def _wrapper(entry: Entry, kinds: list[str], prefix: str) -> str:
    """Return the function for C of an entry whose kernel takes arguments of LLVM's types *kinds*.

    It returns 0, or the number with which the rules failed; a result that is not void is written to
    its first argument.
    """
    signature = entry.part.signature
    given: list[str] = []
    body: list[str] = []
    if signature.return_type is types.void:
        body.append("%result = alloca ptr")
    else:
        given.append("ptr %result")
    passed: list[str] = []
    waiting = iter(kinds[2:])
    for number, kind in enumerate(signature.args):
        name = f"%a{number}"
        if isinstance(kind, types.BaseTuple):
            given.append(f"ptr {name}")
            for at in range(len(kind)):
                passed.append(_loaded(body, f"{name}.{at}", name, 8 * at, next(waiting)))
        elif isinstance(kind, types.Array):
            given += [f"ptr {name}", f"i64 {name}.n"]
            size = kind.dtype.size if isinstance(kind.dtype, types.Record) else 8
            for value in ("null", "null", f"{name}.n", str(size), name, f"{name}.n", str(size)):
                passed.append(f"{next(waiting)} {value}")
        elif isinstance(kind, types.Record):
            given.append(f"ptr {name}")
            passed.append(f"{next(waiting)} {name}")
        elif isinstance(kind, EvaluationType):
            passed.append(f"{next(waiting)} null")
        elif isinstance(kind, LearnedType):
            body.append(f"{name} = ptrtoint ptr @{prefix}_{entry.weights} to i64")
            passed.append(f"{next(waiting)} {name}")
        else:
            given.append(f"{'double' if kind is types.float64 else 'i64'} {name}")
            passed.append(_narrowed(body, name, next(waiting)))
    body.append("%error = alloca ptr")
    body.append(f"%status = call i32 @KERNEL(ptr %result, ptr %error, {', '.join(passed)})")
    body.append("ret i32 %status")
    head = f"define hidden i32 @{prefix}_{entry.name}({', '.join(given)}) {{"
    return "\n".join([head, *(f"  {line}" for line in body), "}"])


def _loaded(body: list[str], name: str, base: str, offset: int, kind: str) -> str:
    """Add the load of a field of a position, and return it as an argument."""
    body.append(f"{name}.p = getelementptr i8, ptr {base}, i64 {offset}")
    if kind in ("i64", "double"):
        body.append(f"{name} = load {kind}, ptr {name}.p")
        return f"{kind} {name}"
    body.append(f"{name}.w = load i64, ptr {name}.p")
    body.append(f"{name} = trunc i64 {name}.w to {kind}")
    return f"{kind} {name}"


def _narrowed(body: list[str], name: str, kind: str) -> str:
    """Return a number as an argument of a kernel."""
    if kind in ("i64", "double"):
        return f"{kind} {name}"
    body.append(f"{name}.s = trunc i64 {name} to {kind}")
    return f"{kind} {name}.s"


# LLVM's passes


def _optimise(module: Any, machine: Any) -> None:
    """Run the passes that kernels get in Python (``numba.core.codegen``)."""
    cheap = create_pass_builder(machine, opt=0, loop_vectorize=False, slp_vectorize=False)
    passes = cheap.getModulePassManager()
    passes.add_loop_rotate_pass()
    passes.add_instruction_combine_pass()
    passes.add_jump_threading_pass()
    passes.run(module, cheap)
    full = create_pass_builder(machine, opt=3, loop_vectorize=True, slp_vectorize=False)
    passes = full.getModulePassManager()
    passes.run(module, full)


def _require_defined(module: Any, known: set[str]) -> None:
    """Raise :class:`CutnodeError` if the code calls a function that nobody defines."""
    for each in module.global_variables:
        if f"_{ADDRESS}" in each.name:
            raise CutnodeError("the rules refer to an object of this process, which stays here")
    known = known | MATHEMATICS | {"memcpy", "memmove", "memset"}
    missing = sorted(_undefined(module) - known)
    if missing:
        raise CutnodeError(
            f"the rules call {', '.join(missing)}, which is not there without Python"
        )


def _undefined(module: Any) -> set[str]:
    return {
        each.name
        for each in [*module.functions, *module.global_variables]
        if each.is_declaration and not each.name.startswith("llvm.")
    }
