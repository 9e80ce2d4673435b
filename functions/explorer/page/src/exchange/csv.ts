// CSV with types beside the values (P, P@type), as Storage Explorer writes it, and plain CSV. A cell without quotes that is empty is no value;
// one in quotes is the empty text.
import { textOf, ticksOf } from "../wire/date.ts"
import { type Entity, type Type, type Value, system, types } from "../wire/value.ts"

const quoted = (s: string) => `"${s.replaceAll('"', '""')}"`
const cell = (s: string) => (s === "" || /[",\r\n]|^\s|\s$/.test(s) ? quoted(s) : s)

/** header is the first line for some properties. */
export const header = (names: string[]) => [...system, ...names.flatMap((n) => [n, n + "@type"])].map(cell).join(",") + "\r\n"

/** line is the line of an entity. */
export const line = (e: Entity, names: string[]) =>
  [...system.map((k) => e.values.get(k)?.text), ...names.flatMap((n) => [e.values.get(n)?.text, e.values.get(n)?.type])].map((t) => (t === undefined ? "" : cell(t))).join(",") + "\r\n"

/** plainHeader and plainLine are CSV without types, for spreadsheets. */
export const plainHeader = (names: string[]) => [...system, ...names].map(cell).join(",") + "\r\n"
export const plainLine = (e: Entity, names: string[]) => [...system, ...names].map((n) => e.values.get(n)?.text).map((t) => (t === undefined ? "" : cell(t))).join(",") + "\r\n"

/** Cell is undefined where a line has nothing. */
export type Cell = string | undefined

/** Line is a row of cells and the line of the file in which it begins. torn: the file ends in it. */
export interface Line {
  cells: Cell[]
  line: number
  torn: boolean
}

/** Reader cuts text that comes in pieces into lines of cells, by the rules of 'edgetable import'. */
export class Reader {
  private cells: Cell[] = []
  private text = ""
  private inQuotes = false
  private wasQuoted = false
  private any = false // of this row
  private held = "" // the end of a piece, whose meaning the next one decides
  private lines = 1
  private first = 1 // line of the row

  constructor(private separator: string) {}

  *read(piece: string, end = false): Generator<Cell[]> {
    for (const { cells } of this.lineByLine(piece, end)) yield cells
  }

  *lineByLine(piece: string, end = false): Generator<Line> {
    const s = this.held + piece
    const sure = end ? s.length : s.length - 1
    let i = 0
    for (; i < sure; i++) {
      const c = s[i]!
      this.any = true
      if (this.inQuotes) {
        if (c === "\n") this.lines++
        if (c !== '"') this.text += c
        else if (s[i + 1] === '"') (this.text += c), i++
        else this.inQuotes = false
      } else if (c === '"' && this.text === "" && !this.wasQuoted) this.inQuotes = this.wasQuoted = true
      else if (c === this.separator) this.next()
      else if (c === "\n" || (c === "\r" && s[i + 1] === "\n")) {
        if (c === "\r") i++
        this.lines++
        yield this.finish(false)
      } else if (!this.wasQuoted) this.text += c
      else if (c !== " " && c !== "\t") throw new Error(`line ${this.lines}: there is text after the closing quote of a cell`)
    }
    this.held = s.slice(i)
    if (!end) return
    if (this.inQuotes) throw new Error(`line ${this.first}: the file ends inside a quoted cell`)
    if (this.any) yield this.finish(true)
  }

  private next() {
    this.cells.push(this.text === "" && !this.wasQuoted ? undefined : this.text)
    this.text = ""
    this.wasQuoted = false
  }

  private finish(torn: boolean): Line {
    this.next()
    const row = { cells: this.cells, line: this.first, torn }
    this.cells = []
    this.any = false
    this.first = this.lines
    return row
  }
}

/** blank lines have no cell at all. */
export const blank = (cells: Cell[]) => cells.length === 1 && cells[0] === undefined

/** separatorOf is the first separator in a line that is not in quotes; Excel names it in a line of its own. */
export function separatorOf(first: string): { separator: string; named: boolean } {
  const said = /^sep=(.)\r?$/i.exec(first)
  if (said) return { separator: said[1]!, named: true }
  return { separator: /[,;\t|]/.exec(first.replace(/"[^"]*"?/g, ""))?.[0] ?? ",", named: false }
}

/** typeNamed reads Edm.Int32, Int32, int32; undefined if it is none. */
export const typeNamed = (s: string): Type | undefined => types.find((t) => t.toLowerCase() === s.trim().replace(/^Edm\./i, "").toLowerCase())

/** exactly writes what a cell has in the form of a type: also as pandas, PostgreSQL and spreadsheets write it. */
export function exactly(type: Type, text: string): Value {
  switch (type) {
    case "Boolean":
      return { type, text: { "1": "true", "0": "false" }[text] ?? text.toLowerCase() }
    case "Double":
      return { type, text: /^\+?inf(inity)?$/i.test(text) ? "Infinity" : /^-inf(inity)?$/i.test(text) ? "-Infinity" : /^nan$/i.test(text) ? "NaN" : text.replace(/^\+/, "") }
    case "DateTime":
      return { type, text: rounded(text).replace(/^(\d{4}-\d\d-\d\d) /, "$1T").replace(/(:\d\d(?:\.\d+)?[-+]\d\d)$/, "$1:00").replace(/(:\d\d(?:\.\d+)?[-+]\d\d)(\d\d)$/, "$1:$2") }
    case "Int32":
    case "Int64":
      return { type, text: /^[-+]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, "")).toString() : text }
    case "Guid":
      return { type, text: text.toLowerCase() }
    case "Binary":
      return { type, text: text.includes("=") ? text : text.padEnd(Math.ceil(text.length / 4) * 4, "=") }
    default:
      return { type, text }
  }
}

/** rounded is a date whose fraction has more digits than the protocol, to the nearest 100 ns. */
function rounded(text: string): string {
  const m = /^(.*\.\d{7})(\d)\d*(.*)$/.exec(text)
  if (!m) return text
  const ticks = ticksOf(m[1]! + m[3]!)
  return ticks === undefined ? text : textOf(ticks + (m[2]! >= "5" ? 1n : 0n))
}
