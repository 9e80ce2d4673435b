// The name of a table, its views, and their tools.
import type { ComponentChildren } from "preact"
import { useRule } from "../model/declared.ts"
import { go } from "../model/route.ts"
import { inWords, lasts } from "../model/rule.ts"
import type { Service } from "../wire/client.ts"
import { Icon, type IconName } from "./icon.tsx"

const views = [
  { view: "", name: "Entities", icon: "table", test: "rows", title: "Entities" },
  { view: "traffic", name: "Traffic", icon: "activity", test: "traffic", title: "Traffic: which keys are busy, and what to change" },
  { view: "options", name: "Options", icon: "options", test: "options", title: "Options: what the table declares, such as when its entities end" },
] satisfies { view: string; name: string; icon: IconName; test: string; title: string }[]

type View = (typeof views)[number]["view"]

export function TableHead({ service, table, view, children }: { service: Service; table: string; view: View; children?: ComponentChildren }) {
  const rule = useRule(service, table)
  return (
    <div class="bar head-bar">
      <h1 data-test="title">{table}</h1>
      <div class="tabs" role="group" aria-label="What to see">
        {views.map((v) => (
          <button key={v.view} type="button" aria-pressed={view === v.view} data-test={v.test} title={v.title} onClick={() => go(v.view ? { view: v.view, entity: undefined } : { view: "" })}>
            <Icon name={v.icon} /> <span class="label">{v.name}</span>
          </button>
        ))}
      </div>
      {rule && view !== "options" && (
        <button type="button" class="chip plain" data-test="rule" title={`Entities end ${inWords(rule)}`} onClick={() => go({ view: "options", entity: undefined })}>
          <Icon name="clock" /> <span class="label">Ends {rule.property ? `by ${rule.property}` : `after ${lasts(rule.after)}`}</span>
        </button>
      )}
      <span class="grow" />
      {children}
    </div>
  )
}
