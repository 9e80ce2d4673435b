// Package explorer tests the page of the explorer in a real browser, the headless shell of Debian's Chromium, with the
// real binary. Both 'edgetable explorer' and 'edgetable serve' serve the page. 'make explorer-test' runs these tests. 'make
// explorer-homes' runs [TestHomes] in the whole Chromium, with the other kinds of deployment (homes), and needs the same
// programs as testdata/homes.
//
// A failed test saves a screenshot in the folder that EDGETABLE_SCREENSHOTS names. If the variable is set, passing
// tests save the pictures that [tab.shot] takes.
package explorer
