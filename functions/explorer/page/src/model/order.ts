// The order in which rows stand in the grid. A row has an index that it keeps: those that were loaded count from 0, those that were added from
// ofAdded on.

/** ofAdded is the index of the first row that was added. */
export const ofAdded = 2 ** 31

export interface Order {
  /** list has the indices of rows, place by place */
  readonly list: Uint32Array
  /** loaded and added are the numbers of rows of which list tells: others came since, and stand behind */
  readonly loaded: number
  readonly added: number
}

/** unordered is the order of the service: rows that were added are behind those that were loaded. */
export const unordered: Order = { list: new Uint32Array(), loaded: 0, added: 0 }

export const indices = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

/**
 * placed puts rows among others, all by how they compare. Of two that are equal the one that is there stays, and twice is told of both.
 */
export function placed(list: Uint32Array, more: number[], compare: (a: number, b: number) => number, twice: (stays: number, goes: number) => void): Uint32Array {
  const at: { place: number; index: number }[] = []
  for (const index of more.sort(compare)) {
    const before = at.at(-1)
    const place = search(list.length, (i) => compare(list[i]!, index))
    if (place < list.length && compare(list[place]!, index) === 0) twice(list[place]!, index)
    else if (before && compare(before.index, index) === 0) twice(before.index, index)
    else at.push({ place, index })
  }
  const all = new Uint32Array(list.length + at.length)
  let from = 0
  at.forEach(({ place, index }, n) => {
    all.set(list.subarray(from, place), from + n)
    all[place + n] = index
    from = place
  })
  all.set(list.subarray(from), from + at.length)
  return all
}

/** search is the first of n places that is not before what is searched. */
export function search(n: number, compare: (place: number) => number): number {
  let [low, high] = [0, n]
  while (low < high) {
    const mid = (low + high) >> 1
    if (compare(mid) < 0) low = mid + 1
    else high = mid
  }
  return low
}
