import assert from "node:assert/strict"
import test from "node:test"
import { goodTable, keyProblem, propertyProblem } from "../src/wire/names.ts"
import examples from "./names.json"

const judge: Record<string, (text: string) => boolean> = {
  property: (text) => !propertyProblem(text),
  key: (text) => !keyProblem(text),
  table: goodTable,
}

test("names are judged as the server judges them", () => {
  for (const { kind, text, good } of examples) assert.equal(judge[kind]!(text), good, `${kind} ${JSON.stringify(text.slice(0, 40))}`)
})
