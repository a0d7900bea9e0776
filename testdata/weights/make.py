"""Writes the files of this folder with PyTorch 1.13: one state dictionary in every form
that torch.save ever had, what is in it (expected.json), and files that try to run
something. Every good file is read back with torch.load."""

import collections
import io
import json
import os
import pickle
import struct
import tarfile

import torch

block = torch.arange(12, dtype=torch.float32) / 7
state = collections.OrderedDict(
    [
        ("conv.weight", (torch.arange(24, dtype=torch.float32) / 3 - 2).reshape(2, 3, 2, 2)),
        ("transposed", (torch.arange(6, dtype=torch.float64) / 11).reshape(2, 3).t()),
        ("bn.num_batches_tracked", torch.tensor(1 << 40)),
        ("mask", torch.tensor([0, 1, 255], dtype=torch.uint8)),
        ("block.first", block[:4]),
        ("block.rest", block[4:].reshape(4, 2)),
        ("empty", torch.zeros(0, 3)),
    ]
)
state._metadata = collections.OrderedDict([("", {"version": 1}), ("bn", {"version": 2})])


def check(path):
    loaded = torch.load(path)
    assert list(loaded) == list(state), path
    for name, t in loaded.items():
        assert t.dtype == state[name].dtype and torch.equal(t, state[name]), (path, name)


def pickler(**members):
    return type("Pickler", (pickle.Pickler,), members)


class Module:
    """A pickle module for torch.save whose pickler has a reducer_override."""

    __name__ = "pickle"

    def __init__(self, override):
        self.Pickler = pickler(reducer_override=override)
        self.dump = pickle.dump


def pairs(_, o):
    """An ordered dictionary as Python 2 wrote it."""
    if type(o) is collections.OrderedDict and len(o):
        return collections.OrderedDict, ([[k, v] for k, v in o.items()],)
    return NotImplemented


def raw(storage):
    code = {torch.float32: "f", torch.float64: "d", torch.int64: "q", torch.uint8: "B"}[storage.dtype]
    return struct.pack(f"<q{len(storage)}{code}", len(storage), *storage.tolist())


def save_tar(path, override=None):
    """The form of 2016, which no PyTorch writes any more but all can read."""

    def dump(value, file):
        pickle.dump(value, file, protocol=2)

    def address(t):
        return t.storage().data_ptr() if t.numel() else 0

    files = {name: io.BytesIO() for name in ["sys_info", "pickle", "tensors", "storages"]}
    dump({"protocol_version": 1000, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}, files["sys_info"])

    storages = {address(t): t.storage() for t in state.values()}
    keys = {a: (1 << 35) + i for i, a in enumerate(storages)}
    dump(len(storages), files["storages"])
    for a, s in storages.items():
        dump((keys[a], "cpu", getattr(torch, s.pickle_storage_type())), files["storages"])
        files["storages"].write(raw(s))
    dump([], files["storages"])

    names = {}
    dump(len(state), files["tensors"])
    for i, t in enumerate(state.values()):
        names[id(t)] = (1 << 33) + i
        kind = getattr(torch, t.storage().pickle_storage_type().replace("Storage", "Tensor"))
        dump((names[id(t)], keys[address(t)], kind), files["tensors"])
        numbers = [*t.shape, *t.stride(), t.storage_offset()]
        files["tensors"].write(struct.pack(f"<ii{len(numbers)}q", t.dim(), 0, *numbers))

    members = {"persistent_id": lambda _, o: str(names[id(o)]) if id(o) in names else None}
    if override:
        members["reducer_override"] = override
    pickler(**members)(files["pickle"], protocol=2).dump(collections.OrderedDict(state))

    with tarfile.open(path, "w:", format=tarfile.PAX_FORMAT) as tar:
        for name, file in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(file.getvalue())
            tar.addfile(entry, io.BytesIO(file.getvalue()))


class Evil:
    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


def evil_dictionary(_, o):
    return (eval, ("1",)) if type(o) is collections.OrderedDict else NotImplemented


torch.save(state, "zip.pth")
torch.save(state, "stream.pth", _use_new_zipfile_serialization=False)
torch.save(state, "python2.pth", _use_new_zipfile_serialization=False, pickle_module=Module(pairs))
torch.save(
    collections.OrderedDict((k, torch.nn.Parameter(v, requires_grad=v.is_floating_point())) for k, v in state.items()),
    "parameters.pth",
)
save_tar("tar.pth")
for path in ["zip.pth", "stream.pth", "python2.pth", "parameters.pth", "tar.pth"]:
    check(path)

evil = {"weight": torch.zeros(2), "payload": Evil(os.system, "touch executed")}
torch.save(evil, "evil-zip.pth")
torch.save(evil, "evil-stream.pth", _use_new_zipfile_serialization=False)
save_tar("evil-tar.pth", evil_dictionary)
torch.save({"epoch": 3, "state_dict": state}, "checkpoint.pth")

with open("expected.json", "w") as file:
    lines = [f"  {json.dumps(k)}: " + json.dumps({"shape": list(v.shape), "values": v.flatten().tolist()}) for k, v in state.items()]
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
