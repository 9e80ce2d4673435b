# Signatures are over the URL as it was sent. There is one setting for the zone: rules for its other hosts see paths as they
# were sent, too. Where this is destroyed the zone goes back to Cloudflare's default, which normalizes.
resource "cloudflare_url_normalization_settings" "this" {
  zone_id = var.zone_id
  scope   = "none"
  type    = "rfc3986"
}

# Accounts in the path, or one in the host. Cloudflare makes the DNS record and the certificate.
resource "cloudflare_workers_custom_domain" "this" {
  for_each = var.domains

  account_id = var.account_id
  zone_id    = var.zone_id
  hostname   = each.key
  service    = var.worker
}

# Accounts in the host, and their secondary hosts. A route sees only what goes through Cloudflare, so that the name must lead there; nothing answers
# at the address itself.
resource "cloudflare_dns_record" "wildcard" {
  count = var.wildcard == null ? 0 : 1

  zone_id = var.zone_id
  name    = "*.${var.wildcard}"
  type    = "AAAA"
  content = "100::"
  proxied = true
  ttl     = 1 # automatic, the only one for what is proxied
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

# The certificate that a zone has by itself covers one label before its name, and these are two.
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
