// Package scan reads tables with concurrent workers, each in its own range. An idle worker takes over the upper part of
// a long range. A later run can resume from a progress file.
package scan
