import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

/** program returns the path of the program for this platform, or of the one that EDGETABLE_BINARY names. */
export function program() {
  if (process.env.EDGETABLE_BINARY) return process.env.EDGETABLE_BINARY
  const name = `@edgetable/${process.platform}-${process.arch}`
  try {
    return require.resolve(`${name}/edgetable${process.platform === "win32" ? ".exe" : ""}`)
  } catch {
    throw new Error(`the package ${name} is not installed: install edgetable without --omit=optional (--no-optional), or set EDGETABLE_BINARY; if npm finds no such package, there is no build for this platform`)
  }
}
