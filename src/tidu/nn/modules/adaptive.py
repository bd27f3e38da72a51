"""Softmax over many classes of very different frequency. Source: torch.nn.modules.adaptive."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...ops.joining import cat
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """log-probabilities of classes in clusters: the frequent ones and the clusters compete first, then the classes of
    a cluster, at a smaller width. Source: torch.nn.AdaptiveLogSoftmaxWithLoss.

    Args:
        in_features: the width of inputs.
        n_classes: how many classes, the most frequent first.
        cutoffs: where the clusters begin.
        div_value: by how much each cluster's width shrinks.
        head_bias: whether the first stage has a bias.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        cuts = list(cutoffs)
        if not cuts:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cuts != sorted(set(cuts)) or min(cuts) <= 0 or max(cuts) > n_classes - 1 or any(int(c) != c for c in cuts):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cuts, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = cuts[0]
        self.n_clusters = len(cuts)
        self.head_size = self.shortlist_size + self.n_clusters
        place = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **place)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            width = int(in_features // div_value ** (i + 1))
            narrow = Linear(in_features, width, bias=False, **place)
            self.tail.append(Sequential(narrow, Linear(width, high - low, bias=False, **place)))

    def reset_parameters(self) -> None:
        self.head.reset_parameters()
        for narrow, out in self.tail:
            narrow.reset_parameters()
            out.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> Any:
        """The log-probability of each target, and the mean of their negatives."""
        dims = target_.dim()
        if dims == 1:
            if input_.size(0) != target_.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input_.dim() != 2:
                raise RuntimeError(
                    f"1D target tensor expects 2D input tensors, but found inputs with size {input_.size()}"
                )
        elif dims == 0:
            if input_.dim() != 1:
                raise RuntimeError(
                    f"0D target tensor expects 1D input tensors, but found inputs with size {input_.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        input, target = (input_, target_) if dims else (input_.unsqueeze(0), target_.unsqueeze(0))
        if bool(((target < 0) | (target >= self.n_classes)).any()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        n = self.shortlist_size
        first = target.clone()
        inner = input.new_zeros(target.size(0))
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            mask = (target >= low) & (target < high)
            if not mask.any():
                continue
            rows = mask.nonzero().squeeze(1)
            logp = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            first = first.masked_fill(mask, n + i)
            inner = inner.index_copy(0, rows, logp.gather(1, (target[mask] - low).unsqueeze(1)).squeeze(1))
        head = F.log_softmax(self.head(input), dim=1)
        output = inner + head.gather(1, first.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if dims else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        head = F.log_softmax(head_output, dim=1)
        n = self.shortlist_size
        parts = [head[:, :n]]
        for i in range(self.n_clusters):
            parts.append(F.log_softmax(self.tail[i](input), dim=1) + head[:, n + i].unsqueeze(1))
        return cat(parts, 1)

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes. Source: torch.nn.AdaptiveLogSoftmaxWithLoss.log_prob."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The most probable class. Source: torch.nn.AdaptiveLogSoftmaxWithLoss.predict."""
        return self.log_prob(input).argmax(1)
