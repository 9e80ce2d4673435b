// Package scan reads tables in several ranges at the same time. An idle worker takes over the upper
// part of a long range. The package records the progress of the work in a progress file and resumes
// from this file.
package scan
