// Package scan reads tables in several ranges at the same time: workers that are idle take the
// ends of long ranges. It knows how far the work is, and resumes it from a progress file.
package scan
