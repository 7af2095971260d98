"""Every lesson's notebooks, run as `make lab ARGS=--headless` runs one: without a browser."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest

from conftest import PROGRAM, ROOT

SOLUTIONS = sorted((ROOT / "notebooks").glob("*_solution.ipynb"))
CHECKS = {"01": 22, "02": 20, "03": 28, "04": 11, "05": 24, "06": 28}


def ran(path, out):
    """Runs a notebook and returns the text of all outputs; a cell that fails is an error."""
    done = subprocess.run([PROGRAM, "run", path, "-o", out, "--timeout", "3m"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    cells = [c for c in nbformat.read(out, 4).cells if c.cell_type == "code"]
    assert all(c.execution_count for c in cells)
    return "\n".join(str(o.get("text", "")) + str(o.get("data", {}).get("text/plain", "")) for c in cells for o in c.outputs)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """All notebooks, run as many at a time as there are processors: each mostly waits for a compiler."""
    out = tmp_path_factory.mktemp("lessons")
    paths = [p for s in SOLUTIONS for p in (s, starter(s))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield dict(zip(paths, [pool.submit(ran, p, out / p.name) for p in paths]))


def starter(path):
    return path.with_name(path.name.replace("_solution", ""))


def test_there_are_six():
    assert [p.name[:2] for p in SOLUTIONS] == sorted(CHECKS)


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda p: p.stem)
def test_solution_passes(path, runs):
    n = CHECKS[path.name[:2]]
    text = runs[path].result()
    assert f"{n} of {n} checks passed." in text
    assert not re.search(r"no (profile|result) yet", text)


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda p: starter(p).stem)
def test_starter_is_all_to_do(path, runs):
    n = CHECKS[path.name[:2]]
    assert f"0 of {n} checks passed, {n} to do" in runs[starter(path)].result()
