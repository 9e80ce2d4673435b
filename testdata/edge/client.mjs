// Signed requests for benchmarks.
import { createHmac } from "node:crypto";

export const account = "acme", key = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IDEyMzQ=";

// signed returns method, path, headers and body of a signed request.
export function signed(method, target, body = "", more = {}) {
  const path = `/${account}${target}`, date = new Date().toUTCString();
  const mac = createHmac("sha256", Buffer.from(key, "base64")).update(`${date}\n/${account}${path.split("?")[0]}`).digest("base64");
  return {
    method, path, body: Buffer.from(body),
    headers: {
      "x-ms-date": date, "x-ms-version": "2019-02-02", "content-type": "application/json", accept: "application/json;odata=minimalmetadata",
      "dataserviceversion": "3.0", "user-agent": "azsdk-python-data-tables/12.7.0 Python/3.11.2 (Linux)", "content-length": String(Buffer.byteLength(body)),
      "x-ms-client-request-id": "8d1c9f8e-c6ee-11f0-9f4a-0242ac110002", authorization: `SharedKeyLite ${account}:${mac}`, ...more,
    },
  };
}

const text = JSON.stringify("v".repeat(1000)); // about 1 KiB with its keys
const row = (i) => String(i).padStart(4, "0");

export const create = (table) => signed("POST", "/Tables", JSON.stringify({ TableName: table }));
export const point = (table, i) => signed("GET", `/${table}(PartitionKey='p',RowKey='${row(i)}')`);
export const page = (table) => signed("GET", `/${table}()`);
export const write = (table, i) => signed("PUT", `/${table}(PartitionKey='p',RowKey='${row(i)}')`, `{"Name":"Ada","Age":36,"V":${text}}`);

// large returns an entity of this many bytes, in properties of 64 KiB.
export const large = (table, i, size) => signed("PUT", `/${table}(PartitionKey='p',RowKey='${row(i)}')`, `{${values(size)}}`);

function values(size) {
  const list = [];
  for (let left = size; left > 0; left -= 65536) list.push(`"V${list.length}@odata.type":"Edm.Binary","V${list.length}":"${Buffer.alloc(Math.min(left, 65536)).toString("base64")}"`);
  return list.join();
}

// batch returns a batch of 100 upserts, numbered from a number on, each of about 1 KiB or of a given size.
export function batch(table, first, size) {
  let body = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n";
  for (let i = first; i < first + 100; i++) {
    body += "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
      (size === undefined
        ? `POST http://host/${account}/${table} HTTP/1.1\r\nContent-Type: application/json\r\nPrefer: return-no-content\r\n\r\n{"PartitionKey":"p","RowKey":"${row(i)}","V":${text}}\r\n`
        : `PUT http://host/${account}/${table}(PartitionKey='p',RowKey='${row(i)}') HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{${values(size)}}\r\n`);
  }
  return signed("POST", "/$batch", body + "--c--\r\n--b--\r\n", { "content-type": "multipart/mixed; boundary=b" });
}
