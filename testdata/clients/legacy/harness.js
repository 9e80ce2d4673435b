// What every test file needs: the legacy SDK with promises, tables that go away, and expectations about errors.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after } from "node:test";
import azure from "azure-storage";

export const { TableBatch, TableQuery, TableUtilities } = azure;
export const edm = TableUtilities.entityGenerator;

const connectionString = process.env.EDGETABLE_CONNECTION_STRING;
if (!connectionString) {
  throw new Error("EDGETABLE_CONNECTION_STRING is not set: these tests need a running server");
}

const settings = Object.fromEntries(connectionString.split(";").filter(Boolean).map((part) => {
  const split = part.indexOf("=");
  return [part.slice(0, split), part.slice(split + 1)];
}));
export const account = settings.AccountName;
export const endpoint = settings.TableEndpoint.replace(/\/$/, "");

/** The secondary address of path style: the account's name in the path with a suffix. */
export const secondary = endpoint.replace(new RegExp(`${account}$`), `${account}-secondary`);

const synchronous = new Set(["generateSharedAccessSignature", "getUrl", "on", "withFilter"]);

/** The service with promises instead of callbacks: each resolves to what a callback gets after its error. */
export function promised(service) {
  return new Proxy(service, {
    get(target, name) {
      if (typeof target[name] !== "function" || synchronous.has(name)) return target[name];
      return (...given) => new Promise((resolve, reject) => {
        target[name](...given, (error, ...results) => (error ? reject(error) : resolve(results)));
      });
    },
  });
}

export const newService = (key = settings.AccountKey, hosts = { primaryHost: endpoint, secondaryHost: secondary }) =>
  azure.createTableService(account, key, hosts);
export const service = promised(newService());

/** A service that has nothing but a shared access signature. */
export const withSas = (sas) => promised(azure.createTableServiceWithSas(endpoint, sas));

export const newName = () => "Legacy" + randomBytes(10).toString("hex");

/** Creates a table for one test. */
export async function newTable(t) {
  const name = newName();
  t.after(() => service.deleteTableIfExists(name));
  await service.createTable(name);
  return name;
}

/** Creates a table for all tests of a file. */
export async function fileTable() {
  const name = newName();
  await service.createTable(name);
  after(() => service.deleteTable(name));
  return name;
}

/** How many bytes a PartitionKey and a RowKey may have together, if the server's store declares it; see ../README.md. */
const keyBytes = Number(process.env.EDGETABLE_CLIENTS_KEY_BYTES || Infinity);

/** Whether the store refuses these keys. */
export const tooLong = (...keys) => Buffer.byteLength(keys.join("")) > keyBytes;

export const keyed = (row, properties = {}, partition = "p") =>
  ({ PartitionKey: edm.String(partition), RowKey: edm.String(row), ...properties });

/** The entity's own properties with their values: no keys, no timestamp, no metadata. */
export function own({ PartitionKey, RowKey, Timestamp, ".metadata": metadata, ...properties }) {
  return Object.fromEntries(Object.entries(properties).map(([name, { _: value }]) => [name, value]));
}

export const etag = (entity) => entity[".metadata"].etag;
export const conditional = (entity, condition) => ({ ...entity, ".metadata": { etag: condition } });

/** All that a query finds, page by page: the row keys, or what is made of each entity. */
export async function pages(table, query, options = {}, by = service, of = (entity) => entity.RowKey._) {
  const found = [];
  let token = null;
  do {
    const [{ entries, continuationToken }] = await by.queryEntities(table, query, token, options);
    found.push(entries.map(of));
    token = continuationToken;
  } while (token);
  return found;
}

export const rows = async (table, query, by = service) => (await pages(table, query, {}, by)).flat();

/** Row keys of four digits, which sort like their numbers. */
export const numbers = (from, to) => Array.from({ length: to - from }, (_, i) => String(from + i).padStart(4, "0"));

/** Asserts that the call is refused with this status and error code; returns the error. */
export async function refused(status, code, call) {
  let failure;
  await assert.rejects(call, (error) => {
    failure = error;
    return true;
  });
  assert.deepEqual([failure.statusCode, failure.code], [status, code], failure.stack);
  return failure;
}
