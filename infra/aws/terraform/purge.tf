# The same program without a URL and without accounts.

resource "aws_cloudwatch_log_group" "purge" {
  name              = "/edgetable/${var.name}/purge"
  retention_in_days = var.log_retention
  kms_key_id        = var.kms_key_arn
}

data "aws_iam_policy_document" "purge" {
  statement {
    sid       = "Log" # streams of the log group
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.purge.arn}:*"]
  }
}

resource "aws_iam_role" "purge" {
  name_prefix        = "${substr(var.name, 0, 28)}-purge-"
  assume_role_policy = data.aws_iam_policy_document.lambda.json
}

resource "aws_iam_role_policy" "purge" {
  name   = "purge"
  role   = aws_iam_role.purge.id
  policy = data.aws_iam_policy_document.purge.json
}

resource "aws_iam_role_policy_attachment" "purge" {
  role       = aws_iam_role.purge.name
  policy_arn = aws_iam_policy.table.arn
}

resource "aws_lambda_function" "purge" {
  function_name    = "${var.name}-purge"
  description      = "edgetable, removes what deleted tables left, and writes heartbeats"
  architectures    = ["arm64"]
  runtime          = "provided.al2023"
  handler          = "bootstrap"
  filename         = var.code
  source_code_hash = filebase64sha256(var.code)
  memory_size      = 256
  timeout          = 840 # shorter than the schedule of 15 minutes, so that runs do not overlap; the next run resumes
  role             = aws_iam_role.purge.arn

  reserved_concurrent_executions = var.concurrency == 0 ? -1 : 2 # one purge and one heartbeat

  logging_config {
    log_group  = aws_cloudwatch_log_group.purge.name
    log_format = "Text"
  }

  environment {
    variables = {
      EDGETABLE_DYNAMODB_TABLE = local.table
      EDGETABLE_ROLE           = var.role
      EDGETABLE_LEASE          = var.lease # all functions and servers on a table need the same lease
    }
  }

  depends_on = [aws_iam_role_policy.purge, aws_iam_role_policy_attachment.purge]
}

# No retries: the next run does the work.
resource "aws_lambda_function_event_invoke_config" "purge" {
  function_name                = aws_lambda_function.purge.function_name
  maximum_retry_attempts       = 0
  maximum_event_age_in_seconds = 60
}

resource "aws_cloudwatch_event_rule" "purge" {
  name_prefix         = "${substr(var.name, 0, 28)}-purge-"
  description         = "Starts the purge of edgetable"
  schedule_expression = var.purge_schedule
}

resource "aws_cloudwatch_event_target" "purge" {
  rule  = aws_cloudwatch_event_rule.purge.name
  arn   = aws_lambda_function.purge.arn
  input = jsonencode({ purge = true })
}

resource "aws_lambda_permission" "purge" {
  statement_id  = "EdgetablePurge"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.purge.function_name
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.purge.arn
}

# A primary writes heartbeats, from which a secondary computes its age. A secondary checks its age, so that the alarm
# of the purge covers it too.
resource "aws_cloudwatch_event_rule" "heartbeat" {
  name_prefix         = "${substr(var.name, 0, 28)}-heartbeat-"
  description         = "Starts the heartbeat of edgetable"
  schedule_expression = "rate(1 minute)"
  state               = var.role == "alone" ? "DISABLED" : "ENABLED"
}

resource "aws_cloudwatch_event_target" "heartbeat" {
  rule  = aws_cloudwatch_event_rule.heartbeat.name
  arn   = aws_lambda_function.purge.arn
  input = jsonencode({ heartbeat = true })
}

resource "aws_lambda_permission" "heartbeat" {
  statement_id  = "EdgetableHeartbeat"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.purge.function_name
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.heartbeat.arn
}
