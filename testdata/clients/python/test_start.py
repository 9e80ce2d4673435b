"""The program of docs/start/python.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

from azure.data.tables import TableServiceClient

from account import VARIABLE


def test_start():
    page = (Path(__file__).parents[3] / "docs/start/python.md").read_text()
    program, printed = re.findall(r"^```\w+\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    table = "Py" + os.urandom(10).hex()
    try:
        run = subprocess.run([sys.executable, "-c", program.replace("People", table)], capture_output=True, text=True)
        assert (run.stdout, run.stderr) == (printed, "")
    finally:
        TableServiceClient.from_connection_string(os.environ[VARIABLE]).delete_table(table)
