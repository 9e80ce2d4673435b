// Package homes tests the commands that move data (export, import, copy and verify) between every pair of
// deployments (homes: the binary, Lambda, Workers) and Azurite. It also runs the commands of the migration guides.
// It needs the programs of all deployments: Java with Maven, Node.js with npm, TinyGo.
package homes
