// What every test file needs: clients for the server under test, tables that go away, and expectations about errors.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before } from "node:test";
import { TableClient, TableServiceClient } from "@azure/data-tables";

export const connectionString = process.env.EDGETABLE_CONNECTION_STRING;
if (!connectionString) {
  throw new Error("EDGETABLE_CONNECTION_STRING is not set: these tests need a running server");
}

// Retries would only hide a 5xx.
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };

export const newName = () => "Js" + randomBytes(10).toString("hex");
export const newService = (connection = connectionString) => TableServiceClient.fromConnectionString(connection, options);
export const newClient = (name, connection = connectionString) =>
  TableClient.fromConnectionString(connection, name, options);

/** Creates a table for one test. */
export async function newTable(t) {
  const client = newClient(newName());
  t.after(() => client.deleteTable());
  await client.createTable();
  return client;
}

/** Gives the surrounding describe a table of its own. */
export function suiteTable() {
  const client = newClient(newName());
  before(() => client.createTable());
  after(() => client.deleteTable());
  return client;
}

export const keyed = (rowKey, properties = {}, partitionKey = "p") => ({ partitionKey, rowKey, ...properties });

/** The entity without what the server adds. */
export function own({ etag, timestamp, "odata.metadata": metadata, ...entity }) {
  return entity;
}

export async function rows(entities) {
  const found = [];
  for await (const entity of entities) {
    found.push(entity.rowKey);
  }
  return found;
}

/** Asserts that the call is refused with this status and error code; returns the error. */
export async function refused(status, code, call) {
  let failure;
  await assert.rejects(call, (error) => {
    failure = error;
    return true;
  });
  const surfaced = failure.details?.odataError?.code ?? failure.code;
  assert.deepEqual([failure.statusCode, surfaced], [status, code], failure.message);
  return failure;
}

/** Runs the call with an observer and returns the HTTP response it led to: status, headers, bodyAsText. */
export async function wire(call) {
  let response;
  await call({ onResponse: (raw) => (response = raw) });
  return response;
}
