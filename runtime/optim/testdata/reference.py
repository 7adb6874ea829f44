"""Writes reference.json: what PyTorch's optimizers and schedules compute.

    python3 reference.py > reference.json

The optimizers work in float64 on two parameters, a of 3x5 and b of 7 elements, whose
values and gradients are the fractions below, which the test computes itself. In step 6
b has no gradient.
"""

import json
import sys

import torch

STEPS = 20


def value(i):
    return ((i * 13) % 29 - 14) / 8


def gradient(step, i):
    return ((step * 31 + i * 17) % 23 - 11) / 16


OPTIMIZERS = [
    ("sgd", torch.optim.SGD, {}),
    ("sgd, weight decay", torch.optim.SGD, {"weight_decay": 0.1}),
    ("sgd, momentum", torch.optim.SGD, {"momentum": 0.9}),
    ("sgd, dampening", torch.optim.SGD, {"momentum": 0.8, "dampening": 0.3, "weight_decay": 0.05}),
    ("sgd, nesterov", torch.optim.SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.05}),
    ("adam", torch.optim.Adam, {}),
    ("adam, all", torch.optim.Adam, {"betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    ("adam, amsgrad", torch.optim.Adam, {"betas": (0.8, 0.7), "amsgrad": True}),
    ("adamw", torch.optim.AdamW, {}),
    ("adamw, all", torch.optim.AdamW, {"betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.2}),
    ("adamw, amsgrad", torch.optim.AdamW, {"betas": (0.8, 0.7), "weight_decay": 0, "amsgrad": True}),
    ("adagrad", torch.optim.Adagrad, {}),
    ("adagrad, all", torch.optim.Adagrad,
     {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3}),
    ("rmsprop", torch.optim.RMSprop, {}),
    ("rmsprop, momentum", torch.optim.RMSprop, {"alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.7}),
    ("rmsprop, centered", torch.optim.RMSprop, {"centered": True, "eps": 1e-3}),
    ("rmsprop, centered, momentum", torch.optim.RMSprop,
     {"alpha": 0.9, "centered": True, "momentum": 0.7, "eps": 1e-3}),
]


def run(make, options):
    a = torch.nn.Parameter(torch.tensor([value(i) for i in range(15)], dtype=torch.float64).view(3, 5))
    b = torch.nn.Parameter(torch.tensor([value(15 + i) for i in range(7)], dtype=torch.float64))
    optimizer = make([a, b], lr=0.1, **options)
    after = {}
    for step in range(STEPS):
        a.grad = torch.tensor([gradient(step, i) for i in range(15)], dtype=torch.float64).view(3, 5)
        b.grad = None
        if step != 6:
            b.grad = torch.tensor([gradient(step, 15 + i) for i in range(7)], dtype=torch.float64)
        optimizer.param_groups[0]["lr"] = 0.1 / (1 + step % 3)
        optimizer.step()
        if step in (0, 1, 6, STEPS - 1):
            after[str(step)] = a.detach().flatten().tolist() + b.detach().tolist()
    return after


def rates(make, options, n=40):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    schedule = make(optimizer, **options)
    out = []
    for _ in range(n):
        out.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if len(out) < n:
            schedule.step()
    return out


S = torch.optim.lr_scheduler
SCHEDULES = [
    ("constant", S.ConstantLR, {"factor": 1.0}, 40),
    ("linear", S.LinearLR, {"start_factor": 0.25, "end_factor": 0.75, "total_iters": 30}, 40),
    ("cosine", S.CosineAnnealingLR, {"T_max": 30, "eta_min": 0.125}, 31),
    ("exponential", S.ExponentialLR, {"gamma": 0.9}, 40),
    ("step", S.StepLR, {"step_size": 7, "gamma": 0.5}, 40),
    ("one cycle", S.OneCycleLR, {"max_lr": 0.5, "total_steps": 40}, 40),
]


def sequential(optimizer):
    return S.SequentialLR(optimizer, [
        S.LinearLR(optimizer, start_factor=0.1, end_factor=1.0, total_iters=10),
        S.ExponentialLR(optimizer, gamma=0.9),
    ], milestones=[10])


def product(optimizer):
    return S.ChainedScheduler([
        S.LinearLR(optimizer, start_factor=0.1, end_factor=1.0, total_iters=10),
        S.ExponentialLR(optimizer, gamma=0.9),
    ])


SCHEDULES += [("sequential", sequential, {}, 40), ("composed", product, {}, 40)]


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def bowl(x):
    scale = torch.arange(1, x.numel() + 1, dtype=x.dtype)
    return (scale * (x - 1) ** 2).sum() + (x.sum() - 3) ** 4 / 64


def lbfgs(loss, start, lr, options):
    x = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    optimizer = torch.optim.LBFGS([x], lr=lr, line_search_fn="strong_wolfe", **options)
    trace = []

    def closure():
        optimizer.zero_grad()
        f = loss(x)
        f.backward()
        return f

    for _ in range(4):
        before = float(optimizer.step(closure))
        state = optimizer.state[x]
        trace.append({"loss": before, "x": x.detach().tolist(), "iterations": state["n_iter"], "evaluations": state["func_evals"]})
    return trace


LBFGS = [
    ("bowl", bowl, [(i * 7 % 11 - 5) / 4 for i in range(8)], 1.0, {"max_iter": 4}),
    ("bowl, short history", bowl, [(i * 7 % 11 - 5) / 4 for i in range(8)], 0.5, {"max_iter": 4, "history_size": 2}),
    ("rosenbrock", rosenbrock, [-1.25, 1.0], 1.0, {"max_iter": 5}),
    ("rosenbrock, far", rosenbrock, [-1.25, 1.0, 2.0, -0.5], 1.0, {"max_iter": 4, "max_eval": 6}),
]

json.dump({
    "torch": torch.__version__,
    "optimizers": {name: run(make, options) for name, make, options in OPTIMIZERS},
    "schedules": {name: rates(make, options, n) for name, make, options, n in SCHEDULES},
    "lbfgs": {name: lbfgs(loss, start, lr, options) for name, loss, start, lr, options in LBFGS},
}, sys.stdout, indent=0)
