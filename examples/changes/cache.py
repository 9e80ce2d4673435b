"""Remove from a cache what has changed: python3 cache.py DIRECTORY, which has a file for each entity."""

import json
import sys
from pathlib import Path
from urllib.parse import quote

cache = Path(sys.argv[1])
for line in sys.stdin:
    event = json.loads(line)
    if event["type"] == "edgetable.table.drop":
        gone = cache.iterdir()
    else:
        gone = [cache / f"{quote(event.get('partitionkey', ''), safe='')},{quote(event.get('rowkey', ''), safe='')}"]
    for file in gone:
        file.unlink(missing_ok=True)
