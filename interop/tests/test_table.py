"""The table of docs/trainers-table.md has the combinations that the tests of this run compared. It runs last, by its name."""

import pytest

from conftest import ROOT


def test_the_table_is_of_these_tests(table):
    if len(table.lines) < 60:
        pytest.skip("not all tests of layouts and parity have run")
    written = (ROOT / "docs" / "trainers-table.md").read_text().splitlines()
    have = {tuple(cell.strip() for cell in line.split("|")[1:6]) for line in written if line.startswith("| ")}
    assert have - {("read as", "format", "batch", "attention", "model")} == set(table.lines), "make trainers-table writes it anew"
