"""The profiler: what it sees, how long, its table and its trace."""

import json
import threading

import pytest

import tidu as torch
from tidu.autograd import profiler


def run():
    x = torch.ones(4, 4, requires_grad=True)
    with profiler.record_function("block"):
        y = torch.mm(x, x)
    (y * 2).sum().backward()
    return x


def test_events():
    with profiler.profile(record_shapes=True) as prof:
        run()
    events = prof.function_events
    names = [e.name for e in events]
    assert names[:5] == ["aten::ones", "block", "aten::mm", "aten::mul", "aten::sum"]
    assert "SumBackward0" in names and "MulBackward0" in names
    assert "autograd::engine::evaluate_function: MulBackward0" in names
    block, product = events[1], events[2]
    assert product.cpu_parent is block and block.cpu_children == [product]
    assert product.input_shapes == [[4, 4], [4, 4]]
    assert 0 < product.cpu_time_total <= block.cpu_time_total
    assert block.self_cpu_time_total == pytest.approx(block.cpu_time_total - product.cpu_time_total)
    assert prof.self_cpu_time_total == pytest.approx(sum(e.cpu_time_total for e in events if e.cpu_parent is None))
    assert "cpu_children=[3]" in repr(block)


def test_functions_made_of_several_ops():
    x, w, b = torch.ones(4, 3, requires_grad=True), torch.ones(5, 3), torch.ones(5)
    with profiler.profile(record_shapes=True) as prof:
        torch.nn.functional.linear(x, w, b)
        x @ w.mT
        torch.nn.Linear(3, 2)(x)
    linear = [e for e in prof.function_events if e.name == "aten::linear"]
    assert [[c.name for c in e.cpu_children] for e in linear] == [["aten::t", "aten::addmm"]] * 2
    assert linear[0].input_shapes == [[4, 3], [5, 3], [5]]
    (product,) = [e for e in prof.function_events if e.name == "aten::matmul"]
    assert [c.name for c in product.cpu_children] == ["aten::mm"]
    averages = {e.key: e for e in prof.key_averages()}
    assert averages["aten::addmm"].count == averages["aten::linear"].count == 2
    children = sum(c.cpu_time_total for e in linear for c in e.cpu_children)
    assert averages["aten::linear"].self_cpu_time_total == pytest.approx(
        averages["aten::linear"].cpu_time_total - children
    )


def test_gradients_are_the_same_and_nothing_stays_on():
    plain = run().grad
    with profiler.profile():
        profiled = run().grad
    assert torch.equal(plain, profiled)
    with pytest.raises(KeyError), profiler.profile():
        raise KeyError
    from tidu.core.modes import state

    assert state.timer is None and not state.watched and not state.function_modes
    assert run().grad is not None


def test_averages_and_table():
    with profiler.profile(record_shapes=True) as prof:
        for n in (2, 3, 3):
            torch.ones(n) * 2
            torch.ones(n).exp()
    averages = prof.key_averages()
    assert {a.key: a.count for a in averages} == {"aten::mul": 3, "aten::exp": 3, "aten::ones": 6}
    by_shape = prof.key_averages(group_by_input_shape=True)
    assert {(a.key, str(a.input_shapes)): a.count for a in by_shape}[("aten::exp", "[[3]]")] == 2
    text = averages.table(sort_by="count", row_limit=1)
    lines = text.splitlines()
    assert lines[0] == lines[2] == lines[4] and set(lines[0]) == {"-", " "}
    assert lines[1].split("  ")[-3:] != [] and "Self CPU %" in lines[1] and "# of Calls" in lines[1]
    assert lines[3].split()[0] == "aten::ones" and lines[3].split()[-1] == "6"
    assert lines[5].startswith("Self CPU time total: ")
    assert "Input Shapes" in by_shape.table()
    assert "# of Calls" in str(prof)
    assert prof.total_average().count == 12 and "key=Total" in repr(prof.total_average())


def test_chrome_trace(tmp_path):
    with profiler.profile() as prof:
        run()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    events = trace["traceEvents"]
    assert [e["name"] for e in events][:2] == ["aten::ones", "block"]
    assert all(e["ph"] == "X" and e["dur"] >= 0 and e["tid"] == threading.get_ident() for e in events)
    assert events[0]["ts"] <= events[1]["ts"]


def test_use():
    with profiler.profile(enabled=False) as prof:
        assert prof is None
        run()
    with profiler.profile() as prof:
        assert str(prof) == "<unfinished torch.autograd.profile>"
        with pytest.raises(RuntimeError, match="didn't finish"):
            prof.key_averages()
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass

    @profiler.record_function("named")
    def f():
        return torch.ones(2) + 1

    f()
    with profiler.profile() as outer, profiler.profile() as inner:
        f()
    assert [e.name for e in inner.function_events] == ["named", "aten::ones", "aten::add"]
    assert "named" in [e.name for e in outer.function_events]


def test_schedule():
    kinds = torch.profiler.ProfilerAction
    plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    assert [plan(k) for k in range(7)] == [
        kinds.NONE, kinds.NONE, kinds.WARMUP, kinds.RECORD, kinds.RECORD_AND_SAVE, kinds.NONE, kinds.NONE,
    ]  # fmt: skip
    with pytest.raises(AssertionError, match="Invalid profiler schedule"):
        torch.profiler.schedule(wait=1, warmup=1, active=0)


def test_steps(tmp_path):
    ready = []
    plan = torch.profiler.schedule(wait=1, warmup=0, active=2)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], schedule=plan, on_trace_ready=ready.append
    ) as prof:
        for _ in range(6):
            torch.ones(2).exp()
            prof.step()
    assert len(ready) == 2 and prof.key_averages()[0].count == 2
    handler = torch.profiler.tensorboard_trace_handler(str(tmp_path / "logs"))
    with torch.profiler.profile(on_trace_ready=handler) as prof:
        with torch.profiler.record_function("mine"):
            torch.ones(2).exp()
    (file,) = (tmp_path / "logs").iterdir()
    assert [e["name"] for e in json.loads(file.read_text())["traceEvents"]] == ["mine", "aten::ones", "aten::exp"]
    assert [e.name for e in prof.events()] == ["mine", "aten::ones", "aten::exp"]
