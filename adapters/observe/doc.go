// Package observe provides metrics for Prometheus, traces over OTLP, the access log, and log lines about requests.
package observe
