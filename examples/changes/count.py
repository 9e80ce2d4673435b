"""Count the entities with each value of a property: python3 count.py FILE PROPERTY. Then: sqlite3 FILE "SELECT * FROM number"."""

import json
import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as counts:
    counts.execute("CREATE TABLE IF NOT EXISTS entity (subject PRIMARY KEY, value)")
    counts.execute("CREATE TABLE IF NOT EXISTS number (value PRIMARY KEY, entities)")

    def add(value, entities):
        counts.execute(
            "INSERT INTO number VALUES (?, ?) ON CONFLICT (value) DO UPDATE SET entities = entities + excluded.entities", (value, entities)
        )

    for line in sys.stdin:
        event = json.loads(line)
        if event.get("superseded"):
            continue  # a later change contains the entity
        if event["type"] == "edgetable.table.drop":
            counts.execute("DELETE FROM entity")
            counts.execute("DELETE FROM number")
            continue
        # An event does not contain the earlier state of the entity, so store what the entity was counted as.
        for (before,) in counts.execute("DELETE FROM entity WHERE subject = ? RETURNING value", (event["subject"],)).fetchall():
            add(before, -1)
        if "data" in event and "expired" not in event:
            value = str(event["data"].get(sys.argv[2]))
            counts.execute("INSERT INTO entity VALUES (?, ?)", (event["subject"], value))
            add(value, 1)
