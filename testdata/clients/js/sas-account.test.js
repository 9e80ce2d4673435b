import { test } from "node:test";
import { covers, deeds } from "./deeds.js";
import { accountSas, fileTable, hours, keyed, newName, newService, refused, serviceWithSas, withSas } from "./harness.js";

const owner = await fileTable();
const service = newService();
await owner.createEntity(keyed("there"));

// What each operation needs: a resource type, all of the permissions.
const operations = {
  "get properties": ["s", "r", (sas) => serviceWithSas(sas).getProperties()],
  "list tables": ["c", "l", (sas) => serviceWithSas(sas).listTables().next()],
  "create table": ["c", "w", async (sas) => {
    const name = newName();
    await serviceWithSas(sas).createTable(name);
    await service.deleteTable(name);
  }],
  "delete table": ["c", "d", async (sas) => {
    const name = newName();
    await service.createTable(name);
    try {
      await serviceWithSas(sas).deleteTable(name);
    } finally {
      await service.deleteTable(name); // the SDK passes over a 404
    }
  }],
};
for (const [name, [needed, call]] of Object.entries(deeds)) {
  operations[name] = ["o", needed, (sas) => call(withSas(owner.tableName, sas), owner)];
}

for (const types of ["s", "c", "o", "sco"]) {
  for (const [name, [needed, , call]] of Object.entries(operations)) {
    const enough = types.includes(needed);
    test(`SAS: of an account: resource types ${types} ${enough ? "allow" : "refuse"} ${name}`, () =>
      enough ? call(accountSas(types)) : refused(403, "AuthorizationResourceTypeMismatch", () => call(accountSas(types))));
  }
}

for (const letters of ["r", "w", "d", "l", "a", "u", "au"]) {
  for (const [name, [, needed, call]] of Object.entries(operations)) {
    const enough = covers(letters, needed);
    test(`SAS: of an account: ${letters} ${enough ? "allows" : "refuses"} ${name}`, async () => {
      const sas = accountSas("sco", letters);
      await (enough ? call(sas) : refused(403, "AuthorizationPermissionMismatch", () => call(sas)));
    });
  }
}

for (const [why, code, more] of [
  ["expired", "AuthenticationFailed", { expiresOn: hours(-1) }],
  ["not yet valid", "AuthenticationFailed", { startsOn: hours(1), expiresOn: hours(2) }],
  ["https only", "AuthorizationProtocolMismatch", { protocol: "https" }],
  ["another address", "AuthorizationSourceIPMismatch", { ipRange: { start: "203.0.113.7" } }],
  ["other services", "AuthorizationServiceMismatch", { services: { blob: true, queue: true, file: true } }],
]) {
  test(`SAS: of an account: ${why}`, async () => {
    const sas = accountSas("sco", "rwdlau", more);
    for (const name of ["list tables", "query", "create", "mixed transaction"]) {
      await refused(403, code, () => operations[name][2](sas));
    }
  });
}

test("SAS: of an account: among other services", () =>
  operations.get[2](accountSas("sco", "r", { services: { blob: true, queue: true, file: true, table: true } })));

test("SAS: of an account: policies are the owner's", async () => {
  const by = withSas(owner.tableName, accountSas());
  await refused(403, "AuthorizationFailure", () => by.getAccessPolicy());
  await refused(403, "AuthorizationFailure", () => by.setAccessPolicy([]));
});
