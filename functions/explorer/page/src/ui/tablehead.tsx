// The name of a table, its two views, and their tools.
import type { ComponentChildren } from "preact"
import { go } from "../model/route.ts"
import { Icon } from "./icon.tsx"

export function TableHead({ table, view, children }: { table: string; view: "" | "traffic"; children?: ComponentChildren }) {
  return (
    <div class="bar head-bar">
      <h1 data-test="title">{table}</h1>
      <div class="tabs" role="group" aria-label="What to see">
        <button type="button" aria-pressed={view === ""} data-test="rows" onClick={() => go({ view: "" })}>
          <Icon name="table" /> <span class="label">Entities</span>
        </button>
        <button type="button" aria-pressed={view === "traffic"} data-test="traffic" title="Traffic: which keys are busy, and what to change" onClick={() => go({ view: "traffic", entity: undefined })}>
          <Icon name="activity" /> <span class="label">Traffic</span>
        </button>
      </div>
      <span class="grow" />
      {children}
    </div>
  )
}
