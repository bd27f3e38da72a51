"""Networks trained on both sides from the same weights: the losses agree step by step."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from .bridge import Side

OPTIMISERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True}, "Adam": {"lr": 0.01, "amsgrad": True}, "AdamW": {"lr": 0.01},
    "NAdam": {"lr": 0.01}, "RAdam": {"lr": 0.01}, "Adamax": {"lr": 0.01}, "Adagrad": {"lr": 0.1},
    "Adadelta": {"lr": 1.0},
    "RMSprop": {"lr": 0.001, "momentum": 0.5, "centered": True}, "Rprop": {"lr": 0.01}, "ASGD": {"lr": 0.1, "t0": 3},
}  # fmt: skip


def losses(lib: Any, name: str, steps: int = 20) -> list[float]:
    lib.manual_seed(0)
    model = lib.nn.Sequential(
        lib.nn.Linear(6, 16), lib.nn.BatchNorm1d(16), lib.nn.GELU(), lib.nn.Dropout(0.2), lib.nn.Linear(16, 3)
    )
    opt = getattr(lib.optim, name)(model.parameters(), **OPTIMISERS[name])
    schedule = lib.optim.lr_scheduler.CosineAnnealingLR(opt, steps)
    x, y = lib.randn(32, 6), lib.randint(0, 3, (32,))
    out = []
    for _ in range(steps):
        opt.zero_grad()
        loss = lib.nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
        loss.backward()
        lib.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        schedule.step()
        out.append(loss.item())
    return out


@pytest.mark.parametrize("name", OPTIMISERS)
def test_training_goes_the_same_way(name: str, side: Side) -> None:
    assert losses(side.lib, name) == pytest.approx(losses(torch, name), rel=2e-4)


def test_states_go_both_ways(side: Side) -> None:
    import io

    lib = side.lib
    for writer, reader in ((torch, lib), (lib, torch)):
        writer.manual_seed(0)
        model = writer.nn.LSTM(3, 4, 2)
        opt = writer.optim.Adam(model.parameters())
        model(writer.ones(2, 1, 3))[0].sum().backward()
        opt.step()
        file = io.BytesIO()
        writer.save({"model": model.state_dict(), "opt": opt.state_dict()}, file)
        file.seek(0)
        got = reader.load(file)
        twin = reader.nn.LSTM(3, 4, 2)
        twin.load_state_dict(got["model"])
        other = reader.optim.Adam(twin.parameters())
        other.load_state_dict(got["opt"])
        for m, o, w in ((model, opt, writer), (twin, other, reader)):
            o.zero_grad()
            m(w.ones(2, 1, 3))[0].sum().backward()
            o.step()
        for p, q in zip(model.parameters(), twin.parameters()):
            assert p.detach().numpy() == pytest.approx(q.detach().numpy(), abs=1e-6)
