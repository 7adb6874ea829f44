#!/usr/bin/env python3
"""Trains the network of this example in PyTorch 1.13, as main.go does, and writes what it
reaches to pytorch.json beside it: for each rate and seed the mean loss of the tenth epoch
and the accuracy after it, in percent.

    pytorch.py FOLDER    which has MNIST's t10k-images-idx3-ubyte.gz and labels
"""
import gzip
import json
import pathlib
import sys

import numpy as np
import torch
from torch import nn

RUNS = [(1e-4, 42), (1e-4, 43), (1e-4, 44), (1e-3, 42), (1e-3, 43), (1e-3, 44)]


def idx(path, header):
    with gzip.open(path) as f:
        return np.frombuffer(f.read(), np.uint8, offset=header)


def read(folder):
    images = idx(folder / "t10k-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
    labels = idx(folder / "t10k-labels-idx1-ubyte.gz", 8)
    x = (images.astype(np.float32) / 255 - 0.1307) / 0.3081
    return torch.from_numpy(x), torch.from_numpy(labels.astype(np.int64))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.linear1, self.linear2 = nn.Linear(1024, 512), nn.Linear(512, 10)
        self.dropout = nn.Dropout(0.5)
        self.pool = nn.AdaptiveAvgPool2d(8)

    def forward(self, x):
        x = self.dropout(self.conv1(x))
        x = torch.relu(self.dropout(self.conv2(x)))
        x = self.pool(x).flatten(1)
        return self.linear2(torch.relu(self.dropout(self.linear1(x))))


def train(x, y, rate, seed):
    torch.manual_seed(seed)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), rate)
    held = torch.arange(len(x)) % 10 == 9
    rest_x, rest_y, x, y = x[held], y[held], x[~held], y[~held]
    n = len(x)
    for _ in range(10):
        model.train()
        total = 0.0
        for batch in torch.randperm(n).split(64):
            loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
    model.eval()
    with torch.no_grad():
        right = (model(rest_x).argmax(1) == rest_y).float().mean().item()
    return {"rate": rate, "seed": seed, "loss": round(total / n, 4), "accuracy": round(100 * right, 2)}


def main():
    torch.set_num_threads(1)
    x, y = read(pathlib.Path(sys.argv[1]))
    runs = []
    for rate, seed in RUNS:
        runs.append(train(x, y, rate, seed))
        print(runs[-1], flush=True)
    lines = ",\n".join(json.dumps(r) for r in runs)
    pathlib.Path(__file__).with_name("pytorch.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
