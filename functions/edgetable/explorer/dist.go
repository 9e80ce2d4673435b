package explorer

import "embed"

// Dist holds the built page: dist/index.html, dist/app.js and dist/app.css.
//
//go:embed dist
var Dist embed.FS
