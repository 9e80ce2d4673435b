import { useState } from "preact/hooks"
import { go, home } from "../model/route.ts"
import type { Service } from "../wire/client.ts"
import { deleteTable } from "../wire/tables.ts"
import { Icon } from "./icon.tsx"
import { Choice, Dialog, ErrorLine } from "./parts.tsx"

export function DropTable({ service, table, deleted }: { service: Service; table: string; deleted: () => void }) {
  const [open, setOpen] = useState(false)
  const [confirm, setConfirm] = useState("")
  const [failure, setFailure] = useState<Error>()
  const submit = async (e: Event) => {
    e.preventDefault()
    if (confirm !== table) return
    await deleteTable(service, table).then(() => (go(home), deleted()), setFailure)
  }
  return (
    <>
      <Choice icon="trash" test="delete-table" danger act={() => setOpen(true)}>
        Delete the table …
      </Choice>
      {open && (
        <Dialog title={`Delete the table ${table}`} close={() => setOpen(false)}>
          <form onSubmit={submit}>
            <p>All its entities are deleted, too. This cannot be undone.</p>
            <label>
              Type the name of the table to confirm
              <input autoFocus value={confirm} placeholder={table} data-test="confirm-table" onInput={(e) => setConfirm(e.currentTarget.value)} />
            </label>
            {failure && <ErrorLine failure={failure} />}
            <footer>
              <button type="submit" class="danger" data-test="delete-table-now" disabled={confirm !== table}>
                <Icon name="trash" /> Delete the table
              </button>
            </footer>
          </form>
        </Dialog>
      )}
    </>
  )
}
