import { useState } from "preact/hooks"
import { go } from "../model/route.ts"
import type { Service } from "../wire/client.ts"
import { deleteTable } from "../wire/tables.ts"
import { Dialog, ErrorLine } from "./parts.tsx"

export function DropTable({ service, table, deleted }: { service: Service; table: string; deleted: () => void }) {
  const [open, setOpen] = useState(false)
  const [confirm, setConfirm] = useState("")
  const [failure, setFailure] = useState<Error>()
  const submit = async (e: Event) => {
    e.preventDefault()
    if (confirm !== table) return
    await deleteTable(service, table).then(() => (go({ table: "", filter: "", select: "", sort: "", entity: undefined }), deleted()), setFailure)
  }
  return (
    <>
      <button type="button" class="danger" data-test="delete-table" onClick={() => setOpen(true)}>
        Delete the table …
      </button>
      {open && (
        <Dialog title={`Delete the table ${table}`} close={() => setOpen(false)}>
          <form onSubmit={submit}>
            <p>All its entities go with it, and nothing brings them back.</p>
            <label>
              Type the name of the table to confirm
              <input autoFocus value={confirm} placeholder={table} data-test="confirm-table" onInput={(e) => setConfirm(e.currentTarget.value)} />
            </label>
            {failure && <ErrorLine failure={failure} />}
            <footer>
              <button type="submit" class="danger" data-test="delete-table-now" disabled={confirm !== table}>
                Delete the table
              </button>
            </footer>
          </form>
        </Dialog>
      )}
    </>
  )
}
