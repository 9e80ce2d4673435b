import assert from "node:assert/strict"
import type { ServerResponse } from "node:http"
import test from "node:test"
import { Followed } from "../src/model/followed.ts"
import { type Around, Live } from "../src/model/live.ts"
import { Rows } from "../src/model/rows.ts"
import { sorted } from "../src/model/sort.ts"
import { judge } from "../src/query/judge.ts"
import { parse } from "../src/query/parse.ts"
import { type Change, changesSince, hasFeed } from "../src/wire/changes.ts"
import { ticksOf } from "../src/wire/date.ts"
import { parseEntity } from "../src/wire/json.ts"
import { served } from "./served.ts"

const at = (second: number) => `2026-11-28T12:00:${String(second).padStart(2, "0")}Z`
const source = (rk: string, second: number, more = "") => JSON.stringify({ "odata.etag": `W/"datetime'${encodeURIComponent(at(second))}'"`, PartitionKey: "p", RowKey: rk, Timestamp: at(second) }).slice(0, -1) + (more && "," + more) + "}"
const put = (rk: string, second: number, more = ""): Change => ({ key: { pk: "p", rk }, entity: parseEntity(source(rk, second, more)), time: ticksOf(at(second))! })
const gone = (rk: string, second: number): Change => ({ key: { pk: "p", rk }, entity: null, time: ticksOf(at(second))! })
const event = (kind: string, rk: string, second: number, more: string) => `{"type":"edgetable.${kind}","time":"${at(second)}","partitionkey":"p",${rk && `"rowkey":"${rk}",`}${more}}`
const none = new AbortController().signal

/** listed are rows of pages with row keys, all of which were written in second 1. */
async function listed(pages: string[][], load: number, work: (rows: Rows, followed: Followed, keys: () => string) => Promise<void>) {
  await served(
    (url, response) => {
      const n = Number(url.searchParams.get("NextPartitionKey") ?? 0)
      if (n + 1 < pages.length) response.setHeader("x-ms-continuation-NextPartitionKey", String(n + 1))
      response.end(`{"value":[${pages[n]!.map((rk) => source(rk, 1)).join(",")}]}`)
    },
    async (service) => {
      const rows = new Rows(service, { table: "T", filter: "" })
      const followed = new Followed(rows)
      for (let i = 0; i < load; i++) await rows.load()
      await work(rows, followed, () => Array.from({ length: rows.length }, (_, place) => rows.at(place)?.values.get("RowKey")?.text ?? "-").join(""))
    },
  )
}

test("what a key tells of a filter is judged here, and nothing else", () => {
  const key = { pk: "Oslo", rk: "012" }
  for (const [filter, want] of [
    ["", true], ["PartitionKey eq 'Oslo'", true], ["PartitionKey eq 'oslo'", false], ["PartitionKey ne 'Oslo'", false], ["RowKey ge '012'", true], ["RowKey gt '012'", false], ["RowKey lt '013'", true], ["RowKey le '0'", false],
    ["'012' lt RowKey", false], ["PartitionKey ge 'Os' and PartitionKey lt 'Ot'", true], ["startswith(PartitionKey, 'Os')", true], ["startswith(PartitionKey, 'so')", false],
    ["PartitionKey eq 'Oslo' and Born gt 1", undefined], ["PartitionKey eq 'Bergen' and Born gt 1", false], ["PartitionKey eq 'Oslo' or Born gt 1", true], ["PartitionKey eq 'Bergen' or Born gt 1", undefined],
    ["not (PartitionKey eq 'Oslo')", false], ["not (Born eq 1)", undefined], ["Name eq 'x'", undefined], ["1 eq 2", undefined], ["contains(RowKey, '1')", undefined],
  ] as const) assert.equal(judge(parse(filter).filter, key), want, filter)
  // Keys are in the order of UTF-16, as the service has them: a pair of surrogates is before U+FF61.
  assert.equal(judge(parse("RowKey lt '｡'").filter, { pk: "", rk: "😀" }), true)
})

