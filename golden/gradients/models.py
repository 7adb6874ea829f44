"""Writes models of this folder, NAME.onnx, with inputs and what PyTorch computes of them,
NAME.json: the loss and its gradients with respect to the parameters, in training.

Run it where the file is, with PyTorch 1.13: python3 models.py
"""
import json

import torch
import torch.nn as N
import torch.nn.functional as F


class Loss(N.Module):
    """The mean square of what a module computes less a target."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, target):
        return ((self.net(x) - target) ** 2).mean()


class Block(N.Module):
    """A block of a transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = N.LayerNorm(width), N.LayerNorm(width)
        self.qkv, self.out = N.Linear(width, 3 * width), N.Linear(width, width)
        self.up, self.down = N.Linear(width, 4 * width), N.Linear(4 * width, width)

    def forward(self, x):
        b, s, w = 2, 5, 8
        q, k, v = self.qkv(self.norm1(x)).reshape(b, s, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        share = torch.softmax(q @ k.transpose(2, 3) / (w // self.heads) ** 0.5, -1)
        x = x + self.out((share @ v).transpose(1, 2).reshape(b, s, w))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Last(N.Module):
    """Scores of the last step of a recurrent layer."""

    def __init__(self, layer, hidden):
        super().__init__()
        self.layer, self.scores = layer, N.Linear(hidden, 3)

    def forward(self, x):
        return self.scores(self.layer(x)[0][:, -1])


class Residual(N.Module):
    """A block of a residual network, with an activation that has no kinks: of one that has,
    the slightest difference of an operand may flip a whole element of the gradient."""

    def __init__(self, a, b, stride):
        super().__init__()
        self.conv1, self.bn1 = N.Conv2d(a, b, 3, stride, 1, bias=False), N.BatchNorm2d(b)
        self.conv2, self.bn2 = N.Conv2d(b, b, 3, 1, 1, bias=False), N.BatchNorm2d(b)
        self.down = None
        if stride != 1:
            self.down = N.Sequential(N.Conv2d(a, b, 1, stride, bias=False), N.BatchNorm2d(b))

    def forward(self, x):
        y = self.bn2(self.conv2(torch.tanh(self.bn1(self.conv1(x)))))
        return torch.tanh(y + (x if self.down is None else self.down(x)))


def write(name, net, x, target):
    torch.manual_seed(len(name))
    loss = Loss(net)
    with torch.no_grad():
        for p in loss.parameters():
            p.copy_(torch.round((p + 0.1 * torch.randn(p.shape)) * 256) / 256)
    x, target = (torch.round(t * 256) / 256 for t in (x, target))
    loss.eval()
    torch.onnx.export(loss, (x, target), name + ".onnx", input_names=["x", "target"], output_names=["loss"],
                      opset_version=14, do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
    loss.train()
    value = loss.double()(x.double(), target.double())
    value.backward()
    data = {"Inputs": [], "Loss": value.item(), "Gradients": {}}
    for t in (x, target):
        data["Inputs"].append({"Shape": list(t.shape), "Data": t.flatten().tolist()})
    for k, p in loss.named_parameters():
        data["Gradients"][k] = [float("%.7g" % v) for v in p.grad.flatten().tolist()]
    with open(name + ".json", "w") as f:
        json.dump(data, f)
        f.write("\n")


torch.manual_seed(1)
cnn = N.Sequential(N.Conv2d(2, 4, 3, padding=1), N.BatchNorm2d(4), N.ReLU(), N.MaxPool2d(2),
                   N.Conv2d(4, 6, 3, stride=2, groups=2, bias=False), N.BatchNorm2d(6), N.LeakyReLU(0.1),
                   N.AvgPool2d(2), N.Flatten(), N.Linear(6, 3))
write("cnn", cnn, torch.randn(4, 2, 12, 12), torch.randn(4, 3))
write("transformer", Block(8, 2), torch.randn(2, 5, 8), torch.randn(2, 5, 8))
write("lstm", Last(N.LSTM(4, 5, num_layers=2, batch_first=True), 5), torch.randn(3, 6, 4), torch.randn(3, 3))
write("gru", Last(N.GRU(4, 5, bidirectional=True, batch_first=True), 10), torch.randn(3, 6, 4), torch.randn(3, 3))
resnet = N.Sequential(N.Conv2d(2, 6, 3, 1, 1, bias=False), N.BatchNorm2d(6), N.Tanh(),
                      Residual(6, 6, 1), Residual(6, 10, 2), Residual(10, 10, 1), N.Flatten(), N.Linear(160, 3))
write("resnet", resnet, torch.randn(5, 2, 8, 8), torch.randn(5, 3))
