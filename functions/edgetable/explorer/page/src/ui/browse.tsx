// One table: its query, its rows, and the entity beside them.
import { useEffect, useMemo, useState } from "preact/hooks"
import { columnsOf, keepColumns, shown } from "../model/columns.ts"
import { copy, json, tableOf, tsv } from "../model/copy.ts"
import { type Route, go } from "../model/route.ts"
import { Rows } from "../model/rows.ts"
import { sorted } from "../model/sort.ts"
import { useStore } from "../model/store.ts"
import { translate } from "../query/prefix.ts"
import type { Home } from "../wire/client.ts"
import { getEntity } from "../wire/tables.ts"
import { type Entity, keyOf } from "../wire/value.ts"
import { ColumnsMenu } from "./columns.tsx"
import { EntityPanel } from "./entity.tsx"
import { Grid } from "./grid.tsx"
import { ErrorLine, Menu } from "./parts.tsx"
import { QueryBar } from "./query.tsx"
import { area, single, whole } from "./selection.ts"
import { Status } from "./status.tsx"

/** mostCopied bounds what one copy takes: a clipboard is no export. */
const mostCopied = 20_000

export function Browse({ home, at }: { home: Home; at: Route }) {
  const { table, filter, select, sort } = at
  const [round, setRound] = useState(0)
  const rows = useMemo(() => new Rows(home, { table, filter: translate(filter), select }), [home, table, filter, select, round])
  const progress = useStore(rows.progress)
  const [columns, setColumns] = useState(() => columnsOf(home.name, table))
  const [selection, setSelection] = useState(single(0, 0))
  const [entity, setEntity] = useState<Entity>()

  useEffect(() => {
    setColumns(columnsOf(home.name, table))
    setSelection(single(0, 0))
    void rows.load()
    return () => rows.stop()
  }, [rows])

  const names = useMemo(() => shown(rows.columns.keys(), columns), [rows, rows.columns.size, columns])
  rows.order = useMemo(() => sorted(rows, sort), [rows, sort, progress.pages])
  const arrange = (c: typeof columns | undefined) => {
    keepColumns(home.name, table, c)
    setColumns(c ?? columnsOf(home.name, table))
  }
  const onSort = (name: string) => go({ sort: sort === name ? "-" + name : sort === "-" + name ? "" : name }, true)

  // The URL names the entity beside the grid, so that a link shows it even if its page is not loaded.
  const wanted = at.entity
  useEffect(() => {
    if (!wanted) return setEntity(undefined)
    if (entity && same(entity, wanted)) return
    const abort = new AbortController()
    void getEntity(home, table, wanted).then(
      (e) => !abort.signal.aborted && setEntity(e),
      () => undefined,
    )
    return () => abort.abort()
  }, [home, table, wanted?.pk, wanted?.rk])
  const open = (row: number) => {
    const e = rows.at(row)
    if (!e) return
    setEntity(e)
    go({ entity: keyOf(e) }, true)
  }
  useEffect(() => {
    if (wanted) open(selection.row)
  }, [selection.row])

  const selected = (): Entity[] => {
    const { top, bottom } = area(selection)
    const list: Entity[] = []
    for (let i = top; i <= Math.min(bottom, top + mostCopied - 1); i++) {
      const e = rows.at(i)
      if (e) list.push(e)
    }
    return list
  }
  const copyCells = () => {
    const { left, right, top, bottom } = area(selection)
    const cells = selected().map((e) => names.slice(left, right + 1).map((n) => e.values.get(n)?.text))
    void copy(top === bottom && left === right ? (cells[0]?.[0] ?? "") : whole(selection, names.length) ? tableOf(selected(), names) : tsv(cells))
  }
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "Enter") open(selection.row)
    else if (e.key === "Escape") go({ entity: undefined }, true)
    else if (e.key === "c" && (e.ctrlKey || e.metaKey) && getSelection()?.isCollapsed !== false) copyCells()
    else return
    e.preventDefault()
  }
  const openRow = entity && rows.at(selection.row) === entity ? selection.row : -1
  return (
    <main class="browse" aria-label={table}>
      <div class="bar">
        <h1 data-test="title">{table}</h1>
        <span class="grow" />
        <ColumnsMenu names={rows.columns.keys()} columns={columns} arrange={arrange} />
        <Menu label="Copy" test="copy" title="Copy what is selected">
          {(close) => (
            <div class="choices">
              <button type="button" data-test="copy-tsv" onClick={() => (copyCells(), close())}>
                Selected cells as TSV <kbd>Ctrl C</kbd>
              </button>
              <button type="button" data-test="copy-rows" onClick={() => (void copy(tableOf(selected(), names)), close())}>
                Selected rows as TSV with names
              </button>
              <button type="button" data-test="copy-json" onClick={() => (void copy(json(selected())), close())}>
                Selected rows as JSON
              </button>
            </div>
          )}
        </Menu>
        <button type="button" data-test="latest" title="Sorts the loaded rows by Timestamp" aria-pressed={sort === "-Timestamp"} onClick={() => go({ sort: sort === "-Timestamp" ? "" : "-Timestamp" }, true)}>
          Latest first
        </button>
        <button type="button" data-test="refresh" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </div>
      <QueryBar home={home} at={at} rows={rows} again={() => setRound(round + 1)} />
      {progress.failure && <ErrorLine failure={progress.failure} retry={() => void rows.load()} />}
      <div class="split">
        <div class="left">
          {rows.length > 0 ? (
            <Grid rows={rows} names={names} columns={columns} arrange={arrange} sort={sort} onSort={onSort} selection={selection} select={setSelection} open={openRow} onOpen={open} onKey={onKey} />
          ) : (
            <p class="blank dim" data-test="blank">
              {progress.loading ? (progress.pages ? `Nothing yet, after ${progress.pages} pages …` : "Loading …") : progress.failure ? "" : filter ? "No entity matches the filter." : "The table is empty."}
            </p>
          )}
          <Status rows={rows} sort={sort} />
        </div>
        {entity && wanted && (
          <EntityPanel entity={entity} readOnly={home.readOnly} close={() => go({ entity: undefined }, true)} edit={() => undefined} clone={() => undefined} remove={() => undefined} />
        )}
      </div>
    </main>
  )
}

const same = (e: Entity, key: { pk: string; rk: string }) => keyOf(e).pk === key.pk && keyOf(e).rk === key.rk