test("rows come to the places of their keys, change where they are, and go", () =>
  listed([["b", "d", "f"]], 1, async (rows, followed, keys) => {
    assert.equal(followed.apply([put("c", 2), put("a", 2), put("g", 2), put("d", 2, '"A":1'), gone("f", 2), gone("x", 2)]), 5)
    assert.equal(keys(), "abcdg")
    assert.equal(rows.at(3)?.values.get("A")?.text, "1")
    assert.equal(rows.here, 5)
    assert.deepEqual(rows.columns.get("A"), new Set(["Int32"]))
    const mark = (place: number) => followed.marks.get(rows.indexOf(place))
    assert.deepEqual([...mark(3)!.names!], ["Timestamp", "A"])
    assert.equal(mark(0)!.names, undefined)
    assert.equal(mark(1), undefined)
    // What is older than the row says nothing, and what is the same is no change.
    assert.equal(followed.apply([put("d", 1), gone("a", 1), put("c", 2)]), 0)
    assert.equal(keys(), "abcdg")
    // A row that went comes back.
    assert.equal(followed.apply([put("f", 3), gone("c", 3)]), 2)
    assert.equal(keys(), "abdfg")
    followed.unmark(1)
    assert.equal([...followed.marks.keys()].length, 1)
  }))

test("places of rows are followed while others come and go", () =>
  listed([["b", "d", "f"]], 1, async (rows, followed) => {
    const d = rows.indexOf(1)
    followed.apply([put("a", 2), put("c", 2)])
    assert.equal(rows.placeOf(d), 3)
    assert.equal(rows.find({ pk: "p", rk: "d" }), 3)
    followed.apply([gone("b", 3)])
    assert.equal(rows.placeOf(d), 2)
    followed.apply([gone("d", 3)])
    assert.equal(rows.placeOf(d), -1)
    assert.equal(rows.find({ pk: "p", rk: "d" }), -1)
    // What the user adds stands at the end at once, and at its place with the next changes; what came of it is no second row.
    rows.add(put("b", 4).entity!)
    assert.equal(rows.at(rows.length - 1)?.values.get("RowKey")?.text, "b")
    assert.equal(followed.apply([put("b", 4)]), 0)
    assert.equal(rows.find({ pk: "p", rk: "b" }), 1)
  }))

test("what changes behind the loaded rows is there when they come", () =>
  listed([["b", "d"], ["h", "k"], ["m"]], 1, async (rows, followed, keys) => {
    // The next page was found when the first was read: it begins at h, and would never have e.
    assert.equal(followed.apply([put("e", 2), put("l", 2), gone("k", 2), put("h", 2, '"A":1')]), 0)
    assert.equal(keys(), "bd")
    await rows.load()
    assert.equal(keys(), "bdeh")
    assert.equal(rows.at(3)?.values.get("A")?.text, "1")
    assert.equal(followed.missed, false)
    await rows.load()
    assert.equal(rows.progress.value.done, true)
    followed.apply([put("z", 3)])
    assert.equal(keys(), "bdehmz")
  }))

test("rows are listed again if too much changed to know what the next page lacks", () =>
  listed([["b"], ["zzz"]], 1, async (rows, followed) => {
    followed.apply(Array.from({ length: 2100 }, (_, i) => put("c" + String(i).padStart(5, "0"), 2)))
    assert.equal(followed.missed, false)
    await rows.load()
    assert.equal(followed.missed, true)
  }))

test("a row whose cell is edited stays as it is until the editor is closed", () =>
  listed([["a", "b"]], 1, async (rows, followed, keys) => {
    followed.keep({ pk: "p", rk: "a" })
    followed.apply([put("a", 2, '"A":1'), gone("b", 2)])
    assert.equal(rows.at(0)?.values.has("A"), false)
    assert.equal(followed.newer?.entity?.values.get("A")?.text, "1")
    followed.apply([gone("a", 3)])
    assert.equal(followed.newer?.entity, null)
    assert.equal(keys(), "a")
    // What the user saved since is newer than what came.
    rows.edit(rows.indexOf(0), put("a", 4).entity)
    assert.equal(followed.newer, undefined)
    followed.keep(undefined)
    assert.equal(keys(), "a")
    followed.keep({ pk: "p", rk: "a" })
    followed.apply([gone("a", 5)])
    followed.keep(undefined)
    assert.equal(keys(), "")
  }))

test("rows in the order of a property keep it, and lose what goes", () =>
  listed([["a", "b", "c"]], 1, async (rows, followed, keys) => {
    followed.apply([put("a", 2, '"N":3'), put("b", 2, '"N":1'), put("c", 2, '"N":2')])
    rows.order = await sorted(rows, "N", none)
    assert.equal(keys(), "bca")
    followed.apply([gone("c", 3), put("aa", 3, '"N":0')])
    assert.equal(keys(), "ba" + "aa")
    rows.order = await sorted(rows, "N", none)
    assert.equal(keys(), "aaba")
    rows.order = undefined
    assert.equal(keys(), "aaab")
  }))

