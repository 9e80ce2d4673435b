// The bar above a table: what can be done with it and with what is selected.
import type { Columns } from "../model/columns.ts"
import { go } from "../model/route.ts"
import { Files } from "../exchange/files.tsx"
import type { Rows } from "../model/rows.ts"
import type { Service } from "../wire/client.ts"
import { BulkMenu } from "./bulk.tsx"
import { ColumnsMenu } from "./columns.tsx"
import { DropTable } from "./droptable.tsx"
import { Menu } from "./parts.tsx"

interface Props {
  service: Service
  services: Service[]
  table: string
  filter: string
  sort: string
  rows: Rows
  columns: Columns
  arrange: (c: Columns | undefined) => void
  copyCells: () => void
  copyRows: () => void
  copyJSON: () => void
  add: () => void
  refresh: () => void
  reload: () => void
}

export function Toolbar(p: Props) {
  const { service, sort } = p
  return (
    <div class="bar">
      <h1 data-test="title">{p.table}</h1>
      <span class="grow" />
      {!service.readOnly && (
        <button type="button" data-test="add" title="Insert" onClick={p.add}>
          Add
        </button>
      )}
      <Menu label="Copy" test="copy" title="Copy what is selected">
        {(close) => (
          <div class="choices">
            <button type="button" data-test="copy-tsv" onClick={() => (p.copyCells(), close())}>
              Selected cells as TSV <kbd>Ctrl C</kbd>
            </button>
            <button type="button" data-test="copy-rows" onClick={() => (p.copyRows(), close())}>
              Selected rows as TSV with names
            </button>
            <button type="button" data-test="copy-json" onClick={() => (p.copyJSON(), close())}>
              Selected rows as JSON
            </button>
          </div>
        )}
      </Menu>
      <BulkMenu service={service} services={p.services} table={p.table} filter={p.filter} done={p.refresh} />
      <Files service={service} what={p.rows.query} refresh={() => (p.refresh(), p.reload())} />
      <ColumnsMenu names={p.rows.columns.keys()} columns={p.columns} arrange={p.arrange} />
      <button type="button" data-test="latest" title="Sorts the loaded rows by Timestamp" aria-pressed={sort === "-Timestamp"} onClick={() => go({ sort: sort === "-Timestamp" ? "" : "-Timestamp" }, true)}>
        Latest first
      </button>
      <button type="button" data-test="traffic" title="Which keys are busy, and what to change" onClick={() => go({ view: "traffic", entity: undefined })}>
        Traffic
      </button>
      <button type="button" data-test="refresh" onClick={p.refresh}>
        Refresh
      </button>
      {!service.readOnly && <Menu label="Table" test="table-menu">{() => <DropTable service={service} table={p.table} deleted={p.reload} />}</Menu>}
    </div>
  )
}
