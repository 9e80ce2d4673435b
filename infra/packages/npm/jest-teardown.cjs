// globalTeardown for Jest: stops the server of jest-setup.
module.exports = async () => globalThis.__EDGETABLE__?.stop()
