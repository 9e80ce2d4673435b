// What every test file needs: clients for the server under test, tables that go away, and expectations about errors.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import http from "node:http";
import { after, before } from "node:test";
import {
  AzureNamedKeyCredential, AzureSASCredential, generateAccountSas, generateTableSas, TableClient, TableServiceClient,
} from "@azure/data-tables";

export const connectionString = process.env.EDGETABLE_CONNECTION_STRING;
if (!connectionString) {
  throw new Error("EDGETABLE_CONNECTION_STRING is not set: these tests need a running server");
}

const settings = Object.fromEntries(connectionString.split(";").filter(Boolean).map((part) => {
  const split = part.indexOf("=");
  return [part.slice(0, split), part.slice(split + 1)];
}));
export const endpoint = settings.TableEndpoint.replace(/\/$/, "");
export const credential = new AzureNamedKeyCredential(settings.AccountName, settings.AccountKey);

/** The read-only copy: in path or host, the name of the account with a suffix. */
export const secondary = endpoint.replace(new RegExp(`${settings.AccountName}(?!.*${settings.AccountName})`), "$&-secondary");

// Node.js keeps an idle connection for five seconds, and workerd closes it after five: a request at that moment fails.
http.globalAgent.options.timeout = 1000;

// Retries would only hide a 5xx.
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };

export const newName = () => "Js" + randomBytes(10).toString("hex");
export const newService = (connection = connectionString) => TableServiceClient.fromConnectionString(connection, options);
export const newClient = (name, connection = connectionString) =>
  TableClient.fromConnectionString(connection, name, options);

/** What signs in by key, at another address than the usual. */
export const newServiceAt = (address) => new TableServiceClient(address, credential, options);
export const newClientAt = (address, name) => new TableClient(address, name, credential, options);

export const hours = (count) => new Date(Date.now() + count * 3_600_000);

// The SDK spells permissions out.
const words = { r: "query", a: "add", u: "update", d: "delete", w: "write", l: "list" };
export const permissions = (letters) => Object.fromEntries([...letters].map((letter) => [words[letter], true]));

/** A client that has nothing but the signature. */
export const withSas = (name, sas) => new TableClient(endpoint, name, new AzureSASCredential(sas), options);
export const serviceWithSas = (sas, address = endpoint) =>
  new TableServiceClient(address, new AzureSASCredential(sas), options);

/** A client with a signature for its table: letters of permissions, and what else the SDK can sign. */
export const signed = (name, letters, more = {}) =>
  withSas(name, generateTableSas(name, credential, { permissions: permissions(letters), expiresOn: hours(1), ...more }));

/** A signature for the account: resource types, letters of permissions. */
export const accountSas = (resourceTypes = "sco", letters = "rwdlau", more = {}) =>
  generateAccountSas(credential, { resourceTypes, permissions: permissions(letters), expiresOn: hours(1), ...more });

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

/** Creates a table for all tests of a file, before the first of them. */
export async function fileTable() {
  const client = newClient(newName());
  after(() => client.deleteTable());
  await client.createTable();
  return client;
}

/** How many bytes a PartitionKey and a RowKey may have together, if the server's store declares it; see ../README.md. */
const keyBytes = Number(process.env.EDGETABLE_CLIENTS_KEY_BYTES || Infinity);

/** Whether the store refuses these keys. */
export const tooLong = (...keys) => Buffer.byteLength(keys.join("")) > keyBytes;

export const keyed = (rowKey, properties = {}, partitionKey = "p") => ({ partitionKey, rowKey, ...properties });

/** The entity without what the server adds. */
export function own({ etag, timestamp, "odata.metadata": metadata, ...entity }) {
  return entity;
}

/** The value without members that are undefined, which the SDK leaves where an element is absent. */
export function present(value) {
  if (Array.isArray(value)) return value.map(present);
  if (Object.prototype.toString.call(value) !== "[object Object]") return value;
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined).map(([name, v]) => [name, present(v)]));
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
  const surfaced = failure.details?.odataError?.code ?? failure.code
    ?? failure.response.headers.get("x-ms-error-code"); // the SDK decodes no error in XML
  assert.deepEqual([failure.statusCode, surfaced], [status, code], failure.message);
  return failure;
}

/** Runs the call with an observer and returns the HTTP response it led to: status, headers, bodyAsText. */
export async function wire(call) {
  let response;
  await call({ onResponse: (raw) => (response = raw) });
  return response;
}
