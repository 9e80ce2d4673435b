package explorer

import "embed"

// Dist holds the built page: dist/index.html, dist/app.js, dist/app.css and
// dist/session, which says that no gateway is here.
//
//go:embed dist
var Dist embed.FS
