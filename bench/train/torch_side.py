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


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.fc = nn.GRU(64, 128, batch_first=True), nn.Linear(128, 20)

    def forward(self, x):
        return self.fc(self.gru(x)[0])


class Stage(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(a, b, 3, 1, 1, bias=False), nn.Conv2d(b, b, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(b), nn.BatchNorm2d(b)

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([Stage(3, 16), Stage(16, 32)])
        self.bottom, self.head = Stage(32, 64), nn.Conv2d(16, 4, 1)
        self.grow = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
        self.up = nn.ModuleList([Stage(64, 32), Stage(32, 16)])

    def forward(self, x):
        skips = []
        for stage in self.down:
            x = stage(x)
            skips.append(x)
            x = F.max_pool2d(x, 2)
        x = self.bottom(x)
        for grow, stage in zip(self.grow, self.up):
            x = stage(torch.cat([skips.pop(), grow(x)], 1))
        return self.head(x)


def blocks(features, heads, inner, n, dropout=0.0):
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(features, heads, inner, dropout, "gelu", batch_first=True, norm_first=True), n)


class VisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.position = nn.Conv2d(3, 192, 8, 8), nn.Parameter(torch.zeros(64, 192))
        self.encoder, self.norm, self.fc = blocks(192, 3, 768, 4), nn.LayerNorm(192), nn.Linear(192, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.position
        return self.fc(self.norm(self.encoder(x)).mean(1))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.norm, self.fc = blocks(256, 4, 1024, 2, 0.1), nn.LayerNorm(256), nn.Linear(256, 512)

    def forward(self, x):
        hidden = torch.full((128, 128), float("-inf"), dtype=x.dtype).triu(1)
        return self.fc(self.norm(self.encoder(x, hidden)))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.bn1, self.bn2 = nn.Linear(64, 64 * 7 * 7), nn.BatchNorm2d(64), nn.BatchNorm2d(32)
        self.grow1, self.grow2 = nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False), nn.ConvTranspose2d(32, 1, 4, 2, 1)

    def forward(self, z):
        x = F.relu(self.bn1(self.fc(z).unflatten(1, (64, 7, 7))))
        return torch.tanh(self.grow2(F.relu(self.bn2(self.grow1(x)))))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = nn.Conv2d(1, 32, 4, 2, 1), nn.Conv2d(32, 64, 4, 2, 1), nn.Linear(64 * 7 * 7, 1)

    def forward(self, x):
        return self.fc(F.leaky_relu(self.conv2(F.leaky_relu(self.conv1(x), 0.2)), 0.2).flatten(1)).squeeze(1)


class GAN(nn.Module):
    """Returns the sum of both losses. Each network's gradient depends on its own loss only."""

    def __init__(self):
        super().__init__()
        self.g, self.d = Generator(), Discriminator()

    def forward(self, real, noise):
        def bce(x, target):
            return F.binary_cross_entropy_with_logits(x, torch.full_like(x, target))

        made = self.g(noise)
        loss = bce(self.d(real), 1) + bce(self.d(made.detach()), 0)
        self.d.requires_grad_(False)
        loss = loss + bce(self.d(made), 1)
        self.d.requires_grad_(True)
        return loss


def classify(model, x, target):
    return F.cross_entropy(model(x), target)


def label(model, x, target):
    return F.cross_entropy(model(x).flatten(0, 1), target.flatten())


def play(model, x, target):
    return model(x, target)


# The model, the shapes of x and of the target, the number of classes (0 for targets that are not
# classes), and the loss.
cases = {
    "tiny": (lambda: Perceptron(8, 16, 16, 4), (8, 8), (8,), 4, classify),
    "mlp": (lambda: Perceptron(784, 512, 512, 10), (64, 784), (64,), 10, classify),
    "mnist": (Digits, (64, 1, 28, 28), (64,), 10, classify),
    "cnn": (Pooled, (64, 1, 28, 28), (64,), 10, classify),
    "resnet18": (ResNet, (16, 3, 64, 64), (16,), 1000, classify),
    "transformer": (Encoder, (8, 128, 256), (8,), 10, classify),
    "lstm": (Sequence, (32, 50, 64), (32,), 10, classify),
    "gru": (Tagger, (32, 50, 64), (32, 50), 20, label),
    "unet": (UNet, (8, 3, 64, 64), (8, 64, 64), 4, classify),
    "vit": (VisionTransformer, (8, 3, 64, 64), (8,), 10, classify),
    "gpt": (Decoder, (8, 128, 256), (8, 128), 512, label),
    "gan": (GAN, (32, 1, 28, 28), (32, 64), 0, play),
}

make, shape, targets, classes, loss_of = cases[case]


def floats(shape):
    place = np.arange(int(np.prod(shape)), dtype=np.int64)
    return torch.from_numpy((place * 7919 % 2003 / 1001.5 - 1).astype(np.float32).reshape(shape))


def integers(shape):
    place = np.arange(int(np.prod(shape)), dtype=np.int64)
    return torch.from_numpy((place * 7919 % 2003 % classes).reshape(shape))


def set_dropout_to_zero(model):
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.p = 0.0
        if isinstance(m, nn.MultiheadAttention):
            m.dropout = 0.0


x = floats(shape)
target = integers(targets) if classes else floats(targets)
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
    loss = loss_of(model, x, target)
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

# The generated side has written its loss without dropout.
set_dropout_to_zero(model)
loss = step().item()
own = {name: p.grad.double() for name, p in model.named_parameters()}

# Both are compared with what float64 gives.
model, x = make().double(), x.double()
if not classes:
    target = target.double()
model.train()
set_dropout_to_zero(model)
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
    "Loss": abs(exact - state["loss"].item()) / abs(exact),
    "Differ": differ(state["loss"].item(), lambda name: state["grad/" + name].double()), "Own": differ(loss, own.get),
}))
