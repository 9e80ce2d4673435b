// Package explorer tests the page of the explorer in a real browser, Debian's Chromium, against the real binary: behind 'edgetable explorer'
// and on an endpoint. 'make explorer-test' runs it. 'make explorer-homes' runs [TestHomes], which needs what testdata/homes needs, against the other homes.
//
// A failed test leaves a screenshot in EDGETABLE_SCREENSHOTS, if that names a folder. EDGETABLE_SCREENSHOTS with a passing test has
// the pictures that [tab.shot] takes.
package explorer
