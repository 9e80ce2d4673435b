locals {
  serving = { FunctionName = aws_lambda_function.requests.function_name }

  # sums over five minutes
  counts = {
    # ended without a response: out of time, out of memory, or a panic
    errors = { namespace = "AWS/Lambda", dimensions = local.serving, metric = "Errors", threshold = 1, periods = 1 }
    # more concurrent requests than the reserved concurrency
    throttles = { namespace = "AWS/Lambda", dimensions = local.serving, metric = "Throttles", threshold = 1, periods = 1 }
    # Lambda does not count error responses of the function, so the function counts them itself. With 503, it asks
    # clients to retry, because DynamoDB throttles or is unavailable, or the accounts cannot be read.
    busy = { namespace = local.metrics, dimensions = {}, metric = "Busy", threshold = 10, periods = 2 }
    # Any other 5xx is a fault of edgetable or of its permissions. The log contains the cause.
    faults = { namespace = local.metrics, dimensions = {}, metric = "Faults", threshold = 1, periods = 1 }
  }
}

resource "aws_cloudwatch_metric_alarm" "counts" {
  for_each = local.counts

  alarm_name          = "${var.name}-${each.key}"
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = each.value.dimensions
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = each.value.periods
  threshold           = each.value.threshold
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arn[*]
}

resource "aws_cloudwatch_metric_alarm" "duration" {
  alarm_name          = "${var.name}-duration"
  alarm_description   = "One request in a hundred takes longer than it should."
  namespace           = "AWS/Lambda"
  metric_name         = "Duration"
  dimensions          = local.serving
  extended_statistic  = "p99"
  period              = 300
  evaluation_periods  = 3
  threshold           = var.alarm_duration
  comparison_operator = "GreaterThanThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arn[*]
}

# ThrottledRequests exists only by operation, so the alarm adds two metrics that exist for the table.
resource "aws_cloudwatch_metric_alarm" "table" {
  alarm_name          = "${var.name}-table"
  alarm_description   = "DynamoDB throttles the table: see EdgetableDynamoDBBusy in docs/runbook.md."
  evaluation_periods  = 2
  threshold           = 10
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arn[*]

  metric_query {
    id          = "throttled"
    expression  = "FILL(reads, 0) + FILL(writes, 0)"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = { reads = "ReadThrottleEvents", writes = "WriteThrottleEvents" }
    content {
      id          = metric_query.key
      return_data = false
      metric {
        namespace   = "AWS/DynamoDB"
        metric_name = metric_query.value
        dimensions  = { TableName = local.table }
        period      = 300
        stat        = "Sum"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "purge" {
  alarm_name          = "${var.name}-purge"
  alarm_description   = "Three purges or heartbeats of edgetable failed in an hour."
  namespace           = "AWS/Lambda"
  metric_name         = "Errors"
  dimensions          = { FunctionName = aws_lambda_function.purge.function_name }
  statistic           = "Sum"
  period              = 3600
  evaluation_periods  = 1
  threshold           = 3
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arn[*]
}
