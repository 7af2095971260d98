"""Jupyter's own tools against the kernel, over real sockets."""

import re
import subprocess
import sys
import threading
import time

import nbformat
import pexpect
import pytest
from jupyter_client.blocking import BlockingKernelClient
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

from conftest import PROGRAM, TIMEOUT, results, run, stdout
from notebooks import notebook, texts


def execute(nb, **options):
    return NotebookClient(nb, timeout=TIMEOUT, kernel_name="warpbook", **options).execute()


class TestNbclient:
    def test_state_results_and_counts(self):
        nb = execute(notebook("# Title", "x := 20", "x + 22", 'fmt.Print("a\\nb\\n")', "type P struct{ X int }\nP{x}"))
        code = [c for c in nb.cells if c.cell_type == "code"]
        assert [c.execution_count for c in code] == [1, 2, 3, 4]
        assert code[0].outputs == []
        assert code[1].outputs[0]["data"]["text/plain"] == "42"
        assert texts(code[2]) == "a\nb\n"
        assert "20" in code[3].outputs[0]["data"]["text/plain"]
        nbformat.validate(nb)

    def test_error_stops_and_points_at_the_line(self):
        nb = notebook("x := 1", "y := x +\n\tundefinedName", 'fmt.Println("never")')
        with pytest.raises(CellExecutionError, match="undefinedName"):
            execute(nb)
        error = nb.cells[1].outputs[-1]
        plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
        assert error.output_type == "error"
        assert "undefinedName" in error["evalue"]
        assert re.search(r"cell ?\[2\].*2", plain), plain
        assert nb.cells[2].outputs == []

    def test_raises_exception_tag_goes_on(self):
        nb = notebook('panic("on purpose")', '"still here"')
        nb.cells[0].metadata["tags"] = ["raises-exception"]
        execute(nb)
        assert nb.cells[0].outputs[-1].output_type == "error"
        assert nb.cells[1].outputs[0]["data"]["text/plain"] == '"still here"'

    def test_display_updates_in_place(self):
        nb = execute(notebook('h := display.Markdown("first")', 'h.Update("second")'))
        assert len(nb.cells[0].outputs) == 1
        assert "second" in str(nb.cells[0].outputs[0]["data"])

    def test_timing_is_the_kernels(self):
        nb = execute(notebook("1"))
        timing = nb.cells[0].metadata.execution
        assert {"iopub.status.busy", "iopub.execute_input", "shell.execute_reply", "iopub.status.idle"} <= set(timing)
        assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", t) for t in timing.values())


def test_nbconvert_to_html():
    nb = execute(notebook("# A title", 'type T struct{ N int }\ndisplay.Table([]T{{1}, {2}})', 'fmt.Println("<tag>")'))
    html, _ = HTMLExporter().from_notebook_node(nb)
    assert "A title" in html
    assert "highlight" in html and '<span class="kd">type' in html.replace("hl-go", ""), "the code is not coloured as Go"
    assert "<table" in html
    assert "&lt;tag&gt;" in html


def test_papermill_parameters(tmp_path):
    nb = notebook("n := 1\nname := \"nobody\"", 'fmt.Println(n * 2, name)')
    nb.cells[0].metadata["tags"] = ["parameters"]
    source, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(nb, source)
    subprocess.run(
        [sys.executable, "-m", "papermill", source, out, "-p", "n", "3", "-p", "name", "x", "--no-progress-bar"],
        check=True,
        timeout=2 * TIMEOUT,
    )
    done = nbformat.read(out, as_version=4)
    assert done.cells[1].metadata.tags == ["injected-parameters"]
    assert texts(done.cells[2]) == "6 x\n"


