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
    ["\ra\n", "a", "", "\r\r\n"],
    ["a\nb\rc", "c", "\nc", "a\nb\r\r\nc"],
  ] as const) {
    assert.equal(edited(text, (shown) => shown.replace(from, to)), want, JSON.stringify([text, from, to]))
    assert.equal(edited(text, (shown) => shown), text)
  }
})

test("an edit has the lines that the textarea shows", () => {
  let state = 1
  const random = (n: number) => (state = (state * 48271) % 2147483647) % n
  const some = (parts: string[]) => Array.from({ length: random(7) }, () => parts[random(parts.length)]).join("")
  for (let i = 0; i < 20_000; i++) {
    let text = some(["a", "\r", "\n", "\r\n"])
    for (let edits = 0; edits < 3; edits++) {
      const shown = text.replace(/\r\n?/g, "\n")
      const from = random(shown.length + 1)
      const typed = shown.slice(0, from) + some(["a", "b", "\n"]) + shown.slice(from + random(shown.length - from + 1))
      const now = edited(text, () => typed)
      assert.equal(now.replace(/\r\n?/g, "\n"), typed, JSON.stringify([text, typed, now]))
      text = now
    }
  }
})
