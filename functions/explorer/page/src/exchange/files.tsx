// The menu for files: export what the query finds, import.
import { useState } from "preact/hooks"
import type { Service } from "../wire/client.ts"
import type { Query } from "../wire/tables.ts"
import { Menu } from "../ui/parts.tsx"
import { Exporting } from "./exporting.tsx"
import { Importing } from "./importing.tsx"

export function Files({ service, what, refresh }: { service: Service; what: Query; refresh: () => void }) {
  const [dialog, setDialog] = useState<"export" | "import">()
  return (
    <>
      <Menu label="Files" test="files" title="Export and import">
        {(close) => (
          <div class="choices">
            <button type="button" data-test="export-open" onClick={() => (setDialog("export"), close())}>
              Export what the query finds …
            </button>
            {!service.readOnly && (
              <button type="button" data-test="import-open" onClick={() => (setDialog("import"), close())}>
                Import a file …
              </button>
            )}
          </div>
        )}
      </Menu>
      {dialog === "export" && <Exporting service={service} what={what} close={() => setDialog(undefined)} />}
      {dialog === "import" && <Importing service={service} table={what.table} close={(changed) => (setDialog(undefined), changed && refresh())} />}
    </>
  )
}
