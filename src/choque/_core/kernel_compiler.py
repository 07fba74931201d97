"""Numba's compiler without what kernels do not need: the same kernels in half the time.

Numba compiles every function as if Python called it: with a wrapper that unpacks Python objects, optimised on its own,
down to machine code. Nothing of that is used of a part of a kernel, whose code is linked into the kernel and optimised
there. `PartCompiler` stops before. Numba also asks about twenty templates for the type of each sum, each time it meets
one; `KernelCompiler` remembers the answers. Kernels that make no array count no references, and are optimised once
instead of three times; `choque._core.kernel_lowering` translates them. Both are custom pipelines, as Numba's
documentation calls them, and run Numba's own passes in their order.
"""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import operator
from contextlib import ExitStack, nullcontext
from copy import copy
from types import CodeType
from typing import Any, ClassVar

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import ir, ssa, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager, _pass_registry, register_pass
from numba.core.datamodel.models import OpaqueModel
from numba.core.datamodel.registry import register_default
from numba.core.errors import WarningsFixer  # type: ignore[attr-defined]
from numba.core.extending import _Intrinsic
from numba.core.imputils import lower_builtin
from numba.core.ir_utils import check_and_legalize_ir
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature
from numba.core.untyped_passes import InlineClosureLikes
from numba.cpython.builtins import do_minmax

REMEMBERED = (types.Number, types.Boolean, types.Array, types.BaseTuple)
"""Types whose operators allocate nothing, so that an answer holds for kernels and parts alike."""

BORROWING = {"build_tuple", "cast", "exhaust_iter", "getattr", "getitem", "getiter", "iternext", "null", "undef"}
BORROWING |= {"pair_first", "pair_second", "static_getitem"}
"""Expressions that make no array: views and members of what the caller holds."""

FOR_KERNELS_ALONE = {"WithLifting", "InlineClosureLikes", "MakeFunctionToJitFunction", "InlineOverloads"}
FOR_KERNELS_ALONE |= {"RewriteDynamicRaises", "FindLiterallyCalls", "LiteralUnroll", "NopythonRewrites"}
FOR_KERNELS_ALONE |= {"LiteralPropagationSubPipelinePass"}
"""Passes for closures, comprehensions, array expressions and objects, which parts do not have."""


