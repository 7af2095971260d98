"""How long a cell takes, beside other Go kernels, in turns in one run.

    python tests/bench_cells.py [--kernel NAME ...] [--rounds N] [--cells N] [--soak N]

statement: a statement over a session's variable. function: a cell that declares a
function and calls it, which Warpbook compiles. first function: the same, as the
first cell of a session. --soak runs N mixed cells in Warpbook and tells memory and
open descriptors before and after. A kernel that is not installed is named and left
out.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

from bench_kernel import Kernel, kernelspecs, percentile

FUNCTION = "func double{n}(x int) int {{\n\tfor i := 0; i < {n}; i++ {{\n\t\tx += i\n\t}}\n\treturn 2 * x\n}}\n"
CALL = "counter = double{n}({n})"


class Style:
    """How a kernel is spoken to: GoNB keeps declarations only and runs cells as programs."""

    def __init__(self, name):
        self.gonb = "gonb" in name
        self.setup = ["var counter int"] if self.gonb else ['import "fmt"', "counter := 0"]

    def statement(self):
        return "%%\ncounter++" if self.gonb else "counter++"

    def function(self, n):
        return FUNCTION.format(n=n) + ("%%\n" if self.gonb else "") + CALL.format(n=n)


def measure(name, samples, cells):
    style = Style(name)
    k = Kernel(name)
    try:
        for code in style.setup:
            k.run(code)
        samples["first"].append(k.run(style.function(1)) * 1e3)
        for n in range(cells):
            samples["function"].append(k.run(style.function(n + 2)) * 1e3)
        for _ in range(cells * 4):
            samples["statement"].append(k.run(style.statement()) * 1e3)
    finally:
        k.close()


def soak(cells):
    """Statements, declarations, functions, errors and output, one after the other."""
    k = Kernel("warpbook")
    try:
        k.run("counter := 0")
        for n in range(10):
            k.run(FUNCTION.format(n=n))
        before, files = k.rss(), k.descriptors()
        compiled = 0
        begin = time.perf_counter()
        for n in range(10, cells + 10):
            kind = n % 5
            if kind == 0:
                k.run(FUNCTION.format(n=n) + CALL.format(n=n))
                compiled += 1
            elif kind == 1:
                k.run(f"fmt.Println({n}, counter)")
            elif kind == 2:
                k.run("counter++")
            elif kind == 3:
                k.reply(k.client.execute("counter + nothing"))
                time.sleep(0.05)  # what arrives just after an error is aborted
            else:
                k.run(f'display.HTML("<b>{n}</b>");')
        took = time.perf_counter() - begin
        after, open_now = k.rss(), k.descriptors()
        print(f"soak: {cells} cells, {compiled} of them compiled, {took:.0f} s; memory {before:.0f} to {after:.0f} MB, "
              f"{(after - before) / max(compiled, 1):.2f} MB a compiled cell; descriptors {files} to {open_now}")
    finally:
        k.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--soak", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        kernelspecs(Path(home))
        known = KernelSpecManager().find_kernel_specs()
        names = ["warpbook"]
        for name in args.kernel:
            if name in known:
                names.append(name)
            else:
                print(f"{name} is not installed here and is left out", file=sys.stderr)
        results = {n: {"first": [], "function": [], "statement": []} for n in names}
        for _ in range(args.rounds):
            for name in names:
                measure(name, results[name], args.cells)
        print("| kernel | statement p50, ms | p99 | function p50, ms | p99 | first function, ms |\n|---|---|---|---|---|---|")
        for name, r in results.items():
            print(f"| {name} | {percentile(r['statement'], 50):.2f} | {percentile(r['statement'], 99):.1f} | "
                  f"{percentile(r['function'], 50):.0f} | {percentile(r['function'], 99):.0f} | {percentile(r['first'], 50):.0f} |")
        if args.soak:
            soak(args.soak)


if __name__ == "__main__":
    main()
