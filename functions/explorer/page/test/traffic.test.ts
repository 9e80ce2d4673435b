import assert from "node:assert/strict"
import test from "node:test"
import { all, busiest, matrixOf, minutesOf, most, sumOf, sums } from "../src/traffic/matrix.ts"
import type { Report } from "../src/traffic/report.ts"
import { inOnePartition, partitionFilter, rangeFilter, rangeName, rangeOf } from "../src/traffic/range.ts"
import { age } from "../src/traffic/age.ts"
import { cellAt } from "../src/traffic/frame.ts"
import { shade } from "../src/traffic/paint.ts"
import { parse } from "../src/query/parse.ts"

const key = (PartitionKey: string, RowKey = "") => ({ PartitionKey, RowKey })
const starts = [key(""), key("a", "5"), key("a", "7"), key("b"), key("o'c", "1")]

test("a range of the map is a filter for its entities and no others", () => {
  for (const [top, bottom, want] of [
    [0, 4, ""],
    [0, 0, "(PartitionKey lt 'a' or PartitionKey eq 'a' and RowKey lt '5')"],
    [1, 1, "PartitionKey eq 'a' and RowKey ge '5' and RowKey lt '7'"],
    [1, 2, "(PartitionKey gt 'a' or PartitionKey eq 'a' and RowKey ge '5') and PartitionKey lt 'b'"],
    [3, 3, "PartitionKey ge 'b' and (PartitionKey lt 'o''c' or PartitionKey eq 'o''c' and RowKey lt '1')"],
    [4, 4, "(PartitionKey gt 'o''c' or PartitionKey eq 'o''c' and RowKey ge '1')"],
  ] as const) {
    assert.equal(rangeFilter(starts, top, bottom), want)
    assert.equal(parse(want).problem, undefined)
  }
  assert.equal(rangeName(starts, 1, 2), "keys from a / 5 to before b")
  assert.equal(rangeName(starts, 0, 4), "all keys")
  assert.deepEqual(starts.map((_, i) => inOnePartition(starts, i)), [false, true, false, false, false])
  assert.equal(partitionFilter("o'c"), "PartitionKey eq 'o''c'")
  assert.equal(partitionFilter("x".repeat(128)), `PartitionKey ge '${"x".repeat(128)}' and PartitionKey lt '${"x".repeat(127)}y'`)
})

test("a range is found again among other ranges by its first key", () => {
  const later = [key(""), key("a"), key("a", "5"), key("b"), key("c")]
  assert.deepEqual(starts.map((s, i) => rangeOf(later, s, i)), [0, 2, 2, 3, 4])
  assert.deepEqual([rangeOf(later, key("b"), 0), rangeOf([{} as (typeof starts)[0], key("b")], key(""), 1), rangeOf([key("b"), key("a")], key("b"), 0)], [3, 0, 0])
})

const report: Report = {
  since: "", until: "2026-11-22T10:00:30.5Z",
  heaviest: { reads: { total: 1, partitions: null }, writes: { total: 9, partitions: null }, scanned: { total: 0, partitions: null }, throttled: { total: 0, partitions: null } },
  shapes: null,
  totals: { reads: 1, writes: 9 },
  map: {
    starts,
    minutes: [{ at: "2026-11-22T07:00:00Z", counts: [[0, 9, 9, 9, 9]] }, { at: "2026-11-22T09:59:00Z", counts: [[1, 5, 7, 0, 0]] }, { at: "2026-11-22T10:00:00Z", counts: [[1, 0, 2, 0, 0], [4, 0, 100, 0, 0]] }],
    quarters: [{ at: "2026-11-16T10:00:00Z", counts: [[2, 0, 3, 0, 0]] }],
  },
}

test("the matrix has each count at its time, and drops what is too old", () => {
  const m = matrixOf(report, "minutes", "writes")
  assert.equal(m.columns, 121)
  assert.deepEqual(sums(m, all(m)), [
    { range: 1, sum: 9, peak: 7, at: Date.parse("2026-11-22T09:59:00Z") },
    { range: 4, sum: 100, peak: 100, at: Date.parse("2026-11-22T10:00:00Z") },
  ])
  assert.equal(most(m, all(m)), 100)
  assert.equal(most(m, { ...all(m), bottom: 3 }), 7)
  const week = matrixOf(report, "quarters", "writes")
  assert.deepEqual(sums(week, all(week)).map((s) => [s.range, s.sum]), [[2, 3]])
  assert.equal(busiest(report), "writes")
  assert.equal(sumOf(m, all(m)), 109)
  assert.deepEqual(minutesOf(report, 3), [0, 12, 102])
})

test("the span begins where the traffic does, and scans do not choose what is shown", () => {
  const young = { ...report, map: { ...report.map, minutes: report.map.minutes.slice(1), quarters: [] } }
  const m = matrixOf(young, "minutes", "writes")
  assert.equal(m.columns, 15)
  assert.equal(m.begin + (m.columns - 1) * m.step, Date.parse("2026-11-22T10:00:00Z"))
  assert.equal(matrixOf(young, "quarters", "writes").columns, 12)
  assert.equal(matrixOf(report, "quarters", "writes").columns, 6 * 96 + 2)
  const scans = { ...report.heaviest, reads: { total: 0, partitions: null }, scanned: { total: 9999, partitions: null } }
  assert.equal(busiest({ ...report, heaviest: scans }), "writes")
  assert.equal(busiest({ ...report, heaviest: { ...scans, writes: { total: 0, partitions: null } } }), "scanned")
})

test("colours grow with the logarithm, and points are in their cells", () => {
  const light = [1, 10, 100, 1000].map((n) => shade(n, 1000, false).reduce((a, b) => a + b))
  assert.deepEqual([...light].sort((a, b) => b - a), light)
  assert.deepEqual(shade(1000, 1000, true), [226, 224, 255])
  assert.deepEqual(shade(1, 1, false), [40, 34, 110])
  const size = { width: 190 + 6 + 1210, height: 40 + 6 + 50 }
  const area = { left: 0, right: 120, top: 0, bottom: 4 }
  assert.deepEqual(cellAt(190 + 15, 6 + 25, size, area), { column: 1, range: 2 })
  assert.deepEqual(cellAt(0, 1000, size, area), { column: 0, range: 4 })
})

test("the age of an object has its two largest units", () => {
  const now = "2026-11-28T12:00:00Z"
  for (const [since, want] of [
    ["2026-11-28T11:59:31Z", "0 min"],
    ["2026-11-28T11:18:00Z", "42 min"],
    ["2026-11-28T08:55:00Z", "3 h 5 min"],
    ["2026-11-16T07:00:00Z", "12 d 5 h"],
    ["2026-11-28T12:00:09Z", "0 min"], // the clock of the object is ahead
  ] as const)
    assert.equal(age(since, now), want)
})
