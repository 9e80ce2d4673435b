variable "account_id" {
  description = "ID of the Cloudflare account."
  type        = string
}

variable "zone_id" {
  description = "ID of the zone of the hosts. URL normalization is switched off for all of it."
  type        = string
}

variable "worker" {
  description = "Name of the Worker, as in wrangler.jsonc."
  type        = string
  default     = "edgetable"
}

variable "domains" {
  description = "Names with the accounts in the path, tables.example.com, or of one account each, acme.table.example.com and acme-secondary.table.example.com."
  type        = set(string)
  default     = []
}

variable "wildcard" {
  description = "A name with an account before it, or its secondary host: table.example.com. Null for none."
  type        = string
  default     = null

  validation {
    condition     = var.wildcard == null || startswith(coalesce(var.wildcard, "-"), "table.")
    error_message = "What stands before .table. is an account: the name begins with table."
  }
}

variable "certificate" {
  description = "Order a certificate for the wildcard, which needs Advanced Certificate Manager; false where the zone has one."
  type        = bool
  default     = true
}

variable "requests_per_address" {
  description = "How many requests an address may send in 10 seconds to these hosts; above it Cloudflare answers 429 for 10 seconds, before the Worker. Takes over all rate limiting rules of the zone, and needs the plan Pro or above. Null for none."
  type        = number
  default     = null

  validation {
    condition     = var.requests_per_address == null || coalesce(var.requests_per_address, 0) >= 1
    error_message = "The number of requests is at least 1."
  }
}
