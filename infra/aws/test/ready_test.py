"""What a deployment lacks is said before anything is built."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from rendering import AWS

VENDOR = Path("/sys/class/dmi/id/sys_vendor")  # of the machine


class Ready(unittest.TestCase):
    def says(self, *args, **env):
        home = self.enterContext(tempfile.TemporaryDirectory())
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "MAKE", "MFLAGS"))}
        return subprocess.run(
            ["make", "-C", Path(AWS).parent.parent, "deploy-aws", *args], env=clean | {"HOME": home} | env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True)

    @unittest.skipIf(Path(AWS, "samconfig.toml").exists(), "this checkout has settings of its own")
    def test_nobody_to_ask(self):
        done = self.says(AWS_ACCESS_KEY_ID="a")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("make deploy-aws STACK=edgetable REGION=eu-north-1", done.stderr)
        self.assertNotIn("go build", done.stdout)

    @unittest.skipIf(VENDOR.exists() and "Amazon EC2" in VENDOR.read_text(), "this machine may have a role")
    def test_no_credentials(self):
        done = self.says("STACK=tables", "REGION=eu-north-1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("aws configure", done.stderr)
        self.assertNotIn("go build", done.stdout)
