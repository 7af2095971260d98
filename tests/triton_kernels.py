"""Triton kernels of the shapes that the simulator's benchmarks run, and their time.

Run by bench_simulator.py in a process of its own, with TRITON_INTERPRET=1 for
Triton's interpreter on the CPU. Prints one JSON object: seconds a call by case.
"""

import argparse
import json
import math
import time

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, y, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    v = tl.load(x + row * stride + at, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + at, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def gemm_kernel(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ks = k + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + ks[None, :], mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        right = tl.load(b + ks[:, None] * N + columns[None, :], mask=(ks[:, None] < K) & (columns[None, :] < N), other=0.0)
        acc += tl.dot(left, right)
    acc += tl.load(bias + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    acc = tl.maximum(acc, 0.0)
    tl.store(c + rows[:, None] * N + columns[None, :], acc.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def attention_kernel(q, k, v, o, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + d[None, :], mask=rows[:, None] < N, other=0.0)
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, tl.minimum(N, (tl.program_id(0) + 1) * BM), BN):
        keys = start + tl.arange(0, BN)
        key = tl.load(k + keys[:, None] * D + d[None, :], mask=keys[:, None] < N, other=0.0)
        s = tl.dot(query, tl.trans(key)) * scale
        s = tl.where((keys[None, :] <= rows[:, None]) & (keys[None, :] < N), s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        fix = tl.exp(top - new)
        total = total * fix + tl.sum(p, axis=1)
        value = tl.load(v + keys[:, None] * D + d[None, :], mask=keys[:, None] < N, other=0.0)
        acc = acc * fix[:, None] + tl.dot(p.to(value.dtype), value)
        top = new
    tl.store(o + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty), mask=rows[:, None] < N)


def softmax(rows, columns):
    x = torch.randn(rows, columns)
    y = torch.empty_like(x)
    block = triton.next_power_of_2(columns)
    softmax_kernel[(rows,)](x, y, columns, columns, BLOCK=block)
    torch.testing.assert_close(y, torch.softmax(x, 1))
    return lambda: softmax_kernel[(rows,)](x, y, columns, columns, BLOCK=block)


def gemm(m, n, k):
    a, b, bias = torch.randn(m, k).half(), torch.randn(k, n).half(), torch.randn(n).half()
    c = torch.empty(m, n, dtype=torch.float16)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))

    def call():
        gemm_kernel[grid](a, b, bias, c, m, n, k, BM=64, BN=64, BK=32)

    call()
    torch.testing.assert_close(c.float(), torch.relu(a.float() @ b.float() + bias.float()), atol=0.02, rtol=0.02)
    return call


def attention(n, d):
    q, k, v = (torch.randn(n, d).half() for _ in range(3))
    o = torch.empty_like(q)
    scale = 1 / math.sqrt(d)

    def call():
        attention_kernel[(triton.cdiv(n, 64),)](q, k, v, o, n, scale, D=d, BM=64, BN=32)

    call()
    s = (q.float() @ k.float().T) * scale
    s = s.masked_fill(torch.triu(torch.ones(n, n, dtype=torch.bool), 1), -float("inf"))
    torch.testing.assert_close(o.float(), torch.softmax(s, 1) @ v.float(), atol=0.01, rtol=0.01)
    return call


CASES = {"softmax": softmax, "gemm": gemm, "attention": attention}


def seconds(call, least):
    """The median time of one call, over at least three calls and `least` seconds."""
    times = []
    while len(times) < 3 or sum(times) < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", nargs="+", help="NAME:AxBxC, for example gemm:256x256x256")
    parser.add_argument("--least", type=float, default=1.0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(2026)
    out = {"versions": {"torch": torch.__version__, "triton": triton.__version__}, "seconds": {}}
    for case in args.case:
        name, shape = case.split(":")
        out["seconds"][case] = seconds(CASES[name](*map(int, shape.split("x"))), args.least)
    print(json.dumps(out))


if __name__ == "__main__":
    main()
