// One table: its query, its rows, and the entity beside them.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import { columnsOf, keepColumns, shown } from "../model/columns.ts"
import { copy, line, pasted } from "../model/copy.ts"
import { type Draft, drafts, editing, fresh, leftOf, placeOf } from "../model/draft.ts"
import { newerThan } from "../model/live.ts"
import { type Route, go, route, toTable } from "../model/route.ts"
import { Rows } from "../model/rows.ts"
import { needs } from "../model/rule.ts"
import { learn, useFeed, useRule } from "../model/declared.ts"
import { orderOf } from "../model/sort.ts"
import { useSorted } from "./sorted.ts"
import { useStore } from "../model/store.ts"
import { count, plural } from "../model/words.ts"
import { type Change, changedTo, changes, latest, note } from "../model/changes.ts"
import { type Range, cellsOf } from "../model/paste.ts"
import { translate } from "../query/prefix.ts"
import type { Change as News } from "../wire/changes.ts"
import type { Service } from "../wire/client.ts"
import { Failure } from "../wire/failure.ts"
import { pretty } from "../wire/json.ts"
import { getEntity } from "../wire/tables.ts"
import { type Entity, type Key, type Type, type Value, keyOf, sameValue, system } from "../wire/value.ts"
import { look } from "../model/settings.ts"
import { Importing } from "../exchange/importing.tsx"
import { CellEditor, type Move } from "./celleditor.tsx"
import { type Act, CellMenu } from "./cellmenu.tsx"
import { Edit } from "./edit.tsx"
import { EntityPanel } from "./entity.tsx"
import { widthOf } from "./fit.ts"
import { Grid } from "./grid.tsx"
import { HeadMenu } from "./headmenu.tsx"
import { Icon } from "./icon.tsx"
import { useLive } from "./live.tsx"
import { Empty, ErrorLine } from "./parts.tsx"
import { Pasting } from "./pasting.tsx"
import { type Point, Popup } from "./popup.tsx"
import { QueryBar } from "./query.tsx"
import { area, single, whole } from "./selection.ts"
import { Splitter, useWidth } from "./splitter.tsx"
import { px } from "./row.tsx"
import { Status } from "./status.tsx"
import { Toolbar } from "./toolbar.tsx"
import { Undo } from "./undo.tsx"
import { lose, rangeOf, refuse, useWork } from "./work.ts"

/** mostCopied and mostDeleted bound what is done with selected rows; all results have their own menu. */
const mostCopied = 100_000
const mostDeleted = 100

interface Editing {
  place: string
  start: Draft
  /** compare shows the version of the server beside it at once; each comparison has another number */
  compare?: number
  /** quiet: the keyboard stays where it is */
  quiet?: boolean
}

