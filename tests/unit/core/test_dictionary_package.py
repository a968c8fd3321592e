"""jieba's list as packaged: where it is missing or damaged, one error says so and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from caesura.worker.core.language import dictionary
from caesura.worker.core.language.dictionary import load_dictionary, word_list
from caesura.worker.errors import FatalError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a folder in the place of the installed package."""
    origin = str(tmp_path / "__init__.py")
    monkeypatch.setattr(dictionary, "find_spec", lambda name: ModuleSpec(name, None, origin=origin))
    load_dictionary.cache_clear()
    yield tmp_path
    load_dictionary.cache_clear()


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary, "find_spec", lambda _: None)
    with pytest.raises(FatalError, match="needs the package jieba: install"):
        word_list()


@pytest.mark.parametrize("read", [load_dictionary, word_list])
def test_a_package_without_its_list_is_told_apart_from_one_whose_list_is_damaged(package: Path, read) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    with pytest.raises(FatalError, match="missing: install the pinned jieba again"):
        read()
    (package / "dict.txt").write_bytes("我们 100 r\n".encode()[1:])
    with pytest.raises(FatalError, match="damaged: install the pinned jieba again"):
        read()


def test_a_line_is_a_word_how_often_it_occurs_and_its_kind(package: Path) -> None:
    (package / "dict.txt").write_text("我们 100 r\n去 50 v\n", encoding="utf-8")
    assert word_list().splitlines() == ["我们 100 r", "去 50 v"]
    assert load_dictionary().entries_of("我").keys() == {"我", "我们"}
