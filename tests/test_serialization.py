"""Files in PyTorch's format: what they keep, files that PyTorch wrote, and files that are broken or hostile."""

import copy
import io
import os
import pickle
import random
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest
import recorded_programs

import tidu as torch
from tidu import nn


@pytest.mark.parametrize("program", ["saving", "made_files"])
def test_programs_print_what_they_print_on_pytorch(program):
    recorded_programs.check(program)


WRITTEN_BY_TORCH = Path(__file__).parent / "programs" / "written_by_torch.pt"


def through(x, **options):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, **options)


# What PyTorch's loader raises for a pickle that is cut short or makes no sense.
DAMAGED = (
    pickle.UnpicklingError, RuntimeError, EOFError, AttributeError, IndexError, KeyError, TypeError, ValueError,
    struct.error,
)  # fmt: skip


def archive(pickled):
    """A file with a given pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("archive/data.pkl", pickled)
        z.writestr("archive/version", "3\n")
    file.seek(0)
    return file


def test_a_file_that_pytorch_wrote():
    got = torch.load(WRITTEN_BY_TORCH)
    base = torch.arange(12.0).reshape(3, 4)
    assert torch.equal(got["base"], base) and torch.equal(got["view"], base[1:, ::2])
    assert got["base"].untyped_storage().data_ptr() == got["view"].untyped_storage().data_ptr()
    assert got["turned"].stride() == (1, 4) and torch.equal(got["turned"], base.t())
    assert isinstance(got["parameter"], nn.Parameter) and got["parameter"].requires_grad
    assert got["bfloat16"].dtype is torch.bfloat16 and got["bfloat16"].tolist() == [1, 2]
    assert got["others"] == [1, 2.5, None, True, "x", 1j, {1, 2}, torch.Size([1, 2]), torch.float64]
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    model.load_state_dict(got["model"])
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(got["optimizer"])
    assert optimizer.state[model[0].weight]["step"].item() == 1


def test_views_and_sharing_are_kept():
    base = torch.arange(6.0).reshape(2, 3)
    got = through({"a": base, "b": base[:, 1], "c": base.t()})
    got["b"].fill_(9)
    assert got["a"][:, 1].tolist() == [9, 9] and got["c"][1].tolist() == [9, 9]
    again = through(got)  # memory that came from a file
    again["b"].fill_(7)
    assert again["a"][:, 1].tolist() == [7, 7]


def test_a_state_keeps_its_metadata():
    state = nn.BatchNorm1d(2).state_dict()
    assert through(state)._metadata == state._metadata


def test_whole_modules_need_trust():
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global: GLOBAL torch.nn.modules.linear.Linear"):
        through(nn.Linear(2, 2))
    got = through(nn.Linear(2, 2), weights_only=False)
    assert isinstance(got, nn.Linear)
    with torch.serialization.safe_globals([Kept]):
        assert through(Kept(3)).x == 3
    with pytest.raises(pickle.UnpicklingError):
        through(Kept(3))


class Kept:
    def __init__(self, x):
        self.x = x


class Evil:
    def __reduce__(self):
        return os.mkdir, ("pwned",)


@pytest.mark.parametrize(
    "pickled",
    [
        pickle.dumps(Evil(), 2),
        pickle.dumps({"weights": [Evil()]}, 4),
        b"cposix\nsystem\n(S'mkdir pwned'\ntR.",
        b"(S'mkdir pwned'\niposix\nsystem\n.",
        b"ctorch\nTensor\nN}X\x03\x00\x00\x00addK\x01s\x86b.",  # a state for the class itself
        b"cbuiltins\ngetattr\n(cbuiltins\ndict\nS'update'\ntR.",
        b"ccollections\nOrderedDict\n)R(K\x01K\x02tb.",  # a state that is none
        b"K\x01)R.",  # a call of a number
        b"ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x00(K\x02t(K\x01t\x89NtR.",  # a storage that is none
        b"\x80\x04\x97.",  # a buffer from nowhere
        b"\x80\x02garbage",
        b"",
    ],
)
def test_nothing_of_a_hostile_file_is_carried_out(pickled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = dict(vars(torch.Tensor))
    with pytest.raises(DAMAGED):
        torch.load(archive(pickled))
    assert os.listdir(tmp_path) == [] and dict(vars(torch.Tensor)) == before


def test_a_window_that_reaches_outside_its_storage_is_refused():
    def tensor_at(offset, size, stride):
        t = torch.ones(4)
        file = io.BytesIO()
        torch.save(t, file)
        with zipfile.ZipFile(file) as z:
            text = z.read("archive/data.pkl")
            assert text.count(b"K\x04\x85") == 1
            text = text.replace(b"K\x00K\x04\x85", pickle.dumps(offset, 2)[2:-1] + pickle.dumps(size, 2)[2:-1])
            text = text.replace(b"K\x01\x85", pickle.dumps(stride, 2)[2:-1])
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as w:
                for name in z.namelist():
                    w.writestr(name, text if name.endswith("data.pkl") else z.read(name))
        out.seek(0)
        return out

    for place in ((0, (5,), (1,)), (4, (1,), (1,)), (-1, (1,), (1,)), (0, (4,), (-1,)), (0, (1 << 40,), (1,))):
        with pytest.raises((RuntimeError, ValueError, pickle.UnpicklingError)):
            torch.load(tensor_at(*place))


def test_broken_files_are_errors():
    file = io.BytesIO()
    torch.save({"w": torch.randn(50), "n": OrderedDict(a=1)}, file)
    whole = file.getvalue()
    for n in (0, 3, 50, len(whole) // 2, len(whole) - 3):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            torch.load(io.BytesIO(whole[:n]))
    flips = random.Random(0)
    for _ in range(100):
        broken = bytearray(whole)
        for _ in range(3):
            broken[flips.randrange(len(broken))] ^= 1 << flips.randrange(8)
        try:
            torch.load(io.BytesIO(bytes(broken)))
        except DAMAGED:
            pass
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        torch.load(io.BytesIO(pickle.dumps(3, 2)))
    with pytest.raises(DAMAGED) as caught:
        torch.load(io.BytesIO(b"something else"))
    assert "damaged" in caught.value.__notes__[0]


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x.pt"
    torch.save(torch.ones(2), path)

    class Unwilling:
        def __reduce__(self):
            raise KeyError("no")

    with pytest.raises(KeyError):
        torch.save([torch.zeros(2), Unwilling()], path)
    assert torch.load(path).tolist() == [1, 1] and os.listdir(tmp_path) == ["x.pt"]
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        torch.save(1, tmp_path / "nowhere" / "x.pt")


def test_storages_for_other_devices_need_a_map():
    text = pickle.dumps(0)
    assert text
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    with zipfile.ZipFile(file) as z:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as w:
            for name in z.namelist():
                data = z.read(name)
                if name.endswith("data.pkl"):
                    data = data.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
                w.writestr(name, data)
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        torch.load(io.BytesIO(out.getvalue()))
    assert torch.load(io.BytesIO(out.getvalue()), map_location="cpu").tolist() == [1, 1]


def test_what_in_a_file_would_be_refused(tmp_path):
    import tidu as torch

    class Odd:
        pass

    globals()["Odd"] = Odd
    Odd.__qualname__ = "Odd"
    torch.save({"a": torch.ones(2), "b": b"x", "c": bytearray(b"y"), "d": {1}, "e": 3j}, tmp_path / "good.pt")
    torch.save({"a": torch.ones(2), "b": Odd()}, tmp_path / "odd.pt")
    unsafe = torch.serialization.get_unsafe_globals_in_checkpoint
    assert unsafe(tmp_path / "good.pt") == []
    assert unsafe(tmp_path / "odd.pt") == [f"{__name__}.Odd"]


def test_storages_over_files(tmp_path):
    import tidu as torch

    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    private = torch.UntypedStorage.from_file(path, False, 8)
    t = torch.asarray(private[2:6], dtype=torch.uint8)
    assert t.tolist() == [2, 3, 4, 5]
    t[0] = 9
    assert path.read_bytes()[2] == 2
    shared = torch.UntypedStorage.from_file(path, True, 8)
    shared[0] = 7
    shared._bytes.flush()
    assert path.read_bytes()[0] == 7


def test_the_format_of_old():
    base = torch.arange(6.0)
    whole = {"a": base, "b": base[1:3], "c": torch.ones(2, dtype=torch.bfloat16), "d": nn.Parameter(base.clone())}
    file = io.BytesIO()
    torch.save(whole, file, _use_new_zipfile_serialization=False)
    torch.save(base + 1, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    got = torch.load(file)
    assert repr(got) == repr(whole)
    got["b"].fill_(9)
    assert got["a"].tolist() == [0, 9, 9, 3, 4, 5]
    assert torch.equal(torch.load(file), base + 1)  # the file stood behind the first
    for n in (30, 200, len(file.getvalue()) // 2 - 5):
        with pytest.raises(DAMAGED):
            torch.load(io.BytesIO(file.getvalue()[:n]))


def test_an_old_file_cannot_ask_for_more_memory_than_it_has(tmp_path):
    file = io.BytesIO()
    torch.save(torch.ones(3), file, _use_new_zipfile_serialization=False)
    greedy = file.getvalue().replace(b"K\x03N", b"\x8a\x06\x00\x00\x00\x00\x00\x7fN", 1)
    assert greedy != file.getvalue()
    with pytest.raises(RuntimeError, match="unexpected EOF, expected"):
        torch.load(io.BytesIO(greedy))


def test_a_mapped_file(tmp_path):
    path = tmp_path / "x.pt"
    t = torch.arange(1000.0)
    torch.save({"t": t, "odd": torch.ones(3, dtype=torch.int8), "u": t.double()}, path)
    got = torch.load(path, mmap=True)
    assert torch.equal(got["t"], t) and torch.equal(got["u"], t.double()) and got["odd"].tolist() == [1, 1, 1]
    assert got["u"].data_ptr() % 64 == got["t"].data_ptr() % 64 == 0
    got["t"].zero_()
    assert torch.equal(torch.load(path)["t"], t)  # the file is as it was
    with torch.serialization.set_default_mmap_options(torch.serialization.MAP_SHARED):
        torch.load(path, mmap=True)["odd"].fill_(2)
    assert torch.load(path, mmap=True)["odd"].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        torch.load(io.BytesIO(path.read_bytes()), mmap=True)


def with_record(file, name, content):
    """The file with a record of its archive replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as z, zipfile.ZipFile(out, "w") as w:
        for n in z.namelist():
            w.writestr(n, content(z.read(n)) if n.endswith(name) else z.read(n))
    out.seek(0)
    return out


