// Service properties, CORS and stats. The account's properties change and are put back, so no other suite may use the
// account, and all tests about them are in this file: files run at the same time.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { generateTableSas } from "@azure/data-tables";
import { about, preflight, send } from "./browser.js";
import {
  accountSas, credential, fileTable, hours, keyed, newClientAt, newName, newService, newServiceAt, permissions, present, refused, rows,
  secondary, serviceWithSas, signed, wire,
} from "./harness.js";

const service = newService();
const owner = await fileTable();
await owner.createEntity(keyed("there"));

/** The properties, without what the SDK adds about the reply. */
async function read(by = service) {
  const { logging, hourMetrics, minuteMetrics, cors } = await by.getProperties();
  return present({ logging, hourMetrics, minuteMetrics, cors });
}

const original = await read();
after(() => service.setProperties(original));

const retention = (days) => (days ? { enabled: true, days } : { enabled: false });
const rule = {
  allowedMethods: "GET,PUT,MERGE",
  allowedOrigins: "http://www.example.com,https://*.example.org",
  allowedHeaders: "x-ms-date,x-ms-meta-data*",
  exposedHeaders: "x-ms-*",
  maxAgeInSeconds: 500,
};
const settings = {
  logging: { version: "1.0", delete: true, read: false, write: true, retentionPolicy: retention(7) },
  hourMetrics: { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: retention(5) },
  minuteMetrics: { version: "1.0", enabled: false, retentionPolicy: retention() },
  cors: [rule],
};

test("ServiceProperties: complete from the start", () => {
  for (const part of ["logging", "hourMetrics", "minuteMetrics"]) {
    assert.equal(original[part].version, "1.0", part);
    assert.equal(typeof original[part].retentionPolicy.enabled, "boolean", part);
  }
  assert.ok(Array.isArray(original.cors));
});

test("ServiceProperties: what was set is what is read", async () => {
  const { status } = await wire((options) => service.setProperties(settings, options));
  assert.equal(status, 202);
  assert.deepEqual(await read(), settings);
});

for (const [why, part] of [
  ["logging", { logging: { ...settings.logging, retentionPolicy: retention() } }],
  ["hour metrics", { hourMetrics: settings.minuteMetrics }],
  ["minute metrics", { minuteMetrics: { ...settings.hourMetrics, retentionPolicy: retention(365) } }],
  ["five rules", { cors: [1, 2, 3, 4, 5].map((maxAgeInSeconds) => ({ ...rule, maxAgeInSeconds })) }],
  ["rules without headers", { cors: [{ ...rule, allowedHeaders: "", exposedHeaders: "" }] }],
  ["no rules", { cors: [] }],
]) {
  test(`ServiceProperties: the others stay when this is set: ${why}`, async () => {
    await service.setProperties(settings);
    await service.setProperties(part);
    assert.deepEqual(await read(), { ...settings, ...part });
  });
}

for (const [why, part] of [
  ["nothing", {}],
  ["six rules", { cors: Array(6).fill(rule) }],
  ["a method that is none", { cors: [{ ...rule, allowedMethods: "FETCH" }] }],
  ["a rule without origins", { cors: [{ ...rule, allowedOrigins: "" }] }],
  ["a negative age", { cors: [{ ...rule, maxAgeInSeconds: -1 }] }],
  ["366 days", { hourMetrics: { ...settings.hourMetrics, retentionPolicy: retention(366) } }],
  ["metrics without a retention", { hourMetrics: { version: "1.0", enabled: false } }],
  ["another version", { logging: { ...settings.logging, version: "7.0" } }],
]) {
  test(`ServiceProperties: refused for ${why}`, async () => {
    await service.setProperties(settings);
    await refused(400, "InvalidXmlDocument", () => service.setProperties(part));
    assert.deepEqual(await read(), settings);
  });
}

