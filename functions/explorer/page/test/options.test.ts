import assert from "node:assert/strict"
import test from "node:test"
import { endOf, endless, inWords, lasts, left, ruleOf } from "../src/model/rule.ts"
import { declaredIn } from "../src/options/parts.ts"
import { Failure } from "../src/wire/failure.ts"
import { placeOf, refusalOf } from "../src/wire/options.ts"
import { textOf, ticksOf } from "../src/wire/date.ts"
import { type Type, type Value } from "../src/wire/value.ts"
import examples from "./rules.json" with { type: "json" }

const of: Record<string, Value | undefined> = { "": undefined, DateTime: { type: "DateTime", text: examples.instant }, String: { type: "String", text: examples.instant }, Int64: { type: "Int64", text: "1" } }

test("the page applies the rules that the server accepts, as the server does", () => {
  for (const { expire, good, ends } of examples.rules) {
    const rule = ruleOf(JSON.parse(expire))
    assert.equal(!!rule, good, expire)
    for (const [type, want] of Object.entries(ends ?? {})) {
      const values = new Map<string, Value>([["Timestamp", { type: "DateTime", text: examples.written }]])
      const value = of[type]
      if (value) values.set("E", value)
      const at = endOf(rule!, { etag: "", values })
      assert.equal(at === undefined ? "" : textOf(at), want, `${expire} of ${type}`)
    }
  }
})

test("what is left of a time is told in one unit", () => {
  const now = Date.parse("2026-11-28T12:00:00Z")
  for (const [at, want] of [
    ["2026-11-28T11:59:59Z", "ended"], ["2026-11-28T12:00:00Z", "ended"], ["2026-11-28T12:00:00.002Z", "< 1 min"], ["2026-11-28T12:00:59Z", "< 1 min"], ["2026-11-28T12:01:00Z", "1 min"],
    ["2026-11-28T13:59:59Z", "119 min"], ["2026-11-28T14:00:00Z", "2 h"], ["2026-11-30T11:00:00Z", "47 h"], ["2026-11-30T12:00:00Z", "2 d"], ["2029-08-24T12:00:00Z", "2 y"], ["9999-12-31T00:00:00Z", "7978 y"],
  ] as const) assert.equal(left(ticksOf(at)!, now), want, at)
})

test("a rule is told in words", () => {
  assert.equal(lasts(86_400 + 30 * 60), "1 day 30 minutes")
  assert.equal(lasts(14 * 86_400 + 1), "14 days 1 second")
  assert.equal(inWords({ property: "E", after: 86_400 }), "at the instant in E; without one, 1 day after its last write")
  assert.equal(inWords({ property: "", after: 7200 }), "2 hours after its last write")
  assert.equal(endless({ property: "E", after: 0 }, "Int64" as Type), "Never ends: its E is an Int64, and only a DateTime counts.")
  assert.equal(endless({ property: "E", after: 0 }, undefined), "Never ends: it has no E.")
})

test("a document that was read is declared without its states, and with what the page does not know", () => {
  assert.deepEqual(declaredIn({ expire: { property: "E", after: "P1D", state: "active", undoUntil: "x" }, ending: { after: "P2D", until: "x" }, later: [1], none: null }), { expire: { property: "E", after: "P1D" }, later: [1] })
  assert.deepEqual(declaredIn({}), {})
})

test("a refusal names a place in the JSON", () => {
  const refused = (message: string, code = "OptionsInvalid") => refusalOf(new Failure(message, 400, code))
  assert.deepEqual(refused("The options of the table are not valid. $.expire.after: write a time: P30D."), { path: "$.expire.after", why: "write a time: P30D." })
  assert.deepEqual(refused("The options of the table are not valid. $: byte 3: expected , or }."), { path: "$", why: "byte 3: expected , or }." })
  assert.equal(refused("$.expire: no", "ServerBusy"), undefined)
  assert.equal(refusalOf(undefined), undefined)
  const text = '{"a": {"after": 1}, "expire": {\n  "property": "x,}{\\"after\\"",\n  "after" : "P1M"\n}, "list": [{"after": 2}] }'
  for (const [path, want] of [
    ["$", text], ["$.expire.after", '"P1M"'], ["$.expire.property", '"x,}{\\"after\\""'], ["$.a.after", "1"], ["$.list", '[{"after": 2}]'], ["$.a", '{"after": 1}'], ["$.expire.none", text.slice(30, 82)], ["$.none", text],
  ] as const) assert.equal(text.slice(...placeOf(text, path)), want, path)
})
