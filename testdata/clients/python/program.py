"""Servers that a test has for itself, with flags of its own."""

import atexit
import base64
import functools
import os
import secrets
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


@functools.cache
def binary():
    """The program that EDGETABLE_BINARY names; without it, one built from this repository."""
    given = os.environ.get("EDGETABLE_BINARY")
    if given:
        return given
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    built = Path(folder, "edgetable")
    subprocess.run(["go", "build", "-o", built, "./functions/edgetable"], cwd=Path(__file__).parents[3], check=True)
    return built


def new_key():
    return base64.b64encode(secrets.token_bytes(32)).decode()


def connection(endpoint, key):
    return f"DefaultEndpointsProtocol=http;AccountName=own;AccountKey={key};TableEndpoint={endpoint};"


@contextmanager
def running(key, *flags):
    """Starts a server and gives its process and its endpoint; it ends with the block."""
    command = [binary(), "serve", "--listen", "127.0.0.1:0", "--log-level", "error", *flags]
    environment = {**os.environ, "EDGETABLE_ACCOUNTS": f"own:{key}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            endpoint = None
            for line in server.stdout:
                words = line.split()
                if words[:1] == ["endpoint"]:
                    endpoint = words[1]
                if words == ["ready"]:
                    break
            assert endpoint, f"{flags}: the server ended with {server.wait()}"
            yield server, endpoint
        finally:
            server.terminate()


@contextmanager
def serve(*flags):
    """Starts a server in memory and gives its connection string; it ends with the block."""
    key = new_key()
    with running(key, "--memory", *flags) as (_, endpoint):
        yield connection(endpoint, key)
