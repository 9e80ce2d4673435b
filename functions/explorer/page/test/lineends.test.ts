import assert from "node:assert/strict"
import test from "node:test"
import { part, usualEnd, withEnds } from "../src/model/lineends.ts"

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

test("the caret says which of two equal lines an edit deleted or added", () => {
  for (const [text, typed, caret, want] of [
    ["a\r\n\nb", "a\nb", 1, "a\nb"],
    ["a\r\n\nb", "a\nb", 2, "a\r\nb"],
    ["x\r\nx\nx\rx", "x\nx\nx", 1, "x\nx\rx"],
    ["x\r\nx\nx\rx", "x\nx\nx", 5, "x\r\nx\nx"],
    ["\n\r\n", "\n\n\n", 1, "\n\n\r\n"],
    ["\n\r\n\r\n", "\n\n\n\n", 1, "\r\n\n\r\n\r\n"],
    ["a\nb\r\nc", "a\nB\nc", 5, "a\nB\r\nc"], // the caret is elsewhere
  ] as const) {
    assert.equal(withEnds(typed, text, usualEnd(text), caret), want, JSON.stringify([text, typed, caret]))
  }
})

test("a copied text keeps its line ends between others", () => {
  const copied = "1\r\n2\r3"
  for (const [text, typed, caret, want] of [
    ["", "1\n2\n3", 5, copied],
    ["a\nb", "a\n1\n2\n3b", 7, "a\n" + copied + "b"],
    ["a\n1\n2", "a\n1\n2\n3", 7, "a\n" + copied], // over a part that is equal
    ["a\nb", "a\n1\n2\nb", 6, "a\n1\n2\nb"], // another text
    ["a\n1\n2\n3", "a\n1\n2\n3\nx", 9, "a\n1\n2\n3\nx"],
  ] as const) {
    assert.equal(withEnds(typed, text, usualEnd(text), caret, copied), want, JSON.stringify([text, typed, caret]))
  }
  assert.deepEqual([part("a\r\nb\r\n\nc", 1, 2), part("a\r\nb\r\n\nc", 2, 5), part("\r\n\r\n", 1, 2), part("ab", 0, 2)], ["\r\n", "b\r\n\n", "\r\n", "ab"])
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
      const now = withEnds(typed, text, usualEnd(text), random(typed.length + 1), some(["a", "\n", "\r\n"]))
      assert.equal(now.replace(/\r\n?/g, "\n"), typed, JSON.stringify([text, typed, now]))
      text = now
    }
  }
})
