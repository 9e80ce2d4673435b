// How the columns of a file become properties.
import { parseEntity } from "../wire/json.ts"
import { exact } from "../wire/date.ts"
import { keyProblem, propertyProblem } from "../wire/names.ts"
import { maxProperties } from "../wire/rules.ts"
import { type Type, type Value, check, system } from "../wire/value.ts"
import { type Cell, type Line, Reader, blank, exactly, separatorOf, typeNamed } from "./csv.ts"

export interface Column {
  name: string
  /** to is the name of the property; "" skips the column */
  to: string
  /** type of all values; "" takes that of the file's own column of types */
  type: Type | ""
  at: number
  typeAt: number // column with the types, or -1
}

export interface Plan {
  format: "lines" | "document" | "csv"
  columns: Column[]
  /** names of columns for the keys; "" takes the text beside it */
  pk: string
  pkText: string
  rk: string
  /** rkNumber makes a RowKey of the number of the row */
  rkText: "number" | "guid"
}

/** Row is an entity, or what is wrong with it. */
export interface Row {
  number: number
  /** line of the file in which it begins */
  line: number
  source: string
  values?: Map<string, Value>
  wrong?: string
}

/** documents begin so: a list, or the response to a query, which has one. */
const feed = /^\s*(?:\[|\{(?:\s*"odata\.[^"]*"\s*:\s*"[^"]*"\s*,)*\s*"value"\s*:\s*\[)/

const typeSuffixes = ["@type", " @type", "@odata.type"]

/** typedBy is the column to which a column of types belongs, or "". */
const typedBy = (name: string) => typeSuffixes.map((s) => (name.endsWith(s) ? name.slice(0, -s.length) : "")).findLast(Boolean) ?? ""

/** planOf proposes a plan for a file that begins with some text. */
export function planOf(begin: string, file = ""): Plan {
  const text = begin.replace(/^\ufeff/, "")
  const keys = { pk: "PartitionKey", pkText: "", rk: "RowKey", rkText: "number" as const }
  if (feed.test(text)) return { format: "document", columns: [], ...keys }
  if (/^\s*\{/.test(text)) return { format: file.toLowerCase().endsWith(".json") && !isJSON(text.trim().split("\n", 1)[0]!) ? "document" : "lines", columns: [], ...keys }
  const { separator, named } = separatorOf(text.split("\n", 1)[0]!)
  const first = nth(new Reader(separator).read(text, true), named ? 1 : 0) ?? []
  const names = first.map((c) => c ?? "")
  const columns = names.flatMap((name, at): Column[] => {
    if (!name || names.includes(typedBy(name))) return []
    const typeAt = typeSuffixes.map((s) => names.indexOf(name + s)).findLast((i) => i >= 0) ?? -1
    return [{ name, to: name === "Timestamp" ? "" : name, at, type: typeAt >= 0 ? "" : "String", typeAt }]
  })
  const has = (...list: string[]) => list.map((n) => names.find((x) => x.toLowerCase() === n.toLowerCase())).find(Boolean) ?? ""
  const pk = has("PartitionKey")
  return { format: "csv", columns, pk, pkText: "", rk: has("RowKey") || (pk ? "" : has("id", "key", "uuid", "guid")), rkText: "number" }
}

/** nth is a row that is not blank; what is wrong with later ones is found when they are read. */
function nth(rows: Generator<Cell[]>, n: number): Cell[] | undefined {
  for (const cells of rows) if (!blank(cells) && n-- === 0) return cells
  return undefined
}

function isJSON(text: string): boolean {
  try {
    return JSON.parse(text), true
  } catch {
    return false
  }
}

/** rowsOf reads a file by a plan. It throws what ends the work: nobody knows what the rest of the file means. */
export async function* rowsOf(file: Blob, plan: Plan): AsyncGenerator<Row> {
  const pieces = textOf(file)
  if (plan.format === "csv") return yield* fromCSV(pieces, plan)
  let number = 0
  for await (const { source, line } of plan.format === "lines" ? lines(pieces) : objects(pieces)) yield fromJSON(++number, line, source)
}

/** textOf reads a file in pieces. UTF-16 says so at its begin; of UTF-8 each character is a byte until readable. */
async function* textOf(file: Blob): AsyncGenerator<string> {
  const wide = wideOf(new Uint8Array(await file.slice(0, 2).arrayBuffer()))
  const decoder = wide && new TextDecoder(wide)
  const reader = file.stream().getReader()
  for (let r = await reader.read(); !r.done; r = await reader.read()) {
    if (decoder) yield utf8Bytes(decoder.decode(r.value, { stream: true }))
    else for (let i = 0; i < r.value.length; i += 8192) yield String.fromCharCode(...r.value.subarray(i, i + 8192))
  }
}

/** beginOf is the first part of a file, for a look at it. */
export async function beginOf(file: Blob): Promise<string> {
  const begin = new Uint8Array(await file.slice(0, 1 << 16).arrayBuffer())
  return new TextDecoder(wideOf(begin.subarray(0, 2)) ?? "utf-8").decode(begin)
}

const wideOf = (begin: Uint8Array) => ({ "255,254": "utf-16le", "254,255": "utf-16be" })[begin.join()]

const utf8Bytes = (text: string) => Array.from(new TextEncoder().encode(text), (b) => String.fromCharCode(b)).join("")

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** readable is a text whose characters were bytes. */
function readable(bytes: string): string {
  if (!/[\x80-\xff]/.test(bytes)) return bytes
  try {
    return utf8.decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)))
  } catch {
    throw new Error("it is not UTF-8; 'edgetable import --encoding' reads other encodings")
  }
}

/** mark is the byte order mark at the begin of a file, as bytes. */
const mark = /^\xef\xbb\xbf/

function fromJSON(number: number, line: number, bytes: string): Row {
  let source = bytes
  try {
    source = readable(bytes.replace(mark, ""))
    const { values } = parseEntity(source)
    // A number that is no Int32 is a Double, as the service reads it.
    for (const value of values.values()) if (value.type === "Int32" && check(value) && /^-?\d+$/.test(value.text)) value.type = "Double"
    values.delete("Timestamp")
    const missing = ["PartitionKey", "RowKey"].find((k) => values.get(k)?.type !== "String")
    return missing ? { number, line, source, wrong: `there is no ${missing}` } : judged(number, line, source, values)
  } catch (e) {
    return { number, line, source, wrong: (e as Error).message }
  }
}

interface Source {
  source: string
  line: number
}

/** lines are those of a file with an entity on each. */
async function* lines(pieces: AsyncGenerator<string>): AsyncGenerator<Source> {
  let text = ""
  let line = 0
  for await (const piece of pieces) {
    const list = (text + piece).split("\n")
    text = list.pop()!
    for (const source of list) if ((line++, source.trim())) yield { source, line }
  }
  if (text.trim()) yield { source: text, line: line + 1 }
}

/** objects cuts a document into {…}. The list of a response to a query is the document. */
async function* objects(pieces: AsyncGenerator<string>): AsyncGenerator<Source> {
  let text = ""
  let [depth, line, from] = [0, 1, 1]
  let [quotes, escape, list, over] = [false, false, false, false]
  for await (const piece of pieces) {
    for (const c of piece) {
      if (c === "\n") line++
      if (over) continue // the rest of a response
      if (depth > 0) {
        text += c
        if (escape) escape = false
        else if (quotes) {
          if (c === "\\") escape = true
          else if (c === '"') quotes = false
        } else if (c === '"') quotes = true
        else if (c === "[" && depth === 1 && feed.test(text)) [text, depth, list] = ["", 0, true]
        else if (c === "{") depth++
        else if (c === "}" && --depth === 0) {
          yield { source: text, line: from }
          text = ""
        }
      } else if (c === "{") [text, depth, from] = [c, 1, line]
      else if (c === "[") list = true
      else if (c === "]") [over, list] = [list, false]
      else if (!/[\s,\xef\xbb\xbf]/.test(c)) throw new Error(`line ${line}: expected { where an entity begins, not ${JSON.stringify(c)}`)
    }
  }
  if (depth > 0) throw new Error(`line ${from}: the file ends in the entity that begins there`)
  if (list) throw new Error("the file ends before its list of entities")
}

async function* fromCSV(pieces: AsyncGenerator<string>, plan: Plan): AsyncGenerator<Row> {
  let reader: Reader | undefined
  let skip = 0 // lines before the names
  let width = 0
  let number = 0
  const last = new Map<number, Type>() // newer files name the type in the first row alone
  const row = (l: Line): Row | undefined => {
    if (blank(l.cells) || skip-- > 0) return undefined
    if (!width) return (width = l.cells.length), checkNames({ ...l, cells: l.cells.map((c) => c && readable(c)) }, plan), undefined
    number++
    try {
      return entity({ ...l, cells: l.cells.map((c) => c && readable(c)) }, plan, number, width, last)
    } catch (e) {
      return { number, line: l.line, source: l.cells.map((c) => c ?? "").join("\t"), wrong: (e as Error).message }
    }
  }
  for await (const piece of pieces) {
    let text = piece
    if (!reader) {
      text = piece.replace(mark, "")
      const { separator, named } = separatorOf(text.split("\n", 1)[0]!)
      reader = new Reader(separator)
      skip = named ? 1 : 0
    }
    for (const l of reader.lineByLine(text)) {
      const r = row(l)
      if (r) yield r
    }
  }
  for (const l of reader?.lineByLine("", true) ?? []) {
    const r = row(l)
    if (r) yield r
  }
  if (!width) throw new Error("there is no line with the names of the columns")
}

/** cellsOf are the rows at the begin of a file, for a look at them; the last one is left out if it may be cut. */
export function cellsOf(begin: string, whole: boolean): Cell[][] {
  const text = begin.replace(/^\ufeff/, "")
  const { separator, named } = separatorOf(text.split("\n", 1)[0]!)
  try {
    return [...new Reader(separator).read(text, whole)].filter((c) => !blank(c)).slice(named ? 2 : 1, 1000)
  } catch {
    return [] // the preview says what is wrong
  }
}

function checkNames({ cells, line }: Line, plan: Plan) {
  for (const key of [plan.pk, plan.rk]) if (key && !cells.includes(key)) throw new Error(`line ${line}: there is no column ${key}`)
  const twice = cells.find((c, i) => cells.indexOf(c) < i)
  if (twice !== undefined) throw new Error(`line ${line}: the column "${twice}" occurs twice`)
  for (const c of plan.columns) if (c.to && !system.includes(c.to) && c.name !== plan.pk && c.name !== plan.rk && propertyProblem(c.to)) throw new Error(`line ${line}: the column "${c.name}" cannot be a property: ${propertyProblem(c.to)}`)
}

function entity({ cells, line, torn }: Line, plan: Plan, number: number, width: number, last: Map<number, Type>): Row {
  const source = cells.map((c) => c ?? "").join("\t")
  const refused = (wrong: string): Row => ({ number, line, source, wrong })
  if (cells.length < width && torn) return refused(`the file ends in this row, which has ${cells.length} cells of ${width}`)
  if (cells.length !== width) return refused(`the row has ${cells.length} cell${cells.length === 1 ? "" : "s"}, the header ${width}`)
  const values = new Map<string, Value>()
  for (const [key, from, otherwise] of [
    ["PartitionKey", plan.pk, plan.pkText],
    ["RowKey", plan.rk, plan.rkText === "guid" ? crypto.randomUUID() : String(number).padStart(10, "0")],
  ] as const) {
    const text = from ? cells[plan.columns.find((c) => c.name === from)?.at ?? -1] : otherwise
    if (text === undefined) return refused(`the cell of the ${key} is empty: write an empty key as ""`)
    values.set(key, { type: "String", text })
  }
  for (const c of plan.columns) {
    const stated = c.typeAt < 0 ? undefined : cells[c.typeAt]
    if (stated) {
      const type = typeNamed(stated)
      if (!type) return refused(`${c.name}: there is no type ${stated}`)
      last.set(c.at, type)
    }
    if (!c.to || c.name === plan.pk || c.name === plan.rk) continue
    const text = cells[c.at] ?? (stated === "Edm.String" ? "" : undefined) // an older Storage Explorer writes the type where there is a value
    if (text === undefined) continue
    if (values.has(c.to)) return refused(`two columns are ${c.to}`)
    values.set(c.to, exactly(c.type || last.get(c.at) || "String", text))
  }
  return judged(number, line, source, values)
}

function judged(number: number, line: number, source: string, values: Map<string, Value>): Row {
  if (values.size > maxProperties + 2) return { number, line, source, wrong: `an entity has at most ${maxProperties} properties beside its keys` }
  for (const [name, value] of values) {
    const wrong = (system.includes(name) ? keyProblem(value.text) : propertyProblem(name)) || check(value)
    if (wrong) return { number, line, source, wrong: `${name}: ${wrong}` }
    if (value.type === "DateTime") value.text = exact(value.text)
  }
  return { number, line, source, values }
}
