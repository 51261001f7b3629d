"""The bridge between compiled code and plain Python, and how functions are compiled.

A compiled function becomes part of the kernels that call it.  Numba would also optimise each such
function fully and generate machine code that nobody calls, which took a third of a kernel's compile
time.  :class:`_PartCompiler` stops at the LLVM code that a kernel links.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import _dynfunc, types
from numba.core import compiler, transforms
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager, _pass_registry, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.ir import Global
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import (
    AnnotateTypes,
    DumpParforDiagnostics,
    InlineOverloads,
    IRLegalization,
    NativeLowering,
    NopythonRewrites,
    NopythonTypeInference,
)
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
)
from numba.extending import intrinsic, overload, overload_attribute, register_jitable

from cutnode.contract.collection import is_of_engine
from cutnode.contract.errors import ContractError
from cutnode.contract.inference import RulesTyping
from cutnode.contract.linking import KernelLibrary, PartLibrary
from cutnode.contract.numba_patches import PLAIN, without_lifetimes


class _Lower(Lower):
    """The lowering from typed Python to LLVM; the engine's own code indexes arrays as C does.

    In Python, negative indices count from the end; testing every index for its sign took a tenth of
    the time of a node.  The engine uses no negative indices, so its code omits the test.  Rules of
    games keep Python's meaning, and an index beyond the end of a constant is an error there.
    """

    @property
    def _is_of_engine(self) -> bool:
        return is_of_engine(self.func_ir.func_id.modname)

    def _from_zero(self, signature: Any) -> Any:
        array, index, *value = signature.args
        if (
            self._is_of_engine
            and isinstance(array, types.Array)
            and isinstance(index, types.Integer)
        ):
            return signature.replace(args=(array, types.uint64, *value))
        return signature

    def _see_that_it_is_within(self, container: Any, index: Any, kinds: Any) -> None:
        """Raise an error at run time if an index is beyond the end of a tuple or constant array."""
        kind, number = kinds
        is_constant = isinstance(kind, types.Array) and not kind.mutable and kind.ndim == 1
        if not (is_constant or isinstance(kind, types.UniTuple)) or number not in _INDICES:
            return
        builder = self.builder
        at = self.loadvar(index.name)
        if is_constant:
            array = self.loadvar(container.name)
            memory = self.context.make_array(kind)(self.context, builder, array)
            length = builder.extract_value(memory.shape, 0)
        else:
            length = ir.Constant(at.type, kind.count)
        beyond = builder.icmp_unsigned(">=", at, length)
        if number.signed:
            from_end = builder.icmp_unsigned(">=", builder.add(at, length), length)
            beyond = builder.and_(beyond, from_end)
        with builder.if_then(beyond, likely=False):
            function = self.func_ir.func_id
            source = self.func_ir.get_definition(container)
            name = source.name if isinstance(source, Global) else "a tuple"
            where = f"{function.modname}.{function.func_name}, line {self.loc.line}"
            self.call_conv.return_user_exc(
                builder, ContractError, (f"{where}: the index is beyond the end of {name}",)
            )

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        if not self._is_of_engine:
            kinds = signature.args[0], types.unliteral(self.typeof(index.name))
            self._see_that_it_is_within(value, index, kinds)
        return super().lower_getitem(resty, expr, value, index, self._from_zero(signature))

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        return super().lower_setitem(target, index, value, self._from_zero(signature))


_INDICES = types.int64, types.uint64


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _Lower

    def run_pass(self, state: Any) -> bool:
        if state["library"] is None:
            owner, name = state.targetctx.codegen(), state.func_id.func_qualname
            state["library"] = KernelLibrary(owner, name)
        changed = super().run_pass(state)
        library = state["library"]
        if isinstance(library, KernelLibrary):
            library.symbol = state.cr.fndesc.mangled_name
        return bool(changed)


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(_KernelLowering):
    """Numba's pass from typed Python to LLVM, which generates no machine code."""

    _name = "part_lowering"

    count = 0
    """The number of functions compiled by this process."""

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        part = state["library"] = PartLibrary(state.targetctx.codegen(), name)
        state.flags.no_compile = True
        super().run_pass(state)
        part.finalize()
        lowered = state.cr
        module = lowered.fndesc.lookup_module()
        # Nobody calls this: it is the key with which callers find the code.
        key = _dynfunc.make_function(module, name, "", 0, lowered.env, (part,))
        state.targetctx.insert_user_function(key, lowered.fndesc, [part])
        state.cr = lowered._replace(cfunc=key)
        PartLowering.count += 1
        return True


def functions_compiled() -> int:
    """Return how many functions this process has compiled into parts of kernels."""
    return PartLowering.count


class _Passes(PassManager):
    """Numba's passes, without the events and checks around each, and without variables' lifetimes.

    Numba computes lifetimes after each pass, to know when to release a reference.  Rules hold no
    references; of a generator, lifetimes are the state.
    """

    def _runPass(self, index: int, step: Any, state: Any) -> None:  # noqa: N802
        step.analysis = self._analysis
        for part in (step.run_initialization, step.run_pass, step.run_finalizer):
            part(state)
        if _pass_registry.get(type(step)).mutates_CFG:
            state.func_ir.blocks = transforms.canonicalize_cfg(state.func_ir.blocks)


