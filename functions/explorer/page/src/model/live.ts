// Live: rows change as their entities do. A position of the feed is taken, then the rows are listed, then comes what changed since the position.
import { type Change, changesSince } from "../wire/changes.ts"
import type { Service } from "../wire/client.ts"
import { Failure } from "../wire/failure.ts"
import { quoted } from "../wire/odata.ts"
import { query } from "../wire/tables.ts"
import { type Entity, type Key, nameOf } from "../wire/value.ts"
import { judge } from "../query/judge.ts"
import { parse } from "../query/parse.ts"
import { each } from "./bulk.ts"
import { Followed } from "./followed.ts"
import type { Rows } from "./rows.ts"
import { Store } from "./store.ts"

interface State {
  on: boolean
  /** said is why it ended, or what it waits for */
  said: string
  /** following: the rows are listed, and changes come */
  following: boolean
  /** changes is the number of them that were seen, and last when the last one came */
  changes: number
  last: number
}

/** Around is what the page is in. */
export interface Around {
  hidden: () => boolean
  /** turned calls when the page is shown or hidden, and returns how to end that */
  turned: (call: () => void) => () => void
  /** pause waits for milliseconds, or until the signal */
  pause: (ms: number, signal: AbortSignal) => Promise<void>
}

const browser: Around = {
  hidden: () => document.visibilityState === "hidden",
  turned: (call) => {
    document.addEventListener("visibilitychange", call)
    return () => document.removeEventListener("visibilitychange", call)
  },
  pause: (ms, signal) =>
    new Promise((go) => {
      const timer = setTimeout(go, ms)
      signal.addEventListener("abort", () => (clearTimeout(timer), go()), { once: true })
    }),
}

/** wait is for how many seconds the service may keep a request. Changes that come one after the other are gathered for together, and marked for marked, in milliseconds. */
const wait = 20
const together = 250
const marked = 2500
/** quick is the least time from one answer without changes to the next request, and relisted that from one list to the next, in milliseconds. */
const quick = 1000
const relisted = 5000
const longestPause = 60
/** mostAsked bounds the entities of one answer that the service is asked for; atOnce are asked at a time. */
const mostAsked = 200
const atOnce = 6

const again = "so the rows were read again."
const ends: Record<string, string> = {
  FeedNotEnabled: "Live needs a change feed, which this table does not have: turn it on in the table's Options.",
  TableNotFound: "The table was deleted. These are its last rows.",
  FeedEnded: "The table was deleted. These are its last rows.",
  NotImplemented: "Live needs change feeds, which this store does not support.",
}
const restarts: Record<string, string> = {
  ChangesExpired: "Some changes are not kept any more, " + again,
  HistoryChanged: "The store was restored or has lost commits, " + again,
}

export class Live {
  readonly state = new Store<State>({ on: false, said: "", following: false, changes: 0, last: 0 })
  private position = ""

  constructor(
    private readonly service: Service,
    private readonly table: string,
    /** list lists the rows again: others are followed then */
    private readonly list: () => void,
    /** told is told of all that changed in the table */
    private readonly told: (changes: Change[]) => void,
    private readonly around = browser,
  ) {}

  turn(on: boolean) {
    this.position = ""
    this.state.set({ on, said: "", following: false, changes: 0, last: 0 })
  }

  /** follow keeps rows as their entities are, until the signal. shift applies changes where rows may move. */
  async follow(rows: Rows, signal: AbortSignal, shift: (apply: () => void) => void): Promise<void> {
    this.state.update({ following: false })
    try {
      if (!this.position) return await this.begin(signal)
      const followed = new Followed(rows)
      await listed(rows, signal)
      this.state.update({ following: true })
      while (!signal.aborted && !followed.missed) {
        const asked = Date.now()
        const news = await this.ask(wait, signal)
        const judged = await this.judged(rows, news.list, signal)
        if (signal.aborted) return
        this.position = news.next
        this.told(news.list)
        if (judged) shift(() => this.count(followed, followed.apply(judged)))
        else followed.missed = true
        if (news.dropped) return this.end(ends.FeedEnded!)
        if (news.list.length || Date.now() - asked < quick) await this.around.pause(news.list.length ? together : quick, signal)
      }
      await this.around.pause(relisted, signal)
      if (!signal.aborted) this.list() // more changed than is followed
    } catch (e) {
      if (signal.aborted) return
      const { code, message } = e instanceof Failure ? e : { code: "", message: String(e) }
      const why = restarts[code]
      if (!why) return this.end(ends[code] ?? message)
      this.position = ""
      this.state.update({ said: why })
      await this.begin(signal).catch((e: Error) => signal.aborted || this.end(e.message))
    }
  }

