"""The networks of saved models that take PyTorch: those on images, and modules of the user's."""

from __future__ import annotations

import hashlib
import io
import os
from importlib import import_module
from pathlib import Path
from typing import Any, Mapping, Union

import numpy as np

from ._data import Array

torch: Any = import_module("torch")
nn = torch.nn


_RESNETS = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152")


def _permitted(folder: Path, backbone: Mapping[str, str], run_module: "Union[bool, str, os.PathLike[str]]") -> bytes:
    """The module that model.json names, read once, if it is the one that was trained with and may run."""
    saved = (folder / "model.safetensors").exists()  # else a run's, which names it from the working directory
    path = folder / backbone["file"] if saved else Path(backbone["file"])
    if saved and (os.path.isabs(backbone["file"]) or ".." in Path(backbone["file"]).parts):
        raise ValueError(f"{folder}: network.backbone.file of model.json is {backbone['file']!r}, which is not in the folder")
    content = path.read_bytes()
    if (found := hashlib.sha256(content).hexdigest()) != backbone["sha256"]:
        raise ValueError(f"{path} has the SHA-256 {found}; it had {backbone['sha256']} when the model was trained")
    within = os.path.realpath(folder) in map(str, Path(os.path.realpath(path)).parents)
    if not (within if isinstance(run_module, bool) and run_module else run_module and os.path.samefile(run_module, path)):
        add = "run_module=True" if within else f"run_module={str(path)!r}"
        raise ValueError(f"{path} is a TorchScript module, a program that would be run (SHA-256 {found}): iwda.load(…, {add}) runs it, if you trust who made it")
    return content


class Module:
    """The network that a model.json describes: called with rows, it returns their logits."""

    def __init__(self, folder: Path, about: Mapping[str, Any], state: Mapping[str, Array], run_module: "Union[bool, str, os.PathLike[str]]") -> None:
        net, network = nn.Module(), about["network"]
        name = network["name"]
        shapes = {n[:-7]: w.shape for n, w in state.items() if n.endswith(".weight") and w.ndim == 2 and not n.startswith("backbone.")}
        linear = {n: nn.Linear(inputs, outputs) for n, (outputs, inputs) in shapes.items()}
        if name == "lenet":
            net.conv_params = nn.Sequential(nn.Conv2d(about["input"]["shape"][0], 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2), nn.ReLU())
            net.fc_params = nn.Sequential(linear.pop("fc_params.0"), nn.ReLU())
            features = nn.Sequential(net.conv_params, nn.Flatten(), net.fc_params)
        else:
            if name == "torchscript":
                net.backbone = torch.jit.load(io.BytesIO(_permitted(folder, network["backbone"], run_module)))
            elif "backbone" in network and not any(n.startswith("backbone.") for n in state):
                raise ValueError(f"{folder} lacks the frozen backbone, which is in {network['backbone']['file']}: iwrun export {folder} -o model writes a folder that has all")
            else:
                if name not in _RESNETS:
                    raise ValueError(f"{folder}: model.json has the network {name!r}, which this version does not know")
                net.backbone = getattr(import_module("torchvision.models"), name)()
                net.backbone.fc = nn.Identity()
            features = nn.Sequential(net.backbone, linear["bottleneck"], nn.ReLU() if network.get("frozen") else nn.Identity())
        for n, layer in linear.items():
            net.add_module(n, layer)
        # A module of the user's may have one tensor under two names, and a frozen one's are its own.
        net.load_state_dict({n: torch.from_numpy(w.copy()) for n, w in state.items()}, strict=name != "torchscript")
        self._network = nn.Sequential(features, net.classifier).eval()

    def __call__(self, rows: Array) -> Array:
        with torch.no_grad():
            return np.asarray(self._network(torch.from_numpy(np.ascontiguousarray(rows))).numpy())
