"""Minimum class confusion (Jin, Wang, Long and Wang 2020), the peer: a perceptron of 256 units with their loss on the target."""
import torch
from torch import nn
from torch.nn import functional as F

UNITS, TEMPERATURE, RATE, BATCH, STEPS = 256, 2.5, 1e-3, 128, 4000


def class_confusion(logits, temperature=TEMPERATURE):
    """The loss of rows × classes: what of the classes' correlation in the predictions, rows that are
    certain counting more and each class alike, is confusion of two classes."""
    p = torch.softmax(logits / temperature, dim=1)
    entropy = -(p * torch.log(p + 1e-5)).sum(dim=1)
    weights = (1 + torch.exp(-entropy)).detach()
    weights = weights / weights.mean()
    confusion = p.t() @ (weights[:, None] * p)
    confusion = confusion / confusion.sum(dim=1, keepdim=True)
    return (confusion.sum() - confusion.trace()) / logits.shape[1]


def probabilities(source, labels, target, classes, steps=STEPS, seed=1):
    """Trains on source rows with labels (0 to classes-1) and target rows without; the target's
    rows × classes. Rows are standardised already."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    source, target, labels = (torch.as_tensor(part) for part in (source, target, labels))
    net = nn.Sequential(nn.Linear(source.shape[1], UNITS), nn.ReLU(), nn.Linear(UNITS, classes))
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    for _ in range(steps):
        s, t = (torch.randperm(len(rows))[:BATCH] for rows in (source, target))
        loss = F.cross_entropy(net(source[s]), labels[s]) + class_confusion(net(target[t]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return torch.softmax(net(target), dim=1).numpy()
