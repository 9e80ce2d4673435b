// The line that offers to undo the last change.
import { changes } from "../model/changes.ts"
import { useStore } from "../model/store.ts"
import { plural } from "../model/words.ts"
import { Icon } from "./icon.tsx"
import { ErrorLine } from "./parts.tsx"

export function Undo({ undo }: { undo: () => void }) {
  const { done, told, failure } = useStore(changes)
  const last = done.at(-1)
  if (!failure && (!told || !last)) return null
  const close = (
    <button type="button" class="plain" aria-label="Close" onClick={() => changes.update({ told: false, failure: undefined })}>
      <Icon name="close" />
    </button>
  )
  return (
    <>
      {failure && (
        <ErrorLine failure={failure}>
          {failure.stop ? (
            <button type="button" data-test="stop-trying" onClick={failure.stop}>
              Stop
            </button>
          ) : (
            !(last && told) && close
          )}
        </ErrorLine>
      )}
      {told && last && (
        <div class="news" role="status" data-test={last.what}>
          <span class="grow">
            {plural(last.changes.length, "entity", "entities")} of {last.table} {last.what}.
          </span>
          <button type="button" data-test="undo" title="Ctrl Z" onClick={undo}>
            <Icon name="undo" /> Undo
          </button>
          {close}
        </div>
      )}
    </>
  )
}
