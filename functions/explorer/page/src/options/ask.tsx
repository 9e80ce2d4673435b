// The question before a rule hides more than a tenth of a table.
import { useState } from "preact/hooks"
import type { Hides } from "../model/hides.ts"
import { inWords } from "../model/rule.ts"
import { count } from "../model/words.ts"
import { Dialog } from "../ui/parts.tsx"

export function Ask({ table, hides, close, agree }: { table: string; hides: Hides; close: () => void; agree: () => void }) {
  const [confirm, setConfirm] = useState("")
  const { ended, whole, done } = hides.state.value
  return (
    <Dialog title={done ? `The rule hides ${count(ended)} of ${count(whole)} entities` : "The count was stopped"} close={close} test="options-ask">
      <form
        onSubmit={(e) => {
          e.preventDefault()
          if (confirm === table) agree()
        }}
      >
        {!done && (
          <p>
            {count(ended)} of the first {count(whole)} entities would disappear; the others were not counted.
          </p>
        )}
        <p>
          An entity ends {inWords(hides.rule)}. From then on, no program sees the entity. For an hour, withdrawing the rule brings ended entities back; after that, they are removed.
        </p>
        <label>
          Type the name of the table to confirm
          <input autoFocus value={confirm} placeholder={table} data-test="options-confirm" onInput={(e) => setConfirm(e.currentTarget.value)} />
        </label>
        <footer>
          <button type="submit" class="danger" data-test="options-agree" disabled={confirm !== table}>
            Declare the rule
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
