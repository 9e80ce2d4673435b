// How wide the window is, and whether the list of tables is shown beside the rest or above it.
import { useEffect, useState } from "preact/hooks"
import { read, write } from "../model/settings.ts"
import { Store } from "../model/store.ts"

/** Below this width the list of tables and the entity are sheets; layout.css says the same. */
const narrow = typeof matchMedia === "undefined" ? undefined : matchMedia("(width < 900px)")

export const useNarrow = () => useMedia(narrow)

/** useMedia reports whether the window matches a query of CSS, and goes on with it. */
export function useMedia(query: MediaQueryList | undefined): boolean {
  const [is, set] = useState(query?.matches ?? false)
  useEffect(() => {
    const changed = () => set(query?.matches ?? false)
    query?.addEventListener("change", changed)
    return () => query?.removeEventListener("change", changed)
  }, [])
  return is
}

/** sidebar has docked, for wide windows, which is remembered, and open, for narrow ones. */
export const sidebar = new Store({ docked: read("sidebar", true), open: false })

export function toggleSidebar() {
  if (narrow?.matches) return sidebar.update({ open: !sidebar.value.open })
  sidebar.update({ docked: !sidebar.value.docked })
  write("sidebar", sidebar.value.docked)
}