def test_jupyter_console():
    console = pexpect.spawn(
        sys.executable,
        ["-m", "jupyter_console", "--kernel", "warpbook", "--simple-prompt"],
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    try:
        console.expect(r"In \[1\]:")
        console.sendline("40 + 2")
        console.expect(r"Out\[1\]: ?42")
        console.expect(r"In \[2\]:")
        console.sendline('fmt.Println("hello", "console")')
        console.expect("hello console")
        console.expect(r"In \[3\]:")
        console.sendeof()
        console.expect("exit")
        console.sendline("y")
        console.expect(pexpect.EOF)
    finally:
        console.close(force=True)


def test_two_clients_at_once(kernel):
    """Each client gets its own replies; both see everything that is published."""
    manager, first = kernel
    # Not manager.client(): that would share the first one's session and identity.
    second = BlockingKernelClient(connection_file=manager.connection_file)
    second.load_connection_file()
    second.start_channels()
    second.wait_for_ready(timeout=TIMEOUT)
    try:
        run(first, "shared := 1")
        seen = {}

        def loop(name, client):
            seen[name] = [results(run(client, f'"{name}" + fmt.Sprint({i})')[1]) for i in range(10)]

        threads = [threading.Thread(target=loop, args=a) for a in (("a", first), ("b", second))]
        for t in threads:
            t.start()
        for t in threads:
            t.join(TIMEOUT)
        for name in "ab":
            assert seen[name] == [[f'"{name}{i}"'] for i in range(10)]
        assert results(run(second, "shared")[1]) == ["1"]
    finally:
        second.stop_channels()


class TestKernel:
    def test_interrupt_keeps_the_state(self, kernel):
        manager, client = kernel
        run(client, "kept := 5")
        for code in ("for {\n}", "time.Sleep(time.Hour)", "<-make(chan int)"):
            msg = client.execute(code)
            while client.get_iopub_msg(timeout=TIMEOUT)["msg_type"] != "execute_input":
                pass
            time.sleep(0.3)
            manager.interrupt_kernel()
            while (reply := client.get_shell_msg(timeout=TIMEOUT))["parent_header"].get("msg_id") != msg:
                pass
            assert reply["content"]["status"] == "error", code
            assert results(run(client, "kept")[1]) == ["5"], code

    def test_stdin(self, client):
        asked = []

        def answer(message):
            asked.append(message["content"]["prompt"])
            client.input("Ada")

        seen = []
        client.execute_interactive(
            'var who string\nfmt.Scanln(&who)\nfmt.Println("hello", who)',
            allow_stdin=True, stdin_hook=answer, output_hook=seen.append, timeout=TIMEOUT,
        )
        assert len(asked) == 1
        assert "hello Ada\n" in stdout(seen)

    def test_every_line_arrives(self, client):
        """100,000 lines, in order, and then idle."""
        _, seen = run(client, "for i := range 100_000 {\n\tfmt.Println(i)\n}")
        assert stdout(seen) == "".join(f"{i}\n" for i in range(100_000))

    def test_exit_keeps_the_kernel(self, client):
        reply, _ = run(client, "os.Exit(3)")
        assert reply["status"] == "error"
        assert results(run(client, "1 + 1")[1]) == ["2"]

    def test_queue_behind_an_error_is_aborted(self, client):
        first = client.execute('time.Sleep(300 * time.Millisecond)\npanic("stop")')
        second = client.execute('fmt.Println("never")')
        replies = {}
        while len(replies) < 2:
            m = client.get_shell_msg(timeout=TIMEOUT)
            if m["msg_type"] == "execute_reply":
                replies[m["parent_header"]["msg_id"]] = m["content"]["status"]
        assert replies[first] == "error"
        assert replies[second] in ("aborted", "error")
        assert results(run(client, "2")[1]) == ["2"]

    def test_the_kernel_ends_with_its_client_process(self):
        """A front end that is killed leaves no kernel and no session behind."""
        code = (
            "import os, sys; from jupyter_client.manager import start_new_kernel as s;"
            "m, c = s(kernel_name='warpbook', startup_timeout=60); c.execute_interactive('x := 1', timeout=60);"
            "print(m.provisioner.pid, flush=True); os.kill(os.getpid(), 9)"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=2 * TIMEOUT)
        pid = int(out.stdout.split()[-1])
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and group(pid):
            time.sleep(0.2)
        assert group(pid) == []


def group(pid):
    """The processes of the group, or below, of the process that had this id."""
    out = subprocess.run(["ps", "-eo", "pid=,ppid=,pgid=,stat=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 4) for line in out.stdout.splitlines()]
    return [r for r in rows if str(pid) in r[:3] and not r[3].startswith("Z")]


class TestRun:
    """`warpbook run`: the same without Python."""

    def run(self, path, *args):
        return subprocess.run(
            [PROGRAM, "run", path, *args], capture_output=True, text=True, timeout=2 * TIMEOUT
        )

    def test_out_is_what_nbclient_records(self, tmp_path):
        sources = ("# T", "x := 1", "x + 1", 'fmt.Print("a\\n")\nfmt.Print("b\\n")', 'display.HTML("<b>x</b>")')
        source, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
        nbformat.write(notebook(*sources), source)
        done = self.run(source, "-o", out)
        assert done.returncode == 0, done.stderr
        ours, theirs = nbformat.read(out, as_version=4), execute(notebook(*sources), coalesce_streams=True)
        nbformat.validate(ours)
        for a, b in zip(ours.cells, theirs.cells):
            assert a.get("outputs") == b.get("outputs")
            assert a.get("execution_count") == b.get("execution_count")
            assert set(a.metadata.get("execution", {})) >= set(b.metadata.get("execution", {}))
        assert ours.metadata.language_info == theirs.metadata.language_info

    def test_error_ends_it_and_out_is_written(self, tmp_path):
        source, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
        nbformat.write(notebook('fmt.Println("one")', 'panic("on purpose")', '"never"'), source)
        done = self.run(source, "-o", out)
        assert done.returncode == 1
        assert "on purpose" in done.stderr
        nb = nbformat.read(out, as_version=4)
        assert texts(nb.cells[0]) == "one\n"
        assert nb.cells[1].outputs[-1].output_type == "error"
        assert nb.cells[2].outputs == []
        assert self.run(source, "--allow-errors").returncode == 0

    def test_timeout_interrupts(self, tmp_path):
        source = tmp_path / "in.ipynb"
        nbformat.write(notebook("for {\n}"), source)
        done = self.run(source, "--timeout", "2s")
        assert done.returncode == 1
        assert "2s" in done.stderr

    def test_broken_notebook(self, tmp_path):
        source = tmp_path / "in.ipynb"
        source.write_text('{"cells": [')
        done = self.run(source)
        assert done.returncode == 1
        assert "in.ipynb" in done.stderr


def test_kernel_starts_for_ipc(tmp_path):
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="warpbook", transport="ipc", ip=str(tmp_path / "ipc"))
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=TIMEOUT)
        assert results(run(client, "1 + 2")[1]) == ["3"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
