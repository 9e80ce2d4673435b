// A page of entities is kept as the bytes that came: 100,000 rows as objects would take a gigabyte. A scan finds where each entity begins
// and the names of all properties; an entity is parsed when it is shown. The first page finds a browser that has compiled nothing yet, so
// that the scan leaves the work to what the browser has: a loop over the bytes takes three times as long.
import { Malformed, parseEntity } from "./json.ts"
import type { Entity } from "./value.ts"

const utf8 = new TextDecoder()
/** A character for each byte: offsets in this text are offsets in the bytes, and the marks of JSON are the same. */
const single = new TextDecoder("latin1")

/** An entity has no object and no array in it. */
const flat = /[\s,]*(\{(?:[^"{}]|"[^"\\]*(?:\\.[^"\\]*)*")*\})/y

export class Page {
  /** starts and ends are offsets of the entities in bytes. */
  private constructor(
    readonly bytes: Uint8Array,
    private readonly starts: Uint32Array,
    private readonly ends: Uint32Array,
    readonly names: readonly string[],
  ) {}

  get length() {
    return this.starts.length
  }

  entity(i: number): Entity {
    return parseEntity(utf8.decode(this.bytes.subarray(this.starts[i], this.ends[i])))
  }

  static scan(bytes: Uint8Array): Page {
    const list = entities(bytes)
    const starts = new Uint32Array(list.length)
    const ends = new Uint32Array(list.length)
    const text = single.decode(bytes)
    flat.lastIndex = text.indexOf("[", text.search(/"value"\s*:\s*\[/)) + 1
    for (let i = 0; i < list.length; i++) {
      const found = flat.exec(text)
      if (!found) throw stranger()
      ends[i] = flat.lastIndex
      starts[i] = flat.lastIndex - found[1]!.length
    }
    return new Page(bytes, starts, ends, namesIn(list))
  }
}

const stranger = () => new Malformed("the answer is not a page of entities", 0)

/** entities are those in an answer, for their number and names: the numbers in them are no longer exact. */
function entities(bytes: Uint8Array): object[] {
  const text = utf8.decode(bytes)
  let answer: { value?: object[] } | null
  try {
    answer = JSON.parse(text) as typeof answer
  } catch {
    throw /^\s*(\{|$)/.test(text) ? new Malformed("the answer ended too early", bytes.length) : stranger()
  }
  if (!Array.isArray(answer?.value)) throw stranger()
  return answer.value
}

function same(a: string[], b: string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** namesIn are the names of all properties. Most entities have those of the one before. */
function namesIn(list: object[]): string[] {
  const names = new Set<string>()
  let before: string[] = []
  for (const entity of list) {
    const own = Object.keys(entity)
    if (!same(own, before)) for (const name of own) names.add(name)
    before = own
  }
  return [...names].filter((name) => !name.endsWith("@odata.type") && !name.startsWith("odata."))
}