  private end(said: string) {
    this.state.update({ on: false, following: false, said })
  }

  /** begin takes the position of now, and has the rows listed after it. */
  private async begin(signal: AbortSignal) {
    const { next } = await this.ask(0, signal)
    if (signal.aborted) return
    this.position = next
    this.list()
  }

  /** keep keeps the row of an entity as it is while its cell is edited. */
  keep({ follower }: Rows, key: Key | undefined) {
    if (follower) this.count(follower, follower.keep(key))
  }

  /** count tells of so many changes, and takes their marks away after a while. */
  private count(followed: Followed, n: number) {
    const { state } = this
    const { turn } = followed
    if (!n) return
    state.update({ changes: state.value.changes + n, last: Date.now(), said: "" })
    void this.around.pause(marked, new AbortController().signal).then(() => followed.unmark(turn))
  }

  /** ask asks what has changed, and tries again after failures that pass. While nobody sees the page it asks nothing. */
  private async ask(wait: number, signal: AbortSignal) {
    const { around, state } = this
    for (let failed = 0; ; ) {
      const turned = new AbortController()
      const both = AbortSignal.any([signal, turned.signal])
      const end = around.turned(() => turned.abort())
      try {
        if (!around.hidden()) {
          const news = await changesSince(this.service, this.table, this.position, wait, both)
          if (failed) state.update({ said: "" })
          return news
        }
        await around.pause(2 ** 31 - 1, both)
      } catch (e) {
        if (signal.aborted || (!turned.signal.aborted && !(e instanceof Failure && e.transient && !ends[e.code]))) throw e
        if (!turned.signal.aborted) {
          const seconds = Math.min((e as Failure).retryAfter ?? 2 ** failed, longestPause)
          failed++
          state.update({ said: `${(e as Failure).message} Trying again in ${seconds} s.` })
          await around.pause(seconds * 1000, both)
        }
      } finally {
        end()
      }
      signal.throwIfAborted()
    }
  }

  /** judged leaves in changes what the query of the rows has; undefined if that is too much to ask for. */
  private async judged(rows: Rows, changes: Change[], signal: AbortSignal): Promise<Change[] | undefined> {
    const { filter, select } = rows.query
    const parsed = parse(filter)
    const names = select ? select.split(",") : undefined
    const unknown: number[] = []
    const list = changes.map((c, i): Change => {
      const holds = parsed.problem ? undefined : judge(parsed.filter, c.key)
      if (c.entity && holds === undefined) unknown.push(i)
      return { ...c, entity: c.entity && holds !== false ? part(c.entity, names) : null }
    })
    if (unknown.length > mostAsked) return undefined
    await each(atOnce, unknown, async (i) => {
      const { pk, rk } = list[i]!.key
      const own = `PartitionKey eq ${quoted(pk)} and RowKey eq ${quoted(rk)}`
      const { page } = await query(this.service, { ...rows.query, filter: `(${filter}) and ${own}`, top: 1 }, undefined, signal)
      list[i] = { ...list[i]!, entity: page.length ? page.entity(0) : null }
    })
    return list
  }
}

const part = (e: Entity, names: string[] | undefined): Entity => (names ? { ...e, values: new Map([...e.values].filter(([n]) => names.includes(n))) } : e)

/** listed waits for the first page of rows. */
function listed(rows: Rows, signal: AbortSignal): Promise<void> {
  return new Promise((go) => {
    const look = () => {
      if (rows.progress.value.pages > 0 || signal.aborted) end()
    }
    const stop = rows.progress.subscribe(look)
    const end = () => (stop(), go())
    signal.addEventListener("abort", end, { once: true })
    look()
  })
}

/** newerThan is what an entity is by now if it is not what was read. */
export const newerThan = (changes: Change[], key: Key, etag: string): Change | undefined => changes.find((c) => nameOf(c.key) === nameOf(key) && c.entity?.etag !== etag)
