"""Measures kernels side by side, through jupyter_client as a front end would.

The kernels take turns within each round, so that whatever else the machine does
touches all of them. Nothing is judged here: the table is what was seen.

    python tests/bench_kernel.py [--kernel NAME ...] [--rounds N] [--cells N] [--json FILE]

Measured for each kernel:
  start        process start to the first kernel_info_reply
  first        the first cell
  trivial      round trip of a cell without output, to reply and idle
  print        the same for a cell that prints a word
  lines        100,000 printed lines: time to idle, rate, lines lost
  interrupt    interrupt_request to the reply of an endless loop
  memory       RSS of the kernel and everything below it, at start and after --cells cells
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

PROGRAM = Path(__file__).resolve().parent.parent / "build" / "warpbook"
LINES = 100_000
LIMIT = 300  # seconds for anything

# What the measurements run, by the kernelspec's language.
CODE = {
    "go": {
        "define": "counter := 0",
        "trivial": "counter++",
        "print": 'fmt.Println("x")',
        "lines": "for i := 0; i < %d; i++ {\n\tfmt.Println(i)\n}" % LINES,
        "loop": "for {\n}",
        "setup": 'import "fmt"',
    },
    "python": {
        "define": "counter = 0",
        "trivial": "counter += 1",
        "print": 'print("x")',
        "lines": "for i in range(%d):\n    print(i)" % LINES,
        "loop": "while True: pass",
        "setup": "pass",
    },
}


class Kernel:
    """A running kernel, timed."""

    def __init__(self, name):
        self.manager = KernelManager(kernel_name=name)
        begin = time.perf_counter()
        self.manager.start_kernel()
        self.client = self.manager.client()
        self.client.start_channels()
        self.ready()
        self.start = time.perf_counter() - begin
        language = self.manager.kernel_spec.language.lower()
        self.code = CODE["go" if language == "go" else "python"]
        self.client.wait_for_ready(timeout=60)

    def ready(self):
        """Asks for the kernel's info until it answers: a request to a kernel that does not listen yet waits."""
        self.client.kernel_info()
        while self.client.get_shell_msg(timeout=60)["msg_type"] != "kernel_info_reply":
            pass

    def run(self, code, text=None):
        """Seconds until a cell's reply and idle are both there; its stdout goes to text."""
        begin = time.perf_counter()
        msg = self.client.execute(code, allow_stdin=False)
        while True:
            m = self.client.get_iopub_msg(timeout=LIMIT)
            if m["parent_header"].get("msg_id") != msg:
                continue
            if text is not None and m["msg_type"] == "stream" and m["content"]["name"] == "stdout":
                text.append(m["content"]["text"])
            if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
                break
        reply = self.reply(msg)
        took = time.perf_counter() - begin
        if reply["status"] != "ok":
            raise RuntimeError(f"{code!r} failed: {reply.get('evalue')}")
        return took

    def reply(self, msg):
        while True:
            m = self.client.get_shell_msg(timeout=LIMIT)
            if m["parent_header"].get("msg_id") == msg:
                return m["content"]

    def interrupt(self):
        """Seconds from the interrupt to the end of an endless loop."""
        msg = self.client.execute(self.code["loop"], allow_stdin=False)
        while self.client.get_iopub_msg(timeout=LIMIT)["msg_type"] != "execute_input":
            pass
        time.sleep(1.0)  # a compiled cell is built first; let it come to its loop
        begin = time.perf_counter()
        self.manager.interrupt_kernel()
        reply = self.reply(msg)
        took = time.perf_counter() - begin
        if reply["status"] != "error":
            raise RuntimeError("the loop ended without an error")
        time.sleep(0.5)  # ipykernel aborts what arrives just after an error
        return took

    def processes(self):
        """Resident kilobytes of the kernel and everything below it, by process."""
        out = subprocess.run(["ps", "-eo", "pid=,ppid=,rss="], capture_output=True, text=True, check=True).stdout
        rows = [tuple(map(int, line.split())) for line in out.splitlines()]
        below = {self.manager.provisioner.pid}
        while True:
            more = {pid for pid, parent, _ in rows if parent in below} - below
            if not more:
                break
            below |= more
        return {pid: rss for pid, _, rss in rows if pid in below}

    def rss(self):
        """Resident megabytes of the kernel and everything below it."""
        return sum(self.processes().values()) / 1024

    def descriptors(self):
        """Open files of the kernel and everything below it."""
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.processes())

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def percentile(values, p):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(p / 100 * (len(ordered) - 1)))]


