// Package scan reads tables with concurrent workers, each in its own range. An idle worker takes over the upper part of
// a long range. The progress is recorded in a progress file, from which a later run resumes.
package scan
