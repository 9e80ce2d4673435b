// The list of tables. Its filter stays while the user works with tables.
import { useMemo, useRef, useState } from "preact/hooks"
import type { Catalog } from "../model/catalog.ts"
import { placeOf } from "../model/draft.ts"
import { go, home, route, toTable } from "../model/route.ts"
import { Store, useStore } from "../model/store.ts"
import { goodTable } from "../wire/names.ts"
import { plural } from "../model/words.ts"
import { CreateTable } from "./createtable.tsx"
import { Icon } from "./icon.tsx"
import { ErrorLine } from "./parts.tsx"
import { px } from "./row.tsx"
import { sidebar, useNarrow } from "./shell.ts"
import { Splitter, useWidth } from "./splitter.tsx"
import { useVirtual } from "./virtual.ts"

const filters = new Store<Record<string, string>>({})
const rowHeight = 30

export function Tables({ catalog }: { catalog: Catalog }) {
  const { service } = catalog
  const { table } = useStore(route)
  const narrow = useNarrow()
  const place = placeOf(service, "", undefined)
  const filter = useStore(filters)[place] ?? ""
  const list = useStore(catalog.list)
  const [creating, setCreating] = useState(false)
  const [width, setWidth] = useWidth("tables", 240)
  const scroller = useRef<HTMLDivElement>(null)

  const wanted = filter.toLowerCase()
  const names = useMemo(() => list.names.filter((n) => n.toLowerCase().includes(wanted)), [list.names, wanted])
  const wish = names[0] ?? (list.failure && goodTable(filter) ? filter : "")
  const at = names.indexOf(table)
  const [virtual] = useVirtual({ count: names.length, size: () => rowHeight, scroller, overscan: 8 })
  const fold = () => sidebar.update({ open: false })
  const open = (name: string) => go(toTable(name))
  const onKeyDown = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[e.key]
    if (!step || !names.length) return
    e.preventDefault()
    const next = Math.max(0, Math.min(names.length - 1, at + step))
    open(names[next]!)
    virtual.scrollToIndex(next)
  }
  return (
    <>
      {narrow && <button type="button" class="shade" aria-label="Close the list of tables" tabIndex={-1} onClick={fold} />}
      <nav class="side" aria-label="Tables">
        <div class="tables" data-test="tables" style={{ width: px(width) }} onKeyDown={(e) => narrow && e.key === "Escape" && fold()}>
          <button type="button" class="place" aria-current={table ? undefined : "page"} data-test="home" onClick={() => (go(home), fold())}>
            <Icon name="home" /> Home
          </button>
          <div class="bar">
            <input
              type="search"
              placeholder="Filter tables"
              aria-label="Filter tables"
              id="table-filter"
              data-test="table-filter"
              value={filter}
              onInput={(e) => filters.update({ [place]: e.currentTarget.value })}
              onKeyDown={(e) => (e.key === "Enter" && wish ? (open(wish), fold()) : onKeyDown(e))}
            />
            {!service.readOnly && (
              <button type="button" title="Create a table" aria-label="Create a table" data-test="create-table" onClick={() => setCreating(true)}>
                <Icon name="plus" />
              </button>
            )}
          </div>
          {list.failure?.forbids ? <p class="dim" role="alert">{list.failure.message}</p> : list.failure && <ErrorLine failure={list.failure} retry={() => void catalog.load()} />}
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
                    onClick={() => (open(name), fold())}
                  >
                    <Icon name="table" />
                    <span>{name}</span>
                  </div>
                )
              })}
            </div>
          </div>
          <div class="foot dim" aria-live="polite">
            {list.failure && !list.names.length ? "" : filter ? `${names.length} of ${plural(list.names.length, "table")}` : plural(list.names.length, "table")}
            {list.loading && " …"}
            <button type="button" class="plain" title="Load the list again" aria-label="Load the list again" data-test="reload-tables" onClick={() => void catalog.load()}>
              <Icon name="refresh" />
            </button>
          </div>
          {creating && <CreateTable service={service} close={() => setCreating(false)} created={(name) => (setCreating(false), fold(), void catalog.load(), open(name))} />}
        </div>
        <Splitter label="Width of the list of tables" width={width} set={setWidth} />
      </nav>
    </>
  )
}
