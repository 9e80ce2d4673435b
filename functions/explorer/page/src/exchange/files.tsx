// The menu for files: export what the query finds, import.
import { useState } from "preact/hooks"
import { go, toTable } from "../model/route.ts"
import type { Service } from "../wire/client.ts"
import type { Query } from "../wire/tables.ts"
import { Choice, Menu } from "../ui/parts.tsx"
import { Exporting } from "./exporting.tsx"
import { Importing } from "./importing.tsx"

export function Files({ service, what, refresh }: { service: Service; what: Query; refresh: () => void }) {
  const [dialog, setDialog] = useState<"export" | "import">()
  const imported = (table: string | undefined) => {
    setDialog(undefined)
    if (!table) return
    refresh()
    if (table !== what.table) go(toTable(table))
  }
  return (
    <>
      <Menu icon="file" label="Files" test="files" title="Export and import">
        {(close) => (
          <div class="choices">
            <Choice icon="download" test="export-open" act={() => (setDialog("export"), close())}>
              Export what the query finds …
            </Choice>
            {!service.readOnly && (
              <Choice icon="upload" test="import-open" act={() => (setDialog("import"), close())}>
                Import a file …
              </Choice>
            )}
          </div>
        )}
      </Menu>
      {dialog === "export" && <Exporting service={service} what={what} close={() => setDialog(undefined)} />}
      {dialog === "import" && <Importing service={service} table={what.table} close={imported} />}
    </>
  )
}
