"""The loss that a fit minimises: the error of weights on positions, and its gradient.

JAX derives the gradient, except for networks.  Few of a network's input bits are set, and a fit
that visits only those takes a sixth of the time of a dense product in the first layer.  So the
gradient of networks is compiled here, again in each process, which takes a few seconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numba
import numpy as np

from cutnode.contract.bits import lowest_index, without_lowest

PARTS = 8
"""Parts of a batch with separate sums, so that results do not depend on the number of cores."""


class Examples(NamedTuple):
    """Positions to learn from, a row for each."""

    inputs: Any
    """The inputs: places of weights, int32; or words of bits as bytes, in an array or in an object
    with a shape that makes rows when indexed."""
    stages: Any
    base: Any
    """The fixed part of the prediction: log odds, or points."""
    targets: Any
    """The odds that the mover wins, or points."""
    held: Any
    """True for positions held out for validation."""


class Objective(Protocol):
    """The error of weights, which a fit minimises.

    It is the cross entropy of odds, or the squared difference of points.
    """

    def begin_epoch(self, random: Any) -> None:
        """Replace the positions by random images of them, if they have any."""

    def gradient(self, parameters: Any, rows: Any) -> Any:
        """Return the gradient of the mean error of the positions in some rows."""

    def error(self, parameters: Any, rows: Any) -> float:
        """Return the sum of the errors of the positions in some rows."""


class JaxObjective:
    """The error of the predictions of *outputs* plus a *penalty*, with a gradient from JAX."""

    def __init__(
        self,
        examples: Examples,
        decisive: bool,
        outputs: Callable[[Any, Any, Any], Any],
        penalty: Callable[[Any], Any],
    ):
        import jax
        import optax

        def summed(parameters: Any, inputs: Any, stage: Any, base: Any, target: Any) -> Any:
            found = outputs(parameters, inputs, stage) + base
            if decisive:
                return optax.sigmoid_binary_cross_entropy(found, target).sum()
            return ((found - target) ** 2).sum()

        def penalised(parameters: Any, *batch: Any) -> Any:
            return summed(parameters, *batch) / len(batch[0]) + penalty(parameters)

        self.columns = examples[:4]
        self.summed = jax.jit(summed)
        self.slope = jax.jit(jax.grad(penalised))

    def begin_epoch(self, random: Any) -> None:
        pass

    def gradient(self, parameters: Any, rows: Any) -> Any:
        return self.slope(parameters, *(column[rows] for column in self.columns))

    def error(self, parameters: Any, rows: Any) -> float:
        return float(self.summed(parameters, *(column[rows] for column in self.columns)))


class NetworkObjective:
    """The error of a network with bits as inputs, and with *views* and stages.

    Its parameters are the first layer, float32 of ``(bits, width)``, its bias, the second layer, of
    ``(stages, views * width)``, and its shifts.  An output of 1 is worth *spread* in units of
    targets.  *varied* returns the inputs of an epoch.
    """

    def __init__(
        self, examples: Examples, decisive: bool, *, views: int, spread: float, varied: Any = None
    ):
        self.examples = examples
        self.decisive = decisive
        self.views = views
        self.spread = np.float32(spread)
        self.varied = varied
        self.inputs = examples.inputs
        self._pool = ThreadPoolExecutor(min(PARTS, os.cpu_count() or 1))
        self._gradients: list[Any] = []

    def begin_epoch(self, random: Any) -> None:
        if self.varied is not None:
            self.inputs = self.varied(self.examples.inputs, random)

    def gradient(self, parameters: Any, rows: Any) -> Any:
        self._visit(self.inputs, parameters, rows)
        count = np.float32(len(rows))
        return tuple(sum(parts) / count for parts in zip(*self._gradients, strict=True))

    def error(self, parameters: Any, rows: Any) -> float:
        return float(sum(self._visit(self.examples.inputs, parameters, rows)))

    def _visit(self, inputs: Any, parameters: Any, rows: Any) -> list[float]:
        """Compute the gradients of the parts of some rows, and return their errors."""
        layers = tuple(np.asarray(each) for each in parameters)
        if not self._gradients:
            self._gradients = [tuple(map(np.zeros_like, layers)) for _ in range(PARTS)]
        kind = self.views, self.spread, self.decisive

        def visit(part: Any, gradient: Any) -> float:
            words = np.ascontiguousarray(inputs[part]).view(np.uint64)
            others = (column[part] for column in self.examples[1:4])
            return float(visit_network((words, *others), kind, layers, gradient))

        return list(self._pool.map(visit, np.array_split(rows, PARTS), self._gradients))


@numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
def visit_network(data: Any, kind: Any, layers: Any, gradient: Any) -> Any:
    """Write the gradient of the summed error of positions, and return the sum."""
    words, stages, base, targets = data
    views, spread, decisive = kind
    weights, bias, outputs, shifts = layers
    by_weights, by_bias, by_outputs, by_shifts = gradient
    width = len(bias)
    planes = words.shape[1] // views
    bits = np.zeros((views, 64 * planes), np.int64)
    counts = np.zeros(views, np.int64)
    sums = np.zeros((views, width), np.float32)
    none, one = np.float32(0), np.float32(1)
    by_weights[:] = 0
    by_bias[:] = 0
    by_outputs[:] = 0
    by_shifts[:] = 0
    error = 0.0
    for row in range(len(words)):
        stage = stages[row]
        output = shifts[stage]
        for view in range(views):
            count = 0
            for plane in range(planes):
                word = words[row, view * planes + plane]
                while word:
                    bits[view, count] = 64 * plane + lowest_index(word)
                    count += 1
                    word = without_lowest(word)
            counts[view] = count
            total = sums[view]
            total[:] = bias
            for at in range(count):
                weight = weights[bits[view, at]]
                for neuron in range(width):
                    total[neuron] += weight[neuron]
            weighed = outputs[stage, view * width : (view + 1) * width]
            for neuron in range(width):
                active = min(max(total[neuron], none), one)
                output += active * active * weighed[neuron]
        found = np.float64(spread * output + base[row])
        if decisive:
            error += max(found, 0.0) - found * targets[row] + np.log1p(np.exp(-abs(found)))
            slope = spread * np.float32(1 / (1 + np.exp(-found)) - targets[row])
        else:
            error += (found - targets[row]) ** 2
            slope = spread * np.float32(2 * (found - targets[row]))
        by_shifts[stage] += slope
        for view in range(views):
            total = sums[view]
            weighed = outputs[stage, view * width : (view + 1) * width]
            by_weighed = by_outputs[stage, view * width : (view + 1) * width]
            for neuron in range(width):
                active = min(max(total[neuron], none), one)
                by_weighed[neuron] += slope * active * active
                steep = 2 * slope * active if active == total[neuron] else none
                total[neuron] = steep * weighed[neuron]
                by_bias[neuron] += total[neuron]
            for at in range(counts[view]):
                by_weight = by_weights[bits[view, at]]
                for neuron in range(width):
                    by_weight[neuron] += total[neuron]
    return error
