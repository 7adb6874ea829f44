#!/usr/bin/env python3
"""Trains the network in ../digits.onnx on MNIST images and writes it.

    train.py MNIST_FOLDER [digits.onnx]

MNIST_FOLDER holds t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz. The
last tenth of the images is held out and only used to report the accuracy.
Needs PyTorch 1.13 and onnx 1.12; runs on the CPU in a few minutes.
"""

import gzip
import pathlib
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from torch import nn

SEED = 42
EPOCHS = 40
BATCH = 64
PEAK_RATE = 4e-3
OPSET = 13


class Digits(nn.Module):
    """Four 3×3 convolutions, each normalised, and one dense layer."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(16)
        self.conv3 = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.norm3 = nn.BatchNorm2d(32)
        self.conv4 = nn.Conv2d(32, 32, 3, padding=1, bias=False)
        self.norm4 = nn.BatchNorm2d(32)
        self.pool = nn.MaxPool2d(2)
        self.dropout = nn.Dropout(0.3)
        self.dense = nn.Linear(32 * 7 * 7, 10)

    def forward(self, image):
        x = torch.relu(self.norm1(self.conv1(image)))
        x = self.pool(torch.relu(self.norm2(self.conv2(x))))
        x = torch.relu(self.norm3(self.conv3(x)))
        x = self.pool(torch.relu(self.norm4(self.conv4(x))))
        return self.dense(self.dropout(x.flatten(1)))


def read_idx(path):
    """Reads an IDX file of bytes: two zeros, type 8, rank, extents, values."""
    data = gzip.open(path).read()
    if data[:3] != b"\0\0\x08":
        raise SystemExit(f"{path}: not an IDX file of bytes")
    rank = data[3]
    shape = np.frombuffer(data, ">u4", rank, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def uniform(n, low, high):
    return torch.empty(n).uniform_(low, high)


def resample(x, matrix, offset=0):
    """Samples x at matrix·p + offset for every pixel position p in [-1, 1]²."""
    grid = F.affine_grid(matrix, x.shape, align_corners=False) + offset
    return F.grid_sample(x, grid, align_corners=False)


def flag(ones):
    """Gives ones the upstroke on the left that many people write and MNIST lacks."""
    n = len(ones)
    ink = ones[:, 0] > 0.5
    top = ink.any(2).float().argmax(1)
    row = ink[torch.arange(n), top].float()
    left = (row * torch.arange(28)).sum(1) / row.sum(1).clamp(min=1)
    length, angle = uniform(n, 3, 9), uniform(n, 0.4, 1.2)
    along_x, along_y = (t.view(n, 1, 1) for t in (-torch.cos(angle), torch.sin(angle)))
    y, x = torch.meshgrid(torch.arange(28.0), torch.arange(28.0), indexing="ij")
    x, y = x - left.view(n, 1, 1), y - top.view(n, 1, 1) - 0.5
    along = (x * along_x + y * along_y).clamp(min=0).minimum(length.view(n, 1, 1))
    distance = torch.hypot(x - along * along_x, y - along * along_y)
    stroke = (uniform(n, 1, 2).view(n, 1, 1) - distance).clamp(0, 1)
    return torch.maximum(ones, stroke.unsqueeze(1))


def distort(x):
    """Turns, slants, scales, shifts, bends and re-inks each image at random."""
    n = len(x)
    turn, slant = uniform(n, -0.3, 0.3), uniform(n, -0.35, 0.35)
    width, height = uniform(n, 0.8, 1.25), uniform(n, 0.8, 1.25)
    cos, sin = torch.cos(turn), torch.sin(turn)
    shift_x, shift_y = uniform(n, -0.15, 0.15), uniform(n, -0.15, 0.15)
    matrix = torch.stack(
        [
            torch.stack([width * cos, width * (slant * cos - sin), shift_x], 1),
            torch.stack([height * sin, height * (slant * sin + cos), shift_y], 1),
        ],
        1,
    )
    bend = F.interpolate(torch.randn(n, 2, 4, 4) * 0.06, size=(28, 28), mode="bicubic", align_corners=True)
    x = resample(x, matrix, bend.permute(0, 2, 3, 1))

    # Thicker, thinner or softer strokes, then more or less contrast.
    padded = F.pad(x, (1, 1, 1, 1))
    thick = F.max_pool2d(padded, 3, 1)
    thin = -F.max_pool2d(-x, 2, 1, padding=1)[..., :28, :28]
    soft = F.avg_pool2d(padded, 3, 1)
    kind = torch.rand(n, 1, 1, 1)
    amount = torch.rand(n, 1, 1, 1)
    other = torch.where(kind < 0.3, thick, torch.where(kind < 0.45, thin, soft))
    x = torch.lerp(x, other, amount * (kind < 0.75))
    return (x * uniform(n, 0.7, 1.4).view(-1, 1, 1, 1)).clamp(0, 1)


def accuracy(net, images, labels):
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in zip(images.split(500), labels.split(500)))
    return right / len(labels)


def train(net, images, labels):
    steps = EPOCHS * (len(images) // BATCH)
    optimiser = torch.optim.AdamW(net.parameters(), weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, PEAK_RATE, total_steps=steps)
    for epoch in range(EPOCHS):
        net.train()
        total = 0.0
        order = torch.randperm(len(images))
        batches = order[: len(order) // BATCH * BATCH].split(BATCH)
        for batch in batches:
            x, y = images[batch], labels[batch]
            flagged = (y == 1) & (torch.rand(len(y)) < 0.4)
            x[flagged] = flag(x[flagged])
            loss = F.cross_entropy(net(distort(x)), y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1:2d}: loss {total / len(batches):.4f}", flush=True)


def export(net, path):
    """Writes the network with its normalisation kept as separate nodes."""
    net.eval()
    torch.onnx.export(
        net,
        torch.zeros(1, 1, 28, 28),
        path,
        opset_version=OPSET,
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
        input_names=["image"],
        output_names=["logits"],
        dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}},
    )
    model = onnx.load(path)
    model.graph.name = "digits"
    model.doc_string = "Classifies 28x28 grey-scale images of handwritten digits: ink is 1, paper is 0."
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main(folder, path):
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    folder = pathlib.Path(folder)
    images = torch.from_numpy(read_idx(folder / "t10k-images-idx3-ubyte.gz") / np.float32(255)).unsqueeze(1)
    labels = torch.from_numpy(read_idx(folder / "t10k-labels-idx1-ubyte.gz").astype(np.int64))
    held = len(images) // 10

    net = Digits()
    train(net, images[:-held], labels[:-held])
    export(net, path)
    print(f"training images: {accuracy(net, images[:-held], labels[:-held]):.2%} right")
    print(f"held-out images: {accuracy(net, images[-held:], labels[-held:]):.2%} right")
    print(f"{sum(p.numel() for p in net.parameters())} parameters, {pathlib.Path(path).stat().st_size} bytes in {path}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    here = pathlib.Path(__file__).resolve().parent
    main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else str(here.parent / "digits.onnx"))
