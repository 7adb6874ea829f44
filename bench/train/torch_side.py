"""A round of training steps in PyTorch: torch_side.py DIR CASE THREADS SECONDS.

Reads DIR/state.safetensors, which the generated side has written: the weights, its
loss and its gradients."""
import json
import struct
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

folder, case, threads, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
torch.set_num_threads(threads)


def status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key + ":"):
            return int(line.split()[1]) / 1024


def load(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    out = {}
    for name, t in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            first, last = t["data_offsets"]
            out[name] = torch.from_numpy(np.frombuffer(data[8 + size + first : 8 + size + last], np.float32).reshape(t["shape"]).copy())
    return out


class Perceptron(nn.Module):
    def __init__(self, *n):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = (nn.Linear(a, b) for a, b in zip(n, n[1:]))

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.fc1, self.fc2 = nn.Linear(1024, 512), nn.Linear(512, 10)

    def forward(self, x):
        x = F.adaptive_avg_pool2d(F.relu(self.conv2(self.conv1(x))), 8).flatten(1)
        return self.fc2(F.relu(self.fc1(x)))


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2).flatten(1)
        return self.fc2(F.relu(self.fc1(x)))


class Residual(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b)
        self.conv2, self.bn2 = nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b)
        self.downsample = None
        if stride != 1 or a != b:
            self.downsample = nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        layers, a = [], 64
        for i, b in enumerate([64, 128, 256, 512]):
            layers += [Residual(a, b, min(i + 1, 2)), Residual(b, b, 1)]
            a = b
        self.layers, self.fc = nn.Sequential(*layers), nn.Linear(512, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        return self.fc(self.layers(x).mean((2, 3)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(256, 4, 1024, 0.0, batch_first=True)
        self.encoder, self.fc = nn.TransformerEncoder(layer, 4), nn.Linear(256, 10)

    def forward(self, x):
        return self.fc(self.encoder(x).mean(1))


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.fc = nn.LSTM(64, 128, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.fc(self.lstm(x)[0].mean(1))


cases = {
    "tiny": (lambda: Perceptron(8, 16, 16, 4), (8, 8), 4),
    "mlp": (lambda: Perceptron(784, 512, 512, 10), (64, 784), 10),
    "mnist": (Digits, (64, 1, 28, 28), 10),
    "cnn": (Pooled, (64, 1, 28, 28), 10),
    "resnet18": (ResNet, (16, 3, 64, 64), 1000),
    "transformer": (Encoder, (8, 128, 256), 10),
    "lstm": (Sequence, (32, 50, 64), 10),
}

make, shape, classes = cases[case]
place = np.arange(int(np.prod(shape)), dtype=np.int64)
x = torch.from_numpy((place * 7919 % 2003 / 1001.5 - 1).astype(np.float32).reshape(shape))
target = torch.from_numpy(place[: shape[0]] * 7919 % 2003 % classes)
state = load(folder + "/state.safetensors")
before = status("VmRSS")
model = make()
model.train()
with torch.no_grad():
    for name, p in model.named_parameters():
        p.copy_(state[name])


def step():
    for p in model.parameters():
        p.grad = None
    loss = F.cross_entropy(model(x), target)
    loss.backward()
    return loss


step()
step()
times = []
begin = time.perf_counter()
while time.perf_counter() - begin < seconds or len(times) < 3:
    now = time.perf_counter()
    step()
    times.append((time.perf_counter() - now) * 1e3)
peak = status("VmHWM") - before

loss = step().item()
own = {name: p.grad.double() for name, p in model.named_parameters()}

# Both are compared with what float64 gives.
model, x = make().double(), x.double()
model.train()
with torch.no_grad():
    for name, p in model.named_parameters():
        p.copy_(state[name])
exact = step().item()


def differ(loss, grads):
    """The greatest difference of the loss or of a gradient, as a share of its norm."""
    of = [abs(exact - loss) / abs(exact)]
    for name, p in model.named_parameters():
        of.append(((p.grad - grads(name)).norm() / (1e-6 + p.grad.norm())).item())
    return max(of)


print(json.dumps({
    "Median": sorted(times)[len(times) // 2], "Peak": peak,
    "Differ": differ(state["loss"].item(), lambda name: state["grad/" + name].double()), "Own": differ(loss, own.get),
}))
