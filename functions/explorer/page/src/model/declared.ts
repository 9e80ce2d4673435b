// What the table on the page declares, for the badges of its entities and the head of the table.
import { useEffect, useState } from "preact/hooks"
import type { Service } from "../wire/client.ts"
import { Failure } from "../wire/failure.ts"
import { hasFeed } from "../wire/changes.ts"
import { type Options, getOptions } from "../wire/options.ts"
import { type Rule, ruleOf } from "./rule.ts"
import { Store, useStore } from "./store.ts"

const declared = new Store<{ service: Service | undefined; table: string; options: Options | undefined }>({ service: undefined, table: "", options: undefined })

/** silent are services that keep no options or tell nobody: they are asked once. */
const silent = new Set<Service>()

/** tell makes known what a table declares. */
export const tell = (service: Service, table: string, options: Options | undefined) => declared.set({ service, table, options })

/** learn asks what a table declares. An error is no news: the tab "Options" shows it. */
export async function learn(service: Service, table: string): Promise<void> {
  const token = !service.sign && !service.about // no token permits it
  if (token || silent.has(service)) return
  try {
    const options = await getOptions(service, table)
    if (!options) silent.add(service)
    tell(service, table, options)
  } catch (e) {
    if (e instanceof Failure && e.status === 403) silent.add(service)
  }
}

/** useRule is the rule by which the entities of a table end, as far as it is known. */
export function useRule(service: Service, table: string): Rule | undefined {
  const now = useStore(declared)
  const [rule, setRule] = useState<Rule>()
  const expire = now.service === service && now.table === table ? now.options?.document.expire : undefined
  useEffect(() => setRule(ruleOf(expire)), [expire])
  return rule
}

/** feedless are services that keep no feeds. */
const feedless = new Set<Service>()

/** useFeed reports whether a table has a feed, as it declares or, if nobody tells what it declares, as the feed answers. */
export function useFeed(service: Service, table: string, ready: boolean): boolean {
  const now = useStore(declared)
  const options = now.service === service && now.table === table ? now.options : undefined
  const [found, setFound] = useState(false)
  const untold = !options && (silent.has(service) || (!service.sign && !service.about))
  useEffect(() => {
    setFound(false)
    if (!ready || !untold || feedless.has(service)) return
    const abort = new AbortController()
    void hasFeed(service, table, abort.signal).then((has) => {
      if (has === undefined && !abort.signal.aborted) feedless.add(service)
      if (has && !abort.signal.aborted) setFound(true)
    })
    return () => abort.abort()
  }, [service, table, ready, untold])
  return options ? options.document.changes !== undefined : found
}

/** refreshed is how often what is left of a time is told anew. */
const refreshed = 15_000

/** useNow is the time, and moves while somebody needs it. */
export function useNow(needed: boolean, every = refreshed): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!needed) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), every)
    return () => clearInterval(timer)
  }, [needed])
  return now
}
