// Keeps loaded rows in the order of a column, also when more of them come.
import { useEffect, useRef, useState } from "preact/hooks"
import type { Rows } from "../model/rows.ts"
import type { Order } from "../model/order.ts"
import { sorted } from "../model/sort.ts"

/** useSorted reports whether rows are being sorted. Until they are, those of before stay where they are. shift does what moves rows that changed. */
export function useSorted(rows: Rows, sort: string, shift: (move: () => void) => void): boolean {
  const [busy, setBusy] = useState(false)
  const turn = rows.follower?.turn ?? 0
  const [due, setDue] = useState(turn)
  // What changes while rows are sorted is sorted afterwards: else they never would be.
  useEffect(() => {
    if (!busy) setDue(turn)
  }, [busy, turn])
  const by = useRef({ rows, sort: "" })
  const { loading } = rows.progress.value
  useEffect(() => {
    const show = (order: Order | undefined) => {
      rows.order = order
      rows.progress.changed()
    }
    if (!sort) {
      by.current = { rows, sort }
      if (rows.order) show(undefined)
      return
    }
    if (loading) return
    const abort = new AbortController()
    setBusy(true)
    const again = rows.follower && by.current.rows === rows && by.current.sort === sort
    by.current = { rows, sort }
    sorted(rows, sort, abort.signal).then(
      (order) => (again ? shift(() => show(order)) : show(order), setBusy(false)),
      (e: unknown) => !abort.signal.aborted && (setBusy(false), rows.fail(e)),
    )
    return () => (abort.abort(), setBusy(false))
  }, [rows, sort, loading, rows.progress.value.pages, due])
  return busy
}
