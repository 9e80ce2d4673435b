// Package scan reads tables in several ranges at the same time. An idle worker takes over the upper
// part of a long range. The package records its progress in a progress file, from which a later run
// resumes.
package scan
