// The button that counts what the query finds, and the line that says what is in the way.
import type { Count } from "../model/count.ts"
import { useStore } from "../model/store.ts"
import { count } from "../model/words.ts"
import { Icon } from "./icon.tsx"
import { ErrorLine } from "./parts.tsx"

export function Counter({ work }: { work: Count }) {
  const s = useStore(work.state)
  if (work.done)
    return (
      <b data-test="count" aria-live="polite">
        {count(s.count)} in all
      </b>
    )
  const label = s.running ? `${count(s.count)} … Stop` : s.pages === 0 ? "Count" : `${count(s.count)} so far: go on`
  return (
    <button type="button" class="plain" data-test="count" title="Counts by reading the keys of all matching entities" onClick={() => (s.running ? work.stop() : void work.run())}>
      <Icon name={s.running ? "stop" : "sum"} />
      <span aria-live="polite">{label}</span>
    </button>
  )
}

export function CountTrouble({ work }: { work: Count }) {
  const s = useStore(work.state)
  if (s.failure) return <ErrorLine failure={s.failure} retry={() => void work.run()} />
  return s.waiting ? <p class="problem" role="status">{s.waiting}</p> : null
}
