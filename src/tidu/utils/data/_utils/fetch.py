"""Getting samples out of data sets. Source: torch.utils.data._utils.fetch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.tensor import Tensor, tensor_of
from ..dataset import Subset, TensorDataset
from .collate import default_collate


class _Fetcher:
    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last


class IterableDatasetFetcher(_Fetcher):
    """Takes the next items."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.dataset_iter = iter(self.dataset)
        self.ended = False

    def fetch(self, index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        data = []
        for _ in index:
            try:
                data.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not data or (self.drop_last and len(data) < len(index)):
            raise StopIteration
        return self.collate_fn(data)


class MapDatasetFetcher(_Fetcher):
    """Takes the items at given indices."""

    def fetch(self, index: Any) -> Any:
        dataset = self.dataset
        if not self.auto_collation:
            return self.collate_fn(dataset[index])
        if self.collate_fn is default_collate:
            rows = _rows(dataset, index)
            if rows is not None:
                return rows
        if getattr(dataset, "__getitems__", None):
            return self.collate_fn(dataset.__getitems__(index))
        return self.collate_fn([dataset[i] for i in index])


def _rows(dataset: Any, index: list[int]) -> list[Any] | None:
    """A batch of a TensorDataset (or a part of one) taken out of its tensors at once: what collating its items one by
    one would come to."""
    while type(dataset) is Subset:
        dataset, index = dataset.dataset, [dataset.indices[i] for i in index]
    if type(dataset) is not TensorDataset:
        return None
    if any(type(t) is not Tensor or t.requires_grad for t in dataset.tensors):
        return None
    try:
        at = np.array(index, np.int64)
        return [tensor_of(np.take(t._a, at, 0)) for t in dataset.tensors]
    except (IndexError, ValueError):
        return None  # the item itself says what is wrong
