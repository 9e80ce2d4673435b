import { useState } from "preact/hooks"
import type { Asked } from "../code/asked.ts"
import { Icon } from "./icon.tsx"
import { Dialog } from "./parts.tsx"
import { Program } from "./program.tsx"

export function CodeMenu({ asked }: { asked: Asked }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" data-test="code" title="Code: a program for this query" onClick={() => setOpen(true)}>
        <Icon name="code" /> <span class="label">Code</span>
      </button>
      {open && (
        <Dialog title="Code for this query" close={() => setOpen(false)} test="code-dialog">
          <Program asked={asked} />
        </Dialog>
      )}
    </>
  )
}
