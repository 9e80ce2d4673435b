import { useEffect, useState } from "preact/hooks"
import { Count } from "../model/count.ts"
import { useStore } from "../model/store.ts"
import type { Home } from "../wire/client.ts"
import { count } from "./parts.tsx"

export function Counter({ home, table, filter }: { home: Home; table: string; filter: string }) {
  const [work] = useState(() => new Count(home, table, filter))
  const s = useStore(work.state)
  useEffect(() => () => work.stop(), [])
  const label = s.running ? `${count(s.count)} … Stop` : s.pages === 0 ? "Count" : work.done ? `${count(s.count)} in all` : `${count(s.count)} so far: go on`
  return (
    <button
      type="button"
      data-test="count"
      title={s.failure?.message || s.waiting || "Counts by reading the keys of all matching entities"}
      class={s.failure ? "danger" : ""}
      disabled={work.done}
      onClick={() => (s.running ? work.stop() : void work.run())}
    >
      <span aria-live="polite">{label}</span>
    </button>
  )
}
