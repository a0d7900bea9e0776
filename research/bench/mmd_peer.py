"""The loss of JAN and IWJAN, forward and backward, in PyTorch, one thread.

usage: mmd_peer.py loop|vectorised jan|iwjan ITERATIONS
loop visits every pair of rows in Python, as the released code does; vectorised does what
package losses does, with the constant part computed once. Prints the milliseconds, the loss and the sum of the absolute
gradient of the source's features; losses/bench_test.go computes the same on the same
numbers.
"""
import sys

import torch

from timing import report

ROWS, FEATURES, CLASSES = 36, 256, 31


def numbers(stream, shift, rows, columns):
    """Values of unit variance around shift, the same as the benchmark in Go draws."""
    values = [12 ** 0.5 * ((i * i * 2654435761 + stream * 40503 * 65537) % 2 ** 32 / 2 ** 32 - 0.5) + shift
              for i in range(rows * columns)]
    return torch.tensor(values, dtype=torch.float64).float().view(rows, columns)


def loop_kernel(x, count, sigma):
    n = x.shape[0]
    distances = ((x.unsqueeze(0) - x.unsqueeze(1)) ** 2).sum(2)
    bandwidth = sigma if sigma else distances.detach().sum() / (n * n - n) / 2 ** (count // 2)
    return sum([torch.exp(-distances / (bandwidth * 2 ** i)) for i in range(count)])


def loop(zs, zt, ps, pt, w):
    b = zs.shape[0]
    kernel = loop_kernel(torch.cat([zs, zt]), 5, None) * loop_kernel(torch.cat([ps, pt]), 1, 1.68)
    within = across = 0
    for i in range(b):
        for j in range(i + 1, b):
            source, target = kernel[i, j], kernel[b + i, b + j]
            within = within + (source + target if w is None else w[i] * w[j] * source + target)
    for i in range(b):
        for j in range(b):
            one, other = kernel[i, b + j], kernel[j, b + i]
            across = across + (one + other if w is None else w[i] * one + w[j] * other)
    return within / (b * (b - 1) / 2) - across / b ** 2


def vectorised_kernel(x, count, sigma):
    """Distances by one matrix product, and one exponential: each kernel is the square of the next wider one."""
    n = x.shape[0]
    squares = x.square().sum(1)
    distances = (squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * x @ x.t()).clamp_min(0)
    bandwidth = sigma if sigma else distances.detach().sum() / (n * n - n) / 2 ** (count // 2)
    kernel = torch.exp(distances / (-bandwidth * 2 ** (count - 1)))
    total = kernel
    for _ in range(count - 1):
        kernel = kernel.square()
        total = total + kernel
    return total


def vectorised(zs, zt, ps, pt, w):
    b = zs.shape[0]
    kernel = vectorised_kernel(torch.cat([zs, zt]), 5, None) * vectorised_kernel(torch.cat([ps, pt]), 1, 1.68)
    v = torch.cat([torch.ones(b) if w is None else w, -torch.ones(b)])
    return (kernel * torch.outer(v, v) * SHARES).sum()


def shares(b):
    within = (1 - torch.eye(b)) / (b * (b - 1))
    across = torch.full((b, b), 1 / b ** 2)
    return torch.cat([torch.cat([within, across], 1), torch.cat([across, within], 1)])


SHARES = shares(ROWS)


def main(form, method, iterations):
    torch.set_num_threads(1)
    inputs = [numbers(0, 0, ROWS, FEATURES), numbers(1, 0.3, ROWS, FEATURES),
              numbers(2, 0, ROWS, CLASSES), numbers(3, 0.3, ROWS, CLASSES)]
    w = None
    if method == "iwjan":
        w = torch.tensor([0.5 + (i % CLASSES) / 30 for i in range(ROWS)])
    compute = {"loop": loop, "vectorised": vectorised}[form]

    def work(_):
        zs, zt, ls, lt = [x.detach().requires_grad_() for x in inputs]
        loss = compute(zs, zt, ls.softmax(1), lt.softmax(1), w)
        loss.backward()
        return loss.item(), zs.grad.abs().sum().item()

    loss, gradient = work(0)
    report(work, iterations, loss=loss, gradient=gradient)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
