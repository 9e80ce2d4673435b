# Each request that reaches the Worker costs, even if the Worker rejects it. A zone has one list of rate limiting
# rules, which this resource owns completely. Rules by host and with this period require the plan Pro or above.
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
      characteristics     = ["cf.colo.id", "ip.src"] # each data center counts separately
      period              = 10
      requests_per_period = var.requests_per_address
      mitigation_timeout  = 10
    }
  }]
}