test("the newest first have new rows at the beginning", () =>
  served(
    (_, response) => response.setHeader("x-edgetable-orderby", "x").end(`{"value":[${["f", "d", "b"].map((rk) => source(rk, 1)).join(",")}]}`),
    async (service) => {
      const rows = new Rows(service, { table: "T", filter: "", order: "PartitionKey desc, RowKey desc" })
      const followed = new Followed(rows)
      await rows.load()
      followed.apply([put("g", 2), put("c", 2), put("a", 2)])
      assert.equal(Array.from({ length: rows.length }, (_, i) => rows.at(i)?.values.get("RowKey")?.text).join(""), "gfdcba")
    },
  ))

test("changes are read exactly, the last one of each entity", async () => {
  const body = `[${[
    event("entity.put", "a", 1, `"data":${source("a", 1, '"Rate":1.0,"Text":"\\"data\\":{\\"x\\":1}","data":"{}"')}`),
    event("entity.put", "b", 1, `"data":${source("b", 1)}`), event("entity.delete", "b", 2, '"id":"1"'),
    event("entity.put", "c", 2, '"superseded":true'),
    event("entity.put", "d", 3, `"expired":"${at(2)}","data":${source("d", 3)}`), event("entity.expire", "e", 3, `"expired":"${at(1)}"`),
    event("table.drop", "", 4, '"id":"2"'),
  ].join(",")}]`
  await served(
    (url, response) => response.setHeader("content-type", "application/cloudevents-batch+json").setHeader("x-edgetable-next", "n" + url.searchParams.get("since")).end(body),
    async (service) => {
      const { list, next, dropped } = await changesSince(service, "T", "s", 20, none)
      assert.equal(next, "ns")
      assert.equal(dropped, true)
      assert.deepEqual(list.map((c) => [c.key.rk, c.entity?.values.get("Rate")?.type]), [["a", "Double"], ["b", undefined], ["d", undefined], ["e", undefined]])
      assert.equal(list[0]!.entity?.values.get("Text")?.text, '"data":{"x":1}')
      assert.deepEqual(list.map((c) => !!c.entity), [true, false, false, false])
    },
  )
})

test("a feed is told from what other services answer", async () => {
  for (const [status, type, want] of [[200, "application/cloudevents-batch+json", true], [200, "application/json", undefined], [404, "", false], [501, "", undefined], [400, "", undefined]] as const)
    await served((_, response) => response.writeHead(status, { "content-type": type }).end("[]"), async (service) => assert.equal(await hasFeed(service, "T", none), want, `${status} ${type}`))
})

/** stage is what a page is in, for tests: each pause is told, and is over at once; the page is shown or hidden by the test. */
class Stage implements Around {
  pauses: number[] = []
  isHidden = false
  private calls = new Set<() => void>()
  hidden = () => this.isHidden
  turned = (call: () => void) => (this.calls.add(call), () => void this.calls.delete(call))
  pause = (ms: number, signal: AbortSignal) => {
    if (ms > 1e6) return new Promise<void>((go) => signal.addEventListener("abort", () => go(), { once: true })) // until the page is shown
    this.pauses.push(ms)
    return Promise.resolve()
  }
  show(hidden: boolean) {
    this.isHidden = hidden
    for (const call of [...this.calls]) call()
  }
}

type Answer = { status?: number; code?: string; events?: string[]; next?: string | null; retry?: string }

/** lived follows a table whose feed gives some answers, one after the other, and then waits. It returns when it waits, or has ended. */
async function lived(answers: Answer[], check: (live: Live, rows: () => Rows, stage: Stage, asked: string[]) => Promise<void>, filter = "") {
  const asked: string[] = []
  let waits = () => {}
  const stage = new Stage()
  const give = (response: ServerResponse, a: Answer) => {
    response.setHeader("content-type", "application/cloudevents-batch+json")
    if (a.next !== null) response.setHeader("x-edgetable-next", a.next ?? "n" + asked.length)
    if (a.retry) response.setHeader("retry-after", a.retry)
    if (a.code) response.writeHead(a.status!, { "x-ms-error-code": a.code })
    response.end(a.code ? JSON.stringify({ "odata.error": { code: a.code, message: { value: "no" } } }) : `[${(a.events ?? []).join(",")}]`)
  }
  await served(
    (url, response) => {
      if (url.searchParams.get("comp") !== "changes") {
        const own = /RowKey eq '(.*)'/.exec(url.searchParams.get("$filter") ?? "")?.[1]
        asked.push(own ? "entity " + own : "list")
        return void response.end(`{"value":[${own === "no" ? "" : source(own ?? "b", 1)}]}`)
      }
      const since = url.searchParams.get("since")
      asked.push(since === null ? "position" : `${since}+${url.searchParams.get("wait")}`)
      const a = answers.shift()
      if (a) return give(response, a)
      response.on("close", () => asked.push("left"))
      waits()
    },
    async (service) => {
      let rows = new Rows(service, { table: "T", filter, select: "" })
      let abort = new AbortController()
      const follow = () => {
        abort.abort()
        abort = new AbortController()
        void rows.load()
        void live.follow(rows, abort.signal, (move) => move()).then(() => live.state.value.on || waits())
      }
      const live = new Live(service, "T", () => ((rows = new Rows(service, { table: "T", filter, select: "" })), follow()), () => undefined, stage)
      live.turn(true)
      const idle = new Promise<void>((go) => (waits = go))
      follow()
      await idle
      try {
        await check(live, () => rows, stage, asked)
      } finally {
        abort.abort()
      }
    },
  )
}

