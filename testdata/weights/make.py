"""Writes the files of this folder with PyTorch 1.13: one state dictionary in the forms
that torch.save has had since 2017, what is in it (expected.json), and files that try to run
something. Every good file is read back with torch.load."""

import collections
import json
import os
import pickle

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


class Evil:
    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


torch.save(state, "zip.pth")
torch.save(state, "stream.pth", _use_new_zipfile_serialization=False)
torch.save(state, "python2.pth", _use_new_zipfile_serialization=False, pickle_module=Module(pairs))
torch.save(
    collections.OrderedDict((k, torch.nn.Parameter(v, requires_grad=v.is_floating_point())) for k, v in state.items()),
    "parameters.pth",
)
for path in ["zip.pth", "stream.pth", "python2.pth", "parameters.pth"]:
    check(path)

evil = {"weight": torch.zeros(2), "payload": Evil(os.system, "touch executed")}
torch.save(evil, "evil-zip.pth")
torch.save(evil, "evil-stream.pth", _use_new_zipfile_serialization=False)
torch.save({"epoch": 3, "state_dict": state}, "checkpoint.pth")

with open("expected.json", "w") as file:
    lines = [f"  {json.dumps(k)}: " + json.dumps({"shape": list(v.shape), "values": v.flatten().tolist()}) for k, v in state.items()]
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
