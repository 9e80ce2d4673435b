"""The commands of docs/start/cli.md."""

import re
import shlex
from pathlib import Path

import pytest

from az import CONNECTION, run


@pytest.mark.operation("QueryEntities")
def test_start(name, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", CONNECTION)
    page = (Path(__file__).parents[3] / "docs/start/cli.md").read_text()
    commands, printed = re.findall(r"^```\w+\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    for line in commands.replace("People", name).splitlines():
        program, *arguments = shlex.split(line)
        assert program == "az"
        last = run(arguments)
    assert last == printed
