import uuid

import pytest

import atom
import expect
from batch import answers, batch, operation, single
from test_entities import add, stored
from test_tables import VERSIONS
from wire import Client, key_path, stale_etag

pytestmark = pytest.mark.operation("EntityGroupTransaction")
ID = "a1e9d677-b28b-435e-a89e-87e6a768a431"
BOUNDARIES = {
    "StorageClient": (f"batch_{ID}", f"changeset_{uuid.UUID(int=1)}", f"batch_{ID}"),
    "parentheses": (f"batch({ID})", f"changeset({uuid.UUID(int=1)})", f"batch({ID})"),
    "quoted": (f"batch({ID})", f"changeset_{uuid.UUID(int=1)}", f'"batch({ID})"'),
    "the same id": (f"batch_{ID}", f"changeset_{ID}", f"batch_{ID}"),
    "one begins as the other": (f"b_{ID}", f"b_{ID}1", f"b_{ID}"),
}


def send(client, operations, form="StorageClient", newline="\r\n", **headers):
    boundary, changeset, parameter = BOUNDARIES[form]
    headers.setdefault("Content_Type", f"multipart/mixed; boundary={parameter}")
    return client.request("POST", "/$batch", batch(operations, boundary, changeset, newline), **headers)


def url(client, table, row=None):
    base = client.account.base.rstrip("/")
    return base + (f"/{table}" if row is None else key_path(table, "p", row))


def insert(client, table, row, *properties, **options):
    return operation("POST", url(client, table), atom.entity("p", row, *properties), **options)


def rows(client, table):
    return [entry.values["RowKey"] for entry in expect.feed(client.request("GET", f"/{table}()"), client.account, table)]


@pytest.mark.parametrize("newline", ["\r\n", "\n"], ids=["CRLF", "LF"])
@pytest.mark.parametrize("version", VERSIONS[1:])
def test_every_operation(account, table, version, newline):
    client = Client(account, version)
    for row in ("delete", "merge", "replace", "tunnelled"):
        add(client, table, atom.prop("Old", "o"), row=row)
    etag = stored(client, table, row="replace").etag
    new = atom.prop("New", "n")
    body = lambda row: atom.entity("p", row, new, id=url(client, table, row))
    response = send(client, [
        insert(client, table, "insert", new, content_id="1"),
        operation("MERGE", url(client, table, "merge"), body("merge"), content_id="2", If_Match="*"),
        operation("PUT", url(client, table, "replace"), body("replace"), content_id="3", If_Match=etag),
        operation("DELETE", url(client, table, "delete"), content_id="4", If_Match="*"),
        operation("POST", url(client, table, "tunnelled"), body("tunnelled"), content_id="5", If_Match="*", X_HTTP_Method="MERGE"),
    ], newline=newline)
    parts = answers(response)
    assert [part.status for part in parts] == [201, 204, 204, 204, 204]
    assert [part.headers.get("Content-ID") for part in parts] == list("12345")
    inserted = expect.entry(parts[0], account, 201)
    assert parts[0].headers["Location"] == inserted.id and inserted.own() == {"New": "n"}
    now = {row: stored(client, table, row=row) for row in rows(client, table)}
    assert {row: entry.own() for row, entry in now.items()} == {
        "insert": {"New": "n"}, "merge": {"Old": "o", "New": "n"},
        "replace": {"New": "n"}, "tunnelled": {"Old": "o", "New": "n"},
    }
    etags = [part.headers.get("ETag") for part in parts]
    assert etags == [now[row].etag if row else None for row in ("insert", "merge", "replace", None, "tunnelled")]


@pytest.mark.parametrize("newline", ["\r\n", "\n"], ids=["CRLF", "LF"])
@pytest.mark.parametrize("form", BOUNDARIES)
def test_boundaries(old, table, form, newline):
    parts = answers(send(old, [insert(old, table, "1"), insert(old, table, "2")], form, newline))
    assert [part.status for part in parts] == [201, 201] and rows(old, table) == ["1", "2"]
    assert "Content-ID" not in parts[0].headers


@pytest.mark.parametrize("target", [
    "http://another.example/{account}/{table}()", "/{account}/{table}", "{table}",
], ids=["another host", "absolute path", "relative to the base"])
def test_targets(old, account, table, target):
    if not account.prefix:
        target = target.replace("/{account}", "")
    target = target.format(account=account.name, table=table)
    (part,) = answers(send(old, [operation("POST", target, atom.entity("p", "r"))]))
    assert part.status == 201 and rows(old, table) == ["r"]


