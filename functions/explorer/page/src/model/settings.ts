// What the browser remembers: the look, columns and queries. Keys and tokens are never among it.
import type { Zone } from "../wire/date.ts"
import { Store } from "./store.ts"

/** read returns what was remembered under a name, or the default; browsers may refuse to remember anything. */
export function read<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem("edgetable." + name)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}

export function write(name: string, value: unknown) {
  try {
    if (value === undefined) localStorage.removeItem("edgetable." + name)
    else localStorage.setItem("edgetable." + name, JSON.stringify(value))
  } catch {
    // private windows and full disks: the page works without it
  }
}

export type Theme = "auto" | "light" | "dark"

interface Look {
  theme: Theme
  zone: Zone
}

export const look = new Store<Look>(read("look", { theme: "auto", zone: "utc" }))

function apply() {
  document.documentElement.dataset.theme = look.value.theme
  write("look", look.value)
}
look.subscribe(apply)
if (typeof document !== "undefined") apply()
