// The line that offers to undo the last change.
import { changes } from "../model/changes.ts"
import { lost } from "../model/draft.ts"
import { useStore } from "../model/store.ts"
import { plural } from "../model/words.ts"
import { Icon } from "./icon.tsx"
import { ErrorLine } from "./parts.tsx"

export function Undo({ undo }: { undo: () => void }) {
  const { done, told, failure } = useStore(changes)
  const texts = useStore(lost)
  const last = done.at(-1)
  const closing = (act: () => void) => (
    <button type="button" class="plain" aria-label="Close" onClick={act}>
      <Icon name="close" />
    </button>
  )
  const close = closing(() => changes.update({ told: false, failure: undefined }))
  return (
    <>
      {texts.map((text) => (
        <ErrorLine key={text} failure={new Error(text)}>
          {closing(() => lost.set(texts.filter((t) => t !== text)))}
        </ErrorLine>
      ))}
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
