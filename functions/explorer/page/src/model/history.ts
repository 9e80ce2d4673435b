// Queries that ran, and queries that were saved, for each table.
import { read, write } from "./settings.ts"

export interface Kept {
  filter: string
  select: string
  name?: string
}

const most = 30
const place = (kind: string, service: string, table: string) => `${kind}.${service}/${table}`
const same = (a: Kept) => (b: Kept) => a.filter === b.filter && a.select === b.select

export const ran = (service: string, table: string): Kept[] => read<Kept[]>(place("history", service, table), [])
export const saved = (service: string, table: string): Kept[] => read<Kept[]>(place("saved", service, table), [])

export function note(service: string, table: string, query: Kept) {
  if (!query.filter && !query.select) return
  const equal = same(query)
  write(place("history", service, table), [query, ...ran(service, table).filter((q) => !equal(q))].slice(0, most))
}

export function save(service: string, table: string, query: Kept) {
  write(place("saved", service, table), [...saved(service, table).filter((q) => q.name !== query.name), query])
}

export function unsave(service: string, table: string, name: string) {
  write(place("saved", service, table), saved(service, table).filter((q) => q.name !== name))
}
