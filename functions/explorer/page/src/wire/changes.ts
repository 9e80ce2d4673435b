// What has changed in a table: GET ?comp=changes, which only edgetable has.
import { type Service, send, text } from "./client.ts"
import { ticksOf } from "./date.ts"
import { Failure } from "./failure.ts"
import { Malformed, parseEntity } from "./json.ts"
import { type Entity, type Key, nameOf } from "./value.ts"

/** Change is what an entity is now; null if it is gone. */
export interface Change {
  key: Key
  entity: Entity | null
  /** time of the change, in ticks since 1970 */
  time: bigint
}

interface News {
  /** list has the last change of each entity */
  list: Change[]
  /** dropped: the table was deleted */
  dropped: boolean
  next: string
}

interface Event {
  type: string
  time: string
  partitionkey?: string
  rowkey?: string
  data?: object
  superseded?: boolean
  expired?: string
}

const position = "x-edgetable-next"

/** An entity has no object and no array in it, and the quotes in its texts are escaped. */
const entities = /"data"\s*:\s*(\{(?:[^"{}]|"[^"\\]*(?:\\.[^"\\]*)*")*\})/g

const call = (table: string, query: Record<string, string>, signal: AbortSignal) => ({ path: encodeURIComponent(table), query: { comp: "changes", ...query }, headers: { accept: "application/json" }, signal })

const isFeed = (response: Response) => response.headers.get("content-type")?.includes("cloudevents") === true

/** hasFeed asks whether a table has a feed; undefined if the service keeps none of any table. */
export async function hasFeed(service: Service, table: string, signal: AbortSignal): Promise<boolean | undefined> {
  try {
    const response = await send(service, call(table, {}, signal))
    if (isFeed(response)) return true
    void response.body?.cancel() // other services answer with entities
    return undefined
  } catch (e) {
    return e instanceof Failure && (e.status === 501 || e.status === 400) ? undefined : false
  }
}

/** changesSince asks for what has changed since a position, and waits some seconds for it; since "" it gets the position of now. */
export async function changesSince(service: Service, table: string, since: string, wait: number, signal: AbortSignal): Promise<News> {
  const response = await send(service, call(table, since ? { since, wait: String(wait) } : {}, signal))
  const next = response.headers.get(position)
  if (!next) {
    void response.body?.cancel()
    throw isFeed(response)
      ? new Failure(`This page comes from another address than the tables, and may not read the position of the feed. The CORS rule of the account must expose ${position} and x-ms-error-code: “Allow this page”, under Access, adds such a rule.`, 200, "NotExposed")
      : new Failure("This service does not support change feeds.", 501, "NotImplemented")
  }
  const source = await text(response, signal)
  try {
    return { ...read(source), next }
  } catch (e) {
    if (e instanceof Malformed || e instanceof SyntaxError) throw new Failure(`The changes cannot be read: ${e.message}.`, 200, "Malformed")
    throw e
  }
}

function read(source: string): Omit<News, "next"> {
  const last = new Map<string, Change>()
  const bodies = source.matchAll(entities)
  let dropped = false
  for (const e of JSON.parse(source) as Event[]) {
    const entity = e.data ? parseEntity(bodies.next().value?.[1] ?? "") : null // its numbers are exact in the text alone
    const key = { pk: e.partitionkey ?? "", rk: e.rowkey ?? "" }
    if (e.type === "edgetable.table.drop") dropped = true
    // Of what was written again a later event tells.
    else if (!e.superseded) last.set(nameOf(key), { key, entity: e.type === "edgetable.entity.put" && !e.expired ? entity : null, time: ticksOf(e.time) ?? 0n })
  }
  return { list: [...last.values()], dropped }
}
