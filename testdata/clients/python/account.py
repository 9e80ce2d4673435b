"""The account of the server under test: its name, its endpoints, and what is signed with its key."""

import os
from datetime import datetime, timedelta, timezone

from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import generate_account_sas, generate_table_sas

VARIABLE = "EDGETABLE_CONNECTION_STRING"

_parts = dict(part.split("=", 1) for part in os.environ.get(VARIABLE, "").split(";") if part)
NAME = _parts.get("AccountName", "")
ENDPOINT = _parts.get("TableEndpoint", "").rstrip("/")
SECONDARY = f"{NAME}-secondary".join(ENDPOINT.rsplit(NAME, 1))  # the read-only copy: in path or host, the name with a suffix
CREDENTIAL = AzureNamedKeyCredential(NAME, _parts["AccountKey"]) if NAME else None

NOW = datetime.now(timezone.utc).replace(microsecond=0)
PAST, FUTURE = NOW - timedelta(hours=1), NOW + timedelta(hours=1)


def table_sas(table, permission="r", **options):
    """A signature for a table, valid for an hour unless told otherwise or a policy says."""
    if "policy_id" not in options:
        options.setdefault("expiry", FUTURE)
    return generate_table_sas(CREDENTIAL, table, permission=permission, **options)


def account_sas(types="sco", permission="rwdlacu", expiry=FUTURE, **options):
    return generate_account_sas(CREDENTIAL, types, permission, expiry, **options)
