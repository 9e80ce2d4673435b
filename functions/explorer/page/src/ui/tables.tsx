// The list of tables, of which there may be thousands. The filter stays while the user works with tables.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { go, route } from "../model/route.ts"
import { Store, useStore } from "../model/store.ts"
import type { Service } from "../wire/client.ts"
import { goodTable } from "../wire/names.ts"
import { createTable, listTables } from "../wire/tables.ts"
import { plural } from "../model/words.ts"
import { Dialog, ErrorLine } from "./parts.tsx"
import { px } from "./row.tsx"
import { useVirtual } from "./virtual.ts"

interface List {
  names: string[]
  loading: boolean
  failure?: Error | undefined
}

const filters = new Store<Record<string, string>>({})
const rowHeight = 26

export function Tables({ service }: { service: Service }) {
  const { table } = useStore(route)
  const filter = useStore(filters)[service.name] ?? ""
  const [list, setList] = useState<List>({ names: [], loading: true })
  const [round, setRound] = useState(0)
  const [creating, setCreating] = useState(false)
  const scroller = useRef<HTMLDivElement>(null)

  useEffect(() => {
    const abort = new AbortController()
    void (async () => {
      const names: string[] = []
      setList((l) => ({ names: l.names, loading: true }))
      try {
        for await (const page of listTables(service, abort.signal)) {
          names.push(...page)
          setList({ names: [...names], loading: true })
        }
        setList({ names, loading: false })
      } catch (e) {
        if (!abort.signal.aborted) setList({ names, loading: false, failure: e as Error })
      }
    })()
    return () => abort.abort()
  }, [service, round])

  const wanted = filter.toLowerCase()
  const names = useMemo(() => list.names.filter((n) => n.toLowerCase().includes(wanted)), [list.names, wanted])
  const at = names.indexOf(table)
  const virtual = useVirtual({ count: names.length, size: () => rowHeight, scroller, overscan: 8 })
  const open = (name: string) => go({ table: name, filter: "", select: "", sort: "", entity: undefined })
  const onKeyDown = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Service: -1e9, End: 1e9 }[e.key]
    if (!step || !names.length) return
    e.preventDefault()
    const next = Math.max(0, Math.min(names.length - 1, at + step))
    open(names[next]!)
    virtual.scrollToIndex(next)
  }
  return (
    <nav class="tables" aria-label="Tables" data-test="tables">
      <div class="bar">
        <input
          type="search"
          placeholder="Filter tables"
          aria-label="Filter tables"
          id="table-filter"
          data-test="table-filter"
          value={filter}
          onInput={(e) => filters.update({ [service.name]: e.currentTarget.value })}
          onKeyDown={(e) => (e.key === "Enter" && names[0] ? open(names[0]) : onKeyDown(e))}
        />
        {!service.readOnly && (
          <button type="button" title="Create a table" aria-label="Create a table" data-test="create-table" onClick={() => setCreating(true)}>
            +
          </button>
        )}
      </div>
      {list.failure && <ErrorLine failure={list.failure} retry={() => setRound(round + 1)} />}
      <div class="scroll" ref={scroller} role="listbox" aria-label="Tables" tabIndex={0} aria-activedescendant={at >= 0 ? "active-table" : undefined} onKeyDown={onKeyDown}>
        <div role="presentation" class="canvas" style={{ height: px(virtual.getTotalSize()) }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const name = names[index]!
            return (
              <div
                key={name}
                role="option"
                id={index === at ? "active-table" : undefined}
                aria-selected={index === at}
                aria-setsize={names.length}
                aria-posinset={index + 1}
                class="option"
                style={{ transform: `translateY(${start}px)` }}
                title={name}
                data-test="table"
                onClick={() => open(name)}
              >
                {name}
              </div>
            )
          })}
        </div>
      </div>
      <div class="foot dim" aria-live="polite">
        {filter ? `${names.length} of ${plural(list.names.length, "table")}` : plural(list.names.length, "table")}
        {list.loading && " …"}
        <button type="button" class="plain" title="Load the list again" data-test="reload-tables" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </div>
      {creating && <Create service={service} close={() => setCreating(false)} created={(name) => (setCreating(false), setRound(round + 1), open(name))} />}
    </nav>
  )
}

function Create({ service, close, created }: { service: Service; close: () => void; created: (name: string) => void }) {
  const [name, setName] = useState("")
  const [failure, setFailure] = useState<Error>()
  const wrong = name && !goodTable(name)
  const submit = async (e: Event) => {
    e.preventDefault()
    setFailure(undefined)
    await createTable(service, name).then(() => created(name), setFailure)
  }
  return (
    <Dialog title="Create a table" close={close}>
      <form onSubmit={submit}>
        <label>
          Name
          <input autoFocus value={name} data-test="table-name" aria-invalid={!!wrong} onInput={(e) => setName(e.currentTarget.value)} />
        </label>
        <p class="dim">{wrong ? "3 to 63 letters and digits; the first is a letter." : "Names ignore case."}</p>
        {failure && <ErrorLine failure={failure} />}
        <footer>
          <button type="submit" class="main" disabled={!name || !!wrong}>
            Create
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
