from __future__ import annotations

import base64
import os
import secrets
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Iterable, Mapping, Optional

from ._program import program


@dataclass(frozen=True)
class Account:
    """An account of a server: empty at first, and separate from all others."""

    name: str
    key: str  #: base64
    endpoint: str  #: URL of the account, for the clients of the SDK

    @property
    def connection_string(self) -> str:
        return f"DefaultEndpointsProtocol=http;AccountName={self.name};AccountKey={self.key};TableEndpoint={self.endpoint};"


class Server:
    """A server in memory, on a free port of the loopback address. It ends with stop(), or with this process."""

    def __init__(self, accounts: int = 100, args: Iterable[str] = (), env: Optional[Mapping[str, str]] = None):
        self._free = [("t" + secrets.token_hex(8), base64.b64encode(secrets.token_bytes(64)).decode()) for _ in range(accounts)]
        self._count = accounts
        self._log = tempfile.TemporaryFile()
        environment = {**os.environ, "EDGETABLE_ACCOUNTS": ";".join(f"{n}:{k}" for n, k in self._free), **(env or {})}
        # The server exits when its standard input ends, so it does not outlive this process, even if this
        # process is killed.
        command = [program(), "serve", "--memory", "--listen", "127.0.0.1:0", "--until-eof", "--log-level", "error", *args]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=environment, text=True)
        address = None
        for line in self._process.stdout:
            if address is None and " listens on " in line:
                address = line.split(" listens on ")[1].split()[0]
            if line == "ready\n":
                break
        else:
            status = self._process.wait()
            self._log.seek(0)
            raise RuntimeError(f"edgetable ended with status {status}: {self._log.read().decode(errors='replace').strip()}")
        self.url = f"http://{address}"

    def account(self) -> Account:
        """Return the next account that nobody has used."""
        if not self._free:
            raise RuntimeError(f"all {self._count} accounts are in use: start(accounts={2 * self._count})")
        name, key = self._free.pop()
        return Account(name, key, f"{self.url}/{name}")

    def stop(self) -> None:
        """End the server; its tables are gone."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_) -> None:
        self.stop()


def start(accounts: int = 100, args: Iterable[str] = (), env: Optional[Mapping[str, str]] = None) -> Server:
    """Start a server and wait until it takes requests. args are more flags of 'edgetable serve'."""
    return Server(accounts, args, env)
