# Each request that reaches the Worker costs, also one that it refuses. A zone has one list of rate limiting rules, so this
# resource owns all of them. Rules by host are for the plan Pro and above, which have this period.
resource "cloudflare_ruleset" "rate" {
  count = var.requests_per_address == null ? 0 : 1

  zone_id = var.zone_id
  name    = "requests per address"
  kind    = "zone"
  phase   = "http_ratelimit"

  rules = [{
    ref         = "edgetable_address"
    description = "edgetable: requests per address"
    action      = "block"
    expression = join(" or ", concat(
      [for domain in sort(var.domains) : "http.host eq \"${domain}\""],
      var.wildcard == null ? [] : ["ends_with(http.host, \".${var.wildcard}\")"],
    ))
    ratelimit = {
      characteristics     = ["cf.colo.id", "ip.src"] # each data centre counts for itself
      period              = 10
      requests_per_period = var.requests_per_address
      mitigation_timeout  = 10
    }
  }]
}
