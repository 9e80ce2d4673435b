#!/usr/bin/env node
// Runs the program for this platform with the same arguments.
import { spawn } from "node:child_process"
import { constants } from "node:os"
import { program } from "../program.js"

let child
try {
  child = spawn(program(), process.argv.slice(2), { stdio: "inherit" })
} catch (e) {
  console.error(`edgetable: ${e.message}`)
  process.exit(1)
}
// A terminal sends the signal to both processes, a supervisor only to this one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
child.on("error", (e) => {
  console.error(`edgetable: ${e.message}`)
  process.exit(1)
})
child.on("exit", (status, signal) => process.exit(signal ? 128 + constants.signals[signal] : status))
