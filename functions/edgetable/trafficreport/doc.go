// Package trafficreport implements the commands that report on the traffic of tables.
package trafficreport
