"""What papermill writes for Go, and what it reads from a parameters cell."""

import math

import pytest
from nbformat.v4 import new_code_cell
from papermill.engines import papermill_engines
from papermill.exceptions import PapermillException
from papermill.parameterize import parameterize_notebook
from papermill.translators import papermill_translators

from papermill_warpbook import GoTranslator, WarpbookEngine


@pytest.mark.parametrize(
    "value, go",
    [
        (3, "3"),
        (-7, "-7"),
        (2**63, "uint64(9223372036854775808)"),
        (True, "true"),
        (0.5, "0.5"),
        (1.0, "1.0"),
        (1e300, "1e+300"),
        (math.nan, "math.NaN()"),
        (-math.inf, "math.Inf(-1)"),
        (-0.0, "math.Copysign(0, -1)"),
        ("x", '"x"'),
        ('a "b" \\ c\n\t', r'"a \"b\" \\ c\n\t"'),
        ("naïve 😀", '"naïve 😀"'),
        ("\x00\u2028", r'"\U00000000\U00002028"'),
        (None, "any(nil)"),
        ([1, 2], "[]int{1, 2}"),
        ([1, 2.5], "[]float64{1, 2.5}"),
        ([1, "a", None], '[]any{1, "a", nil}'),
        ([], "[]any{}"),
        ([[1], [2, 3]], "[][]int{[]int{1}, []int{2, 3}}"),
        ({"a": 1}, 'map[string]int{"a": 1}'),
        ({"a": [True], "b": None}, 'map[string]any{"a": []bool{true}, "b": nil}'),
    ],
)
def test_values(value, go):
    assert GoTranslator.translate(value) == go


def test_number_beyond_every_integer_type():
    with pytest.raises(PapermillException, match="math/big"):
        GoTranslator.translate(2**64)


@pytest.mark.parametrize("name", ["type", "a-b", "1x"])
def test_names_that_go_does_not_allow(name):
    with pytest.raises(PapermillException, match="no name in Go"):
        GoTranslator.codify({name: 1})


def test_codify():
    assert GoTranslator.codify({"n": 3, "name": "x"}) == '// Parameters\nvar n = 3\nvar name = "x"\n'


def test_inspect():
    cell = new_code_cell(
        "// settings\n"
        "n := 5 // how many\n"
        "var rate float64 = 0.5\n"
        'var url = "http://x" // where\n'
        "names := []string{\"a\"}\n"
        "limit = 3\n"
        "if n == 3 {\n}\n"
        "fmt.Println(n)\n"
    )
    got = [(p.name, p.inferred_type_name, p.default, p.help) for p in GoTranslator.inspect(cell)]
    assert got == [
        ("n", "int", "5", "how many"),
        ("rate", "float64", "0.5", ""),
        ("url", "string", '"http://x"', "where"),
        ("names", "[]string", '[]string{"a"}', ""),
        ("limit", "int", "3", ""),
    ]


def test_papermill_loads_it_by_itself():
    """The package's entry point, not this file's import, is what users rely on."""
    import subprocess
    import sys

    code = (
        "import papermill.execute; from papermill.translators import papermill_translators as t;"
        "print(t.find_translator('warpbook', 'go').__name__)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "GoTranslator"


def test_engine_is_registered():
    assert papermill_engines.get_engine("warpbook") is WarpbookEngine
    assert papermill_translators.find_translator("any", "go") is GoTranslator


def test_injected_cell_follows_the_parameters_cell():
    from nbformat.v4 import new_notebook

    nb = new_notebook(cells=[new_code_cell("n := 1", metadata={"tags": ["parameters"]}), new_code_cell("n", metadata={"tags": []})])
    nb.metadata.kernelspec = {"name": "warpbook", "language": "go", "display_name": "Go (Warpbook)"}
    nb.metadata.papermill = {}
    out = parameterize_notebook(nb, {"n": 3})
    assert out.cells[1].source == "// Parameters\nvar n = 3\n"
    assert out.cells[1].metadata.tags == ["injected-parameters"]
