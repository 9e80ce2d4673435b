import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { createInterface } from "node:readline"
import { program } from "./program.js"

/** @param {import("./index.js").Options} [options] */
export async function start({ accounts = 100, args = [], env = {} } = {}) {
  const names = Array.from({ length: accounts }, () => "t" + randomBytes(8).toString("hex"))
  const keys = names.map(() => randomBytes(64).toString("base64"))
  // The server exits when its standard input ends, so it does not outlive this process, even if this process is
  // killed.
  const child = spawn(program(), ["serve", "--memory", "--listen", "127.0.0.1:0", "--until-eof", "--log-level", "error", ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, EDGETABLE_ACCOUNTS: names.map((n, i) => `${n}:${keys[i]}`).join(";"), ...env },
  })
  child.stdin.on("error", () => {})
  let log = ""
  child.stderr.on("data", (text) => (log = (log + text).slice(-10_000)))
  const ended = new Promise((resolve) => child.once("close", resolve))
  const url = await new Promise((resolve, reject) => {
    child.once("error", reject)
    ended.then((status) => reject(new Error(`edgetable ended with status ${status}: ${log.trim()}`)))
    let at
    createInterface(child.stdout).on("line", (line) => {
      at ??= / listens on (\S+) /.exec(line)?.[1]
      if (line === "ready") resolve(`http://${at}`)
    })
  })
  // Neither the process nor its pipes prevent Node.js from exiting.
  for (const part of [child, child.stdin, child.stdout, child.stderr]) part.unref()
  let used = 0
  const account = () => {
    if (used === names.length) throw new Error(`all ${names.length} accounts are in use: start({ accounts: ${2 * names.length} })`)
    const [name, key] = [names[used], keys[used++]]
    const endpoint = `${url}/${name}`
    return { name, key, endpoint, connectionString: `DefaultEndpointsProtocol=http;AccountName=${name};AccountKey=${key};TableEndpoint=${endpoint};` }
  }
  return {
    url,
    account,
    ...account(),
    stop: async () => {
      child.ref()
      child.stdin.end()
      await ended
    },
  }
}
