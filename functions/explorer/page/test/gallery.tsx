// Every component of the page in one place, to look at in light and in dark. It is no part of dist/: 'make gallery' bundles and serves it.
import { render } from "preact"
import { useState } from "preact/hooks"
import type { Columns } from "../src/model/columns.ts"
import { Rows } from "../src/model/rows.ts"
import { Findings } from "../src/traffic/findings.tsx"
import { Heat } from "../src/traffic/heat.tsx"
import { all, matrixOf } from "../src/traffic/matrix.ts"
import type { Report } from "../src/traffic/report.ts"
import { Sparkline } from "../src/home/sparkline.tsx"
import { Drop } from "../src/exchange/drop.tsx"
import type { Service } from "../src/wire/client.ts"
import { type Entity, type Type, type Value, text } from "../src/wire/value.ts"
import { EntityPanel } from "../src/ui/entity.tsx"
import { FieldRow } from "../src/ui/field.tsx"
import { Grid } from "../src/ui/grid.tsx"
import { Icon, type IconName, icons } from "../src/ui/icon.tsx"
import { Choice, CopyButton, Dialog, Empty, ErrorLine, Menu } from "../src/ui/parts.tsx"
import { single } from "../src/ui/selection.ts"

const nobody: Service = { name: "gallery", account: "gallery", endpoint: "", readOnly: false, color: "", sign: undefined, about: undefined, local: false, orders: true, prepare: () => Promise.reject(new Error("nobody is asked here")) }

const values: [string, Type, string][] = [
  ["Name", "String", "Ada Lovelace"], ["Note", "String", ""], ["Active", "Boolean", "true"], ["Born", "Int32", "1815"], ["Visits", "Int64", "9007199254740993"], ["Rate", "Double", "42.857142857142854"],
  ["Joined", "DateTime", "2026-03-04T05:06:07.1234567Z"], ["Id", "Guid", "c9da6455-213d-42c9-9a79-3e9149a57833"], ["Photo", "Binary", "AAECAwQFBgcICQ=="],
]

function entity(row: number): Entity {
  const map = new Map<string, Value>([["PartitionKey", text("Oslo")], ["RowKey", text(String(row).padStart(4, "0"))]])
  for (const [name, type, value] of values) map.set(name, row === 2 && name === "Born" ? text("unknown") : row === 3 && name === "Active" ? { type, text: "false" } : { type, text: value })
  return { etag: "", values: map }
}

const rows = new Rows(nobody, { table: "gallery", filter: "" })
for (let i = 0; i < 6; i++) rows.add(entity(i))
rows.progress.update({ done: true, pages: 1 })

const until = Date.UTC(2026, 2, 2, 10, 40)
const report: Report = {
  since: new Date(until - 3_600_000).toISOString(), until: new Date(until).toISOString(), shapes: null, totals: { reads: 999 },
  heaviest: { reads: { total: 999, partitions: null }, writes: { total: 0, partitions: null }, scanned: { total: 0, partitions: null }, throttled: { total: 0, partitions: null } },
  map: {
    starts: ["", "Bergen", "Oslo", "Paris", "Tokyo"].map((PartitionKey) => ({ PartitionKey, RowKey: "" })), quarters: [],
    minutes: Array.from({ length: 60 }, (_, m) => ({ at: new Date(until - m * 60_000).toISOString(), counts: [[m % 5, 1 + ((m * m) % 300), 0, 0, 0]] })),
  },
}
const why = { azure: "…", dynamodb: "…", workers: "…", binary: "…" }

