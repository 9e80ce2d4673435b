import assert from "node:assert/strict";
import { after, test } from "node:test";
import azure from "azure-storage";
import { endpoint, fileTable, newService, promised, refused, rows, secondary, service } from "./harness.js";

const table = await fileTable();
const { SECONDARY_ONLY } = azure.StorageUtilities.LocationMode;
const read = async () => (await service.getServiceProperties())[0];

const [original] = await service.getServiceProperties();
after(() => service.setServiceProperties(original));

const retention = (Days) => (Days ? { Enabled: true, Days } : { Enabled: false });
const rule = {
  AllowedMethods: ["GET", "PUT", "MERGE"],
  AllowedOrigins: ["http://www.example.com", "http://other.example.com"],
  AllowedHeaders: ["x-ms-meta-abc", "x-ms-meta-data*"],
  ExposedHeaders: ["x-ms-*"],
  MaxAgeInSeconds: 500,
};
const settings = {
  Logging: { Version: "1.0", Delete: true, Read: false, Write: true, RetentionPolicy: retention(7) },
  HourMetrics: { Version: "1.0", Enabled: true, IncludeAPIs: true, RetentionPolicy: retention(5) },
  MinuteMetrics: { Version: "1.0", Enabled: false, RetentionPolicy: retention() },
  Cors: { CorsRule: [rule] },
};

test("ServiceProperties: has every part from the start", () => {
  for (const part of ["Logging", "HourMetrics", "MinuteMetrics"]) {
    assert.equal(original[part].Version, "1.0", part);
    assert.equal(typeof original[part].RetentionPolicy.Enabled, "boolean", part);
  }
  assert.ok(original.Cors);
});

test("ServiceProperties: what was set is what is read", async () => {
  const [response] = await service.setServiceProperties(settings);
  assert.equal(response.statusCode, 202);
  assert.deepEqual(await read(), settings);
});

test("ServiceProperties: a part is set, the others stay", async () => {
  await service.setServiceProperties(settings);
  const MinuteMetrics = { Version: "1.0", Enabled: true, IncludeAPIs: false, RetentionPolicy: retention(365) };
  await service.setServiceProperties({ MinuteMetrics });
  assert.deepEqual(await read(), { ...settings, MinuteMetrics });
  await service.setServiceProperties({ Cors: {} });
  assert.deepEqual(await read(), { ...settings, MinuteMetrics, Cors: {} });
});

const rules = (count) => ({ Cors: { CorsRule: Array.from({ length: count }, (_, n) => ({ ...rule, MaxAgeInSeconds: n })) } });

test("CORS: five rules, in their order", async () => {
  await service.setServiceProperties(rules(5));
  assert.deepEqual((await read()).Cors, rules(5).Cors);
});

for (const [why, broken] of [
  ["366 days", { HourMetrics: { ...settings.HourMetrics, RetentionPolicy: retention(366) } }],
  ["another version", { Logging: { ...settings.Logging, Version: "7.0" } }],
  ["six CORS rules", rules(6)],
  ["a CORS rule for a method that is none", { Cors: { CorsRule: [{ ...rule, AllowedMethods: ["FETCH"] }] } }],
  ["a CORS rule without origins", { Cors: { CorsRule: [{ ...rule, AllowedOrigins: [] }] } }],
]) {
  test(`ServiceProperties: refused for ${why}`, async () => {
    await service.setServiceProperties(settings);
    await refused(400, "InvalidXmlDocument", () => service.setServiceProperties(broken));
    assert.deepEqual(await read(), settings);
  });
}

/** Asks from a page of this origin, and answers the headers about it. */
async function from(origin) {
  const page = newService();
  page.on("sendingRequestEvent", (request) => request.withHeader("origin", origin));
  const [, { headers }] = await promised(page).queryEntities(table, null, null);
  return [headers["access-control-allow-origin"], headers["access-control-allow-credentials"], headers["vary"]];
}

test("CORS: a reply to a page of an allowed origin, and of any other", async () => {
  await service.setServiceProperties(settings);
  assert.deepEqual(await from("http://www.example.com"), ["http://www.example.com", "true", "Origin"]);
  assert.deepEqual(await from("http://evil.example.com"), [undefined, undefined, "Origin"]);
  await service.setServiceProperties({ Cors: { CorsRule: [{ ...rule, AllowedOrigins: ["*"] }] } });
  assert.deepEqual(await from("http://evil.example.com"), ["*", undefined, undefined]);
  await service.setServiceProperties({ Cors: {} });
  assert.deepEqual(await from("http://www.example.com"), [undefined, undefined, undefined]);
});

test("ServiceStats: at the secondary address", async () => {
  const [{ GeoReplication }] = await service.getServiceStats({ locationMode: SECONDARY_ONLY });
  assert.equal(GeoReplication.Status, "live");
  assert.ok(Math.abs(Date.now() - GeoReplication.LastSyncTime) < 3_600_000, String(GeoReplication.LastSyncTime));
});

test("ServiceStats: not at the primary address", () =>
  refused(400, "InvalidQueryParameterValue", () => service.getServiceStats()));

test("ServiceProperties: read at the secondary address too, but not set there", async () => {
  await service.setServiceProperties(settings);
  const there = promised(newService(undefined, { primaryHost: secondary }));
  assert.deepEqual((await there.getServiceProperties())[0], settings);
  await refused(403, "InsufficientAccountPermissions", () => there.setServiceProperties(settings));
});

test("Errors: properties with a table in the address", async () => {
  const misbuilt = promised(newService(undefined, { primaryHost: `${endpoint}/${table}` }));
  await refused(400, "InvalidQueryParameterValue", () => misbuilt.getServiceProperties());
  assert.deepEqual(await rows(table, null), []);
});