class Operator(types.Function):
    """An operator, such as ``+``, or a function, such as ``max``, that remembers the types of its results."""

    def __init__(self, known: Any) -> None:
        super().__init__(known.templates)
        self._signatures: dict[Any, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of the operator for types of arguments."""
        signature = self._signatures.get(args)
        if signature is None:
            is_item = any(isinstance(each, types.Array) for each in args[:1])
            is_choice = self.typing_key in CHOICES and [isinstance(each, types.Number) for each in args] == [True, True]
            known = tuple(map(types.unliteral, args)) if is_item or is_choice else args  # for all constants alike
            if is_choice:
                signature = Signature(context.unify_types(*known), known, None)
                self._impl_keys[known] = self.typing_key, 2  # type: ignore[attr-defined]
            else:
                signature = self._signatures.get(known) or super().get_call_type(context, args, kws)
            if all(isinstance(each, REMEMBERED) for each in args):
                self._signatures[args] = self._signatures[known] = signature
        return signature


register_default(Operator)(OpaqueModel)
CHOICES = {max: operator.gt, min: operator.lt}  # between two numbers; Numba compiles a function for each pair of types
for choice, larger in CHOICES.items():
    write = lambda context, builder, kinds, args, by=larger: do_minmax(context, builder, kinds.args, args, by)  # noqa: E731
    lower_builtin((choice, 2), types.Number, types.Number)(write)


class Types(Context):
    """Numba's own knowledge of types, seen through operators that remember."""

    _of: ClassVar[dict[int, Types]] = {}

    def __init__(self, context: Any) -> None:
        self.__dict__ = context.__dict__  # the same tables, also when Numba adds to them
        self._operators: dict[Any, Operator]

    @classmethod
    def of(cls, context: Any) -> Types:
        """Return the one view of a context of Numba: what it compiles for operators belongs to a context."""
        if id(context) not in cls._of:
            cls._of[id(context)] = cls(context)
            context._operators = {}
        return cls._of[id(context)]

    def resolve_value_type(self, val: Any) -> Any:
        """Return the type of a value, such as an operator."""
        return self._operator(val) or super().resolve_value_type(val)

    def _resolve_user_function_type(self, func: Any, args: Any, kws: Any, literals: Any = None) -> Any:
        operator = self._operator(func)
        if operator is None:
            return super()._resolve_user_function_type(func, args, kws, literals)
        return operator.get_call_type(self, args, kws)

    def _operator(self, value: Any) -> Operator | None:
        if getattr(value, "__module__", None) not in {"_operator", "builtins", "math"}:
            return None
        known = self._lookup_global(value)  # another one as soon as a module of Numba has added templates
        if type(known) is not types.Function:
            return None
        if known not in self._operators:
            self._operators[known] = Operator(known)
        return self._operators[known]


def rewrite_blocks(blocks: Any, states: Any, handler: Any) -> Any:
    """Rename a variable in the blocks that name it; Numba goes through all blocks."""
    made = {}
    for label, block in blocks.items():
        if not hasattr(block, "names"):
            block.names = {each.name for statement in block.body for each in statement.list_vars()}
        states["label"], states["block"] = label, block
        made[label] = renamed = copy(block)
        if states["varname"] in block.names:
            either = handler.on_other, handler.on_assign
            renamed.body = [either[isinstance(each, ir.Assign)](states, each) for each in block.body]
    return made


class Passes(PassManager):
    """Runs Numba's passes without working out after each one where every variable is used, and with faster parts."""

    def run(self, state: Any) -> None:
        """Run the passes; Numba compiles one function at a time."""
        whole: Any = PostProcessor.run

        def process(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
            function = processor.func_ir
            if emit_dels or function.is_generator:
                whole(processor, emit_dels, extend_lifetimes)
            else:
                function.variable_lifetime = VariableLifetime(function.blocks)  # worked out if it is asked for
                function.generator_info = None

        with ExitStack() as stack:
            for owner, name, ours in (
                (PostProcessor, "run", process),
                (WarningsFixer, "catch_warnings", lambda *_, **__: nullcontext()),  # around each rule of types
                (ssa, "_run_block_rewrite", rewrite_blocks),
            ):
                stack.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, ours)
            super().run(state)

    def _runPass(self, _: int, pss: Any, internal_state: Any) -> None:  # noqa: N802
        if is_idle(pss, internal_state):
            return
        pss.analysis = self._analysis
        mutated = pss.run_initialization(internal_state)
        mutated |= pss.run_pass(internal_state)
        mutated |= pss.run_finalizer(internal_state)
        if mutated and _pass_registry.get(type(pss)).mutates_CFG:
            internal_state.func_ir.blocks = canonicalize_cfg(internal_state.func_ir.blocks)


def is_idle(numba_pass: Any, state: Any) -> bool:
    """Return whether a pass of Numba would find nothing to do."""
    if isinstance(numba_pass, InlineClosureLikes):
        return not any(isinstance(constant, CodeType) for constant in state.func_id.code.co_consts)
    if isinstance(numba_pass, NopythonRewrites):
        return not any(isinstance(each.return_type, types.Array) for each in state.calltypes.values() if each)
    return False


def counts_references(state: Any) -> bool:
    """Return whether a function may make an array, or return one, so that references to arrays are counted."""
    if not state.flags.nrt:
        return False
    if not is_plain(state.return_type):
        return True
    for block in state.func_ir.blocks.values():
        for each in block.body:
            if isinstance(each, ir.Assign) and not is_borrowed(each.value, state):
                return True
    return False


def is_plain(kind: Any) -> bool:
    """Return whether values of a type are numbers alone."""
    if isinstance(kind, types.BaseTuple):
        items: Any = kind
        return all(map(is_plain, items))
    return isinstance(kind, (types.Number, types.Boolean, types.NoneType))


def is_borrowed(value: Any, state: Any) -> bool:
    """Return whether the value of an assignment is made of numbers, or of arrays that the caller holds."""
    if not isinstance(value, ir.Expr):
        return True
    if value.op == "call":
        signature, called = state.calltypes[value], state.typemap[value.func.name]
        key = getattr(called, "typing_key", None)
        if not is_plain(signature.return_type):
            return key in {range, slice}
        if isinstance(called, types.BoundFunction):  # a method of an array may make another one
            return False
        ours = isinstance(called, types.Dispatcher) or isinstance(key, _Intrinsic)
        return ours or key is len or all(map(is_plain, signature.args))
    if value.op in {"binop", "inplace_binop", "unary"}:
        return is_plain(state.calltypes[value].return_type)
    return value.op in BORROWING


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel that counts no references, which is optimised once instead of three times."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take code over, and end the circles of references in what it was written with, for no collector to search."""
        super().add_ir_module(ir_module)
        for function in ir_module.functions:
            for block in function.blocks:
                block.instructions, block.terminator, block.parent = [], None, None
            function.args = function.return_value = None
        ir_module.globals.clear()

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Translates a kernel to LLVM's language and compiles it."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate and compile."""
        if counts_references(state):
            check_and_legalize_ir(state.func_ir, flags=state.flags)
            return bool(super().run_pass(state))
        state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(_WithoutReferences().run_pass(state))


class _WithoutReferences(NativeLowering):
    @property
    def lowering_class(self) -> Any:
        from choque._core.kernel_lowering import KernelLower  # most processes compile nothing

        return KernelLower


class PartLibrary(KernelLibrary):
    """The code of a part, for kernels to link: LLVM sees it once, in the kernel."""

    def finalize(self) -> None:
        """Link the parts that this part calls."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(_WithoutReferences):
    """Translates a part to LLVM's language, and registers it for the kernels that call it."""

    _name: Any = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate; the entry point has no address and serves as a name alone."""
        from choque._core.kernel_lowering import call_that_raises_nothing

        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        code, library = state.cr.fndesc, state.library
        entry = _dynfunc.make_function(code.lookup_module(), code.qualname, "", 0, state.cr.env, (library,))
        if state.metadata["raises"] or isinstance(code.restype, types.Optional):
            state.targetctx.insert_user_function(entry, code, [library])
        else:
            state.targetctx._defns[entry].append(call_that_raises_nothing(code, library), code.argtypes)
        state.reload_init.extend(library._reload_init)
        state.cr = state.cr._replace(cfunc=entry)
        return True


class KernelCompiler(Compiler):
    """Compiles kernels."""

    unneeded: ClassVar = {"IRLegalization", "AnnotateTypes"}
    lowering: ClassVar[type[NativeLowering]] = KernelLowering

    def __init__(self, typingctx: Any, *others: Any) -> None:
        super().__init__(typingctx, *others)
        self.state.typingctx = self.state.targetctx.typing_context = Types.of(typingctx)

    def define_pipelines(self) -> Any:
        """Return Numba's passes without those that are not needed."""
        pipelines = []
        for each in super().define_pipelines():
            ours = Passes(each.pipeline_name)
            kept = [(one, about) for one, about in each.passes if one.__name__ not in self.unneeded]
            ours.passes = [(self.lowering if one is NativeLowering else one, about) for one, about in kept]
            ours.finalize()
            pipelines.append(ours)
        return pipelines


class PartCompiler(KernelCompiler):
    """Compiles parts of kernels, which Python cannot call."""

    unneeded: ClassVar = FOR_KERNELS_ALONE | KernelCompiler.unneeded
    lowering = PartLowering
