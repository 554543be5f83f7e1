"""The numbers that are chosen and neither measured nor derived, from the code: ``docs/reference/chosen-numbers.md``."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parent / "reference" / "chosen-numbers.md"
FOLDERS = ("model", "calibrate", "validate", "pready")
HEAD = """# Chosen numbers

What is neither measured nor derived: limits of size, thresholds of fits and of capture, how often something is
measured or drawn. Written by `make docs` from the code, so that a change of one is seen. Those that steer an interval
are explained in [uncertainty](../theory/uncertainty.md); what libraries and fabrics cost stands in machine files, with
its source.

| file | name | value | of what |
| --- | --- | --- | --- |
"""


def numbers(path: Path) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of a module's constants that are numbers."""
    text = path.read_text(encoding="utf-8")
    body = ast.parse(text).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        parts = [n for n in ast.walk(node.value) if not isinstance(n, (ast.operator, ast.unaryop, ast.expr_context))]
        plain = all(isinstance(n, (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Constant)) for n in parts)
        if not plain or not all(type(n.value) in (int, float) for n in parts if isinstance(n, ast.Constant)):
            continue
        said = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
        comment = re.search(r"  # (.*)", text.splitlines()[node.lineno - 1])
        meaning = " ".join(str(said).split()) or (comment[1] if comment else "")
        yield ast.unparse(target).strip("()"), ast.unparse(node.value).strip("()"), meaning.replace("|", "\\|")


def page() -> str:
    """The document."""
    files = sorted(p for folder in FOLDERS for p in Path(folder).rglob("*.py") if "show" not in p.parts)
    rows = ((path, *row) for path in files for row in numbers(path) if row[-1])
    return HEAD + "".join(f"| {path} | `{name}` | `{value}` | {meaning} |\n" for path, name, value, meaning in rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
