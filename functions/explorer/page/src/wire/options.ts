// What a table declares: GET and PUT ?comp=options, which only edgetable has, and only the account's key permits.
import { type Service, send, text } from "./client.ts"
import { Failure } from "./failure.ts"

/** A Document has a member for each part that a table declares. */
export type Document = Record<string, unknown>

export interface Options {
  /** document is what the service answered, with the states of the parts */
  document: Document
  revision: string
}

const call = (table: string) => ({ path: encodeURIComponent(table), query: { comp: "options" } })

/** getOptions reads what a table declares; undefined if the service keeps nothing of the kind. */
export async function getOptions(service: Service, table: string, signal?: AbortSignal): Promise<Options | undefined> {
  try {
    const response = await send(service, { ...call(table), ...(signal ? { signal } : {}) })
    const revision = response.headers.get("etag")
    const body = await text(response, signal)
    return revision ? { document: JSON.parse(body) as Document, revision } : undefined // Azurite answers with entities
  } catch (e) {
    if (e instanceof Failure && (e.status === 501 || e.code === "InvalidQueryParameterValue")) return undefined
    throw e
  }
}

/** setOptions declares what a document says, if the table still has the revision. */
export async function setOptions(service: Service, table: string, document: string, revision: string): Promise<void> {
  await send(service, { ...call(table), method: "PUT", body: document, headers: { "if-match": revision } })
}

/** judge has the service judge a document, and changes nothing: no table has the revision. It returns the refusal, if there is one. */
export async function judge(service: Service, table: string, document: string): Promise<Failure | undefined> {
  try {
    await setOptions(service, table, document, '"judge"')
  } catch (e) {
    if (!(e instanceof Failure)) throw e
    return e.code === "ConditionNotMet" ? undefined : e
  }
  return undefined
}

/** A Refusal is the JSON path of a mistake, and what is wrong there. */
export interface Refusal {
  path: string
  why: string
}

/** refusalOf reads it in a message such as "… $.expire.after: write a duration". */
export function refusalOf(e: Error | undefined): Refusal | undefined {
  if (!(e instanceof Failure) || e.code !== "OptionsInvalid") return undefined
  const m = / (\$(?:\.[^\s:]+)*): (.*)$/s.exec(" " + e.message)
  return m ? { path: m[1]!, why: m[2]! } : undefined
}

/** placeOf is where the value at a path begins and ends in a text of JSON; the whole text if it has no such value. */
export function placeOf(source: string, path: string): [number, number] {
  let [from, to] = [0, source.length]
  for (const name of path.split(".").slice(1)) {
    const found = member(source.slice(from, to), name)
    if (!found) break
    ;[from, to] = [from + found[0], from + found[1]]
  }
  return [from, to]
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g

/** member is where the value of a member of an object begins and ends. */
function member(source: string, name: string): [number, number] | undefined {
  let depth = 0
  let key = ""
  let begin = -1
  for (const m of source.matchAll(token)) {
    const [t] = m
    if (begin >= 0 && depth === 1 && (t === "," || t === "}")) return [begin, source.slice(0, m.index).trimEnd().length]
    if (depth === 1 && key === name && begin < 0 && t !== ":") begin = m.index
    if (t === "{" || t === "[") depth++
    else if (t === "}" || t === "]") depth--
    else if (t === ",") key = depth === 1 ? "" : key
    else if (depth === 1 && !key && t[0] === '"') key = unquoted(t)
  }
  return undefined
}

function unquoted(t: string): string {
  try {
    return JSON.parse(t) as string
  } catch {
    return ""
  }
}
