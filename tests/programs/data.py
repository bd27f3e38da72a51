"""Data sets, samplers, loaders, with and without workers: orders, batches, errors."""

# ruff: noqa
import torch
import torch.utils.data as D

import numpy as np, random, collections


class Sq(D.Dataset):
    def __init__(s, n):
        s.n = n

    def __len__(s):
        return s.n

    def __getitem__(s, i):
        if i == 99:
            raise KeyError("nn")
        return {
            "x": torch.tensor([float(i), 1.0]),
            "y": i,
            "z": np.float32(i),
            "a": np.arange(3) + i,
            "s": str(i),
            "t": (i, [i, float(i)]),
        }


class It(D.IterableDataset):
    def __init__(s, n):
        s.n = n

    def __iter__(s):
        w = D.get_worker_info()
        return iter(range(s.n)) if w is None else iter(range(w.id, s.n, w.num_workers))


class Rnd(D.Dataset):
    def __len__(s):
        return 6

    def __getitem__(s, i):
        return (torch.rand(1).item(), random.random(), np.random.rand(), D.get_worker_info().seed)


def try_(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).split("Original")[0])


if __name__ == "__main__":
    torch.manual_seed(5)
    for kw in [
        dict(batch_size=3),
        dict(batch_size=4, shuffle=True),
        dict(batch_size=4, shuffle=True, drop_last=True),
        dict(batch_size=None),
        dict(batch_size=2, generator=torch.Generator().manual_seed(3), shuffle=True),
    ]:
        l = D.DataLoader(Sq(10), **kw)
        print(len(l))
        for b in l:
            print(b)
        for b in l:
            print(b["y"])
    print(torch.rand(1))
    t = D.TensorDataset(torch.arange(12.0).view(6, 2), torch.arange(6))
    print(t[2], len(t), t[1:3])
    for b in D.DataLoader(t, batch_size=4, shuffle=True):
        print(b)
    print(
        list(D.RandomSampler(range(5), True, 7)),
        list(D.RandomSampler(range(5), num_samples=12)),
        list(D.SubsetRandomSampler([3, 5, 6])),
        list(D.WeightedRandomSampler([0.1, 0.9, 0.3], 5)),
        list(D.WeightedRandomSampler([0.1, 0.9, 0.3], 2, False)),
        list(D.BatchSampler(range(7), 3, True)),
        list(D.DistributedSampler(range(7), 3, 1)),
    )
    a, b = D.random_split(range(11), [0.5, 0.5])
    print(list(a), list(b), [list(q) for q in D.random_split(range(5), [2, 3])])
    c = D.ConcatDataset([range(3), range(10, 14)])
    print(len(c), [c[i] for i in range(-7, 7)])
    print(list(D.ChainDataset([It(2), It(3)])))
    s = D.StackDataset(range(4), [7, 8, 9, 6])
    print(s[2], s.__getitems__([0, 3]))
    print(list(D.DataLoader(It(7), batch_size=3)))
    P = collections.namedtuple("P", "a b")
    print(
        D.default_collate([P(1, 2.0), P(3, 4.0)]),
        D.default_collate([b"a", b"b"]),
        D.default_convert([np.ones(2), 3, (np.ones(1),)]),
    )
    for f in [
        lambda: D.DataLoader(Sq(3), batch_size=0),
        lambda: D.DataLoader(Sq(3), num_workers=-1),
        lambda: D.DataLoader(Sq(3), sampler=[1], shuffle=True),
        lambda: D.DataLoader(It(3), shuffle=True),
        lambda: D.DataLoader(Sq(3), prefetch_factor=2),
        lambda: D.default_collate([object()]),
        lambda: D.default_collate([[1], [1, 2]]),
        lambda: D.random_split(range(3), [1, 1]),
        lambda: setattr(D.DataLoader(Sq(3)), "batch_size", 3),
        lambda: list(D.DataLoader(Sq(120), batch_size=60)),
        lambda: D.TensorDataset(torch.zeros(2), torch.zeros(3)),
        lambda: D.RandomSampler([]),
        lambda: D.Dataset()[0],
        lambda: D.DataLoader(Sq(3), multiprocessing_context="fork"),
    ]:
        try_(f)
    l = D.DataLoader(Sq(10), batch_size=3, num_workers=2, shuffle=True, persistent_workers=True)
    for _ in range(2):
        print([b["y"].tolist() for b in l])
    print([b.tolist() for b in D.DataLoader(It(9), batch_size=2, num_workers=2)])
    print(list(D.DataLoader(Rnd(), num_workers=2, batch_size=1)))
    try_(lambda: list(D.DataLoader(Sq(120), batch_size=50, num_workers=1)))
    print(torch.rand(1))
