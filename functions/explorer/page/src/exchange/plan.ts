// How the columns of a file become properties.
import { parseEntity } from "../wire/json.ts"
import { exact } from "../wire/date.ts"
import { keyProblem } from "../wire/names.ts"
import { type Type, type Value, check } from "../wire/value.ts"
import { type Cell, Reader, exactly, separatorOf, typeNamed } from "./csv.ts"

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
  format: "json" | "csv"
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
  source: string
  values?: Map<string, Value>
  wrong?: string
}

/** planOf proposes a plan for a file that begins with some text. */
export function planOf(begin: string): Plan {
  const text = begin.replace(/^\ufeff/, "")
  if (/^\s*[{[]/.test(text)) return { format: "json", columns: [], pk: "PartitionKey", pkText: "", rk: "RowKey", rkText: "number" }
  const first = [...new Reader(separatorOf(text.split("\n", 1)[0]!)).read(text)][0] ?? []
  const names = first.map((c) => c ?? "")
  const columns = names.flatMap((name, at): Column[] =>
    !name || (name.endsWith("@type") && names.includes(name.slice(0, -5))) ? [] : [{ name, to: name === "Timestamp" ? "" : name, at, type: names.includes(name + "@type") ? "" : "String", typeAt: names.indexOf(name + "@type") }],
  )
  const has = (n: string) => names.find((x) => x.toLowerCase() === n.toLowerCase()) ?? ""
  return { format: "csv", columns, pk: has("PartitionKey"), pkText: "", rk: has("RowKey"), rkText: "number" }
}

/** rowsOf reads a file by a plan. */
export async function* rowsOf(file: Blob, plan: Plan): AsyncGenerator<Row> {
  const pieces = textOf(file)
  yield* plan.format === "json" ? fromJSON(pieces) : fromCSV(pieces, plan)
}

async function* textOf(file: Blob): AsyncGenerator<string> {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader()
  for (let r = await reader.read(); !r.done; r = await reader.read()) yield r.value
}

/** fromJSON reads an entity a line, or an array with one a line or on several lines. */
async function* fromJSON(pieces: AsyncGenerator<string>): AsyncGenerator<Row> {
  let number = 0
  for await (const source of objects(pieces)) {
    number++
    try {
      const { values } = parseEntity(source)
      values.delete("Timestamp")
      const missing = ["PartitionKey", "RowKey"].find((k) => !values.has(k))
      yield missing ? { number, source, wrong: `${missing} is missing` } : judged(number, source, values)
    } catch (e) {
      yield { number, source, wrong: (e as Error).message }
    }
  }
}

/** objects cuts text into {…}, whatever stands between them. */
async function* objects(pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  let text = ""
  let depth = 0
  let quotes = false
  let escape = false
  for await (const piece of pieces) {
    let from = 0
    for (let i = 0; i < piece.length; i++) {
      const c = piece[i]
      if (escape) escape = false
      else if (quotes) {
        if (c === "\\") escape = true
        else if (c === '"') quotes = false
      } else if (c === '"') quotes = depth > 0
      else if (c === "{" && depth++ === 0) from = i
      else if (c === "}" && depth > 0 && --depth === 0) {
        yield text + piece.slice(from, i + 1)
        text = ""
      }
    }
    if (depth > 0) text += piece.slice(from)
  }
  if (depth > 0) yield text // cut off: it is refused as what it is
}

async function* fromCSV(pieces: AsyncGenerator<string>, plan: Plan): AsyncGenerator<Row> {
  let reader: Reader | undefined
  let number = 0
  const last = new Map<number, Type>() // newer files name the type in the first row alone
  const row = (cells: Cell[]): Row | undefined => (number++ === 0 ? undefined : entity(cells, plan, number - 1, last))
  for await (const piece of pieces) {
    reader ??= new Reader(separatorOf(piece.split("\n", 1)[0]!))
    for (const cells of reader.read(number || reader === undefined ? piece : piece.replace(/^\ufeff/, ""))) {
      const r = row(cells)
      if (r && cells.some((c) => c !== undefined)) yield r
    }
  }
  for (const cells of reader?.read("", true) ?? []) {
    const r = row(cells)
    if (r) yield r
  }
}

function entity(cells: Cell[], plan: Plan, number: number, last: Map<number, Type>): Row {
  const values = new Map<string, Value>()
  const source = cells.map((c) => c ?? "").join("\t")
  const named = (name: string) => cells[plan.columns.find((c) => c.name === name)?.at ?? -1]
  const pk = plan.pk ? named(plan.pk) : plan.pkText
  const rk = plan.rk ? named(plan.rk) : plan.rkText === "guid" ? crypto.randomUUID() : String(number).padStart(10, "0")
  values.set("PartitionKey", { type: "String", text: pk ?? "" })
  values.set("RowKey", { type: "String", text: rk ?? "" })
  for (const c of plan.columns) {
    const text = cells[c.at]
    const stated = c.typeAt < 0 ? undefined : cells[c.typeAt]
    if (stated) {
      const type = typeNamed(stated)
      if (!type) return { number, source, wrong: `${c.name}: there is no type ${stated}` }
      last.set(c.at, type)
    }
    if (text === undefined || !c.to || c.name === plan.pk || c.name === plan.rk) continue
    values.set(c.to, exactly(c.type || last.get(c.at) || "String", text))
  }
  return judged(number, source, values)
}

function judged(number: number, source: string, values: Map<string, Value>): Row {
  for (const [name, value] of values) {
    const wrong = ((name === "PartitionKey" || name === "RowKey") && keyProblem(value.text)) || check(value)
    if (wrong) return { number, source, wrong: `${name}: ${wrong}` }
    if (value.type === "DateTime") value.text = exact(value.text)
  }
  return { number, source, values }
}
