// Prints the endpoints of a deployed Worker:  node endpoints.mjs OUTPUT
//
// OUTPUT is wrangler's report about the deployment, one JSON object on each line. Its targets are addresses
// (https://…workers.dev), custom domains ("tables.example.com (custom domain)"), routes ("*.table.example.com/*
// (zone name: example.com)"), and targets without a host ("schedule: */30 * * * *").
import { readFileSync } from "node:fs";

const account = process.env.EDGETABLE_ACCOUNTS ?? ""; // name:key of an account that was created with the deployment
const lines = readFileSync(process.argv[2], "utf8").trim().split("\n").map((line) => JSON.parse(line));
const targets = lines.find((line) => line.type === "deploy")?.targets ?? [];
const hosts = targets.flatMap((target) => /^(?:https:\/\/)?([\w*-]+(?:\.[\w-]+)+)(?=[/ ]|$)/.exec(target)?.slice(1) ?? []);
const own = hosts.filter((host) => !host.endsWith(".workers.dev"));

// The account is the part of the host before ".table.", or for other hosts the first segment of the path.
const endpoint = (host, name) => (/^[^.]+\.table\./.test(host) ? `https://${host.replace(/^\*/, name)}` : `https://${host}/${name}`);

console.log("");
for (const host of hosts) console.log(`Endpoint: ${endpoint(host, "ACCOUNT")}`);
if (account !== "") {
  const [name, key] = account.split(":"), best = own[0] ?? hosts[0];
  const at = best === undefined ? "" : `;TableEndpoint=${endpoint(best, name)}`;
  console.log(`Shown this once: DefaultEndpointsProtocol=https;AccountName=${name};AccountKey=${key}${at}`);
}
console.log(own.length === 0
  ? "Next: a host of your own, as nobody can switch URL normalization off for workers.dev. See docs/cloudflare.md."
  : "Next: switch URL normalization off for the zone, or signatures fail. See docs/cloudflare.md.");
