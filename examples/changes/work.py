"""Run a command for each entity that is written: python3 work.py FILE COMMAND. It gets the entity as JSON on its standard input."""

import json
import sqlite3
import subprocess
import sys

done = sqlite3.connect(sys.argv[1])
done.execute("CREATE TABLE IF NOT EXISTS done (id PRIMARY KEY)")
for line in sys.stdin:
    event = json.loads(line)
    if "data" not in event or "expired" in event or done.execute("SELECT 1 FROM done WHERE id = ?", (event["id"],)).fetchone():
        continue
    # If the process is killed between the command and the commit, the command runs again: at-least-once delivery.
    subprocess.run(sys.argv[2], shell=True, check=True, input=json.dumps(event["data"]), text=True)
    done.execute("INSERT OR IGNORE INTO done VALUES (?)", (event["id"],))  # a process that a killed watch left behind may have done it too
    done.commit()
