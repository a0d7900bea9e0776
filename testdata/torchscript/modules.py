#!/usr/bin/python3
"""Writes the TorchScript modules of this folder, and expected.json, with Debian 12's
python3-torch (1.13)."""
import json

import torch
from torch import nn

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)


class Backbone(nn.Module):
    """Images of any size to five features."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout2d(0.5)
        self.out = nn.Linear(4, 5)

    def forward(self, x):
        return self.out(self.drop(torch.relu(self.norm(self.conv(x)))).mean((2, 3)))


class Pair(nn.Module):
    def forward(self, x):
        return x, x


class Shared(nn.Module):
    """Two layers that are one."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = self.first

    def forward(self, x):
        return self.second(self.first(x))


class Picking(nn.Module):
    """Two of three features, whose numbers are in a buffer, under a mask."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.counts = nn.Parameter(torch.tensor([1, 3], dtype=torch.int32), requires_grad=False)
        self.register_buffer("order", torch.tensor([2, 0]))
        self.register_buffer("hidden", torch.tensor([False, True]))

    def forward(self, x):
        return (self.scale * self.counts * x[:, self.order]).masked_fill(self.hidden, 7.0)


backbone = Backbone()
backbone.norm.running_mean.uniform_(-0.3, 0.3)
backbone.norm.running_var.uniform_(0.5, 1.5)
nn.init.uniform_(backbone.norm.weight, 0.5, 1.5)
x = torch.randn(2, 3, 7, 7).round(decimals=3).requires_grad_()
backbone.eval()
features = backbone(x)
features.square().sum().backward()
expected = {
    "shape": list(x.shape),
    "input": x.flatten().tolist(),
    "features": features.flatten().tolist(),
    "input_gradient": x.grad.flatten().tolist(),
    "parameters": [
        {"name": name, "shape": list(p.shape), "values": p.flatten().tolist(), "gradient": p.grad.flatten().tolist()}
        for name, p in backbone.named_parameters()
    ],
    "buffers": [name for name, _ in backbone.named_buffers()],
}
with open("expected.json", "w") as out:
    json.dump(expected, out, indent=1)
    out.write("\n")

torch.jit.script(backbone.float()).save("backbone.pt")
torch.jit.freeze(torch.jit.script(backbone)).save("frozen.pt")
torch.jit.script(nn.Conv2d(3, 4, 3).float()).save("maps.pt")
torch.jit.script(Pair()).save("pair.pt")
torch.jit.script(Shared().float()).save("shared.pt")
torch.jit.script(Picking()).save("picking.pt")
torch.jit.script(nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Tanh()).float()).save("vectors.pt")
