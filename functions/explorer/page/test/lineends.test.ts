import assert from "node:assert/strict"
import test from "node:test"
import { usualEnd, withEnds } from "../src/model/lineends.ts"

/** edited is what a text becomes if somebody makes another of what a textarea shows of it. */
const edited = (text: string, change: (shown: string) => string) => withEnds(change(text.replace(/\r\n?/g, "\n")), text, usualEnd(text))

test("an edit keeps the line ends of a text", () => {
  for (const [text, from, to, want] of [
    ["one\r\ntwo", "two", "two!", "one\r\ntwo!"],
    ["one\rtwo", "two", "two!", "one\rtwo!"],
    ["one\ntwo", "two", "two!", "one\ntwo!"],
    ["one\r\ntwo\r\n", "two", "2\n2", "one\r\n2\r\n2\r\n"],
    ["a\r\nb\nc\rd\r\ne", "c", "C", "a\r\nb\nC\rd\r\ne"],
    ["a\r\nb\nc\rd\r\ne", "b", "b\nx", "a\r\nb\nx\r\nc\rd\r\ne"],
    ["a\nb\rc\nd", "c", "c\nx", "a\nb\rc\nx\nd"],
    ["a\r\nb\nc\rd", "b\nc\n", "", "a\r\nd"],
    ["a\r\n\nb", "a", "aa", "aa\r\n\nb"],
    ["a\r\nb\r\nc", "a\nb\nc", "x\ny", "x\r\ny"],
    ["ab\r\nc", "ab", "a\nb", "a\r\nb\r\nc"],
    ["", "", "x\ny", "x\ny"],
  ] as const) {
    assert.equal(edited(text, (shown) => shown.replace(from, to)), want, JSON.stringify([text, from, to]))
    assert.equal(edited(text, (shown) => shown), text)
  }
})
