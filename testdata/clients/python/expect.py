"""Expectations about errors and rows, in one line each."""

import json
import os
from contextlib import contextmanager

import pytest
from azure.core.exceptions import HttpResponseError


@contextmanager
def refused(status, code, kind=HttpResponseError):
    """The block raises kind with this status and error code."""
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert (error.status_code, _code(error)) == (status, code), error.message


def _code(error):
    code = getattr(error, "error_code", None)
    if code is None and "x-ms-error-code" in error.response.headers:
        code = error.response.headers["x-ms-error-code"]  # of XML the SDK decodes no error
    if code is None:  # create_entity raises the error before it has decoded it
        code = json.loads(error.response.text())["odata.error"]["code"]
    return getattr(code, "value", code)


# How many bytes a PartitionKey and a RowKey may have together, if the server's store declares it; see ../README.md.
KEY_BYTES = float(os.environ.get("EDGETABLE_CLIENTS_KEY_BYTES") or "inf")


def too_long(partition, row):
    """Whether the store refuses these keys."""
    return len((partition + row).encode()) > KEY_BYTES


def rows(entities):
    return [entity["RowKey"] for entity in entities]


def keyed(row, partition="p", **properties):
    return {"PartitionKey": partition, "RowKey": row, **properties}
