"""Small notebooks for the tests."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

KERNELSPEC = {"name": "warpbook", "display_name": "Go (Warpbook)", "language": "go"}


def notebook(*sources):
    """A Go notebook; a source that starts with '#' is Markdown."""
    cells = [new_markdown_cell(s) if s.startswith("#") else new_code_cell(s) for s in sources]
    return new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})


def texts(cell, name="stdout"):
    """What a cell's recorded outputs print."""
    return "".join(o["text"] for o in cell.outputs if o.output_type == "stream" and o["name"] == name)
