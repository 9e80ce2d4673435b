// Makes the pictures of README.md and docs/explorer.md:
//
//	node testdata/explorer/screenshots.mjs BINARY FOLDER
//
// The tables and the traffic in them are made up: of a server that began a minute ago a heat map has one column.
import { spawn, spawnSync } from "node:child_process"
import { chromium } from "playwright-core"

const [binary, folder] = process.argv.slice(2)
const server = spawn(binary, ["serve", "--memory", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] })
let said = ""
await new Promise((resolve, reject) => {
  server.stdout.on("data", (d) => (said += d).includes("ready") && resolve())
  server.on("exit", () => reject(new Error("the server ended: " + said)))
})
const connection = /connection string\s+(\S+)/.exec(said)[1]
const page = /explorer at (\S+)/.exec(said)[1]

/** random gives the same numbers each time, so that the pictures change with the page alone. */
let seed = 7
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
const of = (list) => list[Math.floor(random() * list.length)]
const two = (n) => String(n).padStart(2, "0")

const cities = ["Bergen", "Lisbon", "Oslo", "Paris", "Tokyo", "Zurich"]
const names = ["Ada Lovelace", "Grace Hopper", "Barbara Liskov", "Edsger Dijkstra", "Margaret Hamilton", "Alan Turing", "Katherine Johnson", "Radia Perlman"]
const person = (i, n) => ({
  PartitionKey: cities[Math.floor((i * cities.length) / n)], RowKey: String(i + 1).padStart(5, "0"), Name: of(names), Active: random() < 0.7, Born: i % 11 === 8 ? "unknown" : 1900 + (i % 90), Rate: Math.round(random() * 1e4) / 100,
  "Visits@odata.type": "Edm.Int64", Visits: String(Math.floor(10 ** (random() * 9))), "Joined@odata.type": "Edm.DateTime", Joined: `20${two(10 + (i % 15))}-${two(1 + (i % 12))}-${two(1 + (i % 28))}T08:${two(i % 60)}:00Z`,
})
const tables = { People: 830, Orders: 412, Devices: 96, Sessions: 268, Invoices: 54 }
for (const [table, n] of Object.entries(tables)) {
  const lines = Array.from({ length: n }, (_, i) => JSON.stringify(person(i, n)) + "\n").join("")
  const done = spawnSync(binary, ["import", "-", "--table", table, "--to", connection], { input: lines })
  if (done.status !== 0) throw new Error(String(done.stderr))
}

/** traffic is two hours of a table: most keys a little, one city in the morning, and a client that walks through all. */
function traffic(table) {
  const until = Date.parse("2026-03-02T10:40:20Z")
  const weight = tables[table] / 800
  const starts = [{ PartitionKey: "", RowKey: "" }, ...cities.flatMap((PartitionKey, c) => Array.from({ length: c === 2 ? 12 : 7 }, (_, i) => ({ PartitionKey, RowKey: i ? String(Math.floor(i * 138 / 7)).padStart(5, "0") : "" })))]
  const totals = { reads: 0, writes: 0, scanned: 0, throttled: 0 }
  const byCity = new Map()
  const minutes = Array.from({ length: 120 }, (_, m) => ({
    at: new Date(until - (until % 60_000) - (119 - m) * 60_000).toISOString(),
    counts: starts.map((start, r) => {
      const busy = start.PartitionKey === "Oslo" && m > 35 && m < 95 ? 60 * Math.sin(((m - 35) / 60) * Math.PI) ** 2 : 0
      const walk = Math.abs(r - (m % 60) * 0.83) < 1 ? 40 : 0
      const reads = Math.floor(weight * random() * (4 + busy + walk))
      const writes = Math.floor(weight * random() * (2 + busy / 3))
      totals.reads += reads
      totals.writes += writes
      byCity.set(start.PartitionKey, (byCity.get(start.PartitionKey) ?? 0) + reads)
      return [r, reads, writes, 0, 0]
    }),
  }))
  const partitions = [...byCity].filter(([p]) => p).map(([partition, count]) => ({ partition, count, error: 0 })).sort((a, b) => b.count - a.count)
  const none = { total: 0, partitions: [] }
  return {
    account: "devstoreaccount1", table, since: new Date(until - 7_200_000).toISOString(), until: new Date(until).toISOString(), totals,
    heaviest: { reads: { total: totals.reads, partitions }, writes: none, scanned: none, throttled: none }, map: { starts, minutes, quarters: [] }, shapes: [],
    advice: { findings: [], costs: [], pricesOf: "", seconds: 7200 },
  }
}

const root = process.geteuid?.() === 0 // its sandbox needs another user
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: root ? ["--no-sandbox"] : [] })
try {
  const take = async (name, colorScheme, hash, ready, beside = 330) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 760 }, colorScheme })
    const tab = await context.newPage()
    await tab.addInitScript((w) => localStorage.setItem("edgetable.width.entity", String(w)), beside)
    await tab.route(/comp=traffic/, (r) => r.fulfill({ json: traffic(/devstoreaccount1\/(\w+)/.exec(r.request().url())[1]) }))
    await tab.goto(page)
    await tab.click('[data-test="open-development"]')
    await tab.waitForSelector('[data-test="home-page"]')
    await tab.evaluate((h) => (location.hash = "#/devstoreaccount1" + h), hash)
    await ready(tab)
    await tab.waitForLoadState("networkidle")
    await tab.screenshot({ path: `${folder}/explorer-${name}.png` })
    await context.close()
  }
  await take("home", "light", "", (t) => t.waitForFunction((n) => document.querySelectorAll(".sparkline").length === n, Object.keys(tables).length))
  await take("entities", "dark", "/People?pk=Bergen&rk=00009", (t) => t.waitForSelector('[data-test="entity"]'))
  await take("merge", "light", "/People?pk=Bergen&rk=00005", async (t) => {
    await t.click('[data-test="edit"]')
    await t.fill('[data-test="field"][data-name="Name"] [data-test="field-value"]', "Margaret H. Hamilton")
    await t.fill('[data-test="field"][data-name="Rate"] [data-test="field-value"]', "12.5")
    const theirs = JSON.stringify({ ...person(4, tables.People), Name: "Margaret Heafield", Born: 1936 })
    const done = spawnSync(binary, ["import", "-", "--table", "People", "--mode", "replace", "--to", connection], { input: theirs })
    if (done.status !== 0) throw new Error(String(done.stderr))
    await t.click('[data-test="save-entity"]')
    await t.waitForSelector('[data-test="merge"]')
  }, 560)
  await take("traffic", "light", "/People?view=traffic", (t) => t.waitForSelector('[data-test="heat"]'))
} finally {
  await browser.close()
  server.removeAllListeners("exit")
  server.kill()
}