export function Browse({ service, services, at, reload }: { service: Service; services: Service[]; at: Route; reload: () => void }) {
  const { table, filter, select, sort } = at
  const [round, setRound] = useState(0)
  const order = orderOf(sort, filter)
  const rows = useMemo(() => new Rows(service, { table, filter: translate(filter), select: withKeys(select), ...(order ? { order } : {}) }), [service, table, filter, select, order, round])
  const progress = useStore(rows.progress)
  const [columns, setColumns] = useState(() => columnsOf(service.name, table))
  const [selection, setSelection] = useState(single(0, 0))
  const [entity, setEntity] = useState<Entity>()
  const [missing, setMissing] = useState<Error>()
  const [edited, setEdited] = useState<Editing | undefined>(() => leftOf(service, table)) // what is not saved stays open
  const [said, setSaid] = useState("") // about what was copied
  const [importing, setImporting] = useState(false)
  const [width, setWidth] = useWidth("entity", 440)
  const shownIn = useRef(round) // after Refresh, the entity is read again, too
  const [cell, setEditor] = useState<{ key: Key; typed?: Value; turn: number }>() // the active cell is edited, of the entity with the key
  const turn = useRef(0)
  const opened = useRef<typeof cell | null>(cell) // at once; null after the user left the table
  const setCell = (c: { key: Key; typed?: Value } | undefined) => opened.current !== null && setEditor((opened.current = c && { ...c, turn: ++turn.current }))
  useEffect(() => () => void (opened.current = null), [])
  const [newer, setNewer] = useState<News>() // of the entity that is edited
  const [menu, setMenu] = useState<{ at: Point; column: string | undefined }>()
  const [range, setRange] = useState<Range>() // to be pasted

  useEffect(() => {
    setSelection(single(0, 0))
    setCell(undefined)
    setMenu(undefined)
    void rows.load()
    return () => rows.close()
  }, [rows])

  // What the table declares is asked after the rows, which have the first claim on the service.
  useEffect(() => {
    if (progress.pages > 0) void learn(service, table)
  }, [service, table, round, progress.pages > 0])
  const rule = useRule(service, table)
  const shownRule = !rule || !select || needs(rule).every((n) => withKeys(select).split(",").includes(n)) ? rule : undefined

  const names = useMemo(() => shown(rows.columns.keys(), columns), [rows, rows.columns.size, columns])
  const shifted = useRef(-1) // where the selection is with its row, which nobody chose
  /** shift does what moves rows; the selection stays with its rows. */
  const shift = (move: () => void) => {
    const at = [selection.row, selection.anchorRow].map((p) => rows.indexOf(p))
    move()
    const [row, anchorRow] = at.map((index, n) => {
      const place = rows.placeOf(index)
      return place >= 0 ? place : Math.max(0, Math.min(rows.length - 1, n ? selection.anchorRow : selection.row))
    }) as [number, number]
    if (row === selection.row && anchorRow === selection.anchorRow) return
    shifted.current = row
    setSelection({ ...selection, row, anchorRow })
  }
  const sorting = useSorted(rows, sort, shift)
  // The row of the entity in the URL is selected, if it is among the first ones, and after they were sorted.
  useLayoutEffect(() => {
    if (sorting || !progress.pages || !at.entity || same(rows.at(selection.row), at.entity)) return
    const row = rows.find(at.entity)
    if (row >= 0) setSelection(single(row, 0))
  }, [rows, sorting, progress.pages === 0])
  const arrange = (c: typeof columns | undefined) => {
    keepColumns(service.name, table, c)
    setColumns(c ?? columnsOf(service.name, table))
  }
  const onSort = (name: string) => go({ sort: sort === name ? "-" + name : sort === "-" + name ? "" : name }, true)
  const refresh = () => setRound(round + 1)
  const told = (changes: News[]) => {
    const original = edited?.start.original
    const draft = original && newerThan(changes, keyOf(original), original.etag)
    if (draft) setNewer(draft)
    const beside = entity && newerThan(changes, keyOf(entity), entity.etag)
    if (beside?.entity) setEntity(beside.entity)
    else if (beside && !edited) {
      closeEntity()
      setSaid("The entity was deleted, or has ended.")
    }
  }
  const live = useLive(service, table, rows, { refresh, told, shift })
  const offered = useFeed(service, table, progress.pages > 0)
  const newerRow = cell && rows.follower?.newer
  useEffect(() => live.keep(rows, cell?.key), [live, rows, cell])
  useEffect(() => setNewer(undefined), [edited])

  // The URL names the entity beside the grid, so that a link shows it even if its page is not loaded.
  const wanted = at.entity
  useEffect(() => {
    setMissing(undefined)
    if (!wanted) return setEntity(undefined)
    if (entity && same(entity, wanted) && shownIn.current === round) return
    shownIn.current = round
    const abort = new AbortController()
    void getEntity(service, table, wanted).then(
      (e) => !abort.signal.aborted && (e ? setEntity(e) : setMissing(new Error(`There is no entity ${wanted.pk} / ${wanted.rk}.`))),
      (e: Error) => !abort.signal.aborted && setMissing(e),
    )
    return () => abort.abort()
  }, [service, table, wanted?.pk, wanted?.rk, round])
  const open = (row: number) => {
    const e = rows.at(row)
    if (!e) return
    // A selected part of the properties is not the entity: the panel gets all of it.
    setEntity(select ? undefined : e)
    setEdited(undefined)
    go({ entity: keyOf(e) }, true)
  }
  // At once: it closes a form, and must not close one that opens later.
  useLayoutEffect(() => {
    if (selection.row !== shifted.current && wanted && entity && !same(rows.at(selection.row) ?? entity, wanted)) open(selection.row)
    shifted.current = -1
  }, [selection])

  /** selected makes something of the selected rows, all of them or none. */
  const selected = <T,>(most: number, make: (e: Entity, place: number) => T): Promise<T[]> => {
    const { top, bottom } = area(selection)
    if (bottom - top >= most) return Promise.reject(new Error(`${plural(bottom - top + 1, "row")} are selected; at most ${count(most)} at once.`))
    return rows.collect(top, bottom, rows.closed, make)
  }
  const copySelected = async (make: (e: Entity) => string, join: (lines: string[]) => string, what: (n: number) => string, alone = false) => {
    setSaid("Copying …")
    try {
      const lines = await selected(mostCopied, make)
      await copy(join(lines), alone).then(
        () => setSaid(`Copied ${what(lines.length)}.`),
        () => setSaid("The browser did not permit to copy."),
      )
    } catch (e) {
      setSaid(`Nothing was copied: ${(e as Error).message} ${selectedCount() > mostCopied ? "Export, under Files, has no limit." : ""}`)
    }
  }
  const selectedCount = () => area(selection).bottom - area(selection).top + 1
  const copyCells = () => {
    const { left, right, top, bottom } = area(selection)
    if (whole(selection, names.length)) return copyRows()
    const columns = names.slice(left, right + 1)
    const one = top === bottom && left === right
    void copySelected((e) => (one ? (e.values.get(columns[0]!)?.text ?? "") : line(columns.map((n) => e.values.get(n)?.text))), (lines) => lines.join("\n"), (n) => plural(n * columns.length, "cell"), one)
  }
  const copyRows = () => void copySelected((e) => line(names.map((n) => e.values.get(n)?.text)), (lines) => [line(names), ...lines].join("\n"), (n) => plural(n, "row"))
  const copyJSON = () => void copySelected((e) => pretty(e.values), (list) => (list.length === 1 ? list[0]! : `[\n${list.join(",\n")}\n]`), (n) => plural(n, "row") + " as JSON")

  const edit = async (e: Entity) => {
    // With $select the row has a part of the properties; a save would remove the others.
    const complete = select ? await getEntity(service, table, keyOf(e)).catch((cause: Error) => void setMissing(cause)) : e
    if (complete) setEdited({ place: placeOf(service, table, e), start: editing(complete) })
  }
  /** compare has the user choose between what was typed in a cell and what the server has by now. */
  const compare = async (name: string, value: Value, seen = rows.at(selection.row)) => {
    const unsaved = `Nothing is saved: ${value.text}`
    if (!seen) return lose(unsaved)
    let complete: Entity | undefined = seen
    try {
      if (select) complete = await getEntity(service, table, keyOf(seen))
    } catch (cause) {
      return lose(`${(cause as Error).message} ${unsaved}`)
    }
    if (!complete) return lose(`Somebody deleted this entity meanwhile. ${unsaved}`)
    const place = placeOf(service, table, seen)
    const quiet = !!opened.current
    // The user saw a part of the entity, and compares with that.
    const original = { etag: seen.etag, values: new Map([...complete.values, ...seen.values]) }
    const kept = drafts.get(place) ?? editing(original)
    if (kept.json !== undefined) return setEdited({ place, start: kept, quiet }), lose(unsaved)
    const base = kept.original ?? original
    const before = kept.fields.find((f) => f.name === name)?.value
    if (before && !sameValue(before, value) && !sameValue(before, base.values.get(name))) lose(`Nothing is saved: ${before.text}`) // another text of the same property
    const start = { original: base, fields: [...kept.fields.filter((f) => f.name !== name), { name, value, removed: false, added: !complete.values.has(name) }] }
    drafts.set(place, start)
    setEdited({ place, start, compare: ++turn.current, quiet })
  }
  const compareCell = (name: string, value: Value) => (setCell(undefined), void compare(name, value))
  const add = (like?: Entity) => setEdited({ place: placeOf(service, table, undefined) + (like ? JSON.stringify(keyOf(like)) : ""), start: fresh(like) })
  // The keyboard goes on in the grid after a panel.
  const focus = () => document.getElementById("grid")?.focus({ preventScroll: true })
  const close = () => {
    setEdited(undefined)
    focus()
  }
  const closeEntity = () => {
    go({ entity: undefined }, true)
    close()
  }
  const work = useWork({ service, table, rows, inPart: select !== "", entity, shown: setEntity, gone: closeEntity })
  const form = useRef(edited)
  form.current = edited
  const went = () => opened.current === null || form.current?.place !== edited?.place // to another form or table, while this one was saved
  const saved = (e: Entity, before: Entity | undefined, typed = false) => {
    const row = edited?.start.original ? rows.find(keyOf(e)) : -1
    if (row >= 0) rows.edit(rows.indexOf(row), e)
    else if (!edited?.start.original) rows.add(e)
    note(service, table, { before, after: e })
    if (went()) return setEntity((was) => (was && same(was, keyOf(e)) ? e : was))
    if (typed) setEdited((was) => was && { ...was, start: editing(e) })
    else close()
    setEntity(e)
    go({ entity: keyOf(e) }, true)
  }
  const ended = () => {
    if (!went()) (closeEntity(), refresh())
    setSaid("Saved. By the expiry rule of its table, the entity has already ended and is no longer there.")
  }
  const remove = async (from: number, to: number) => {
    if (to - from >= mostDeleted) return refuse(`${plural(to - from + 1, "row")} are selected, and at most ${mostDeleted} are deleted at once; “All results” deletes everything that a query finds.`)
    await work.change(from, to, (before) => ({ before, after: undefined }))
  }
  const typeOf = (name: string): Type => [...(rows.columns.get(name) ?? [])][0] ?? "String"
  const editCell = (col = selection.col, row = selection.row) => {
    const e = rows.at(row)
    if (service.readOnly || !e) return
    if (system.includes(names[col]!)) return setSaid("The keys and Timestamp cannot change. Clone the entity, and delete this one.")
    setCell({ key: keyOf(e) })
  }
  /** setValue writes over what the user saw, also if somebody else has changed the row until it is written. */
  const setValue = (from: number, to: number, name: string, value: Value | undefined, seen: Entity | undefined) =>
    work.change(from, to, (e) => changedTo(seen && same(e, keyOf(seen)) ? { ...e, etag: latest(service, table, seen) } : e, [[name, value]]))
  const saveCell = (value: Value, move: Move, all: boolean) => {
    const { row, col } = selection
    const name = names[col]!
    const { key } = cell!
    if (newerRow) return compareCell(name, value)
    const seen = rows.at(row)
    if (!same(rows.at(row), key)) {
      // Sorting ended, or rows came: what stands here now is not what was edited.
      const place = rows.find(key)
      setSelection(single(Math.max(place, 0), col))
      setCell(place < 0 ? undefined : { key, typed: value })
      return place < 0 ? lose(`The rows moved. Nothing is saved: ${value.text}`) : setSaid("The rows moved. Nothing is saved yet.")
    }
    const { top, bottom } = all ? area(selection) : { top: row, bottom: row }
    const next = move === "right" || move === "left" ? nextColumn(names, col, move) : undefined
    setCell(next === undefined ? undefined : { key })
    if (next === undefined) focus()
    const down = move === "down" ? 1 : move === "up" ? -1 : 0
    if (move !== "stay") setSelection(single(Math.max(0, Math.min(rows.length - 1, row + down)), next ?? col))
    if (bottom === top && sameValue(rows.at(row)?.values.get(name), value)) return
    void setValue(top, bottom, name, value, seen ?? undefined).then(async (ok) => {
      const refused = changes.value.failure?.cause
      if (!ok && bottom === top && refused instanceof Failure && refused.unseen) {
        if (opened.current !== null) changes.update({ failure: undefined })
        // Who left the table finds the form at once after coming back; its save notices the same.
        const now = opened.current === null ? undefined : await getEntity(service, table, key).catch(() => undefined)
        ok = !!now && sameValue(now.values.get(name), value) // by a save whose answer was lost
        const place = rows.find(key)
        if (ok && place >= 0) {
          note(service, table, { before: changedTo(now!, [[name, seen!.values.get(name)]]).after, after: now })
          rows.edit(rows.indexOf(place), now!)
        }
        if (!ok) {
          if (opened.current === undefined) {
            setSelection(single(Math.max(place, 0), col))
            if (route.value.entity) open(Math.max(place, 0)) // before the form, which it closes
          }
          return compare(name, value, seen)
        }
      }
      if (ok) return setSaid(`Saved ${name} of ${plural(bottom - top + 1, "row")}; Ctrl Z undoes it.`)
      if (opened.current !== undefined) return lose(`${changes.value.failure?.message} You typed: ${value.text}`) // in a cell that is not open any more
      setSelection(single(row, col)) // what was typed is not lost
      setCell({ key, typed: value })
    })
  }
  const clear = () => {
    const { top, bottom, left, right } = area(selection)
    const list = names.slice(left, right + 1).filter((n) => !system.includes(n))
    if (list.length) void work.change(top, bottom, (e) => changedTo(e, list.map((n) => [n, undefined])))
  }
  const paste = async (clip: string) => {
    if (service.readOnly || !clip) return
    try {
      setRange(await rangeOf(cellsOf(clip), { service, table, rows, names, selection, foreign: pasted(clip).foreign, whole: work.whole }))
    } catch (e) {
      setSaid(`Nothing was pasted: ${(e as Error).message}`)
    }
  }
  const act = (what: Act, filter?: string) => {
    setMenu(undefined)
    focus()
    const here = rows.at(selection.row)
    switch (what) {
      case "edit": return editCell()
      case "clear": return clear()
      case "copy": return copyCells()
      case "copy-rows": return copyRows()
      case "copy-json": return copyJSON()
      case "paste": return void navigator.clipboard.readText().then(paste, () => setSaid("The browser did not permit to read the clipboard; Ctrl V pastes."))
      case "filter": return go({ filter: filter!, entity: undefined })
      case "open": return open(selection.row)
      case "change": return here ? void edit(here) : undefined
      case "clone": return here ? add(here) : undefined
      case "delete": return void remove(area(selection).top, area(selection).bottom)
    }
  }

  const onKey = (e: KeyboardEvent) => {
    const far = e.ctrlKey || e.metaKey
    const here = rows.at(selection.row)
    const column = names[selection.col]
    const writable = !service.readOnly
    if (e.key === "Enter") open(selection.row)
    else if (e.key === "Escape") edited ? close() : closeEntity()
    else if (e.key === "c" && far && getSelection()?.isCollapsed !== false) copyCells()
    else if (e.key === "F2" && writable) editCell()
    else if (e.key === "e" && !far && writable && here) void edit(here)
    else if (e.key === "Backspace" && writable) clear()
    else if (e.key === "Delete" && writable) void remove(area(selection).top, area(selection).bottom)
    else if (e.key === "Insert" && writable) add()
    else if (e.key === "z" && far && writable) work.undo()
    else if (e.key === "s" && !far && column) onSort(column)
    else if ((e.key === "+" || e.key === "-") && column) arrange({ ...columns, widths: { ...columns.widths, [column]: Math.max(40, widthOf(column, columns, rows, look.value.zone) + (e.key === "+" ? 20 : -20)) } })
    else return
    e.preventDefault()
  }
  const openRow = wanted && same(rows.at(selection.row), wanted) ? selection.row : -1
  const editor =
    cell &&
    ((left: number, top: number, width: number) => {
      const name = names[selection.col]!
      const { top: first, bottom } = area(selection)
      return (
        <CellEditor
          key={`${cell.turn} ${name}`}
          {...{ name, left, top, width }}
          value={rows.at(selection.row)?.values.get(name)}
          typed={cell.typed}
          type={typeOf(name)}
          rows={bottom - first + 1}
          newer={newerRow}
          compare={(value) => compareCell(name, value)}
          save={saveCell}
          cancel={() => (setCell(undefined), focus())}
        />
      )
    })
  const column = menu && (menu.column ?? names[selection.col]!)
  return (
    <main class="browse" aria-label={table}>
      <Toolbar
        {...{ service, services, table, sort, rows, columns, arrange, copyCells, live, offered, refresh, reload }}
        filter={translate(filter)}
        copyRows={copyRows}
        copyJSON={copyJSON}
        add={() => add()}
      />
      <QueryBar service={service} at={at} rows={rows} again={refresh} />
      {progress.failure && <ErrorLine failure={progress.failure} retry={() => void rows.again()} />}
      {missing && !progress.failure && <ErrorLine failure={missing} />}
      <Undo undo={work.undo} />
      <div class="split">
        <div class="left">
          {rows.length > 0 ? (
            <Grid rows={rows} names={names} columns={columns} arrange={arrange} sort={sort} onSort={onSort} selection={selection} select={(s) => (setSaid(""), setSelection(s))} open={openRow} onOpen={open} onKey={onKey} onEdit={editCell} onMenu={(at, column) => setMenu({ at, column })} onPaste={(clip) => void paste(clip)} rule={shownRule} editor={editor} />
          ) : (
            <div class="blank dim" data-test="blank">
              {progress.loading ? (progress.pages ? `Nothing yet, after ${plural(progress.pages, "page")} …` : "Loading …") : progress.failure ? "" : <Nothing filter={filter} add={service.readOnly ? undefined : add} importing={() => setImporting(true)} />}
            </div>
          )}
        </div>
        <div class="below">
          <Status rows={rows} sort={sort} sorting={sorting} said={said} live={live} />
        </div>
        {(edited || (entity && wanted)) && <Splitter label="Width of the entity" width={width} set={setWidth} after />}
        {edited ? (
          <Edit key={edited.compare + edited.place} {...edited} {...{ service, table, newer, close, saved, rule, ended }} width={px(width)} columns={rows.columns} />
        ) : (
          entity &&
          wanted && (
            <EntityPanel
              width={px(width)}
              entity={entity}
              rule={rule}
              readOnly={service.readOnly}
              close={closeEntity}
              edit={() => void edit(entity)}
              clone={() => add(entity)}
              remove={() => {
                const row = rows.find(keyOf(entity))
                if (row >= 0) void remove(row, row)
                else void work.changeAll([{ before: entity, after: undefined }])
              }}
            />
          )
        )}
      </div>
      {column && (
        <Popup at={menu.at} label={menu.column ? `Column ${column}` : "Cell"} close={() => (setMenu(undefined), focus())}>
          {!menu.column && <CellMenu name={column} value={rows.at(selection.row)?.values.get(column)} filter={filter} rows={area(selection).bottom - area(selection).top + 1} writable={!service.readOnly} act={act} />}
          <HeadMenu name={column} {...{ sort, columns, arrange }} close={() => (setMenu(undefined), focus())} />
        </Popup>
      )}
      {range && (
        <Pasting
          range={range}
          typeOf={typeOf}
          close={() => setRange(undefined)}
          write={(list: Change[]) => {
            setRange(undefined)
            void work.changeAll(list)
          }}
        />
      )}
      {importing && <Importing service={service} table={table} close={(to) => (setImporting(false), to && (refresh(), reload(), go(toTable(to))))} />}
    </main>
  )
}