test("ServiceProperties: by a signature of the account", async () => {
  await serviceWithSas(accountSas("s", "w")).setProperties(settings);
  assert.deepEqual(await read(serviceWithSas(accountSas("s", "r"))), settings);
  await refused(403, "AuthorizationPermissionMismatch", () => serviceWithSas(accountSas("s", "rdlau")).setProperties(settings));
  await refused(403, "AuthorizationResourceTypeMismatch", () => serviceWithSas(accountSas("co", "w")).setProperties(settings));
});

// The SDK finds the secondary endpoint by the host alone. Where the account stands in the path, it stays where it was sent.
test("ServiceStats: at the secondary endpoint", async () => {
  for (const by of [newServiceAt(secondary), serviceWithSas(accountSas("s", "r"), secondary)]) {
    const { geoReplication } = await by.getStatistics();
    assert.equal(geoReplication.status, "live");
    assert.ok(Math.abs(Date.now() - geoReplication.lastSyncTime) < 3_600_000, String(geoReplication.lastSyncTime));
  }
});

test("ServiceStats: not at the primary endpoint", () =>
  refused(400, "InvalidQueryParameterValue", () => service.getStatistics()));

test("ServiceStats: the secondary endpoint is read-only", async () => {
  const there = newClientAt(secondary, owner.tableName);
  assert.deepEqual(await rows(there.listEntities()), ["there"]);
  await service.setProperties(settings);
  assert.deepEqual(await read(newServiceAt(secondary)), settings);
  await refused(403, "InsufficientAccountPermissions", () => there.createEntity(keyed("new")));
  await refused(403, "InsufficientAccountPermissions", () => newServiceAt(secondary).setProperties(settings));
});

const page = "http://www.example.com";
const rulesAre = (...cors) => service.setProperties({ cors });

/** A reply that says no to a preflight request. */
async function denied(reply, status, code) {
  const { headers, ...rest } = await reply;
  assert.deepEqual([rest.status, headers["x-ms-error-code"]], [status, code], rest.body);
  assert.equal(headers["access-control-allow-origin"], undefined);
}

test("CORS: nothing is allowed without rules", async () => {
  await rulesAre();
  await denied(preflight(page, "GET"), 403, "CorsPreflightFailure");
  const reply = await send("GET", `/${owner.tableName}?${tableSas()}`, { Origin: page });
  assert.equal(reply.status, 200);
  assert.deepEqual(about(reply), {});
});

for (const [why, origin, method, headers, path] of [
  ["a listed origin", page, "PUT", "x-ms-date"],
  ["a subdomain", "https://any.example.org", "GET", "x-ms-date"],
  ["headers in any case, by prefix", page, "MERGE", "X-MS-Date,x-ms-meta-DATA1"],
  ["no headers", page, "GET", undefined],
  ["a path where nothing is", page, "GET", undefined, `/${newName()}(PartitionKey='p',RowKey='r')`],
  ["the tables", page, "GET", undefined, "/Tables"],
]) {
  test(`CORS: a preflight request is allowed for ${why}`, async () => {
    await rulesAre(rule);
    const reply = await preflight(origin, method, headers, path);
    assert.equal(reply.status, 200, reply.body);
    assert.equal(reply.body, "");
    const { vary, ...granted } = about(reply);
    assert.deepEqual(granted, {
      "allow-origin": origin, "allow-methods": method, "allow-credentials": "true", "max-age": "500",
      ...(headers && { "allow-headers": headers }),
    });
  });
}

for (const [why, origin, method, headers, status = 403, code = "CorsPreflightFailure"] of [
  ["another origin", "http://evil.example.com", "GET"],
  ["another scheme", "https://www.example.com", "GET"],
  ["the origin in another case", "http://WWW.example.com", "GET"],
  ["the domain itself for its subdomains", "https://example.org", "GET"],
  ["another method", page, "DELETE"],
  ["another header", page, "GET", "x-ms-date,authorization"],
  ["no origin", undefined, "GET", undefined, 400, "InvalidHeaderValue"],
  ["no method", page, undefined, undefined, 400, "InvalidHeaderValue"],
]) {
  test(`CORS: a preflight request is refused for ${why}`, async () => {
    await rulesAre(rule);
    await denied(preflight(origin, method, headers), status, code);
  });
}

