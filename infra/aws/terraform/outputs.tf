output "endpoint" {
  description = "The Function URL. A TableEndpoint is this with the account's name after it."
  value       = aws_lambda_function_url.this.function_url
}

output "table_name" {
  description = "The table of this module."
  value       = aws_dynamodb_table.this.name
}

output "request_log_group" {
  description = "Log group of the function that serves."
  value       = aws_cloudwatch_log_group.requests.name
}

output "purge_function" {
  description = "Name of the function that purges."
  value       = aws_lambda_function.purge.function_name
}
