// Keeps loaded rows in the order of a column, also when more of them come.
import { useEffect, useState } from "preact/hooks"
import type { Rows } from "../model/rows.ts"
import { sorted } from "../model/sort.ts"

/** useSorted reports whether rows are being sorted. Until they are, those of before stay where they are. */
export function useSorted(rows: Rows, sort: string): boolean {
  const [busy, setBusy] = useState(false)
  const { loading } = rows.progress.value
  useEffect(() => {
    const show = (order: Uint32Array | undefined) => {
      rows.order = order
      rows.progress.changed()
    }
    if (!sort) {
      if (rows.order) show(undefined)
      return
    }
    if (loading) return
    const abort = new AbortController()
    setBusy(true)
    sorted(rows, sort, abort.signal).then(
      (order) => (show(order), setBusy(false)),
      (e: unknown) => !abort.signal.aborted && (setBusy(false), rows.fail(e)),
    )
    return () => (abort.abort(), setBusy(false))
  }, [rows, sort, loading, rows.progress.value.pages])
  return busy
}
