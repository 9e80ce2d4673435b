// Package homes tests what moves data, edgetable's export, import, copy and verify, between every pair of homes and Azurite, and
// runs the commands of the guides to migration. It needs what the homes need: Java with Maven, Node.js with npm, TinyGo.
package homes