class KernelCompiler(compiler.CompilerBase):
    """Numba's compiler, with our own type inference for rules and our own lowering.

    Passes for features that rules do not use are left out.
    """

    lowering: type[NativeLowering] = _KernelLowering
    digest: str = ""
    """The part of a kernel's symbol that tells apart all versions of its code."""

    def define_pipelines(self) -> list[Any]:
        function, flags = self.state.func_id, self.state.flags
        if self.digest:
            function.unique_id = self.digest
        nested = any(isinstance(constant, CodeType) for constant in function.code.co_consts)
        light = not PLAIN and not function.is_generator
        if light:
            without_lifetimes(function)
        key = self.lowering, nested, light, flags.no_rewrites, flags.enable_ssa
        if key not in _managers:
            _managers[key] = self._manager(nested, light)
        return [_managers[key]]

    def _manager(self, nested: bool, light: bool) -> PassManager:
        numbas = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        left_out = _FOR_ARRAYS_AND_REPORTS | (set() if nested else _FOR_CLOSURES)
        ours = {NativeLowering: self.lowering, NopythonTypeInference: RulesTyping}
        steps = [(ours.get(step, step), text) for step, text in numbas.passes]
        if light:
            left_out |= _FOR_REFERENCES
            for pruning in [pair for pair in steps if pair[0] is DeadBranchPrune][:-1]:
                steps.remove(pruning)
        manager = _Passes(numbas.pipeline_name) if light else numbas
        manager.passes = [(step, text) for step, text in steps if step not in left_out]
        manager.finalize()
        return manager


_managers: dict[Any, PassManager] = {}


class _PartCompiler(KernelCompiler):
    """Numba's compiler, for functions that become part of kernels."""

    lowering = PartLowering


_FOR_CLOSURES = {InlineClosureLikes, MakeFunctionToJitFunction}
_FOR_ARRAYS_AND_REPORTS = {
    AnnotateTypes,
    DumpParforDiagnostics,
    FindLiterallyCalls,
    InlineInlinables,
    LiteralUnroll,
    NopythonRewrites,
}


_FOR_REFERENCES = {InlineOverloads, IRLegalization, LiteralPropagationSubPipelinePass}

_OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True, "pipeline_class": _PartCompiler}

_usable: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()


def usable_in_compiled_code(function: Callable[..., Any], inline: bool = True) -> Any:
    """Let compiled code call a function, which is unchanged in plain Python."""
    _usable.add(function)
    return register_jitable(forceinline=inline, **_OPTIONS)(function)


def result_type(function: Callable[..., Any], arguments: tuple[types.Type, ...]) -> types.Type:
    """Return the type that a function returns to compiled code for arguments of these types."""
    flags = compiler.Flags()
    options = {name: _OPTIONS[name] for name in ("error_model", "no_cfunc_wrapper")}
    cpu_target.options.parse_as_flags(flags, {"nopython": True, "_nrt": False, **options})
    typing = cpu_target.typing_context
    with global_compiler_lock, ConfigStack().enter(flags):
        called = typing.resolve_value_type(function)
        return typing.resolve_function_type(called, arguments, {}).return_type


def is_compiled(function: Any) -> bool:
    """Return whether compiled code can call a function."""
    return isinstance(function, FunctionType | Dispatcher) and (
        function in _usable or isinstance(function, Dispatcher)
    )


def in_compiled_code(function: Callable[..., Any]) -> Any:
    """Decorate a typing function, which chooses the meaning of *function* in compiled code.

    This is ``numba.extending.overload``, always inlined, and with annotations allowed.
    """
    return overload(function, jit_options={"forceinline": True, **_OPTIONS}, strict=False)


def attribute_in_compiled_code(kind: type, name: str) -> Any:
    """Decorate a typing function, which chooses the meaning of ``value.name`` in compiled code."""
    return overload_attribute(
        kind, name, jit_options={"forceinline": True, **_OPTIONS}, strict=False
    )


def operators_in_compiled_code(kind: type, instructions: dict[str, str]) -> None:
    """Let compiled code apply Python's operators to two values of one type.

    *kind* is the class of such types; *instructions* are LLVM's, by the names of the operators.
    """
    for name, instruction in instructions.items():
        for symbol in (getattr(operator, name), getattr(operator, f"i{name.rstrip('_')}")):
            in_compiled_code(symbol)(_elementwise(kind, instruction))


def _elementwise(kind: type, instruction: str) -> Callable[..., Any]:
    @intrinsic
    def apply(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args)

        return a(a, b), generate

    def choose(a: Any, b: Any) -> Any:
        if isinstance(a, kind) and a == b:
            return lambda a, b: apply(a, b)
        return None

    return choose


def for_kernel(memory: np.recarray[Any, Any]) -> Any:
    """Return the first of some records, as the argument of a kernel.

    Passing a plain record to compiled code is 25 microseconds faster than one with attributes.
    """
    return plain_view(memory)[0]


def plain_view(memory: np.recarray[Any, Any]) -> np.ndarray:
    """Return records without attributes, whose fields Python reads and writes faster."""
    return memory.view(np.dtype((np.void, memory.dtype)), np.ndarray)


def records(count: int, dtype: np.dtype[Any]) -> np.recarray[Any, Any]:
    """Return zeroed records; an element's fields are its attributes, compiled or not."""
    return np.zeros(count, dtype).view(np.recarray)