def measure(name, samples, interrupts):
    """One round for one kernel: its samples grow."""
    k = Kernel(name)
    try:
        samples["start_ms"].append(k.start * 1e3)
        k.run(k.code["setup"])
        samples["first_ms"].append(k.run(k.code["define"]) * 1e3)
        samples["rss_start_mb"].append(k.rss())
        samples["trivial_ms"] += [k.run(k.code["trivial"]) * 1e3 for _ in range(200)]
        k.run(k.code["print"])
        samples["print_ms"] += [k.run(k.code["print"]) * 1e3 for _ in range(200)]
        text = []
        took = k.run(k.code["lines"], text)
        got = "".join(text)
        samples["lines_mb_s"].append(len(got) / took / 1e6)
        samples["lines_s"].append(took)
        samples["lines_lost"].append(LINES - got.count("\n"))
        in_order = got == "".join(f"{i}\n" for i in range(LINES))
        samples["lines_in_order"].append(in_order)
        samples["interrupt_ms"] += [k.interrupt() * 1e3 for _ in range(interrupts)]
        k.run(k.code["trivial"])
    finally:
        k.close()


def memory(name, samples, cells):
    """RSS of a fresh kernel as its cells add up: at 0, at 1,000 and so on to cells."""
    k = Kernel(name)
    try:
        k.run(k.code["setup"])
        k.run(k.code["define"])
        marks = sorted({0, min(1000, cells), cells // 2, cells})
        for i in range(cells + 1):
            if i in marks:
                time.sleep(0.5)
                samples["rss_mb_at"].append((i, k.rss()))
            k.run(k.code["trivial"])
    finally:
        k.close()


KEYS = ("start_ms", "first_ms", "rss_start_mb", "trivial_ms", "print_ms", "lines_mb_s", "lines_s",
        "lines_lost", "lines_in_order", "interrupt_ms", "rss_mb_at")


def table(results):
    """Rows of text: what was measured, and a column for each kernel."""
    median = statistics.median
    lines = [
        ("start, ms", lambda s: f"{median(s['start_ms']):.0f} ({min(s['start_ms']):.0f} to {max(s['start_ms']):.0f})"),
        ("first cell, ms", lambda s: f"{median(s['first_ms']):.1f}"),
        ("trivial cell p50 / p99, ms", lambda s: f"{median(s['trivial_ms']):.2f} / {percentile(s['trivial_ms'], 99):.2f}"),
        ("print cell p50 / p99, ms", lambda s: f"{median(s['print_ms']):.2f} / {percentile(s['print_ms'], 99):.2f}"),
        (f"{LINES:,} lines, s", lambda s: f"{median(s['lines_s']):.2f}"),
        (f"{LINES:,} lines, MB/s", lambda s: f"{median(s['lines_mb_s']):.1f}"),
        ("lines lost / in order", lambda s: f"{max(s['lines_lost'])} / {all(s['lines_in_order'])}"),
        ("interrupt median / max, ms", lambda s: f"{median(s['interrupt_ms']):.1f} / {max(s['interrupt_ms']):.1f}" if s["interrupt_ms"] else "not measured"),
        ("RSS at start, MB", lambda s: f"{median(s['rss_start_mb']):.0f}"),
        ("RSS, MB, after n cells", lambda s: ", ".join(f"{n}: {mb:.0f}" for n, mb in s["rss_mb_at"])),
    ]
    rows = [["", *results]] + [[text, *(show(s) for s in results.values())] for text, show in lines]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows)


def kernelspecs(home):
    """Makes the built program's kernelspec, and ipykernel's of this Python, known for this run."""
    os.environ.update(WARPBOOK_DATA_DIR=str(home / "warpbook"), XDG_DATA_HOME=str(home / "share"), IPYTHONDIR=str(home / "ipython"))
    user = os.environ.get("JUPYTER_DATA_DIR", "")
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [user, str(Path.home() / ".local/share/jupyter"), os.environ.get("JUPYTER_PATH", "")]))
    os.environ["JUPYTER_DATA_DIR"] = str(home / "data")
    subprocess.run([PROGRAM, "install", "--program", PROGRAM], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", action="append", default=[], help="another kernelspec's name; may be repeated")
    parser.add_argument("--interrupts", type=int, default=5, help="interrupts in each round")
    parser.add_argument("--no-interrupt", action="append", default=[], help="a kernel that an interrupt ends, or that ignores it; may be repeated")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cells", type=int, default=1000, help="cells for the memory measurement; 0 leaves it out")
    parser.add_argument("--json", help="write every sample to this file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        kernelspecs(Path(home))
        known = KernelSpecManager().find_kernel_specs()
        names = ["warpbook", "python3", *args.kernel]
        missing = [n for n in names if n not in known]
        if missing:
            sys.exit(f"There is no kernelspec {', '.join(missing)}; there are {', '.join(sorted(known))}.")
        results = {n: {key: [] for key in KEYS} for n in names}
        for r in range(args.rounds):
            for name in names:
                print(f"round {r + 1} of {args.rounds}: {name}", file=sys.stderr, flush=True)
                measure(name, results[name], 0 if name in args.no_interrupt else args.interrupts)
        for name in names if args.cells else []:
            print(f"{args.cells} cells: {name}", file=sys.stderr, flush=True)
            memory(name, results[name], args.cells)
    print(f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {args.rounds} rounds, kernels interleaved")
    print(table(results))
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