function Gallery() {
  const [dialog, setDialog] = useState(false)
  const [selection, select] = useState(single(1, 2))
  const [columns, arrange] = useState<Columns>({ order: [], hidden: [], widths: {} })
  const m = matrixOf(report, "minutes", "reads")
  const sections: [string, preact.ComponentChildren][] = [
    ["buttons", <div class="bar"><button type="button" class="main"><Icon name="plus" /> Primary</button><button type="button">Usual</button><button type="button" class="plain">Quiet</button><button type="button" class="danger"><Icon name="trash" /> Destroys</button><button type="button" aria-pressed="true">Pressed</button><button type="button" disabled>Disabled</button><button type="button" class="link">A link</button><CopyButton text={() => "copied"} /></div>],
    ["tabs", <div class="tabs" role="group" aria-label="Tabs"><button type="button" aria-pressed="true">One</button><button type="button" aria-pressed="false">Two</button></div>],
    ["inputs", <div class="bar"><input aria-label="Text" placeholder="Text" /><input aria-label="Wrong" aria-invalid="true" value="wrong" /><input aria-label="Locked" disabled value="locked" /><select aria-label="Choice"><option>A choice</option></select><label><input type="checkbox" checked /> Checked</label><textarea aria-label="Lines" value={"two\nlines"} /></div>],
    ["menu", <div class="bar"><Menu icon="layers" label="Menu" test="gallery-menu">{(close) => <div class="choices"><Choice icon="edit" test="one" act={close}>A choice <kbd>F2</kbd></Choice><Choice icon="trash" test="two" danger act={close}>One that destroys</Choice></div>}</Menu><button type="button" data-test="gallery-dialog" onClick={() => setDialog(true)}>Dialog</button></div>],
    ["messages", <><ErrorLine failure={new Error("What went wrong, and what to do about it.")} retry={() => undefined} /><p class="warning">A warning says what may happen.</p><p class="stale"><Icon name="warning" /> The rows below are from the previous query.</p><div class="news"><span class="grow">4 entities deleted.</span><button type="button"><Icon name="undo" /> Undo</button></div></>],
    ["empty", <Empty icon="table" title="The table is empty." text="Entities come from your programs, from a file, or from here."><button type="button" class="main">Add an entity</button></Empty>],
    ["grid", <div class="browse" style={{ height: "240px" }}><Grid rows={rows} names={["PartitionKey", "RowKey", ...values.map(([n]) => n)]} columns={columns} arrange={arrange} sort="-Born" onSort={() => undefined} selection={selection} select={select} open={3} onOpen={() => undefined} onEdit={() => undefined} onMenu={() => undefined} onPaste={() => undefined} rule={{ property: "Joined", after: 0 }} onKey={() => undefined} /></div>],
    ["entity", <div style={{ height: "420px", display: "flex" }}><EntityPanel width="400px" entity={entity(0)} readOnly={false} close={() => undefined} edit={() => undefined} clone={() => undefined} remove={() => undefined} rule={{ property: "Joined", after: 0 }} /></div>],
    ["fields", <div class="fields">{values.map(([name, type, value]) => <FieldRow key={name} field={{ name, value: { type, text: value }, removed: name === "Note", added: false }} problem={name === "Rate" ? "a problem is told here" : ""} locked change={() => undefined} drop={() => undefined} />)}</div>],
    ["drop", <Drop file={undefined} choose={() => undefined} />],
    ["sparkline", <Sparkline minutes={Array.from({ length: 60 }, (_, i) => (i * i) % 37)} of={60} />],
    ["heat", <Heat m={m} metric="reads" starts={report.map.starts} area={all(m)} zoom={() => undefined} open={() => undefined} />],
    ["findings", <Findings counted advice={{ findings: [{ rule: "hot-partition", finding: "One partition gets 40 % of the writes.", example: "gateway", why, instead: "Spread it over several." }], costs: [], pricesOf: "", seconds: 60 }} />],
    ["icons", <div class="bar" style={{ flexWrap: "wrap" }}>{(Object.keys(icons) as IconName[]).map((name) => <span key={name} title={name}><Icon name={name} /></span>)}</div>],
    ["type", <><h1>Large</h1><h2>Head</h2><p>Text <span class="dim">dim</span> <code>code</code> <kbd>Ctrl K</kbd> <span class="badge">badge</span></p><progress value={0.4} aria-label="Progress" /><meter value={3} max={5} aria-label="Meter" /></>],
  ]
  return (
    <main class="gallery" style={{ padding: "16px", overflow: "auto", height: "100%", display: "grid", gap: "24px", gridTemplateColumns: "minmax(0, 1fr)" }}>
      <h1>Components</h1>
      {sections.map(([name, content]) => (
        <section key={name} data-test={`gallery-${name}`} class="traffic">
          <h2>{name}</h2>
          {content}
        </section>
      ))}
      {dialog && <Dialog title="A dialog" close={() => setDialog(false)}><form><label>A field<input /></label><footer><button type="button" class="main">Do it</button></footer></form></Dialog>}
    </main>
  )
}

render(<Gallery />, document.getElementById("app")!)