test("the position is taken, then the rows are listed, then changes come, and idle answers move the position", () =>
  lived([{ next: "p1" }, { next: "p2" }, { events: [event("entity.put", "c", 2, `"data":${source("c", 2)}`)], next: "p3" }], async (live, rows, stage, asked) => {
    assert.deepEqual(asked, ["list", "position", "list", "p1+20", "p2+20", "p3+20"].filter((a, i) => i > 0 || asked[0] === a))
    assert.deepEqual([0, 1].map((i) => rows().at(i)?.values.get("RowKey")?.text), ["b", "c"])
    assert.equal(live.state.value.changes, 1)
    assert.deepEqual(stage.pauses.filter((ms) => ms < 2500), [1000, 250]) // a quick answer without changes, and one with
  }))

test("what a service refuses is told, and what passes is tried again", async () => {
  for (const [answer, said] of [
    [{ status: 404, code: "FeedNotEnabled" }, /needs a change feed/], [{ status: 404, code: "TableNotFound" }, /The table was deleted/], [{ status: 410, code: "FeedEnded" }, /The table was deleted/],
    [{ status: 501, code: "NotImplemented" }, /which this store does not support/], [{ status: 403, code: "AuthenticationFailed" }, /the token has expired/], [{ next: null }, /must expose x-edgetable-next and x-ms-error-code/],
  ] as const)
    await lived([{ next: "p1" }, answer], async (live) => {
      assert.equal(live.state.value.on, false)
      assert.match(live.state.value.said, said)
    })
  await lived([{ next: "p1" }, { events: [event("table.drop", "", 2, '"id":"1"')] }], async (live) => {
    assert.equal(live.state.value.on, false)
    assert.match(live.state.value.said, /The table was deleted/)
  })
  await lived([{ next: "p1" }, { status: 503, code: "ServerBusy" }, { status: 503, code: "ServerBusy" }, { status: 503, code: "ServerBusy", retry: "7" }], async (live, _, stage) => {
    assert.deepEqual(stage.pauses, [1000, 2000, 7000])
    assert.match(live.state.value.said, /The server is busy.*Trying again in 7 s/)
    assert.equal(live.state.value.on, true)
  })
})

test("after missed changes the rows are read again, from a new position", async () => {
  for (const [code, said] of [["ChangesExpired", /not kept any more/], ["HistoryChanged", /was restored/]] as const)
    await lived([{ next: "p1" }, { status: 410, code }, { next: "p2" }], async (live, _, __, asked) => {
      assert.deepEqual(asked.slice(asked.indexOf("p1+20")), ["p1+20", "position", "list", "p2+20"])
      assert.match(live.state.value.said, said)
      assert.equal(live.state.value.on, true)
    })
})

test("while nobody sees the page it asks nothing, and then from where it was", () =>
  lived([{ next: "p1" }], async (_, __, stage, asked) => {
    const left = new Promise<void>((go) => {
      const push = asked.push.bind(asked)
      asked.push = (...a) => (a[0] === "left" && go(), push(...a))
    })
    stage.show(true)
    await left
    assert.equal(asked.at(-1), "left")
    const again = new Promise<void>((go) => {
      const push = asked.push.bind(asked)
      asked.push = (...a) => (go(), push(...a))
    })
    stage.show(false)
    await again
    assert.equal(asked.at(-1), "p1+20")
  }))

test("the service is asked whether a filter of properties holds", () =>
  lived(
    [{ next: "p1" }, { events: ["c", "no", "b"].map((rk) => event("entity.put", rk, 2, `"data":${source(rk, 2)}`)) }],
    async (_, rows, __, asked) => {
      assert.deepEqual(asked.filter((a) => a.startsWith("entity")).sort(), ["entity b", "entity c", "entity no"])
      assert.equal(rows().length, 2)
    },
    "A eq 1",
  ))
