import { useState } from "preact/hooks"
import type { Service } from "../wire/client.ts"
import { goodTable } from "../wire/names.ts"
import { tableLengths } from "../wire/rules.ts"
import { createTable } from "../wire/tables.ts"
import { Dialog, ErrorLine } from "./parts.tsx"

export function CreateTable({ service, close, created }: { service: Service; close: () => void; created: (name: string) => void }) {
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
        <p class={wrong ? "wrong" : "dim"}>
          {wrong ? `${tableLengths[0]} to ${tableLengths[1]} letters and digits; the first is a letter.` : "Names ignore case."}
        </p>
        {failure && <ErrorLine failure={failure} />}
        <footer>
          <button type="submit" class="main" disabled={!name || !!wrong}>
            Create
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