def test_numbers_of_the_other_byte_order():
    import sys

    file = io.BytesIO()
    torch.save([torch.arange(4.0), torch.tensor([1 + 2j, 3 - 4j])], file)
    foreign = "big" if sys.byteorder == "little" else "little"
    swapped = with_record(file, "data/0", lambda b: b"".join(b[i : i + 4][::-1] for i in range(0, len(b), 4)))
    swapped = with_record(swapped, "data/1", lambda b: b"".join(b[i : i + 4][::-1] for i in range(0, len(b), 4)))
    x, z = torch.load(with_record(swapped, "byteorder", lambda _: foreign.encode()))
    assert x.tolist() == [0, 1, 2, 3] and z.tolist() == [1 + 2j, 3 - 4j]
    with pytest.raises(ValueError, match="Unknown endianness type: middle"):
        torch.load(with_record(swapped, "byteorder", lambda _: b"middle"))


def test_where_storages_go():
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    seen = []

    def put(storage, location):
        seen.append((len(storage), location))
        other = storage.clone()
        other.fill_(0)
        return other

    def load(map_location):
        file.seek(0)
        return torch.load(file, map_location=map_location)

    assert load(put).tolist() == [0, 0] and seen == [(8, "cpu")]
    assert load({"cpu": "cpu"}).tolist() == load(torch.device("cpu")).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="don't know how to restore data location of torch.storage.UntypedStorage"):
        load("nowhere")
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        load({"cpu": "cuda:0"})
    with pytest.raises(RuntimeError, match="computes on the CPU only"):
        load("meta")


