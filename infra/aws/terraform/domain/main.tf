# A host name of your own for a Function URL, which serves only its own host name. CloudFront serves the other host
# name, and forwards paths as clients have written and signed them.

# The secret is part of the distribution and therefore of Terraform's state.
data "aws_secretsmanager_secret_version" "forward" {
  secret_id = var.forward_secret_arn
}

# Passes the client's host and address to the origin, and replaces values that the client sent. The secret is added
# only by the distribution.
resource "aws_cloudfront_function" "forward" {
  name    = "${var.name}-forward"
  comment = "Tells the origin the client's host and address"
  runtime = "cloudfront-js-2.0"
  publish = true
  code    = <<-EOT
    function handler(event) {
      var request = event.request, headers = request.headers;
      headers['x-forwarded-host'] = { value: headers.host.value };
      headers['x-edgetable-viewer'] = { value: event.viewer.ip };
      delete headers['x-edgetable-forward-secret'];
      return request;
    }
  EOT
}

resource "aws_cloudfront_distribution" "this" {
  comment         = var.name
  enabled         = true
  http_version    = "http2and3"
  is_ipv6_enabled = true
  aliases         = [var.domain_name]
  web_acl_id      = var.web_acl_arn

  viewer_certificate {
    acm_certificate_arn      = var.certificate_arn
    minimum_protocol_version = "TLSv1.2_2021"
    ssl_support_method       = "sni-only"
  }

  origin {
    origin_id   = "url"
    domain_name = split("/", var.endpoint)[2]

    custom_origin_config {
      http_port                = 80
      https_port               = 443
      origin_protocol_policy   = "https-only"
      origin_ssl_protocols     = ["TLSv1.2"]
      origin_read_timeout      = 35 # longer than the function's timeout
      origin_keepalive_timeout = 60
    }

    custom_header {
      name  = "X-Edgetable-Forward-Secret"
      value = data.aws_secretsmanager_secret_version.forward.secret_string
    }
  }

  default_cache_behavior {
    target_origin_id       = "url"
    viewer_protocol_policy = "https-only"
    allowed_methods        = ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"]
    cached_methods         = ["GET", "HEAD"]
    compress               = false
    # Managed policies, with the same ids in every account: CachingDisabled, and AllViewerExceptHostHeader,
    # because a Function URL answers 403 to another host name.
    cache_policy_id          = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
    origin_request_policy_id = "b689b0a8-53d0-40ab-baf2-68738e2966ac"

    function_association {
      event_type   = "viewer-request"
      function_arn = aws_cloudfront_function.forward.arn
    }
  }

  # By default, CloudFront caches errors for ten seconds, so a client could get a 404 even after it has inserted the
  # entity.
  dynamic "custom_error_response" {
    for_each = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]
    content {
      error_code            = custom_error_response.value
      error_caching_min_ttl = 0
    }
  }

  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
}
