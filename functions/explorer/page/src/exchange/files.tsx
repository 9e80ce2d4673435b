// The menu for files: export what the query finds, import.
import { useState } from "preact/hooks"
import type { Home } from "../wire/client.ts"
import type { Query } from "../wire/tables.ts"
import { Menu } from "../ui/parts.tsx"
import { Exporting } from "./exporting.tsx"
import { Importing } from "./importing.tsx"

export function Files({ home, what, refresh }: { home: Home; what: Query; refresh: () => void }) {
  const [dialog, setDialog] = useState<"export" | "import">()
  return (
    <>
      <Menu label="Files" test="files" title="Export and import">
        {(close) => (
          <div class="choices">
            <button type="button" data-test="export-open" onClick={() => (setDialog("export"), close())}>
              Export what the query finds …
            </button>
            {!home.readOnly && (
              <button type="button" data-test="import-open" onClick={() => (setDialog("import"), close())}>
                Import a file …
              </button>
            )}
          </div>
        )}
      </Menu>
      {dialog === "export" && <Exporting home={home} what={what} close={() => setDialog(undefined)} />}
      {dialog === "import" && <Importing home={home} table={what.table} close={(changed) => (setDialog(undefined), changed && refresh())} />}
    </>
  )
}
