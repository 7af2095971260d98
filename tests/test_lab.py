"""The kernel in JupyterLab, as a learner meets it. Screenshots go to test-artifacts/."""

import re
import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from conftest import ARTIFACTS, ROOT
from lab import Notebook, browser_page, server
from notebooks import notebook

ERROR = '[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type="application/vnd.jupyter.error"]'
LESSON = "04_online_normalizer.ipynb"


@pytest.fixture(scope="module")
def address(kernelspec, tmp_path_factory):
    root = tmp_path_factory.mktemp("lab")
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, root)
    nbformat.write(notebook("# Scratch", "x := 20"), root / "scratch.ipynb")
    with server(root, kernelspec) as address:
        yield address


@pytest.fixture(scope="module")
def page():
    with browser_page() as page:
        yield page


@pytest.fixture
def scratch(page, address, request):
    """An open notebook; a screenshot of how the test left it is kept."""
    nb = Notebook(page, address, "scratch.ipynb")
    yield nb
    nb.shot(ARTIFACTS / f"{request.node.name}.png")
    page.evaluate("() => { window.onbeforeunload = null }")


def output(cell):
    return cell.locator(".jp-OutputArea-output")


@pytest.mark.parametrize("name", [LESSON, LESSON.replace(".ipynb", "_solution.ipynb")])
def test_lesson_runs_whole(page, address, name):
    """Run all: no cell fails, and every code cell has run."""
    nb = Notebook(page, address, name)
    nb.shot(ARTIFACTS / f"{name}-open.png")
    nb.run_all()
    nb.finished()
    expect(nb.cells().locator(".jp-InputPrompt")).to_have_text([re.compile(r"\[\d+\]:")] * nb.cells().count())
    expect(nb.panel.locator(ERROR)).to_have_count(0)
    check = nb.cells().filter(has_text="Summarize, Merge, StreamingSoftmax)").last
    expect(check.locator(".jp-RenderedHTML table")).to_be_visible()
    if name != LESSON:
        expect(check).to_contain_text("11 of 11 checks passed")
    check.evaluate("cell => cell.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(500)  # for the picture; docs/lesson.png is the solution's
    nb.shot(ARTIFACTS / f"{name}-ran.png")


def test_softmax_lesson_as_a_learner(page, address):
    """All is to do; a wrong kernel's finding names its line; the right one passes."""
    nb = Notebook(page, address, "01_strided_softmax.ipynb")
    nb.run_all()
    nb.finished()
    expect(nb.panel.locator(ERROR)).to_have_count(0)
    kernel, function, check = (nb.panel.locator(".jp-CodeCell").filter(has_text=text).first for text in
                               ("%%cuda kernels", "func Softmax(", 'workshops.Check("strided_softmax"'))
    expect(check).to_contain_text("0 of 22 checks passed, 22 to do")
    check.evaluate("cell => cell.scrollIntoView({block: 'start'})")
    nb.shot(ARTIFACTS / "softmax-lesson-todo.png")

    answers = {cell.id: cell.source for cell in nbformat.read(ROOT / "notebooks" / "01_strided_softmax_solution.ipynb", 4).cells}
    wrong = answers["kernel"].replace("c < columns; c += blockDim.x) out[c]", "c <= columns; c += blockDim.x) out[c]")
    assert wrong != answers["kernel"]
    line = next(i for i, text in enumerate(wrong.split("\n"), 1) if "c <= columns" in text)
    nb.edit(kernel, wrong)
    nb.edit(function, answers["function"])
    nb.rerun(check)
    expect(check).to_contain_text("kernels access only what is theirs")
    expect(check).to_contain_text(re.compile(rf"cell \[\d+\], line {line}"))
    check.evaluate("cell => cell.scrollIntoView({block: 'start'})")
    nb.shot(ARTIFACTS / "softmax-lesson-wrong.png")

    nb.edit(kernel, answers["kernel"])
    nb.rerun(check)
    expect(check).to_contain_text("22 of 22 checks passed")
    check.evaluate("cell => cell.scrollIntoView({block: 'start'})")
    nb.shot(ARTIFACTS / "softmax-lesson-right.png")
    page.evaluate("() => { window.onbeforeunload = null }")


def test_a_typed_cell(scratch):
    cell = scratch.run("y := 40 + 2\ny")
    expect(output(cell).last).to_have_text("42")


def test_completion_shows_types(scratch):
    popup = scratch.complete("strings.ToU")
    expect(popup.locator(".jp-Completer-match").first).to_contain_text("ToUpper")
    expect(popup.locator(".jp-Completer-typeExtended").first).to_have_text("function")


def test_tooltip_shows_signature_and_doc(scratch):
    tip = scratch.tooltip("strings.Split")
    expect(tip).to_contain_text("func strings.Split(s string, sep string) []string")
    expect(tip).to_contain_text("slices s into all substrings")


def test_interrupt_a_loop(scratch):
    scratch.run("kept := 7")
    cell = scratch.run("for {\n}", wait=False)
    expect(cell.locator(".jp-InputPrompt")).to_have_text("[*]:")
    scratch.page.wait_for_timeout(1000)
    scratch.interrupt()
    expect(cell.locator(ERROR)).to_contain_text("interrupt")
    expect(output(scratch.run("kept")).last).to_have_text("7")


def test_restart_forgets(scratch):
    scratch.run("gone := 1")
    scratch.restart()
    cell = scratch.run("gone")
    expect(cell.locator(ERROR)).to_contain_text("gone")
    expect(output(scratch.run("1 + 1")).last).to_have_text("2")


def test_input(scratch):
    cell = scratch.run('var who string\nfmt.Print("who? ")\nfmt.Scanln(&who)\nfmt.Println("hello", who)', wait=False)
    scratch.answer(cell, "Ada")
    expect(cell).to_contain_text("hello Ada")


RICH = {
    "html": ('display.HTML("<b class=mine>bold</b>")', ".jp-RenderedHTML b.mine"),
    "markdown": ('display.Markdown("**bold** $x^2$")', ".jp-RenderedMarkdown strong"),
    "latex": ('display.LaTeX("$$\\\\int_0^1 x^2$$")', ".jp-RenderedLatex mjx-container"),
    "picture": ("image.NewRGBA(image.Rect(0, 0, 64, 32))", '[data-mime-type="image/png"] img'),
    "table": ("type Row struct{ Name string; N int }\ndisplay.Table([]Row{{\"a\", 1}, {\"b\", 20}})", ".jp-RenderedHTML table"),
    "plot": ("display.Line(\"squares\", []float64{1, 2, 3}, []float64{1, 4, 9})", '[data-mime-type="image/svg+xml"] img'),
    "vega": (
        'display.VegaLite(map[string]any{"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": "bar",'
        ' "data": map[string]any{"values": []map[string]any{{"a": "x", "b": 3}, {"a": "y", "b": 5}}},'
        ' "encoding": map[string]any{"x": map[string]any{"field": "a", "type": "nominal"},'
        ' "y": map[string]any{"field": "b", "type": "quantitative"}}})',
        ".vega-embed svg, .vega-embed canvas",
    ),
}


@pytest.mark.parametrize("name", RICH)
def test_rich_output(scratch, name):
    code, selector = RICH[name]
    cell = scratch.run(code)
    expect(cell.locator(selector).first).to_be_visible()


def test_progress_bar_stays_one_output(scratch):
    cell = scratch.run('for range display.Track(20, "work") {\n\ttime.Sleep(50 * time.Millisecond)\n}')
    expect(output(cell)).to_have_count(1)
    expect(output(cell)).to_contain_text("20")


def test_error_points_at_the_line(scratch):
    cell = scratch.run("a := 1\nb := a + nothing")
    error = cell.locator(ERROR)
    expect(error).to_contain_text("nothing")
    expect(error).to_contain_text("^")


CUDA = """%%cuda vec
__global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += a * x[i];
}
__global__ void forever(volatile int* stop) { while (*stop == 0) {} }"""

TENSORS = """dev, err := cuda.Open("sim")
x, err := dev.Randn(cuda.F32, 2026, 8, 8)
y, err := dev.Zeros(cuda.F32, 8, 8)
stop, err := dev.Zeros(cuda.I32, 1)
saxpy, err := vec.Kernel("saxpy")"""


def test_cuda_cells(scratch):
    """A kernel that is right, one that reaches too far, one that does not end."""
    cell = scratch.run(CUDA)
    expect(cell.locator(".jp-RenderedHTML table")).to_contain_text("saxpy(const float* x, float* y, float a, int n)")
    scratch.run(TENSORS)
    cell = scratch.run("saxpy.Launch(cuda.Config{Grid: cuda.D(2), Block: cuda.D(32)}, x, y, 1, 64)\ny")
    expect(cell.locator(".jp-RenderedHTML svg")).to_be_visible()
    cell = scratch.run("saxpy.Launch(cuda.Config{Grid: cuda.D(3), Block: cuda.D(32)}, x, y, 1, 64);")
    expect(cell.locator(ERROR)).to_contain_text("line 4: thread (0,0,0) of block (2,0,0) writes 4 bytes at y[64], behind its end")
    cell = scratch.run('cuda.Must(vec.Kernel("forever")).Launch(cuda.Config{Grid: cuda.D(1), Block: cuda.D(32)}, stop);', wait=False)
    expect(cell.locator(".jp-InputPrompt")).to_have_text("[*]:")
    scratch.page.wait_for_timeout(1000)
    scratch.interrupt()
    expect(cell.locator(ERROR)).to_contain_text("interrupt")
    cell = scratch.run("y.Err()")
    expect(output(cell).last).to_contain_text("gone")
    scratch.run("x, err = dev.Arange(cuda.F32, 8, )\n")
    expect(output(scratch.run("x")).last).to_contain_text("tensor f32[8] on sim")
