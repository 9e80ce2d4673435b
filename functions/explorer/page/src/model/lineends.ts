// The line ends of a text: a textarea turns each of them into \n.

const every = /\r\n?|\n/g

/** usualEnd is the end that most lines of a text have. */
export function usualEnd(text: string): string {
  const ends = text.match(every) ?? []
  const share = (end: string) => ends.filter((e) => e === end).length
  return ["\n", "\r\n", "\r"].reduce((a, b) => (share(b) > share(a) ? b : a))
}

/** withEnds gives what was typed the line ends that the text had before, wherever that is unchanged; new lines get the usual end. */
export function withEnds(typed: string, before: string, usual: string): string {
  const ends = before.match(every) ?? []
  const old = before.replace(every, "\n")
  const most = Math.min(old.length, typed.length)
  let head = 0
  while (head < most && typed[head] === old[head]) head++
  let tail = 0
  while (tail < most - head && typed.at(-1 - tail) === old.at(-1 - tail)) tail++
  const more = typed.split("\n").length - 1 - ends.length
  let i = 0
  let end = ""
  return typed.replace(/\n/g, (_, at: number) => {
    const last = end
    const line = i++
    end = (at < head ? ends[line] : at >= typed.length - tail ? ends[line - more] : usual)!
    if (last + end === "\r\n" && typed[at - 1] === "\n") end = last + end // \r and \n would be one end
    return end
  })
}
