// Package homes tests the commands that move data (export, import, copy and verify) between every pair of homes and
// Azurite, and runs the commands of the migration guides. It needs the programs of all homes: Java with Maven,
// Node.js with npm, TinyGo.
package homes
