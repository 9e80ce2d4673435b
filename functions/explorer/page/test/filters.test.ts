import assert from "node:assert/strict"
import test from "node:test"
import { parse } from "../src/query/parse.ts"
import examples from "./filters.json" with { type: "json" }

test("the page accepts the filters that the server accepts, and no others", () => {
  const wrong = examples.filter(({ text, good }) => (parse(text).problem === undefined) !== good)
  assert.deepEqual(wrong, [])
})
