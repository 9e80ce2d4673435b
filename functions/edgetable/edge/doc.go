// Package edge implements the commands for the tables of a Worker on Cloudflare.
package edge
