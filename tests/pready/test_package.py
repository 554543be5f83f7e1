"""One wheel, one import package: the folders arrive as `pready.model` and so on."""

from __future__ import annotations

from pathlib import Path

import pready.model


def test_folders_are_linked_into_the_package() -> None:
    for name in ("model", "calibrate", "validate"):
        link = Path("pready") / name
        assert link.is_symlink()
        assert link.resolve() == Path(name).resolve()
    assert Path(str(pready.model.__file__)).resolve() == Path("model/__init__.py").resolve()
