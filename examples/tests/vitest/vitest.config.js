export default { test: { globalSetup: ["edgetable/vitest"] } }
