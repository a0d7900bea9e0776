"""The networks of saved models that take PyTorch: those on images, and modules of the user's."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from ._data import Array

torch: Any = import_module("torch")
nn = torch.nn


class Module:
    """The network that a model.json describes: called with rows, it returns their logits."""

    def __init__(self, folder: Path, about: Mapping[str, Any], state: Mapping[str, Array], run_module: bool) -> None:
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
                if not run_module:
                    raise ValueError(f"{folder} has a TorchScript module, which is a program: iwda.load(…, run_module=True) runs it, if you trust who made it")
                net.backbone = torch.jit.load(str(folder / network["backbone"]["file"]))
            elif "backbone" in network and not any(n.startswith("backbone.") for n in state):
                raise ValueError(f"{folder} lacks the frozen backbone, which is in {network['backbone']['file']}: iwrun export {folder} -o model writes a folder that has all")
            else:
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
