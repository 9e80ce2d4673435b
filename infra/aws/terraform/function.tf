data "aws_iam_policy_document" "lambda" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}

resource "aws_cloudwatch_log_group" "requests" {
  name              = "/edgetable/${var.name}/requests"
  retention_in_days = var.log_retention
  kms_key_id        = var.kms_key_arn
}

data "aws_iam_policy_document" "requests" {
  statement {
    sid       = "Log" # streams of the log group
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.requests.arn}:*"]
  }

  dynamic "statement" {
    for_each = var.accounts_secret_arn[*]
    content {
      sid       = "Accounts"
      actions   = ["secretsmanager:GetSecretValue"]
      resources = [statement.value]
    }
  }

  dynamic "statement" {
    for_each = var.accounts_parameter[*]
    content {
      sid       = "Accounts"
      actions   = ["ssm:GetParameter"]
      resources = ["${local.arn.ssm}:parameter${statement.value}"]
    }
  }

  dynamic "statement" {
    for_each = var.forward_secret_arn[*]
    content {
      sid       = "Forward"
      actions   = ["secretsmanager:GetSecretValue"]
      resources = [statement.value]
    }
  }

  dynamic "statement" {
    for_each = var.kms_key_arn[*]
    content {
      sid       = "AccountsKey"
      actions   = ["kms:Decrypt"]
      resources = [statement.value]
      condition {
        test     = "StringEquals"
        variable = "kms:ViaService"
        values = [
          for service in ["secretsmanager", "ssm"] :
          "${service}.${data.aws_region.this.region}.${data.aws_partition.this.dns_suffix}"
        ]
      }
    }
  }
}

resource "aws_iam_role" "requests" {
  name_prefix        = "${substr(var.name, 0, 28)}-requests-"
  assume_role_policy = data.aws_iam_policy_document.lambda.json
}

resource "aws_iam_role_policy" "requests" {
  name   = "requests"
  role   = aws_iam_role.requests.id
  policy = data.aws_iam_policy_document.requests.json
}

resource "aws_iam_role_policy_attachment" "requests" {
  role       = aws_iam_role.requests.name
  policy_arn = aws_iam_policy.table.arn
}

resource "aws_lambda_function" "requests" {
  function_name    = var.name
  description      = "edgetable, serves the table protocol"
  architectures    = ["arm64"]
  runtime          = "provided.al2023"
  handler          = "bootstrap"
  filename         = var.code
  source_code_hash = filebase64sha256(var.code)
  memory_size      = var.memory
  timeout          = 30 # the service's timeout of a request
  role             = aws_iam_role.requests.arn

  reserved_concurrent_executions = var.concurrency == 0 ? -1 : var.concurrency

  logging_config {
    log_group  = aws_cloudwatch_log_group.requests.name
    log_format = "Text" # the function writes complete lines, including metrics
  }

  environment {
    variables = merge(
      {
        EDGETABLE_DYNAMODB_TABLE = local.table
        EDGETABLE_ROLE           = var.role
        EDGETABLE_BUCKETS        = tostring(var.buckets)
        EDGETABLE_SCANNED_BYTES  = tostring(var.scanned_bytes)
        EDGETABLE_STREAMING      = tostring(var.streaming)
        EDGETABLE_EXTENSIONS     = tostring(var.extensions)
        EDGETABLE_LEASE          = var.lease
        EDGETABLE_METRICS        = local.metrics
      },
      var.oidc_issuer == null ? {} : {
        EDGETABLE_OIDC_ISSUER    = var.oidc_issuer
        EDGETABLE_OIDC_AUDIENCES = var.oidc_audiences
      },
      var.accounts_secret_arn == null ? {} : { EDGETABLE_ACCOUNTS_SECRET = var.accounts_secret_arn },
      var.accounts_parameter == null ? {} : { EDGETABLE_ACCOUNTS_PARAMETER = var.accounts_parameter },
      var.forward_secret_arn == null ? {} : { EDGETABLE_FORWARD_SECRET = var.forward_secret_arn },
    )
  }

  depends_on = [aws_iam_role_policy.requests, aws_iam_role_policy_attachment.requests]
}

# No cors here, because it would answer OPTIONS requests in place of the account's own rules.
resource "aws_lambda_function_url" "this" {
  function_name      = aws_lambda_function.requests.function_name
  authorization_type = "NONE" # requests are signed with an account key, not by an AWS user
  invoke_mode        = var.streaming ? "RESPONSE_STREAM" : "BUFFERED"
}

# A public URL requires both permissions and otherwise answers 403. The provider adds such statements when it creates
# the URL, but does not track them in the state. These resources do. The second permission is limited to the URL.
# Otherwise, anybody with an AWS account could invoke the function with forged events.
resource "aws_lambda_permission" "url" {
  statement_id           = "EdgetableUrl"
  action                 = "lambda:InvokeFunctionUrl"
  function_name          = aws_lambda_function.requests.function_name
  function_url_auth_type = "NONE"
  principal              = "*"
}

resource "aws_lambda_permission" "url_invoke" {
  statement_id             = "EdgetableUrlInvoke"
  action                   = "lambda:InvokeFunction"
  function_name            = aws_lambda_function.requests.function_name
  invoked_via_function_url = true
  principal                = "*"
}
