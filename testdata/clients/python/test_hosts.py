"""The commands and the program of docs/start/fixed-host.md, in a network and with a hosts file of their own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from program import binary

# The server ends with the namespace.
SCRIPT = r"""
set -euo pipefail
ip link set lo up
mount --bind hosts /etc/hosts
edgetable() { "$BINARY" "$@"; }
eval "$CERTIFICATE"
eval "$ACCOUNT" >connection
mkfifo out
"$BINARY" $SERVE >out 2>err &
while read -r line && [[ $line != ready ]]; do :; done <out || { cat err; exit 1; }
ACCOUNT_KEY=$(sed 's/.*AccountKey=\([^;]*\).*/\1/' connection) REQUESTS_CA_BUNDLE=ca.pem "$PYTHON" -c "$PROGRAM"
kill $!
"""


def namespaces():
    """The command that gives a process a network and mounts of its own, or none."""
    # Root needs no user namespace, which cannot be made below chroot.
    command = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--net", "--mount"]
    usable = shutil.which("unshare") and shutil.which("ip") and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if usable else None


@pytest.mark.skipif(not namespaces(), reason="this machine gives no namespaces of Linux, for a hosts file and port 443 of its own")
def test_fixed_host(tmp_path):
    page = (Path(__file__).parents[3] / "docs/start/fixed-host.md").read_text()
    certificate, commands, program, printed = re.findall(r"^```\w+\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    account, serve = commands.splitlines()
    (tmp_path / "hosts").write_text("127.0.0.1 acme.table.core.windows.net\n")
    environment = {"BINARY": str(Path(binary()).resolve()), "PYTHON": sys.executable, "PROGRAM": program, "CERTIFICATE": certificate,
                   "ACCOUNT": account, "SERVE": serve.removeprefix("edgetable "), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    run = subprocess.run([*namespaces(), "--pid", "--fork", "--kill-child", "bash", "-c", SCRIPT], cwd=tmp_path, env=environment,
                         capture_output=True, text=True)
    assert run.stdout == printed, run.stderr
