// The dialog that exports a query.
import { useMemo, useState } from "preact/hooks"
import { useStore } from "../model/store.ts"
import type { Service } from "../wire/client.ts"
import type { Query } from "../wire/tables.ts"
import { plural } from "../model/words.ts"
import { Dialog, ErrorLine } from "../ui/parts.tsx"
import { Export, type Format, save } from "./export.ts"

export function Exporting({ service, what, close }: { service: Service; what: Query; close: () => void }) {
  const work = useMemo(() => new Export(service, what), [])
  const s = useStore(work.state)
  const [format, setFormat] = useState<Format>("jsonl")
  const begun = s.running || s.rows > 0 || s.finished
  const keep = async () => save(await work.file(format), `${what.table}.${format === "jsonl" ? "jsonl" : "csv"}`)
  return (
    <Dialog title={`Export ${what.table}`} close={() => (work.stop(), close())} test="export">
      <form onSubmit={(e) => (e.preventDefault(), void work.run())}>
        <p>
          Exactly what the query finds{what.filter ? <>: <code>{what.filter}</code></> : ": the whole table"}
          {what.select && <>, properties <code>{what.select}</code></>}.
        </p>
        <label>
          Format
          <select value={format} data-test="export-format" onChange={(e) => setFormat(e.currentTarget.value as Format)}>
            <option value="jsonl">JSON lines: every type exact</option>
            <option value="csv">CSV with a column of types beside each property</option>
            <option value="csv-plain">CSV without types, for spreadsheets</option>
          </select>
        </label>
        {begun && (
          <p aria-live="polite" data-test="export-progress">
            <b>{plural(s.rows, "entity", "entities")}</b>, {(s.bytes / 1e6).toFixed(1)} MB{s.finished ? ". Finished." : s.running ? " …" : ". Stopped."}
          </p>
        )}
        {s.running && <progress aria-label="Working" />}
        {s.waiting && <p class="wrong">{s.waiting}</p>}
        {s.failure && <ErrorLine failure={s.failure} />}
        <footer>
          {/* With keys these are two buttons: one that became the other while it is clicked would submit. */}
          {s.running ? (
            <button key="stop" type="button" data-test="export-stop" onClick={() => work.stop()}>
              Stop
            </button>
          ) : (
            !s.finished && (
              <button key="begin" type="submit" class="main" data-test="export-begin">
                {begun ? "Resume" : "Export"}
              </button>
            )
          )}
          {s.rows > 0 && !s.running && (
            <button type="button" class={s.finished ? "main" : ""} data-test="export-save" onClick={() => void keep()}>
              {s.finished ? "Save the file" : "Save the exported part"}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  )
}
