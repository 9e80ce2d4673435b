// What a browser sends for a page, which fetch in Node does not: an Origin, and the question before a request that needs one.
import http from "node:http";
import { endpoint, present } from "./harness.js";

/** Sends a request and answers its status, headers and body. */
export function send(method, path, headers = {}, body = "") {
  return new Promise((resolve, reject) => {
    const request = http.request(`${endpoint}${path}`, { method, headers: { Accept: "application/json", ...headers } }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts).toString() }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

/** Asks whether a page of origin may send method with these headers. */
export const preflight = (origin, method, headers, path = "/anything") =>
  send("OPTIONS", path, present({
    "Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers,
  }));

/** The headers of a reply that are about origins, without what all of them begin with. */
export const about = ({ headers }) => Object.fromEntries(Object.entries(headers)
  .filter(([name]) => name.startsWith("access-control-") || name === "vary")
  .map(([name, value]) => [name.replace("access-control-", ""), value]));
