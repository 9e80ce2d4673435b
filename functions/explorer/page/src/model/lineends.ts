// The line ends of a text: a textarea turns each of them into \n.

const every = /\r\n?|\n/g

/** shown is a text as a textarea shows it. */
export const shown = (text: string) => text.replace(every, "\n")

const endsOf = (text: string): string[] => text.match(every) ?? []

/** usualEnd is the end that most lines of a text have. */
export function usualEnd(text: string): string {
  const ends = endsOf(text)
  const share = (end: string) => ends.filter((e) => e === end).length
  return ["\n", "\r\n", "\r"].reduce((a, b) => (share(b) > share(a) ? b : a))
}

/** part is what a text has between two places of what a textarea shows of it. */
export function part(text: string, from: number, to: number): string {
  const place = (at: number) => [...text.matchAll(/\r\n/g)].reduce((n, { index }) => (index < n ? n + 1 : n), at)
  return text.slice(place(from), place(to))
}

/**
 * withEnds gives what was typed the line ends that the text had before, wherever that is unchanged; new lines get the usual end. What was typed ends at
 * the caret: without it, nobody knows which of two empty lines was deleted. If it ends with a text that was copied, this keeps its own ends.
 */
export function withEnds(typed: string, before: string, usual: string, caret = typed.length, copied = ""): string {
  const ends = endsOf(before)
  const old = shown(before)
  const most = Math.min(old.length, typed.length)
  let head = 0
  let tail = 0
  const extend = (limit: number) => {
    while (tail < limit && typed.at(-1 - tail) === old.at(-1 - tail)) tail++
  }
  extend(Math.min(most, typed.length - caret))
  while (head < most - tail && typed[head] === old[head]) head++
  extend(most - head)
  const from = caret - shown(copied).length
  const own = from >= 0 && from <= head && typed.slice(from, caret) === shown(copied) ? endsOf(copied) : []
  const more = typed.split("\n").length - 1 - ends.length
  let i = 0
  let end = ""
  return typed.replace(/\n/g, (_, at: number) => {
    const last = end
    const line = i++
    end = ((at >= from && at < caret && own.shift()) || (at < head ? ends[line] : at >= typed.length - tail ? ends[line - more] : usual))!
    if (last + end === "\r\n" && typed[at - 1] === "\n") end = last + end // \r and \n would be one end
    return end
  })
}
