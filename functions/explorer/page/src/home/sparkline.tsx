import { plural } from "../model/words.ts"

const [width, height] = [120, 24]

/** Sparkline draws the traffic of the last minutes, of which there may be less than there is room for: the others were not counted. */
export function Sparkline({ minutes, of }: { minutes: number[]; of: number }) {
  const max = Math.max(...minutes, 1)
  const step = width / of
  const begin = width - minutes.length * step
  const y = (n: number) => height - 1 - (n / max) * (height - 3)
  const line = minutes.map((n, i) => `${(begin + i * step).toFixed(1)},${y(n).toFixed(1)}`).join(" ")
  const sum = minutes.reduce((a, b) => a + b, 0)
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${plural(sum, "entity", "entities")} in ${plural(minutes.length, "minute")}, at most ${max} a minute`}>
      {sum > 0 && <polygon points={`${begin},${height} ${line} ${width - step},${height}`} />}
      <polyline points={line} />
    </svg>
  )
}
