"""Keep a full-text index of a table: python3 search.py FILE. Then: sqlite3 FILE "SELECT subject FROM entity WHERE entity MATCH 'word'"."""

import json
import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as index:
    index.execute("CREATE VIRTUAL TABLE IF NOT EXISTS entity USING fts5(subject UNINDEXED, words)")
    for line in sys.stdin:
        event = json.loads(line)
        if event.get("superseded"):
            continue  # a later change contains the entity
        if event["type"] == "edgetable.table.drop":
            index.execute("DELETE FROM entity")
            continue
        index.execute("DELETE FROM entity WHERE subject = ?", (event["subject"],))
        if "data" in event and "expired" not in event:
            words = " ".join(value for name, value in event["data"].items() if isinstance(value, str) and "odata." not in name)
            index.execute("INSERT INTO entity VALUES (?, ?)", (event["subject"], words))
