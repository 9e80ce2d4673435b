// SHA-256 and HMAC for pages that were loaded over plain http from another machine: browsers have no crypto.subtle there. The form that
// asks for the key warns first.

const k = new Uint32Array(64)
const initial = new Uint32Array(8)
{
  // The constants of SHA-256 are the fractions of cube and square roots of the first primes.
  let n = 0
  for (let p = 2; n < 64; p++) {
    let prime = true
    for (let d = 2; d * d <= p; d++) if (p % d === 0) prime = false
    if (!prime) continue
    if (n < 8) initial[n] = (Math.sqrt(p) % 1) * 2 ** 32
    k[n++] = (Math.cbrt(p) % 1) * 2 ** 32
  }
}

const rotate = (x: number, n: number) => (x >>> n) | (x << (32 - n))

export function sha256(data: Uint8Array): Uint8Array {
  const length = ((data.length + 8) >> 6) + 1
  const padded = new Uint8Array(length * 64)
  padded.set(data)
  padded[data.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(data.length / 2 ** 29))
  view.setUint32(padded.length - 4, data.length * 8)
  const h = initial.slice()
  const w = new Uint32Array(64)
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) w[i] = view.getUint32(block + i * 4)
      else {
        const a = w[i - 15]!, b = w[i - 2]!
        w[i] = w[i - 16]! + (rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)) + w[i - 7]! + (rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10))
      }
    }
    let [a, b, c, d, e, f, g, z] = h as unknown as [number, number, number, number, number, number, number, number]
    for (let i = 0; i < 64; i++) {
      const t1 = (z + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0
      const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
      z = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0
    }
    for (const [i, x] of [a, b, c, d, e, f, g, z].entries()) h[i] = h[i]! + x
  }
  const out = new Uint8Array(32)
  for (const [i, x] of h.entries()) new DataView(out.buffer).setUint32(i * 4, x)
  return out
}

export function hmac(key: Uint8Array, data: Uint8Array): Uint8Array {
  const block = new Uint8Array(64)
  block.set(key.length > 64 ? sha256(key) : key)
  const join = (pad: number, rest: Uint8Array) => {
    const joined = new Uint8Array(64 + rest.length)
    joined.set(block.map((b) => b ^ pad))
    joined.set(rest, 64)
    return sha256(joined)
  }
  return join(0x5c, join(0x36, data))
}
