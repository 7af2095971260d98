"""Parameters for Go notebooks in papermill.

The model: papermill turns parameters into a cell through a translator that it
finds by the notebook's language. `GoTranslator` is the one for Go. papermill has
no entry point for translators, only for engines, all of which it loads when it
starts; `WarpbookEngine` is papermill's own engine under our name, and loading it
registers the translator.
"""

import json
import math
import re

from papermill.engines import NBClientEngine
from papermill.exceptions import PapermillException
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

__version__ = "0.1.0"

KEYWORDS = frozenset(
    "break case chan const continue default defer else fallthrough for func go goto if import "
    "interface map package range return select struct switch type var".split()
)


class WarpbookEngine(NBClientEngine):
    """papermill's usual engine. Its entry point is how GoTranslator gets loaded."""


class GoTranslator(Translator):
    """Writes parameters as Go declarations and reads them back."""

    @classmethod
    def translate_none(cls, val):
        return "any(nil)"

    @classmethod
    def translate_int(cls, val):
        if -(2**63) <= val < 2**63:
            return str(val)
        if 0 <= val < 2**64:
            return f"uint64({val})"
        raise PapermillException(f"{val} fits no integer type of Go; pass it as text and use math/big.")

    @classmethod
    def translate_float(cls, val):
        if math.isnan(val):
            return "math.NaN()"
        if math.isinf(val):
            return "math.Inf(1)" if val > 0 else "math.Inf(-1)"
        if val == 0 and math.copysign(1, val) < 0:
            return "math.Copysign(0, -1)"
        return repr(float(val))

    @classmethod
    def translate_str(cls, val):
        return quote(str(val))

    @classmethod
    def translate_escaped_str(cls, str_val):
        return quote(str(str_val))

    @classmethod
    def translate_list(cls, val):
        kind = element_type(val)
        return "[]%s{%s}" % (kind, ", ".join(cls.element(v, kind) for v in val))

    @classmethod
    def translate_dict(cls, val):
        kind = element_type(list(val.values()))
        pairs = (f"{quote(str(k))}: {cls.element(v, kind)}" for k, v in val.items())
        return "map[string]%s{%s}" % (kind, ", ".join(pairs))

    @classmethod
    def element(cls, val, kind):
        """A value inside a composite literal; nil needs no conversion there."""
        return "nil" if val is None else cls.translate(val)

    @classmethod
    def comment(cls, cmt_str):
        return f"// {cmt_str}".strip()

    @classmethod
    def assign(cls, name, str_val):
        if not name.isidentifier() or name in KEYWORDS:
            raise PapermillException(f"{name!r} cannot be a parameter: it is no name in Go.")
        return f"var {name} = {str_val}"

    @classmethod
    def inspect(cls, parameters_cell):
        """The parameters of the cell tagged `parameters`; what is not understood is left out."""
        found = {}
        for line in parameters_cell["source"].splitlines():
            match = DECLARATION.match(line) or SHORT.match(line)
            if match:
                code, help_text = split_comment(match["value"])
                kind = (match.groupdict().get("type") or "").strip() or literal_type(code)
                found[match["name"]] = Parameter(match["name"], kind, code, help_text)
        return list(found.values())


DECLARATION = re.compile(r"^\s*(?:var\s+)?(?P<name>[^\W\d]\w*)\s*(?P<type>[^=:]*?)\s*=(?!=)\s*(?P<value>.+)$")
SHORT = re.compile(r"^\s*(?P<name>[^\W\d]\w*)\s*:=\s*(?P<value>.+)$")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|\'(?:[^\'\\]|\\.)*\'')


def quote(text):
    """A string literal of Go. Characters stand for themselves: Go's \\u has no surrogate pairs."""
    out = []
    for char in text:
        if char in "\\\"":
            out.append("\\" + char)
        elif char in "\n\t\r":
            out.append({"\n": r"\n", "\t": r"\t", "\r": r"\r"}[char])
        elif 0xD800 <= ord(char) <= 0xDFFF:
            out.append(r"\uFFFD")
        elif char.isprintable():
            out.append(char)
        else:
            out.append(r"\U%08x" % ord(char))
    return '"' + "".join(out) + '"'


def element_type(values):
    """The Go type that all values have, or any."""
    kinds = {go_type(v) for v in values}
    if kinds == {"int", "float64"}:
        return "float64"
    return kinds.pop() if len(kinds) == 1 else "any"


def go_type(val):
    """The Go type of a value as the translator writes it."""
    if isinstance(val, bool):
        return "bool"
    if isinstance(val, int):
        return "int" if -(2**63) <= val < 2**63 else "uint64"
    if isinstance(val, float):
        return "float64"
    if isinstance(val, str):
        return "string"
    if isinstance(val, list):
        return "[]" + element_type(val)
    if isinstance(val, dict):
        return "map[string]" + element_type(list(val.values()))
    return "any" if val is None else "string"


def split_comment(code):
    """Splits a line's code from its // comment, which a string literal may seem to hold."""
    masked = STRING.sub(lambda m: "x" * len(m[0]), code)
    at = masked.find("//")
    if at < 0:
        return code.strip(), ""
    return code[:at].strip(), code[at + 2 :].strip()


def literal_type(code):
    """The type of a literal, "None" where it cannot be told, as papermill wants it."""
    if code in ("true", "false"):
        return "bool"
    if code[:1] in "\"`":
        return "string"
    composite = re.match(r"^((?:\[\d*\]|map\[\w+\]|\*)*[\w.]+)\{", code)
    if composite:
        return composite[1]
    try:
        return {int: "int", float: "float64"}.get(type(json.loads(code)), "None")
    except ValueError:
        return "None"


papermill_translators.register("go", GoTranslator)
