"""Loading of data: whole programs against what PyTorch printed, and what they do not show."""

import os
import time

import pytest
import recorded_programs

import tidu as torch
from tidu.utils import data


@pytest.mark.parametrize("program", ["data", "data_all"])
def test_programs_print_what_they_print_on_pytorch(program):
    recorded_programs.check(program)


class Squares(data.Dataset):
    def __init__(self, n, bad=None, slow=None, dies=None):
        self.n, self.bad, self.slow, self.dies = n, bad, slow, dies

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.bad:
            raise ValueError(f"no item {i}")
        if i == self.slow:
            time.sleep(3)
        if i == self.dies:
            os._exit(7)
        return torch.tensor(i * i)


def test_a_tensor_dataset_gives_the_same_batches_all_at_once_and_item_by_item():
    rows = torch.arange(24.0).reshape(8, 3)
    whole = data.TensorDataset(rows, torch.arange(8))

    class ByItem(data.TensorDataset):  # a class of its own takes the usual way
        pass

    by_item = ByItem(rows, torch.arange(8))
    for a, b in zip(data.DataLoader(whole, 3), data.DataLoader(by_item, 3)):
        assert all(torch.equal(x, y) for x, y in zip(a, b)) and type(a) is type(b)
    part = data.Subset(whole, [5, 1, 7])
    (batch,) = data.DataLoader(part, 3)
    assert batch[1].tolist() == [5, 1, 7]


def test_a_batch_does_not_share_memory_with_the_data():
    rows = torch.zeros(4)
    (batch,) = next(iter(data.DataLoader(data.TensorDataset(rows), 4)))
    batch.fill_(1)
    assert rows.sum() == 0


def test_an_error_in_a_worker_comes_with_its_traceback():
    loader = data.DataLoader(Squares(6, bad=3), 2, num_workers=1)
    with pytest.raises(ValueError, match=r"(?s)Caught ValueError in DataLoader worker process 0.*no item 3"):
        list(loader)


def test_a_worker_that_is_too_slow_times_out():
    loader = data.DataLoader(Squares(4, slow=1), 1, num_workers=1, timeout=0.5)
    with pytest.raises(RuntimeError, match="timed out after 0.5 seconds"):
        list(loader)


def test_a_worker_that_dies_is_noticed():
    loader = data.DataLoader(Squares(4, dies=1), 1, num_workers=1)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)


def test_workers_stop_when_the_loop_is_left_early():
    it = iter(data.DataLoader(Squares(100), 1, num_workers=2))
    next(it)
    workers = it._workers
    it._stop()
    assert not any(w.is_alive() for w in workers)


def test_results_out_of_order_are_all_there():
    loader = data.DataLoader(Squares(9), 2, num_workers=2, in_order=False)
    assert sorted(x for b in loader for x in b.tolist()) == [i * i for i in range(9)]
