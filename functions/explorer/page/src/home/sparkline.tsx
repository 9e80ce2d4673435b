import { plural } from "../model/words.ts"

const [width, height] = [120, 24]

/** Sparkline draws the traffic of an hour by the minute. */
export function Sparkline({ hour }: { hour: number[] }) {
  const max = Math.max(...hour, 1)
  const step = width / hour.length
  const y = (n: number) => height - 1 - (n / max) * (height - 3)
  const line = hour.map((n, i) => `${(i * step).toFixed(1)},${y(n).toFixed(1)}`).join(" ")
  const sum = hour.reduce((a, b) => a + b, 0)
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${plural(sum, "entity", "entities")} in the last hour, at most ${max} a minute`}>
      {sum > 0 && <polygon points={`0,${height} ${line} ${width - step},${height}`} />}
      <polyline points={line} />
    </svg>
  )
}
