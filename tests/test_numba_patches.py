"""The changes inside numba: they apply to this version, and results are the same without them."""

from __future__ import annotations

import numba
import pytest
from commands import printed_by
from marks import compiled_only
from numba.core.errors import TypingError

from cutnode.contract.numba_patches import APPLIED, PLAIN

NODES = """
from cutnode import Searcher, load_game, solve
from cutnode.contract.numba_patches import APPLIED
game = load_game("tictactoe")
proof, found = solve(game), Searcher(game).search(game.start(), depth=6)
print(len(APPLIED), proof.value, proof.nodes, found.nodes)
"""


@pytest.mark.skipif(PLAIN, reason="CUTNODE_PLAIN_NUMBA=1")
def test_all_apply_to_this_version():
    assert {
        "BaseFunction.get_call_type",
        "CPUContext.load_additional_registries",
        "Inst._rec_list_vars",
        "PostProcessor.run",
        "Record.__repr__",
        "TypeInferer.return_types_from_partial",
        "_CompilerLock.acquire",
        "_CompilerLock.release",
        "_OverloadFunctionTemplate._get_impl",
        "llvmlite.binding.ffi.lib._lock",
        "numba.core.base._has_loc",
        "numba.core.errors.new_error_context",
        "numba.core.ssa._run_block_rewrite",
        "numba.core.ssa._run_ssa",
    } == APPLIED


@compiled_only
def test_code_of_others_compiles_as_before():
    @numba.njit
    def total(numbers, scale=2):
        result = 0.0
        for number in numbers:
            result += number * scale
        return result

    assert total((1, 2, 3)) == 12
    assert total((1.5, 2.5), scale=3) == 12
    with pytest.raises(TypingError, match="No match") as caught:
        total("abc")
    assert "unicode_type" in str(caught.value)


CONVOLVED = """
import sys
import numba, numpy as np
from cutnode import solve

solve("tictactoe", "15")
loaded = ["scipy.linalg" in sys.modules]


@numba.njit
def convolved(a, b):
    return np.convolve(a, b)


print(*convolved(np.arange(3.0), np.arange(2.0)))
loaded.append("scipy.linalg" in sys.modules)
print(*loaded)
"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="CUTNODE_PLAIN_NUMBA=1")
@compiled_only
def test_scipy_is_loaded_when_code_of_others_needs_it():
    pytest.importorskip("scipy")
    assert printed_by(CONVOLVED).split() == ["0.0", "0.0", "1.0", "2.0", "False", "True"]


@pytest.mark.slow
@compiled_only
def test_results_are_the_same_without_them():
    found = {switch: printed_by(NODES, CUTNODE_PLAIN_NUMBA=switch).split() for switch in ("0", "1")}
    assert found["0"][0] == str(len(APPLIED)) and found["1"][0] == "0"
    assert found["0"][1:] == found["1"][1:]
