// CSV with types beside the values (P, P@type), as Storage Explorer writes it, and plain CSV. A cell without quotes that is empty is no value;
// one in quotes is the empty text.
import { type Entity, type Type, type Value, system, types } from "../wire/value.ts"

const quoted = (s: string) => `"${s.replaceAll('"', '""')}"`
const cell = (s: string) => (s === "" || /[",\r\n]|^\s|\s$/.test(s) ? quoted(s) : s)

/** header is the first line for some properties. */
export const header = (names: string[]) => [...system, ...names.flatMap((n) => [n, n + "@type"])].map(cell).join(",") + "\r\n"

/** line is the line of an entity. */
export const line = (e: Entity, names: string[]) =>
  [...system.map((k) => e.values.get(k)?.text), ...names.flatMap((n) => [e.values.get(n)?.text, e.values.get(n)?.type])].map((t) => (t === undefined ? "" : cell(t))).join(",") + "\r\n"

/** Cell is undefined where a line has nothing. */
export type Cell = string | undefined

/** Reader cuts text that comes in pieces into lines of cells. */
export class Reader {
  private row: Cell[] = []
  private text = ""
  private inQuotes = false
  private wasQuoted = false
  private held = "" // a quote or CR at the end of a piece, whose meaning the next one decides

  constructor(private readonly separator: string) {}

  *read(piece: string, end = false): Generator<Cell[]> {
    const s = this.held + piece
    this.held = ""
    for (let i = 0; i < s.length; i++) {
      const c = s[i]!
      if (this.inQuotes) {
        if (c !== '"') this.text += c
        else if (i + 1 === s.length && !end) this.held = c
        else if (s[i + 1] === '"') (this.text += c), i++
        else this.inQuotes = false
      } else if (c === '"' && this.text === "") this.inQuotes = this.wasQuoted = true
      else if (c === this.separator) this.next()
      else if (c === "\n") yield this.finish()
      else if (c !== "\r") this.text += c
    }
    if (end && this.inQuotes) throw new Error("the file ends inside a quoted cell")
    if (end && (this.row.length || this.text || this.wasQuoted)) yield this.finish()
  }

  private next() {
    this.row.push(this.text === "" && !this.wasQuoted ? undefined : this.text)
    this.text = ""
    this.wasQuoted = false
  }

  private finish(): Cell[] {
    this.next()
    const row = this.row
    this.row = []
    return row
  }
}

/** separatorOf guesses from the first line. */
export const separatorOf = (first: string) => [",", ";", "\t"].sort((a, b) => first.split(b).length - first.split(a).length)[0]!

/** typeNamed reads Edm.Int32, Int32, int32; undefined if it is none. */
export const typeNamed = (s: string): Type | undefined => types.find((t) => t.toLowerCase() === s.trim().replace(/^Edm\./i, "").toLowerCase())

/** exactly writes what a cell has in the form of a type. */
export const exactly = (type: Type, text: string): Value => ({ type, text: type === "Boolean" ? text.trim().toLowerCase() : type === "String" ? text : text.trim() })