def test_a_hundred(old, table):
    names = [f"{n:03}" for n in range(101)]
    parts = answers(send(old, [insert(old, table, row, content_id=str(n)) for n, row in enumerate(names[:100])]))
    assert [expect.entry(part, old.account, 201).values["RowKey"] for part in parts] == names[:100]
    (part,) = answers(send(old, [operation("DELETE", url(old, table, row), If_Match="*") for row in names]))
    message = "99:The batch request operation exceeds the maximum 100 changes per change set."
    expect.refused(part, 400, "InvalidInput", message)
    assert len(rows(old, table)) == 100


# The last of three operations fails; "there" exists.
FAILURES = {
    "existing": (lambda c, t: insert(c, t, "there"), 409, "EntityAlreadyExists"),
    "missing": (lambda c, t: operation("DELETE", url(c, t, "none"), If_Match="*"), 404, "ResourceNotFound"),
    "stale": (
        lambda c, t: operation("MERGE", url(c, t, "there"), atom.entity("p", "there"), If_Match=stale_etag()),
        412, "UpdateConditionNotSatisfied",
    ),
    "twice": (lambda c, t: insert(c, t, "new"), 400, "InvalidDuplicateRow"),
    "another partition": (
        lambda c, t: operation("POST", url(c, t), atom.entity("q", "r")), 400, "CommandsInBatchActOnDifferentPartitions",
    ),
    "too large": (lambda c, t: insert(c, t, "large", atom.prop("A", "x" * 32769)), 400, "PropertyValueTooLarge"),
    "no key": (
        lambda c, t: operation("POST", url(c, t), atom.entry(atom.prop("PartitionKey", "p"))), 400, "PropertiesNeedValue",
    ),
    "not XML": (lambda c, t: operation("POST", url(c, t), "<entry>"), 400, "InvalidInput"),
}


@pytest.mark.parametrize("failing, status, code", FAILURES.values(), ids=FAILURES.keys())
def test_nothing_is_stored(old, table, failing, status, code):
    before = add(old, table, row="there")
    steps = [insert(old, table, "new"), operation("DELETE", url(old, table, "there2"), If_Match="*"), failing(old, table)]
    add(old, table, row="there2")
    (part,) = answers(send(old, steps))
    assert expect.refused(part, status, code).startswith("2:")
    assert rows(old, table) == ["there", "there2"] and stored(old, table, row="there").etag == before.etag


def test_missing_table(old, name):
    (part,) = answers(send(old, [insert(old, name, "r")]))
    expect.refused(part, 404, "TableNotFound", "0:The table specified does not exist.")


def test_upsert(old, middle, table):
    """Refused before 2011-08-18, as outside of a batch: the version is that of the outer request."""
    upsert = [operation("PUT", url(old, table, "r"), atom.entity("p", "r"))]
    (part,) = answers(send(old, upsert))
    expect.refused(part, 400, "InvalidInput")
    assert rows(old, table) == []
    (part,) = answers(send(middle, upsert))
    assert part.status == 204 and rows(old, table) == ["r"]


def test_preference(late, table):
    """A later client of both ATOM and Prefer gets no entries back."""
    (part,) = answers(send(late, [insert(late, table, "r", Prefer="return-no-content")]))
    assert (part.status, part.headers["Preference-Applied"]) == (204, "return-no-content")
    assert part.headers["ETag"] == stored(late, table).etag


@pytest.mark.parametrize("newline", ["\r\n", "\n"], ids=["CRLF", "LF"])
def test_lone_query(old, account, table, newline):
    add(old, table, atom.prop("A", "x"))
    typed = {"Content_Type": "multipart/mixed; boundary=batch_q"}
    ask = lambda target: old.request("POST", "/$batch", single(operation("GET", target), "batch_q", newline), **typed)
    (part,) = answers(ask(url(old, table) + "()?$filter=A%20eq%20'x'"), changeset=False)
    assert [entry.own() for entry in expect.feed(part, account, table)] == [{"A": "x"}]
    (part,) = answers(ask(url(old, table, "r")), changeset=False)
    assert expect.entry(part, account).own() == {"A": "x"}
    (part,) = answers(ask(url(old, table, "none")), changeset=False)
    expect.refused(part, 404, "ResourceNotFound", "0:The specified resource does not exist.")


def test_not_a_batch(old, table):
    steps = [insert(old, table, "r")]
    expect.refused(send(old, steps, Content_Type="multipart/mixed"), 400, "InvalidInput")
    expect.refused(send(old, steps, Content_Type="multipart/mixed; boundary=another"), 400, "InvalidInput")
    expect.refused(send(old, steps, Authorization=f"SharedKey {old.account.name}:c2ln"), 403, "AuthenticationFailed")
    assert rows(old, table) == []
