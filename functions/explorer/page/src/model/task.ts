// Long work that shows how far it is, can be stopped, and goes on where it stopped.
import { patiently } from "../wire/failure.ts"
import { Store } from "./store.ts"

export interface Progress {
  running: boolean
  waiting: string
  failure?: Error | undefined
}

export abstract class Task<T extends Progress> {
  readonly state: Store<T>
  private abort = new AbortController()

  constructor(begin: Omit<T, keyof Progress>) {
    this.state = new Store({ ...begin, running: false, waiting: "" } as unknown as T)
  }

  stop() {
    this.abort.abort()
  }

  async run() {
    const { signal } = (this.abort = new AbortController())
    this.show({ running: true, failure: undefined })
    try {
      this.state.update({ ...(await this.work(signal)), running: false })
    } catch (e) {
      this.show({ running: false, waiting: "", failure: signal.aborted ? undefined : (e as Error) })
    }
  }

  /** work works until it is done or the signal stops it, and returns what is to be shown then. */
  protected abstract work(signal: AbortSignal): Promise<Partial<T>>

  protected patiently<R>(signal: AbortSignal, work: () => Promise<R>): Promise<R> {
    // Whoever works does not wait.
    return patiently(() => (this.state.value.waiting && this.show({ waiting: "" }), work()), signal, (f, s) => this.show({ waiting: `${f.message} Trying again in ${s} s.` }))
  }

  private show(part: Partial<Progress>) {
    this.state.update(part as Partial<T>)
  }
}
