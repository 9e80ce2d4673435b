import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import UpdateMode

from expect import keyed, refused, rows

MODES = [UpdateMode.MERGE, UpdateMode.REPLACE]


def test_create(table):
    answer = table.create_entity(keyed("r", A="x"))
    read = table.get_entity("p", "r")
    assert dict(read) == keyed("r", A="x")
    assert read.metadata["etag"] == answer["etag"]
    with refused(409, "EntityAlreadyExists", ResourceExistsError):
        table.create_entity(keyed("r", A="y"))
    assert table.get_entity("p", "r")["A"] == "x"
    table.create_entity(keyed("r", partition="P"))  # keys are case-sensitive
    table.create_entity(keyed("R"))


def test_etag_is_the_timestamp(table):
    etag = table.create_entity(keyed("r"))["etag"]
    timestamp = table.get_entity("p", "r").metadata["timestamp"].tables_service_value
    assert etag == "W/\"datetime'" + timestamp.replace(":", "%3A") + "'\""


def test_get_selected(table):
    table.create_entity(keyed("r", A="x", B=1))
    assert dict(table.get_entity("p", "r", select=["A"])) == {"A": "x"}
    assert dict(table.get_entity("p", "r", select="B,Missing")) == {"B": 1, "Missing": None}


@pytest.mark.parametrize("mode", MODES)
def test_update(table, mode):
    before = table.create_entity(keyed("r", Keep="k", Change=1))["etag"]
    after = table.update_entity(keyed("r", Change="new", Fresh=True, Gone=None), mode=mode)["etag"]
    assert after != before
    expected = keyed("r", Change="new", Fresh=True)
    if mode == UpdateMode.MERGE:
        expected["Keep"] = "k"
    read = table.get_entity("p", "r")
    assert dict(read) == expected
    assert read.metadata["etag"] == after


@pytest.mark.parametrize("mode", MODES)
def test_upsert(table, mode):
    table.upsert_entity(keyed("r", Keep="k"), mode=mode)
    table.upsert_entity(keyed("r", Fresh=1), mode=mode)
    expected = keyed("r", Fresh=1)
    if mode == UpdateMode.MERGE:
        expected["Keep"] = "k"
    assert dict(table.get_entity("p", "r")) == expected


@pytest.mark.parametrize("mode", MODES)
def test_missing(table, missing_table, mode):
    for client, code in ((table, "ResourceNotFound"), (missing_table, "TableNotFound")):
        with refused(404, code, ResourceNotFoundError):
            client.get_entity("p", "r")
        with refused(404, code, ResourceNotFoundError):
            client.update_entity(keyed("r"), mode=mode)
        answers = []
        client.delete_entity("p", "r", raw_response_hook=lambda reply: answers.append(reply.http_response))
        assert [answer.status_code for answer in answers] == [404]  # which the SDK passes over
        assert code in answers[0].text()
    with refused(404, "TableNotFound", ResourceNotFoundError):
        missing_table.create_entity(keyed("r"))
    with refused(404, "TableNotFound", ResourceNotFoundError):
        missing_table.upsert_entity(keyed("r"), mode=mode)
    with refused(404, "TableNotFound", ResourceNotFoundError):
        list(missing_table.list_entities())


def test_delete(table):
    table.create_entity(keyed("by keys"))
    table.create_entity(keyed("by entity"))
    table.delete_entity("p", "by keys")
    table.delete_entity(keyed("by entity"))
    assert rows(table.list_entities()) == []


@pytest.mark.parametrize("operation", ["merge", "replace", "delete"])
def test_conditions(table, operation):
    def write(etag, condition=MatchConditions.IfNotModified):
        if operation == "delete":
            table.delete_entity(keyed("r"), etag=etag, match_condition=condition)
        else:
            table.update_entity(keyed("r", A=2), mode=operation, etag=etag, match_condition=condition)

    stale = table.create_entity(keyed("r", A=1))["etag"]
    current = table.update_entity(keyed("r", A=1))["etag"]
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        write(stale)
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        write("W/\"datetime'2012-06-15T22%3A51%3A44.9662825Z'\"")
    with refused(400, "InvalidInput"):
        write("MalformedETag")
    assert table.get_entity("p", "r")["A"] == 1
    write(current)
    table.upsert_entity(keyed("r", A=3))
    write(None, MatchConditions.Unconditionally)  # If-Match: *


def test_condition_from_metadata(table):
    table.create_entity(keyed("r", A=1))
    mine = table.get_entity("p", "r")
    table.update_entity(keyed("r", A=2))
    mine["A"] = 3
    with refused(412, "UpdateConditionNotSatisfied", ResourceModifiedError):
        table.update_entity(mine, match_condition=MatchConditions.IfNotModified)
    mine = table.get_entity("p", "r")
    table.delete_entity(mine, match_condition=MatchConditions.IfNotModified)


def test_quick_writes_change_the_etag(table):
    etags = [table.create_entity(keyed("r"))["etag"]]
    etags += [table.update_entity(keyed("r"))["etag"] for _ in range(20)]
    assert len(set(etags)) == len(etags)
