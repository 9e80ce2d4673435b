// The switch "Live" of a table, and what it says below the rows.
import { useEffect, useMemo, useRef } from "preact/hooks"
import { useNow } from "../model/declared.ts"
import { Live } from "../model/live.ts"
import type { Rows } from "../model/rows.ts"
import { useStore } from "../model/store.ts"
import { plural } from "../model/words.ts"
import type { Change } from "../wire/changes.ts"
import type { Service } from "../wire/client.ts"
import { Icon } from "./icon.tsx"

interface Uses {
  /** refresh lists the rows again */
  refresh: () => void
  /** told is told of all that changed in the table */
  told: (changes: Change[]) => void
  /** shift does what moves rows, and leaves the selection where it is */
  shift: (move: () => void) => void
}

/** useLive keeps the rows of a table as their entities are while its switch is on. */
export function useLive(service: Service, table: string, rows: Rows, uses: Uses): Live {
  const now = useRef(uses)
  now.current = uses
  const live = useMemo(() => new Live(service, table, () => now.current.refresh(), (changes) => now.current.told(changes)), [service, table])
  const { on } = useStore(live.state)
  useEffect(() => {
    if (!on) return
    const abort = new AbortController()
    void live.follow(rows, abort.signal, (move) => now.current.shift(move))
    return () => abort.abort()
  }, [live, rows, on])
  useEffect(() => () => live.turn(false), [live])
  return live
}

export function LiveSwitch({ live, offered }: { live: Live; offered: boolean }) {
  const { on } = useStore(live.state)
  if (!offered && !on) return null
  return (
    <button type="button" data-test="live" aria-pressed={on} title="Live: the rows change as entities do" onClick={() => live.turn(!on)}>
      <Icon name="live" /> <span class="label">Live</span>
    </button>
  )
}

/** second and spoken are how often the line is drawn, and at most read aloud, in milliseconds. */
const second = 1000
const spoken = 5000

const ago = (ms: number) => (ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : ms < 3_600_000 ? `${Math.floor(ms / 60_000)} min` : `${Math.floor(ms / 3_600_000)} h`)

/** LiveLine says in short what came. */
export function LiveLine({ live }: { live: Live }) {
  const { on, following, changes, last } = useStore(live.state)
  const now = useNow(on && changes > 0, second)
  const aloud = useMemo(() => changes, [on, Math.floor(now / spoken)])
  if (!on) return null
  return (
    <span class="live" data-test="live-line">
      <i aria-hidden="true" /> {!following ? "Live …" : changes ? `${plural(changes, "change")}, the last ${ago(now - last)} ago` : "Live, no changes yet"}
      <span class="unseen" aria-live="polite">
        {following ? (aloud ? plural(aloud, "change") : "Live") : ""}
      </span>
    </span>
  )
}

/** LiveTrouble says why Live waits, or why it ended. */
export function LiveTrouble({ live }: { live: Live }) {
  const { said, on } = useStore(live.state)
  if (!said) return null
  return (
    <p class="problem live-said" role="status" data-test="live-said">
      {!on && "Live has ended. "}
      {said}
    </p>
  )
}
