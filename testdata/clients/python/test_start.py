"""The programs of docs/start/python.md, docs/query.md and docs/expire.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

from azure.data.tables import TableServiceClient

from account import VARIABLE

PAGES = ["start/python.md"] if os.environ.get("EDGETABLE_CLIENTS_ASCENDING") else ["start/python.md", "query.md"]


EXPIRING = os.environ.get("EDGETABLE_CLIENTS_EXPIRING")  # a table with the rule of docs/expire.md, if the store keeps it
DOCS = Path(__file__).parents[3] / "docs"


def test_start():
    for name in PAGES + (["expire.md"] if EXPIRING else []):
        page = (DOCS / name).read_text()
        program, printed = re.findall(r"^```(?:python|text)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        table = EXPIRING if name == "expire.md" else "Py" + os.urandom(10).hex()
        program = program.replace("People", table).replace("Events", table).replace("Sessions", table)
        try:
            run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
            assert (run.stdout, run.stderr) == (printed, "")
        finally:
            TableServiceClient.from_connection_string(os.environ[VARIABLE]).delete_table(table)


def test_csharp_says_the_same():
    """Nothing here runs .NET: its programs must at least have the names, keys and filters of those in Python."""
    for name in ["query.md", "expire.md"]:
        page = (DOCS / name).read_text()
        (python,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        (csharp,) = re.findall(r"^```csharp\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        texts = set(re.findall(r'"([^"]*)"', python)) - {"PartitionKey", "RowKey"}  # properties of TableEntity there
        assert len(texts) > 5 and not {text for text in texts if f'"{text}"' not in csharp}
