// globalSetup for Jest: one server for all test files. The worker processes inherit the environment.
module.exports = async () => {
  const { start } = await import("./index.js")
  const server = await start()
  globalThis.__EDGETABLE__ = server
  process.env.EDGETABLE_CONNECTION_STRING = server.connectionString
}
