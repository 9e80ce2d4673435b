// Global setup for Vitest: one server for all test files. Tests use the environment or inject("edgetable").
import { start } from "./index.js"

export default async function (project) {
  const server = await start()
  process.env.EDGETABLE_CONNECTION_STRING = server.connectionString
  project?.provide?.("edgetable", { url: server.url, connectionString: server.connectionString })
  return server.stop
}
