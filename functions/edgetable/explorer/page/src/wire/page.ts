// A page of entities is kept as the bytes that came: 100,000 rows as objects would take a gigabyte. A scan finds where each entity begins
// and the names of all properties; an entity is parsed when it is shown.
import { Malformed, parseEntity } from "./json.ts"
import type { Entity } from "./value.ts"

const quote = 34, backslash = 92, open = 123, close = 125, colon = 58, comma = 44, bracket = 91, unbracket = 93
const decoder = new TextDecoder()

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
    return parseEntity(decoder.decode(this.bytes.subarray(this.starts[i], this.ends[i])))
  }

  static scan(bytes: Uint8Array): Page {
    const starts: number[] = []
    const ends: number[] = []
    const names = new Names(bytes)
    let i = 0
    const cut = () => new Malformed("the answer ended half-way", i)
    const blank = () => {
      while (bytes[i] === 32 || bytes[i] === 10 || bytes[i] === 13 || bytes[i] === 9) i++
    }
    // string skips a string, whose opening quote is at i.
    const string = () => {
      for (i++; bytes[i] !== quote; i++) {
        if (i >= bytes.length) throw cut()
        if (bytes[i] === backslash) i++
      }
      i++
    }
    const expect = (c: number) => {
      blank()
      if (i >= bytes.length) throw cut()
      if (bytes[i] !== c) throw new Malformed("the answer is not a page of entities", i)
      i++
      blank()
    }
    // members goes through an object up to its end and says where each name and value begins.
    const members = (seen: (begin: number, end: number) => boolean) => {
      expect(open)
      while (bytes[i] !== close) {
        if (i >= bytes.length) throw cut()
        const begin = i + 1
        if (bytes[i] !== quote) throw new Malformed("the answer is not a page of entities", i)
        string()
        const end = i - 1
        expect(colon)
        if (!seen(begin, end)) {
          if (bytes[i] === quote) string()
          else while (i < bytes.length && bytes[i] !== comma && bytes[i] !== close) i++
        }
        blank()
        if (bytes[i] === comma) {
          i++
          blank()
        }
      }
      i++
    }
    let found = false
    members((begin, end) => {
      if (bytes[i] !== bracket || decoder.decode(bytes.subarray(begin, end)) !== "value") return false
      found = true
      i++
      blank()
      while (bytes[i] !== unbracket) {
        if (i >= bytes.length) throw cut()
        starts.push(i)
        members((b, e) => (names.add(b, e), false))
        ends.push(i)
        blank()
        if (bytes[i] === comma) {
          i++
          blank()
        }
      }
      i++
      return true
    })
    if (!found) throw new Malformed("the answer is not a page of entities", 0)
    return new Page(bytes, Uint32Array.from(starts), Uint32Array.from(ends), names.list)
  }
}

/** Names collects the names of properties; a name is decoded when it is seen for the first time. */
class Names {
  readonly list: string[] = []
  private readonly seen = new Map<number, [number, number][]>()

  constructor(private readonly bytes: Uint8Array) {}

  add(begin: number, end: number) {
    const { bytes } = this
    let hash = end - begin
    for (let i = begin; i < end; i++) hash = (Math.imul(hash, 31) + bytes[i]!) | 0
    const same = this.seen.get(hash)
    if (same?.some(([b, e]) => e - b === end - begin && this.equal(b, begin, end - begin))) return
    if (same) same.push([begin, end])
    else this.seen.set(hash, [[begin, end]])
    const name = JSON.parse(`"${decoder.decode(bytes.subarray(begin, end))}"`) as string
    if (!name.endsWith("@odata.type") && !name.startsWith("odata.")) this.list.push(name)
  }

  private equal(a: number, b: number, n: number) {
    for (let i = 0; i < n; i++) if (this.bytes[a + i] !== this.bytes[b + i]) return false
    return true
  }
}
