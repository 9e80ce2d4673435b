// Operations on tables and entities.
import { type Service, bytes, send, text } from "./client.ts"
import { Failure } from "./failure.ts"
import { body } from "./json.ts"
import { Malformed, parseEntity } from "./json.ts"
import { address } from "./odata.ts"
import { Page } from "./page.ts"
import type { Entity, Key, Value } from "./value.ts"

export interface Position {
  pk: string
  rk: string
}

export interface Query {
  table: string
  filter: string
  select?: string
  top?: number
  /** order of the keys other than the usual one, which only edgetable knows */
  order?: string
}

export interface Cost {
  rows?: number
  bytes?: number
  calls?: number
}

interface Result {
  page: Page
  next: Position | undefined
  /** ordered: the service understood the order */
  ordered: boolean
  cost: Cost
}

const orderBy = "x-edgetable-orderby"

/** listTables gives the names of all tables, page by page. */
export async function* listTables(service: Service, signal?: AbortSignal): AsyncGenerator<string[]> {
  let next: string | null = ""
  do {
    const response: Response | undefined = await send(service, { path: "Tables", query: next ? { NextTableName: next } : {}, headers: { accept: "application/json;odata=nometadata" }, ...(signal ? { signal } : {}) }).catch((e: unknown) => {
      if (e instanceof Failure && e.forbids) {
        if (service.table) return undefined
        throw new Failure(`The list of tables is not permitted. Type the name of a table above the list; Enter opens it. (${e.message} ${e.code})`, e.status, e.code)
      }
      // Only the account can be what is not there.
      throw e instanceof Failure && e.code === "ResourceNotFound" ? new Failure(`There is no account ${service.account} at ${service.endpoint || service.name}.`, e.status, e.code) : e
    })
    if (!response) return yield [service.table!]
    next = response.headers.get("x-ms-continuation-NextTableName")
    const names = await text(response, signal)
    let list: { value: { TableName: string }[] }
    try {
      list = JSON.parse(names) as typeof list
    } catch {
      throw new Failure("The list of tables ended too early: the connection was lost.", 0, "Cut")
    }
    yield list.value.map((t) => t.TableName)
  } while (next)
}

/** query gets one page of entities. */
export async function query(service: Service, q: Query, from: Position | undefined, signal?: AbortSignal): Promise<Result> {
  const parameters: Record<string, string> = {}
  if (q.filter) parameters["$filter"] = q.filter
  if (q.select) parameters["$select"] = q.select
  if (q.top) parameters["$top"] = String(q.top)
  if (from) {
    parameters["NextPartitionKey"] = from.pk
    if (from.rk) parameters["NextRowKey"] = from.rk
  }
  const response = await send(service, { path: encodeURIComponent(q.table) + "()", query: parameters, headers: q.order && service.orders ? { [orderBy]: q.order } : {}, ...(signal ? { signal } : {}) })
  const data = await bytes(response, signal)
  let page: Page
  try {
    page = Page.scan(data)
  } catch (e) {
    if (e instanceof Malformed) throw new Failure(`${e.message[0]!.toUpperCase()}${e.message.slice(1)} (byte ${e.at}).`, 0, "Cut")
    throw e
  }
  const pk = response.headers.get("x-ms-continuation-NextPartitionKey")
  const rk = response.headers.get("x-ms-continuation-NextRowKey")
  return { page, next: pk === null ? undefined : { pk, rk: rk ?? "" }, ordered: response.headers.has(orderBy), cost: costOf(response.headers) }
}

function costOf(headers: Headers): Cost {
  const number = (name: string) => {
    const text = headers.get(name)
    return text === null ? {} : { [name.replace(/^x-edgetable-(scanned|store)-/, "")]: Number(text) }
  }
  return { ...number("x-edgetable-scanned-rows"), ...number("x-edgetable-scanned-bytes"), ...number("x-edgetable-store-calls") }
}

/** received reads an entity that a service sent. */
function received(source: string): Entity {
  try {
    return parseEntity(source)
  } catch (e) {
    if (e instanceof Malformed) throw new Failure(`The entity cannot be read: ${e.message} (byte ${e.at}).`, 200, "Malformed")
    throw e
  }
}

/** getEntity gets one entity, or undefined if there is none. */
export async function getEntity(service: Service, table: string, key: Key): Promise<Entity | undefined> {
  try {
    const response = await send(service, { path: address(table, key) })
    const entity = received(await text(response))
    entity.etag ||= response.headers.get("etag") ?? ""
    return entity
  } catch (e) {
    if (e instanceof Failure && e.status === 404 && e.code !== "TableNotFound") return undefined
    throw e
  }
}

/** insert adds an entity and returns its ETag. */
export async function insert(service: Service, table: string, values: Map<string, Value>): Promise<string> {
  const response = await send(service, { method: "POST", path: encodeURIComponent(table), body: body(values), headers: { prefer: "return-no-content" } })
  return response.headers.get("etag") ?? ""
}

/** replace writes an entity if it is still the one that the ETag names. */
export async function replace(service: Service, table: string, key: Key, values: Map<string, Value>, etag: string): Promise<string> {
  const response = await send(service, { method: "PUT", path: address(table, key), body: body(values), headers: { "if-match": etag } })
  return response.headers.get("etag") ?? ""
}

export async function remove(service: Service, table: string, key: Key, etag: string): Promise<void> {
  await send(service, { method: "DELETE", path: address(table, key), headers: { "if-match": etag } })
}

export const createTable = (service: Service, table: string) =>
  send(service, { method: "POST", path: "Tables", body: JSON.stringify({ TableName: table }), headers: { prefer: "return-no-content" } })

export const deleteTable = (service: Service, table: string) => send(service, { method: "DELETE", path: `Tables('${encodeURIComponent(table)}')` })
