"""Runs az in this process: what its program does, without the seconds that starting it takes each time."""

import io
import json
import os
import tempfile

# Before the import, which reads them: a configuration of nobody's, and nothing sent to anybody but the server.
os.environ["AZURE_CONFIG_DIR"] = tempfile.mkdtemp(prefix="edgetable-az-")
os.environ["AZURE_CORE_COLLECT_TELEMETRY"] = "false"
os.environ["AZURE_CORE_ONLY_SHOW_ERRORS"] = "true"

from azure.cli.core import get_default_cli  # noqa: E402

CONNECTION = os.environ.get("EDGETABLE_CONNECTION_STRING", "")
CLI = get_default_cli()


class Failed(Exception):
    """What az exits with, and the error beneath it."""

    def __init__(self, code, error):
        super().__init__(f"exit code {code}: {error}")
        self.code, self.error = code, str(error)


def az(command, *words, signed=True):
    """Runs a command, continued by words that may have blanks, and returns what it printed, decoded."""
    arguments = command.split() + list(words)
    if signed:
        arguments += ["--connection-string", CONNECTION]
    printed = run(arguments)
    return json.loads(printed) if printed.strip() else None


def run(arguments):
    """Runs a command and returns what it printed."""
    out = io.StringIO()
    try:
        code = CLI.invoke(arguments, out_file=out)
    except SystemExit as exit:  # "not found" leaves by this way, with 3
        code = exit.code
    if code:
        raise Failed(code, CLI.result and CLI.result.error)
    return out.getvalue()
