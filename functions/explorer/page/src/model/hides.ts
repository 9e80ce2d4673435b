// How many entities a rule of expiry would hide at once. Like 'edgetable tables set' it reads the whole table.
import type { Service } from "../wire/client.ts"
import { type Position, query } from "../wire/tables.ts"
import { type Rule, endOf } from "./rule.ts"
import { type Progress, Task } from "./task.ts"

interface Hidden extends Progress {
  ended: number
  whole: number
  done: boolean
}

export class Hides extends Task<Hidden> {
  constructor(
    private readonly service: Service,
    private readonly table: string,
    readonly rule: Rule,
  ) {
    super({ ended: 0, whole: 0, done: false })
  }

  protected async work(signal: AbortSignal) {
    const now = BigInt(Date.now()) * 10_000n
    const select = ["Timestamp", this.rule.property].filter(Boolean).join(",")
    let next: Position | undefined
    this.state.update({ ended: 0, whole: 0, done: false })
    do {
      const answer = await this.patiently(signal, () => query(this.service, { table: this.table, filter: "", select }, next, signal))
      let ended = 0
      for (let i = 0; i < answer.page.length; i++) {
        const at = endOf(this.rule, answer.page.entity(i))
        if (at !== undefined && at <= now) ended++
      }
      next = answer.next
      const s = this.state.value
      this.state.update({ ended: s.ended + ended, whole: s.whole + answer.page.length, waiting: "" })
    } while (next && !signal.aborted)
    return { done: !signal.aborted }
  }

  /** many: the rule hides more than a tenth of the table, or nobody knows. */
  get many() {
    const { ended, whole, done } = this.state.value
    return !done || ended * 10 > whole
  }
}
