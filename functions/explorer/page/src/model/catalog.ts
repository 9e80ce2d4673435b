// The tables of an account, of which there may be thousands.
import type { Service } from "../wire/client.ts"
import type { Failure } from "../wire/failure.ts"
import { listTables } from "../wire/tables.ts"
import { Store } from "./store.ts"

export interface List {
  names: string[]
  loading: boolean
  failure?: Failure | undefined
  /** ms is how long the service took to answer */
  ms?: number | undefined
}

export class Catalog {
  readonly list = new Store<List>({ names: [], loading: true })
  private abort = new AbortController()

  constructor(readonly service: Service) {
    void this.load()
  }

  /** load reads the list again; the names of before stay until the new ones are there. */
  async load() {
    this.stop()
    this.abort = new AbortController()
    const { signal } = this.abort
    const { list } = this
    const names: string[] = []
    list.set({ names: list.value.names, loading: true, ms: list.value.ms })
    const begin = performance.now()
    let ms: number | undefined
    try {
      for await (const page of listTables(this.service, signal)) {
        ms ??= performance.now() - begin
        names.push(...page)
        list.set({ names: [...names], loading: true, ms })
      }
      list.set({ names, loading: false, ms })
    } catch (e) {
      if (!signal.aborted) list.set({ names, loading: false, failure: e as Failure, ms: ms ?? performance.now() - begin })
    }
  }

  stop() {
    this.abort.abort()
  }
}
