"""The programs of docs/start/python.md and docs/query.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

from azure.data.tables import TableServiceClient

from account import VARIABLE

PAGES = ["start/python.md"] if os.environ.get("EDGETABLE_CLIENTS_ASCENDING") else ["start/python.md", "query.md"]


def test_start():
    for name in PAGES:
        page = (Path(__file__).parents[3] / "docs" / name).read_text()
        program, printed = re.findall(r"^```(?:python|text)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        table = "Py" + os.urandom(10).hex()
        program = program.replace("People", table).replace("Events", table)
        try:
            run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
            assert (run.stdout, run.stderr) == (printed, "")
        finally:
            TableServiceClient.from_connection_string(os.environ[VARIABLE]).delete_table(table)
