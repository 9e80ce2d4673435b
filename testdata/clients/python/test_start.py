"""The programs of docs/start/python.md, docs/query.md, docs/expire.md and docs/feed.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

from azure.data.tables import TableServiceClient

from account import VARIABLE

PAGES = ["start/python.md"] if os.environ.get("EDGETABLE_CLIENTS_ASCENDING") else ["start/python.md", "query.md"]


# A table with the rule of docs/expire.md, and one with a feed, if the store keeps them.
DECLARING = {"expire.md": os.environ.get("EDGETABLE_CLIENTS_EXPIRING"), "feed.md": os.environ.get("EDGETABLE_CLIENTS_FEEDING")}
DOCS = Path(__file__).parents[3] / "docs"


def test_start():
    for name in PAGES + [name for name, table in DECLARING.items() if table]:
        page = (DOCS / name).read_text()
        program, printed = re.findall(r"^```(?:python|text)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        table = DECLARING.get(name) or "Py" + os.urandom(10).hex()
        for word in ["People", "Events", "Sessions", "Orders"]:
            program = program.replace(word, table)
        try:
            run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
            assert (run.stdout, run.stderr) == (printed, "")
        finally:
            TableServiceClient.from_connection_string(os.environ[VARIABLE]).delete_table(table)


def test_csharp_says_the_same():
    """Nothing here runs .NET: its programs must at least have the names, keys and filters of those in Python."""
    for name in ["query.md", "expire.md", "feed.md"]:
        page = (DOCS / name).read_text()
        (python,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        (csharp,) = re.findall(r"^```csharp\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        texts = set(re.findall(r'"([^"]*)"', python)) - {"PartitionKey", "RowKey"}  # properties of TableEntity there
        if name == "feed.md":  # the SDK for .NET signs with a connection string, and makes the URL
            texts -= {"AccountName", "AccountKey", "TableEndpoint", ";", "=", "/", "r", "/Orders?comp=changes&wait=20&"}
            assert '"&comp=changes&wait=20"' in csharp
        assert len(texts) > 5 and not {text for text in texts if f'"{text}"' not in csharp}