/** Nothing stands where no entity is, and offers what to do about it. */
function Nothing({ filter, add, importing }: { filter: string; add: (() => void) | undefined; importing: () => void }) {
  if (filter)
    return (
      <Empty icon="nothing" title="No entity matches the filter.">
        <button type="button" data-test="show-all" onClick={() => go({ filter: "" })}>
          Show all entities
        </button>
      </Empty>
    )
  return (
    <Empty icon="table" title="The table is empty." text={add && "Entities come from your programs, from a file, or from here."}>
      {add && (
        <>
          <button type="button" class="main" data-test="empty-add" onClick={() => add()}>
            <Icon name="plus" /> Add an entity
          </button>
          <button type="button" data-test="empty-import" onClick={importing}>
            <Icon name="upload" /> Import a file
          </button>
        </>
      )}
    </Empty>
  )
}

/** withKeys asks for the keys, too: without them nobody can tell which entity a row is. */
function withKeys(select: string): string {
  const names = select.split(",").map((s) => s.trim()).filter(Boolean)
  return names.length ? [...new Set(["PartitionKey", "RowKey", ...names])].join(",") : ""
}

/** nextColumn is the one to edit after another one; undefined at the end of the row. */
function nextColumn(names: string[], col: number, move: "left" | "right"): number | undefined {
  const step = move === "right" ? 1 : -1
  for (let c = col + step; c >= 0 && c < names.length; c += step) if (!system.includes(names[c]!)) return c
  return undefined
}

const same = (e: Entity | null | undefined, key: Key) => !!e && keyOf(e).pk === key.pk && keyOf(e).rk === key.rk