test("CORS: the first rule of origin and method decides", async () => {
  const [strict, open] = [{ ...rule, allowedHeaders: "x-ms-date" }, { ...rule, allowedOrigins: "*", allowedHeaders: "*" }];
  await rulesAre(strict, open);
  await denied(preflight(page, "GET", "content-type"), 403, "CorsPreflightFailure");
  assert.equal((await preflight("http://elsewhere.example.com", "GET", "content-type")).status, 200);
  await rulesAre(open, strict);
  assert.equal((await preflight(page, "GET", "content-type")).status, 200);
});

const tableSas = (more = {}) =>
  generateTableSas(owner.tableName, credential, { permissions: permissions("ru"), expiresOn: hours(1), ...more });
const exposed = ({ headers }) => headers["access-control-expose-headers"].split(",").map((name) => name.trim().toLowerCase());

test("CORS: a page reads entities", async () => {
  await rulesAre(rule);
  const reply = await send("GET", `/${owner.tableName}?${tableSas()}`, { Origin: page, Accept: "application/json;odata=nometadata" });
  assert.equal(reply.status, 200);
  assert.deepEqual(JSON.parse(reply.body).value.map((entity) => entity.RowKey), ["there"]);
  const { "expose-headers": names, ...rest } = about(reply);
  assert.deepEqual(rest, { "allow-origin": page, "allow-credentials": "true", "vary": "Origin" });
  assert.ok(exposed(reply).includes("x-ms-request-id"), names);
  assert.ok(!exposed(reply).includes("content-type"), names);
});

test("CORS: a page replaces an entity, after a preflight request", async () => {
  await rulesAre({ ...rule, allowedHeaders: "*", exposedHeaders: "etag" });
  const path = `/${owner.tableName}(PartitionKey='p',RowKey='there')?${tableSas()}`;
  const { status } = await preflight(page, "PUT", "content-type,if-match,x-ms-version", path);
  assert.equal(status, 200);
  const reply = await send("PUT", path, {
    "Origin": page, "Content-Type": "application/json", "If-Match": "*", "x-ms-version": "2019-02-02",
  }, JSON.stringify({ A: "from a page" }));
  assert.equal(reply.status, 204, reply.body);
  assert.equal(reply.headers["access-control-allow-origin"], page);
  assert.ok(exposed(reply).includes("etag"));
  assert.equal((await owner.getEntity("p", "there")).A, "from a page");
});

test("CORS: a page may read errors, too", async () => {
  await rulesAre(rule);
  const reply = await send("GET", `/${owner.tableName}?${tableSas({ expiresOn: hours(-1) })}`, { Origin: page });
  assert.equal(reply.status, 403);
  assert.equal(reply.headers["access-control-allow-origin"], page);
});

for (const [why, rules, origin, expected] of [
  ["of another origin", [rule], "http://evil.example.com", { vary: "Origin" }],
  ["of none", [rule], undefined, { vary: "Origin" }],
  ["of any, where all are allowed", [{ ...rule, allowedOrigins: "*", exposedHeaders: "" }], "http://evil.example.com", { "allow-origin": "*" }],
]) {
  test(`CORS: headers for a page ${why}`, async () => {
    await rulesAre(...rules);
    const reply = await send("GET", `/${owner.tableName}?${tableSas()}`, origin ? { Origin: origin } : {});
    assert.equal(reply.status, 200); // it is the browser that keeps the reply from the page
    assert.deepEqual(about(reply), expected);
  });
}

test("CORS: replies to the SDK say nothing of it", async () => {
  await rulesAre(rule);
  const { headers } = await wire((options) => signed(owner.tableName, "u").updateEntity(keyed("there"), "Merge", options));
  assert.equal(headers.get("access-control-allow-origin"), undefined);
});
