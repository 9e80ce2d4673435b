// The places of numbers with a point: digits of a column stand below digits of the same worth.

/** Places is how many characters a number has before its point and after it. */
export interface Places {
  before: number
  after: number
}

/** placesOf is those of a Double, unless it is written with an exponent or is no number. */
export function placesOf(text: string): Places | undefined {
  const found = /^(-?\d+)(?:\.(\d+))?$/.exec(text)
  return found ? { before: found[1]!.length, after: found[2]?.length ?? 0 } : undefined
}

/** most has room for both. */
export const most = (a: Places | undefined, b: Places | undefined): Places | undefined => (a && b ? { before: Math.max(a.before, b.before), after: Math.max(a.after, b.after) } : (a ?? b))
