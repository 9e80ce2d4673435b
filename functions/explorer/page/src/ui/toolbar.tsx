// The bar above a table, in groups: what it shows, what is done with rows, with all results, and with the table. One action is primary: to add.
import type { Columns } from "../model/columns.ts"
import { go } from "../model/route.ts"
import { Files } from "../exchange/files.tsx"
import type { Live } from "../model/live.ts"
import type { Rows } from "../model/rows.ts"
import type { Service } from "../wire/client.ts"
import { BulkMenu } from "./bulk.tsx"
import { ColumnsMenu } from "./columns.tsx"
import { DropTable } from "./droptable.tsx"
import { Icon } from "./icon.tsx"
import { LiveSwitch } from "./live.tsx"
import { Choice, Menu } from "./parts.tsx"
import { TableHead } from "./tablehead.tsx"

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
  live: Live
  offered: boolean // Live
  refresh: () => void
  reload: () => void
}

export function Toolbar(p: Props) {
  const { service, sort } = p
  return (
    <TableHead service={service} table={p.table} view="">
      <div class="group">
        <Menu icon="copy" label="Copy" test="copy" title="Copy what is selected">
          {(close) => (
            <div class="choices">
              <Choice icon="copy" test="copy-tsv" act={() => (p.copyCells(), close())}>
                Selected cells as TSV <kbd>Ctrl C</kbd>
              </Choice>
              <Choice icon="table" test="copy-rows" act={() => (p.copyRows(), close())}>
                Selected rows as TSV with names
              </Choice>
              <Choice icon="code" test="copy-json" act={() => (p.copyJSON(), close())}>
                Selected rows as JSON
              </Choice>
            </div>
          )}
        </Menu>
        <ColumnsMenu names={p.rows.columns.keys()} columns={p.columns} arrange={p.arrange} />
        <button type="button" data-test="latest" title="Latest first: sorts the loaded rows by Timestamp" aria-pressed={sort === "-Timestamp"} onClick={() => go({ sort: sort === "-Timestamp" ? "" : "-Timestamp" }, true)}>
          <Icon name="latest" /> <span class="label">Latest first</span>
        </button>
      </div>
      <div class="group">
        <BulkMenu service={service} services={p.services} table={p.table} filter={p.filter} done={p.refresh} />
        <Files service={service} what={p.rows.query} refresh={() => (p.refresh(), p.reload())} />
      </div>
      <div class="group">
        <LiveSwitch live={p.live} offered={p.offered} />
        <button type="button" data-test="refresh" aria-label="Refresh" title="Refresh: read the rows again" onClick={p.refresh}>
          <Icon name="refresh" />
        </button>
        {!service.readOnly && (
          <>
            <Menu icon="more" label="Table" bare test="table-menu">
              {() => <DropTable service={service} table={p.table} deleted={p.reload} />}
            </Menu>
            <button type="button" class="main" data-test="add" title="Add an entity (Insert)" onClick={p.add}>
              <Icon name="plus" /> Add
            </button>
          </>
        )}
      </div>
    </TableHead>
  )
}
