"""Signatures that name a stored policy: they allow what both say together, at the moment of the request."""

from datetime import timedelta

import pytest

from account import FUTURE, PAST, table_sas
from expect import keyed, refused
from test_acl import store

VALID = {"start": PAST, "expiry": FUTURE, "permission": "r"}


def without(*parts):
    return {part: value for part, value in VALID.items() if part not in parts}


# What is stored, what else stands in the signature, and the error of reading.
CASES = {
    "all of it stored": ({"id": VALID}, {}, None),
    "one of several": ({"other": {"expiry": PAST, "permission": "r"}, "id": VALID}, {}, None),
    "permission in the token": ({"id": without("permission")}, {"permission": "r"}, None),
    "expiry in the token": ({"id": without("expiry")}, {"expiry": FUTURE}, None),
    "start in the token": ({"id": without("start")}, {"start": PAST}, None),
    "start in the token, later": ({"id": without("start")}, {"start": FUTURE}, "AuthenticationFailed"),
    "all of it in the token": ({"id": {}}, {"permission": "r", "expiry": FUTURE}, None),
    "expired in the policy": ({"id": {**VALID, "expiry": PAST}}, {}, "AuthenticationFailed"),
    "expired in the token": ({"id": without("expiry")}, {"expiry": PAST}, "AuthenticationFailed"),
    "not yet": ({"id": {**VALID, "start": FUTURE, "expiry": FUTURE + timedelta(hours=1)}}, {}, "AuthenticationFailed"),
    "no expiry": ({"id": without("expiry")}, {}, "AuthenticationFailed"),
    "no permission": ({"id": without("permission")}, {}, "AuthenticationFailed"),
    "other permission": ({"id": {**VALID, "permission": "aud"}}, {}, "AuthorizationPermissionMismatch"),
    "another id": ({"ID": VALID}, {}, "AuthenticationFailed"),
    "no policies": ({}, {}, "AuthenticationFailed"),
}


@pytest.mark.parametrize("stored, token, code", CASES.values(), ids=CASES.keys())
def test_policy_and_token(by, table, name, stored, token, code):
    table.create_entity(keyed("there"))
    store(table, stored)
    client = by(table_sas(name, **{"permission": None, **token}, policy_id="id")).get_table_client(name)
    if code is None:
        assert client.get_entity("p", "there")
        return
    with refused(403, code):
        client.get_entity("p", "there")


def test_a_changed_policy_counts_at_once(by, table, name):
    table.create_entity(keyed("there"))
    client = by(table_sas(name, permission=None, policy_id="id")).get_table_client(name)
    store(table, {"id": VALID})
    client.get_entity("p", "there")
    with refused(403, "AuthorizationPermissionMismatch"):
        client.update_entity(keyed("there"))
    store(table, {"id": {**VALID, "permission": "u"}})
    client.update_entity(keyed("there"))
    with refused(403, "AuthorizationPermissionMismatch"):
        client.get_entity("p", "there")
    store(table, {})  # revokes
    for call in (lambda: client.get_entity("p", "there"), lambda: client.update_entity(keyed("there"))):
        with refused(403, "AuthenticationFailed"):
            call()
    store(table, {"id": VALID})  # gives back: what was signed is still right
    client.get_entity("p", "there")


def test_a_range_with_a_policy(by, table, name):
    for partition in ("a", "b"):
        table.create_entity(keyed("there", partition))
    store(table, {"id": VALID})
    client = by(table_sas(name, permission=None, policy_id="id", start_pk="b", end_pk="b")).get_table_client(name)
    assert [entity["PartitionKey"] for entity in client.list_entities()] == ["b"]
    with refused(404, "ResourceNotFound"):
        client.get_entity("a", "there")
