// Functions of the platform for both modules, with Durable Objects and on Workers KV alone.
export class Misconfigured extends Error {}

// randomness returns a function that returns 64 random bits, fetched from the platform in blocks.
export function randomness() {
  const random = new BigUint64Array(64);
  let left = 0;
  return () => {
    if (left === 0) left = crypto.getRandomValues(random).length;
    return random[--left];
  };
}

// variables returns the Worker's variables and secrets, and more, in the form of configure in main.go. A value written without
// quotes is a number or a boolean.
export function variables(env, ...more) {
  const all = Object.entries(env).filter(([name, value]) => name.startsWith("EDGETABLE_") && ["string", "number", "boolean"].includes(typeof value));
  return [...all, ...more].map(([name, value]) => `${name}=${value}\0`).join("");
}
