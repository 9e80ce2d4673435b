// Queries that ran, and queries that were saved, for each table.
import { read, write } from "./settings.ts"

export interface Kept {
  filter: string
  select: string
  name?: string
}

const most = 30
const place = (kind: string, home: string, table: string) => `${kind}.${home}/${table}`
const same = (a: Kept) => (b: Kept) => a.filter === b.filter && a.select === b.select

export const ran = (home: string, table: string): Kept[] => read<Kept[]>(place("history", home, table), [])
export const saved = (home: string, table: string): Kept[] => read<Kept[]>(place("saved", home, table), [])

export function note(home: string, table: string, query: Kept) {
  if (!query.filter && !query.select) return
  const equal = same(query)
  write(place("history", home, table), [query, ...ran(home, table).filter((q) => !equal(q))].slice(0, most))
}

export function save(home: string, table: string, query: Kept) {
  write(place("saved", home, table), [...saved(home, table).filter((q) => q.name !== query.name), query])
}

export function unsave(home: string, table: string, name: string) {
  write(place("saved", home, table), saved(home, table).filter((q) => q.name !== name))
}
