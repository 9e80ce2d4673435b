// A small Cloudflare API on this machine: what wrangler asks for when it deploys, of one account with one Worker and
// namespaces of Workers KV.
// It keeps all requests, so that tests see the Worker as the real API would get it, and requests that it does not know.
import { createServer } from "node:http";

export const account = "a".repeat(32);

export async function serve(name) {
  const api = { name, worker: null, uploads: 0, secrets: {}, subdomain: {}, routes: [], domains: [], schedules: [], namespaces: [], unknown: [] };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = new URL(request.url, "http://api").pathname.replace(account, "ACCOUNT").replace(/(workers\/(?:scripts|services|workers)\/)([\w-]+)/, (path, under, of) => (of === name ? `${under}WORKER` : path));
    const body = new Response(Buffer.concat(chunks), { headers: { "content-type": request.headers["content-type"] ?? "application/json" } });
    const { status = 200, code, result = {} } = await answer(api, request.method, path, body);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: status === 200, errors: code ? [{ code, message: "not found" }] : [], messages: [], result }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  api.url = `http://127.0.0.1:${server.address().port}`;
  api.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return api;
}

const none = { status: 404, code: 10007 };

async function answer(api, method, path, body) {
  const worker = api.worker;
  switch (`${method} ${path}`) {
    case "PUT /accounts/ACCOUNT/workers/scripts/WORKER":
      await upload(api, await body.formData());
      return { result: { id: api.name, tag: "t", entry_point: "worker.mjs", has_modules: true, startup_time_ms: 5, deployment_id: "d" } };
    case "POST /accounts/ACCOUNT/workers/scripts/WORKER/versions":
      await upload(api, await body.formData());
      return { result: { id: "v", number: api.uploads, startup_time_ms: 5, metadata: {}, resources: { script: {} } } };
    case "POST /accounts/ACCOUNT/workers/scripts/WORKER/deployments":
      api.deployment = await body.json();
      return { result: { id: "d" } };
    case "GET /accounts/ACCOUNT/workers/services/WORKER":
      return worker === null ? none : { result: { default_environment: { environment: "production", script: { tag: "t", tags: null, last_deployed_from: "wrangler", migration_tag: worker.migration } } } };
    case "GET /accounts/ACCOUNT/workers/scripts/WORKER/secrets":
      return worker === null ? none : { result: Object.keys(api.secrets).map((name) => ({ name, type: "secret_text" })) };
    case "GET /accounts/ACCOUNT/workers/scripts":
      return { result: worker === null ? [] : [{ id: api.name, migration_tag: worker.migration }] };
    case "GET /accounts/ACCOUNT/workers/scripts/WORKER/settings":
      return worker === null ? none : { result: { bindings: worker.metadata.bindings, migration_tag: worker.migration } };
    case "GET /accounts/ACCOUNT/workers/scripts/WORKER/deployments":
      return worker === null ? none : { result: { deployments: [{ id: "d", source: "wrangler", strategy: "percentage", versions: [{ version_id: "v", percentage: 100 }] }] } };
    case "PATCH /accounts/ACCOUNT/workers/scripts/WORKER/script-settings":
      return {};
    case "GET /accounts/ACCOUNT/workers/workers/WORKER":
      return { result: { id: "t", name: api.name, subdomain: api.subdomain } };
    case "POST /accounts/ACCOUNT/workers/scripts/WORKER/subdomain":
      return { result: (api.subdomain = await body.json()) };
    case "GET /accounts/ACCOUNT/workers/subdomain":
      return { result: { subdomain: "acme" } };
    case "POST /accounts/ACCOUNT/workers/scripts/WORKER/assets-upload-session":
      api.assets = (await body.json()).manifest;
      return { result: { jwt: "a.b.c", buckets: [] } }; // it has all files already
    case "PUT /accounts/ACCOUNT/workers/scripts/WORKER/routes":
      return { result: (api.routes = await body.json()) };
    case "POST /accounts/ACCOUNT/workers/scripts/WORKER/domains/changeset":
      return { result: { added: [], removed: [], updated: [], conflicting: [] } };
    case "PUT /accounts/ACCOUNT/workers/scripts/WORKER/domains/records":
      api.domains = (await body.json()).origins;
      return {};
    case "PUT /accounts/ACCOUNT/workers/scripts/WORKER/schedules":
      return { result: { schedules: (api.schedules = await body.json()) } };
    case "GET /accounts/ACCOUNT/storage/kv/namespaces":
      return { result: api.namespaces };
    case "POST /accounts/ACCOUNT/storage/kv/namespaces":
      api.namespaces.push({ id: String(api.namespaces.length + 1).repeat(32), ...(await body.json()) });
      return { result: api.namespaces.at(-1) };
  }
  api.unknown.push(`${method} ${path} ${(await body.text()).slice(0, 400)}`);
  return none;
}

async function upload(api, form) {
  const metadata = JSON.parse(form.get("metadata")), modules = {};
  for (const [name, file] of form) {
    if (name !== "metadata") modules[name] = { type: file.type, bytes: Buffer.from(await file.arrayBuffer()) };
  }
  for (const { type, name, text } of metadata.bindings) if (type === "secret_text") api.secrets[name] = text;
  api.worker = { metadata, modules, migration: metadata.migrations?.new_tag ?? api.worker?.migration };
  api.uploads++;
}