@pytest.mark.parametrize(
    "name", [b"torch._utils\n_rebuild_qtensor", b"torch\nQInt8Storage", b"torch._utils\n_rebuild_nested_tensor"]
)
@pytest.mark.parametrize("weights_only", [True, False])
def test_what_is_not_built_is_named(name, weights_only):
    with pytest.raises(RuntimeError, match="which tidu does not have"):
        torch.load(archive(b"c" + name + b"\n."), weights_only=weights_only)


@pytest.mark.parametrize("x", [torch.ones(2), torch.arange(6.0).reshape(2, 3).t(), torch.ones(2, dtype=torch.int16)])
def test_what_was_loaded_is_copied_with_its_type(x):
    y = through(x)
    z, part = copy.deepcopy([y, y[1:]])
    assert repr(z) == repr(copy.deepcopy(y)) == repr(x) and repr(part) == repr(x[1:])
    assert z.untyped_storage().data_ptr() == part.untyped_storage().data_ptr()


def test_the_environment_has_a_say(monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert through(Kept(3)).x == 3
    with pytest.raises(pickle.UnpicklingError):
        through(Kept(3), weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="should be set, but both were set"):
        through(1)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        through(Kept(3), weights_only=False)


def test_hooks_are_not_saved():
    t = torch.ones(2, requires_grad=True)
    t.register_hook(print)
    with pytest.warns(UserWarning, match="will not be serialized"):
        through(t)


def test_one_memory_under_two_types_is_refused():
    t = torch.ones(4)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        through([t, t.view(torch.int32)])


def test_a_file_without_its_bytes(tmp_path):
    with torch.serialization.skip_data():
        torch.save(torch.ones(4), tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt").tolist() == [0] * 4


def test_functions_modules_and_handles_are_pickled():
    import copy

    for f in (nn.functional.gelu, torch.relu_, torch.linalg.inv, torch.special.i1, torch.fft.fft, torch.tanh):
        assert pickle.loads(pickle.dumps(f)) is f
        assert through(f, weights_only=False) is f
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    assert repr(through(layer, weights_only=False)) == repr(pickle.loads(pickle.dumps(layer))) == repr(layer)
    lazy = copy.deepcopy(nn.LazyLinear(3))
    assert lazy(torch.ones(1, 2)).shape == (1, 3) and type(lazy) is nn.Linear and not lazy._forward_pre_hooks
