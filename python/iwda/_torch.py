"""The networks of saved models that take PyTorch: those on images."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from ._data import Array

torch: Any = import_module("torch")
nn = torch.nn


_RESNETS = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152")


class Module:
    """The network that a model.json describes: called with rows, it returns their logits."""

    def __init__(self, folder: Path, about: Mapping[str, Any], state: Mapping[str, Array]) -> None:
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
                raise ValueError(f"{folder / network['backbone']['file']} is a TorchScript module: networks of your own are programs, and are run no more; compute their embeddings in PyTorch, and adapt these")
            if name not in _RESNETS:
                raise ValueError(f"{folder}: model.json has the network {name!r}, which this version does not know")
            if "backbone" in network and not any(n.startswith("backbone.") for n in state):
                raise ValueError(f"{folder} lacks the frozen backbone, which is in {network['backbone']['file']}: iwrun export {folder} -o model writes a folder that has all")
            net.backbone = getattr(import_module("torchvision.models"), name)()
            net.backbone.fc = nn.Identity()
            features = nn.Sequential(net.backbone, linear["bottleneck"], nn.ReLU() if network.get("frozen") else nn.Identity())
        for n, layer in linear.items():
            net.add_module(n, layer)
        net.load_state_dict({n: torch.from_numpy(w.copy()) for n, w in state.items()})
        self._network = nn.Sequential(features, net.classifier).eval()

    def __call__(self, rows: Array) -> Array:
        with torch.no_grad():
            return np.asarray(self._network(torch.from_numpy(np.ascontiguousarray(rows))).numpy())
