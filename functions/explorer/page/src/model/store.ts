// A value that components watch.
import { useLayoutEffect, useReducer } from "preact/hooks"

export class Store<T> {
  private readonly watchers = new Set<() => void>()

  constructor(private current: T) {}

  get value() {
    return this.current
  }

  set(value: T) {
    this.current = value
    this.changed()
  }

  update(part: Partial<T>) {
    this.set({ ...this.current, ...part })
  }

  /** changed tells the watchers; what changes itself calls it. */
  changed() {
    for (const watcher of [...this.watchers]) watcher()
  }

  subscribe(watcher: () => void): () => void {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }
}

export function useStore<T>(store: Store<T>): T {
  const again = useAgain()
  // Before the browser draws: a change that comes between the drawing and the watching would never be seen.
  useLayoutEffect(() => store.subscribe(again), [store])
  return store.value
}

/** useAgain returns a function that draws the component again. */
export const useAgain = () => useReducer((n: number) => n + 1, 0)[1] as () => void
