// globalTeardown for Jest: ends the server of jest-setup.
module.exports = async () => globalThis.__EDGETABLE__?.stop()
