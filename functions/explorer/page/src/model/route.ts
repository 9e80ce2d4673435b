// The state of the page in its URL, behind the #, so that a link shows the same to somebody else.
import type { Key } from "../wire/value.ts"
import { Store } from "./store.ts"

export interface Route {
  service: string
  table: string
  filter: string
  /** names of the properties to ask for, separated by commas; "" for all */
  select: string
  entity?: Key | undefined
  /** column by which loaded rows are sorted, with a - in front for descending; "" for the order of keys */
  sort: string
  /** "traffic", "options", or "" for the rows */
  view: string
  /** what the traffic is of, and over which time; "" for what is busiest, and for two hours */
  metric: string
  span: string
  /** part of the dialog about access that is open, or "" */
  access: string
}

const texts = ["filter", "select", "sort", "view", "metric", "span", "access"] as const

const nowhere: Route = { service: "", table: "", filter: "", select: "", sort: "", view: "", metric: "", span: "", access: "" }

export function parseRoute(hash: string): Route {
  const m = /^#\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(hash)
  if (!m) return nowhere
  const query = new URLSearchParams(m[3] ?? "")
  const pk = query.get("pk")
  const rk = query.get("rk")
  return {
    service: decode(m[1] ?? ""),
    table: decode(m[2] ?? ""),
    ...(Object.fromEntries(texts.map((name) => [name, query.get(name) ?? ""])) as Pick<Route, (typeof texts)[number]>),
    ...(pk !== null && rk !== null ? { entity: { pk, rk } } : {}),
  }
}

function decode(s: string) {
  try {
    return decodeURIComponent(s)
  } catch {
    return s
  }
}

export function printRoute(r: Route): string {
  if (!r.service && !r.table) return "#/"
  const query = new URLSearchParams()
  for (const name of texts) if (r[name]) query.set(name, r[name])
  if (r.entity) {
    query.set("pk", r.entity.pk)
    query.set("rk", r.entity.rk)
  }
  const text = query.toString()
  return `#/${encodeURIComponent(r.service)}${r.table && "/" + encodeURIComponent(r.table)}${text && "?" + text}`
}

/** home shows the account, and toTable a table, without what was asked of the one before. */
export const home = toTable("")
export function toTable(table: string): Partial<Route> {
  return { table, filter: "", select: "", sort: "", view: "", entity: undefined }
}

export const route = new Store<Route>(nowhere)

/** go changes parts of the state. What is only looked at replaces the entry of the browser's history. */
export function go(part: Partial<Route>, replace = false) {
  const next = { ...route.value, ...part }
  const hash = printRoute(next)
  if (hash !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", hash)
  route.set(next)
}

/** follow reads the URL now and whenever the user goes back or edits it. */
export function follow() {
  const look = () => route.set(parseRoute(location.hash))
  window.addEventListener("popstate", look)
  window.addEventListener("hashchange", look)
  look()
}
