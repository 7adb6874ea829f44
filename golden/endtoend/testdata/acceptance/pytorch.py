#!/usr/bin/env python3
"""Writes with PyTorch 1.13 the files that descriptions beside this one are to read:
conv2d.pt, key_remap.pt, in which every name has a prefix, and variant.pt; and
expected.json, what the networks make of an input."""
import json
import pathlib

import torch
from torch import nn

HERE = pathlib.Path(__file__).parent


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 2, (2, 2))
        self.conv2 = nn.Conv2d(2, 2, (2, 2), bias=False)

    def forward(self, x):
        return self.conv2(self.conv1(x))


class Prefixed(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.conv = net

    def forward(self, x):
        return self.conv(x)


class DwsConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.dconv = nn.Conv2d(2, 2, 3, groups=2)
        self.pconv = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        return self.pconv(self.dconv(x))


torch.manual_seed(42)
net = Net()
torch.manual_seed(42)
prefixed = Prefixed(Net())
variant = Prefixed(DwsConv())
x = torch.randn(1, 2, 5, 5)
expected = {"x": x.flatten().tolist()}
for name, model in [("conv2d", net), ("key_remap", prefixed), ("variant", variant)]:
    torch.save(model.state_dict(), HERE / f"{name}.pt")
    expected[name] = model(x).flatten().tolist()
(HERE / "expected.json").write_text(json.dumps(expected) + "\n")
