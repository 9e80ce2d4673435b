// Package observe is how a server is observed: metrics for Prometheus, traces over OTLP, the access log and the
// lines about requests in the log.
package observe
