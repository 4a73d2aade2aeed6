"""A SimpleFSDP-style model: sharded parameters, gathered in the forward through a parametrization.

Every layer has its own width, so that a collective can be told in a trace by its size alone.
"""
from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.nn.utils import parametrize

WIDTHS = (32, 48, 64, 80, 96, 16)
UNEVEN = (32, 47, 65, 81, 97, 17)  # rows that two ranks cannot share evenly: one pads, the other does not


class Gather(nn.Module):
    """The full weight of a shard; its gradient goes back by a reduce-scatter (of a whole weight, by an all-reduce)."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype  # in which the weight travels

    def forward(self, shard: DTensor) -> torch.Tensor:
        full = shard.to(self.dtype).redistribute(placements=[Replicate()])
        return full.to_local(grad_placements=[Partial("avg")]).float()


class Model(nn.Module):
    def __init__(self, widths: tuple[int, ...], extra: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(widths, widths[1:]))
        self.extra = extra  # one operator more: another graph

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
            if self.extra:
                x = x * 2.0
        return x.square().mean()


def build(world_size: int, kind: str = "plain") -> nn.Module:
    """The same weights on every rank and in every run. `kind`: "plain"; "extra", with more operators; "uneven"; "mixed",
    with weights that travel as bfloat16 and, behind them, two that are whole on every rank."""
    torch.manual_seed(0)
    model = Model(UNEVEN if kind == "uneven" else WIDTHS, kind == "extra")
    mesh = init_device_mesh("cpu", (world_size,))
    mixed = kind == "mixed"
    for index, layer in enumerate(model.layers):
        placement = Replicate() if mixed and index > 2 else Shard(0)
        layer.weight = nn.Parameter(distribute_tensor(layer.weight.detach(), mesh, [placement]))
        gather = Gather(torch.bfloat16 if mixed else torch.float32)
        parametrize.register_parametrization(layer, "weight", gather, unsafe=True)
    return model


def batch(rank: int) -> torch.Tensor:
    torch.manual_seed(100 + rank)
    return torch.randn(24, WIDTHS[0])


def train(model: Any, step: Any, rank: int, steps: int = 3) -> list[torch.Tensor]:
    """Losses and gradients of some steps, in one list."""
    out: list[torch.Tensor] = []
    for _ in range(steps):
        loss = step(batch(rank))
        loss.backward()
        out.append(loss.detach().clone())
        with torch.no_grad():
            for parameter in model.parameters():
                out.append(parameter.grad._local_tensor.clone())
                parameter._local_tensor.sub_(parameter.grad._local_tensor, alpha=0.1)
                parameter.grad = None
    return out
