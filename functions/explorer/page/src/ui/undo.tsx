// The line that offers to undo the last deletion.
import { trash } from "../model/trash.ts"
import { useStore } from "../model/store.ts"
import { plural } from "../model/words.ts"
import { Icon } from "./icon.tsx"
import { ErrorLine } from "./parts.tsx"

export function Undo({ undo }: { undo: () => void }) {
  const last = useStore(trash)
  if (!last || (last.entities.length === 0 && !last.failure)) return null
  const close = (
    <button type="button" class="plain" aria-label="Close" onClick={() => trash.set(undefined)}>
      <Icon name="close" />
    </button>
  )
  return (
    <>
      {last.failure && <ErrorLine failure={last.failure}>{last.entities.length === 0 && close}</ErrorLine>}
      {last.entities.length > 0 && (
        <div class="news" role="status" data-test="deleted">
          <span class="grow">
            {plural(last.entities.length, "entity", "entities")} of {last.table} deleted.
          </span>
          <button type="button" data-test="undo" onClick={undo}>
            <Icon name="undo" /> Undo
          </button>
          {close}
        </div>
      )}
    </>
  )
}
