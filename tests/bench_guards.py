"""What a learner can do wrong in a cell, and how long it takes to go on: in both engines.

    python tests/bench_guards.py [--rounds N] [--engine auto|compiled|yaegi ...]

The first table interrupts waits and loops: milliseconds from the interrupt_request
to the cell's idle. The second lets cells end in ways that guards catch: milliseconds
from the cell's start until the next cell has answered. After each, a variable that
was set before must have its value, except where the session is said to end: there
%replay must bring it back. Exits 1 when one of these does not hold.

A mode that refuses a cell (yaegi refuses what it cannot run exactly) is shown so.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench_kernel import PROGRAM, Kernel, kernelspecs, percentile

LIMIT = 60

WAITS = {
    "for {}": "for {\n}",
    "nested loops": "n := 0\nfor i := 0; ; i++ {\n\tfor j := 0; j < 1000; j++ {\n\t\tn += j\n\t}\n}",
    "select {}": "select {}",
    "receive on a nil channel": "var c chan int\n<-c",
    "time.Sleep(1h)": "time.Sleep(time.Hour)",
    "wg.Wait": "var wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()",
    "mutex deadlock": "var mu sync.Mutex\nmu.Lock()\nmu.Lock()",
    "fmt.Scan": "var s string\nfmt.Scan(&s)",
    "exec of a long command": 'exec.Command("sleep", "3600").Run()',
    "10,000 goroutines": "done := make(chan int)\nfor range 10000 {\n\tgo func() { <-done }()\n}\n<-done",
}

# Name: code, and whether the session ends.
ENDS = {
    "endless recursion": ("func down(n int) int { return down(n+1) + 1 }\ndown(0)", False),
    "panic in a goroutine after the cell": ('go func() { time.Sleep(20 * time.Millisecond); panic("late") }();', False),
    "os.Exit(3)": ("os.Exit(3)", False),
    "close of a closed channel": ("c2 := make(chan int)\nclose(c2)\nclose(c2)", False),
    "make of a huge slice": ("n2 := 1 << 62\n_ = make([]byte, n2)", False),
    "a million small allocations": ("var keep [][]byte\nfor range 1000000 {\n\tkeep = append(keep, make([]byte, 16))\n}\nkeep = nil", False),
    "concurrent map writes": ("m := map[int]int{}\nfor range 8 {\n\tgo func() { for i := 0; ; i++ { m[i%10] = i } }()\n}\ntime.Sleep(time.Second)", True),
    "the session killed": ("syscall.Kill(os.Getpid(), syscall.SIGKILL)", True),
}


def outcome(k, code, interrupt_after=None):
    """Runs a cell: seconds from the interrupt, or from the start, to idle; and the error's name."""
    msg = k.client.execute(code, allow_stdin=True)
    begin, name = time.perf_counter(), ""
    started = sent = False
    while True:
        if interrupt_after is not None and started and not sent and time.perf_counter() > begin + interrupt_after:
            sent, begin = True, time.perf_counter()
            k.manager.interrupt_kernel()
        try:
            m = k.client.get_iopub_msg(timeout=0.02 if interrupt_after is not None and not sent else LIMIT)
        except Exception:
            if sent or interrupt_after is None:
                raise
            continue
        if m["parent_header"].get("msg_id") != msg:
            continue
        if m["msg_type"] == "execute_input":
            started, begin = True, time.perf_counter()
        if m["msg_type"] == "error":
            name = m["content"]["ename"]
        if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
            took = time.perf_counter() - begin
            k.reply(msg)
            return took, name, sent


def value(k, expression):
    """The value of an expression, without its cell being counted."""
    msg = k.client.execute("", silent=True, user_expressions={"v": expression})
    return k.reply(msg)["user_expressions"]["v"].get("data", {}).get("text/plain")


def waits(k, mode, rounds):
    whole = True
    for name, code in WAITS.items():
        times, refused = [], ""
        for i in range(rounds):
            k.run(f"kept := {i}")
            # The first time a compiled cell is built before it waits.
            took, error, sent = outcome(k, code, 1.5 if i == 0 else 0.7)
            if not sent:
                refused = error
                break
            times.append(took * 1e3)
            time.sleep(0.05)
            if value(k, "kept") != str(i):
                whole = False
                print(f"STATE LOST: {mode}, {name}", file=sys.stderr)
        if refused:
            print(f"| {mode} | {name} | refused ({refused}) | | |")
        else:
            print(f"| {mode} | {name} | {percentile(times, 50):.0f} | {percentile(times, 99):.0f} | {max(times):.0f} |")
        sys.stdout.flush()
    return whole


def ends(k, mode, rounds):
    whole = True
    for name, (code, over) in ENDS.items():
        times, refused = [], ""
        for i in range(rounds):
            k.run(f"kept := {100 + i}")
            _, error, _ = outcome(k, code)
            begin = time.perf_counter()
            k.run("1 + 1")
            times.append((time.perf_counter() - begin) * 1e3)
            if "compile error" in error:
                refused = error
                break
            if over:
                k.run("%replay")
            if value(k, "kept") != str(100 + i):
                whole = False
                print(f"STATE LOST: {mode}, {name}", file=sys.stderr)
        row = f"refused ({refused}) | |" if refused else f"{percentile(times, 50):.0f} | {max(times):.0f} |"
        print(f"| {mode} | {name} | {'ends, %replay' if over else 'lives'} | {row}")
        sys.stdout.flush()
    return whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--engine", nargs="+", default=["auto", "compiled"])
    args = parser.parse_args()
    whole = True
    with tempfile.TemporaryDirectory() as home:
        kernelspecs(Path(home))
        print("| engine | interrupted | p50, ms | p99, ms | max, ms |\n|---|---|---|---|---|")
        for mode in args.engine:
            k = Kernel("warpbook")
            k.run(f"%engine {mode}")
            whole = waits(k, mode, args.rounds) and whole
            k.close()
        print("\n| engine | what | session | next cell p50, ms | max, ms |\n|---|---|---|---|---|")
        for mode in args.engine:
            k = Kernel("warpbook")
            k.run(f"%engine {mode}")
            whole = ends(k, mode, max(1, args.rounds // 4)) and whole
            k.close()
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
