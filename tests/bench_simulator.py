"""The CUDA simulator beside Triton's interpreter, on the same shapes and machine.

    python tests/bench_simulator.py --triton PYTHON

runs `go test -bench Simulator` of cuda/sim (all checkers on) and, in the given
Python, which needs torch, triton and numpy 2.2, triton_kernels.py with
TRITON_INTERPRET=1. Prints one Markdown table. Without --triton that half is left
out, by name.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
CASES = {"softmax/256x1024": "softmax:256x1024", "gemm/256x256x256": "gemm:256x256x256", "attention/256x64": "attention:256x64", "empty/1x1x1": None}


def simulator():
    out = subprocess.run(
        ["go", "test", "-run", "xxx", "-bench", "Simulator", "-benchtime", "2s", "./cuda/sim"],
        cwd=HERE.parent, check=True, capture_output=True, text=True,
    ).stdout
    found = re.findall(r"BenchmarkSimulator/(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+([\d.]+) Mops/s/core", out)
    return {name: (float(ns) / 1e9, float(ops)) for name, ns, ops in found}


def interpreter(python):
    env = dict(os.environ, TRITON_INTERPRET="1", CUDA_VISIBLE_DEVICES="")
    cases = [c for c in CASES.values() if c]
    out = subprocess.run([python, str(HERE / "triton_kernels.py"), *cases], env=env, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triton", help="a Python that has torch and triton")
    args = parser.parse_args()
    ours = simulator()
    theirs = interpreter(args.triton) if args.triton else None
    print("| kernel | simulator, ms | million lane operations/s a core | Triton's interpreter, ms | ratio |")
    print("|---|---|---|---|---|")
    for name, case in CASES.items():
        seconds, ops = ours[name]
        other = theirs["seconds"][case] if theirs and case else None
        print(f"| {name} | {seconds * 1e3:.3f} | {ops:.0f} | {'' if other is None else f'{other * 1e3:.1f}'} | {'' if other is None else f'{other / seconds:.1f}'} |")
    print("versions:", theirs["versions"] if theirs else "Triton's interpreter was left out: no --triton")


if __name__ == "__main__":
    main()
