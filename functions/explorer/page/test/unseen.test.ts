import assert from "node:assert/strict"
import test from "node:test"
import { parseEntity, pretty } from "../src/wire/json.ts"
import { visible, visibleLines } from "../src/wire/unseen.ts"

test("what nobody would see has marks", () => {
  for (const [text, want] of [
    ["plain text", "plain text"],
    [" a  b ", "␣a␣␣b␣"],
    ["\u202eevil", "⟨202E⟩evil"],
    ["a\tb\r\n", "a⇥b␍↵"],
    ["\u00a0\u200b\ufeff", "⟨00A0⟩⟨200B⟩⟨FEFF⟩"],
    ["👩‍💻 👍🏽 é 漢字", "👩‍💻 👍🏽 é 漢字"],
    ["a\u200db", "a⟨200D⟩b"],
    ["", ""],
  ] as const)
    assert.equal(visible(text), want)
  assert.equal(visibleLines("a \nb"), "a␣\nb")
})

test("JSON for people escapes it, and is the same entity", () => {
  const values = new Map([["A", { type: "String" as const, text: "\u202eevil \u00a0\n 👩‍💻 \u{e0041}" }]])
  const text = pretty(values)
  assert.equal(text, '{\n  "A": "\\u202eevil \\u00a0\\n 👩‍💻 \\udb40\\udc41"\n}')
  assert.deepEqual(parseEntity(text).values, values)
})
