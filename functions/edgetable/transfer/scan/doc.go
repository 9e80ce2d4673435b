// Package scan reads tables in several ranges at the same time. An idle worker takes over the
// end of a long range. The package records the progress in a file and resumes from it.
package scan
