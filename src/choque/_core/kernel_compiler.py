"""Numba's compiler without what kernels do not need: the same kernels in about two thirds of the time.

Numba compiles every function as if Python called it: with a wrapper that unpacks Python objects, optimised on its own,
down to machine code. Nothing of that is used of a part of a kernel, whose code is linked into the kernel and optimised
there. `PartCompiler` stops before. Numba also asks about twenty templates for the type of each sum, each time it meets
one; `KernelCompiler` remembers the answers. Both are custom pipelines, as Numba's documentation calls them, and run
Numba's own passes in their order.
"""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

from typing import Any, ClassVar

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.typing.context import Context

REMEMBERED = (types.Number, types.Boolean, types.Array, types.BaseTuple)
"""Types whose operators allocate nothing, so that an answer holds for kernels and parts alike."""

FOR_KERNELS_ALONE = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
}
"""Passes for closures, comprehensions, array expressions and objects, which parts do not have."""


class Operator(types.Function):
    """An operator, such as ``+``, that remembers the types of its results."""

    def __init__(self, known: Any) -> None:
        super().__init__(known.templates)
        self._signatures: dict[Any, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of the operator for types of arguments."""
        signature = self._signatures.get(args)
        if signature is None:
            signature = super().get_call_type(context, args, kws)
            if all(isinstance(each, REMEMBERED) for each in args):
                self._signatures[args] = signature
        return signature


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
        if getattr(value, "__module__", None) != "_operator":
            return None
        known = self._lookup_global(value)  # another one as soon as a module of Numba has added templates
        if type(known) is not types.Function:
            return None
        if known not in self._operators:
            self._operators[known] = Operator(known)
        return self._operators[known]


class KernelCompiler(Compiler):
    """Compiles kernels."""

    def __init__(self, typingctx: Any, *others: Any) -> None:
        super().__init__(typingctx, *others)
        self.state.typingctx = self.state.targetctx.typing_context = Types.of(typingctx)


class PartLibrary(JITCodeLibrary):
    """The code of a part, for kernels to link: LLVM sees it once, in the kernel."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Link the parts that this part calls."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Translates a part to LLVM's language, and registers it for the kernels that call it."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate; the entry point has no address and serves as a name alone."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        code, library = state.cr.fndesc, state.library
        entry = _dynfunc.make_function(code.lookup_module(), code.qualname, "", 0, state.cr.env, (library,))
        state.targetctx.insert_user_function(entry, code, [library])
        state.reload_init.extend(library._reload_init)
        state.cr = state.cr._replace(cfunc=entry)
        return True


class PartCompiler(KernelCompiler):
    """Compiles parts of kernels, which Python cannot call."""

    def define_pipelines(self) -> Any:
        """Return Numba's passes without those that parts do not need."""
        pipelines = super().define_pipelines()
        for each in pipelines:
            kept = [(one, about) for one, about in each.passes if one.__name__ not in FOR_KERNELS_ALONE]
            each.passes = [(PartLowering if one is NativeLowering else one, about) for one, about in kept]
            each.finalize()
        return pipelines
