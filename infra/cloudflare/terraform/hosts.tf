# Clients sign the URL as they send it, so the zone must not normalize URLs. The setting applies to all hosts of the
# zone. After a destroy, Cloudflare's default applies again, which normalizes.
resource "cloudflare_url_normalization_settings" "this" {
  zone_id = var.zone_id
  scope   = "none"
  type    = "rfc3986"
}

# Hosts with the account in the path, or the host of a single account. Cloudflare creates the DNS record and the
# certificate.
resource "cloudflare_workers_custom_domain" "this" {
  for_each = var.domains

  account_id = var.account_id
  zone_id    = var.zone_id
  hostname   = each.key
  service    = var.worker
}

# Hosts of accounts and their secondary hosts. A route applies only to requests that pass through Cloudflare, so the
# name needs a proxied record. Nothing listens at its address.
resource "cloudflare_dns_record" "wildcard" {
  count = var.wildcard == null ? 0 : 1

  zone_id = var.zone_id
  name    = "*.${var.wildcard}"
  type    = "AAAA"
  content = "100::"
  proxied = true
  ttl     = 1 # automatic; the only value for proxied records
}

resource "cloudflare_workers_route" "wildcard" {
  count = var.wildcard == null ? 0 : 1

  zone_id = var.zone_id
  pattern = "*.${var.wildcard}/*"
  script  = var.worker
}

data "cloudflare_zone" "this" {
  zone_id = var.zone_id
}

# The certificate of a zone covers one label before the zone's name, but these hosts have two labels.
resource "cloudflare_certificate_pack" "wildcard" {
  count = var.wildcard != null && var.certificate ? 1 : 0

  zone_id               = var.zone_id
  type                  = "advanced"
  hosts                 = [data.cloudflare_zone.this.name, "*.${var.wildcard}"]
  certificate_authority = "google"
  validation_method     = "txt"
  validity_days         = 90

  lifecycle {
    create_before_destroy = true
  }
}
