output "distribution_domain" {
  description = "What the CNAME of domain_name points to."
  value       = aws_cloudfront_distribution.this.domain_name
}
