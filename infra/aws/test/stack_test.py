"""The template packaged by SAM, and its stack created on a moto server.

moto has no SAM transform, no rules, and leaves AWS::NoValue in lists: the stack is made of a rendering. The resources that
its CloudFormation does not know are created by the calls that CloudFormation would make, with the same properties.
"""

import ast
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import zipfile
from io import BytesIO
from pathlib import Path

import boto3

from rendering import AWS, Rendering, load
from template_test import ROW_ACTIONS, SECRET

BIN = Path(sys.executable).parent
CACHE = AWS.parents[1] / ".cache"
BOOTSTRAP = AWS.parents[1] / "bin/lambda/bootstrap"
MISSING = {"AWS::Lambda::Url", "AWS::Lambda::EventInvokeConfig", "AWS::CloudWatch::Alarm"}  # in moto's CloudFormation
REGION = "eu-north-1"


def start(env):
    """A moto server on a free port of loopback."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open(CACHE / "moto.log", "w") as log:
        server = subprocess.Popen([BIN / "moto_server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log, env=env)
    url = f"http://127.0.0.1:{port}"
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(url + "/moto-api/", timeout=5).close()
            return server, url
        except urllib.error.URLError:
            if server.poll() is not None or time.monotonic() > end:
                server.kill()
                raise RuntimeError("moto did not start:\n" + (CACHE / "moto.log").read_text()) from None
            time.sleep(0.1)


class Stack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BOOTSTRAP.exists():
            raise FileNotFoundError(f"{BOOTSTRAP}: build the function first, 'make lambda'")
        env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")} | {
            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true", "SAM_CLI_TELEMETRY": "0", "NO_PROXY": "127.0.0.1",
        }
        server, url = start(env)
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.terminate)
        session = boto3.Session("test", "test", region_name=REGION)
        cls.aws = staticmethod(lambda service: session.client(service, endpoint_url=url))

        cls.aws("s3").create_bucket(Bucket="code", CreateBucketConfiguration={"LocationConstraint": REGION})
        with tempfile.TemporaryDirectory() as folder:
            packaged = Path(folder, "packaged.yaml")
            subprocess.run(
                [BIN / "sam", "package", "--template-file", AWS / "template.yaml", "--s3-bucket", "code", "--output-template-file", packaged],
                env=env | {"AWS_ENDPOINT_URL": url, "HOME": folder}, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300)
            lint = subprocess.run([BIN / "cfn-lint", packaged], capture_output=True, text=True)
            if lint.returncode:
                raise AssertionError(lint.stdout)
            cls.rendering = Rendering(load(packaged), AccountsSecretArn=SECRET, AlarmTopicArn="arn:aws:sns:eu-north-1:123456789012:alarms")
        plain = json.loads(json.dumps(cls.rendering.template))
        plain["Resources"] = {n: r for n, r in plain["Resources"].items() if r["Type"] not in MISSING}
        del plain["Outputs"]["Endpoint"]
        cls.stack = "tables"
        cf = cls.aws("cloudformation")
        cf.create_stack(
            StackName=cls.stack, TemplateBody=json.dumps(plain), Capabilities=["CAPABILITY_IAM"],
            Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in cls.rendering.parameters.items()])
        cf.get_waiter("stack_create_complete").wait(StackName=cls.stack)
        cls.plain = plain
        cls.physical = {r["LogicalResourceId"]: r["PhysicalResourceId"] for r in cf.list_stack_resources(StackName=cls.stack)["StackResourceSummaries"]}

    def resolve(self, value):
        """Refs and function ARNs that stand for made resources."""
        if isinstance(value, dict):
            if "Ref" in value:
                return self.physical.get(value["Ref"]) or self.rendering.parameters[value["Ref"]]
            if value.get("Fn::GetAtt") == ["Function", "Arn"]:
                return self.function("Function")["FunctionArn"]
            return {k: self.resolve(v) for k, v in value.items()}
        return [self.resolve(v) for v in value] if isinstance(value, list) else value

    def function(self, name):
        return self.aws("lambda").get_function(FunctionName=self.physical[name])["Configuration"]

    def test_everything_is_made(self):
        self.assertEqual(set(self.physical), set(self.plain["Resources"]))
        self.assertEqual({r["Type"] for r in self.rendering.resources.values()} & MISSING, MISSING)
        (stack,) = self.aws("cloudformation").describe_stacks(StackName=self.stack)["Stacks"]
        self.assertEqual(stack["StackStatus"], "CREATE_COMPLETE")
        outputs = {o["OutputKey"]: o["OutputValue"] for o in stack["Outputs"]}
        self.assertEqual(outputs["TableName"], self.physical["Table"])

    def test_table(self):
        db, name = self.aws("dynamodb"), self.physical["Table"]
        table = db.describe_table(TableName=name)["Table"]
        self.assertEqual([(k["AttributeName"], k["KeyType"]) for k in table["KeySchema"]], [(".p", "HASH"), (".s", "RANGE")])
        self.assertEqual({a["AttributeType"] for a in table["AttributeDefinitions"]}, {"B"})
        self.assertIs(table["DeletionProtectionEnabled"], True)
        self.assertEqual(table["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
        with self.assertRaises(db.exceptions.ClientError):
            db.delete_table(TableName=name)
        # an item as the store writes them
        key = {".p": {"B": b"\x01"}, ".s": {"B": b"\x02"}}
        db.put_item(TableName=name, Item=key | {".x": {"N": "1"}})
        self.assertEqual(db.get_item(TableName=name, Key=key)["Item"][".x"], {"N": "1"})

    def test_functions(self):
        for name, memory, timeout, concurrency in (("Function", 512, 30, 50), ("Purge", 256, 840, 1)):
            f = self.function(name)
            self.assertEqual((f["Runtime"], f["Handler"], f["MemorySize"], f["Timeout"]), ("provided.al2023", "bootstrap", memory, timeout))
            reserved = self.aws("lambda").get_function_concurrency(FunctionName=f["FunctionName"])
            self.assertEqual(int(reserved["ReservedConcurrentExecutions"]), concurrency)
        env = self.function("Function")["Environment"]["Variables"]
        self.assertEqual({k: str(v) for k, v in env.items()}, {  # moto leaves numbers what they are
            "EDGETABLE_DYNAMODB_TABLE": self.physical["Table"], "EDGETABLE_BUCKETS": "8", "EDGETABLE_SCANNED_BYTES": "8388608",
            "EDGETABLE_STREAMING": "false", "EDGETABLE_ACCOUNTS_SECRET": SECRET})

    def test_code_is_the_bootstrap(self):
        code = self.rendering.properties("Function")["Code"]
        packaged = zipfile.ZipFile(BytesIO(self.aws("s3").get_object(Bucket=code["S3Bucket"], Key=code["S3Key"])["Body"].read()))
        self.assertEqual(packaged.namelist(), ["bootstrap"])
        (bootstrap,) = packaged.infolist()
        self.assertTrue(bootstrap.external_attr >> 16 & 0o100, "bootstrap is not executable in the package")
        elf = packaged.read("bootstrap")[:20]
        self.assertEqual((elf[:4], elf[18]), (b"\x7fELF", 0xB7), "bootstrap is no program for arm64")

    def test_url_is_public_by_both_permissions(self):
        policy = json.loads(self.aws("lambda").get_policy(FunctionName=self.physical["Function"])["Policy"])
        actions = {s["Action"] for s in policy["Statement"] if "*" in json.dumps(s["Principal"])}
        self.assertEqual(actions, {"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"})
        purge = json.loads(self.aws("lambda").get_policy(FunctionName=self.physical["Purge"])["Policy"])
        self.assertEqual([s["Principal"] for s in purge["Statement"]], [{"Service": "events.amazonaws.com"}])

    def test_url_itself(self):
        properties = self.resolve(self.rendering.properties("Url"))
        properties["FunctionName"] = properties.pop("TargetFunctionArn")
        made = self.aws("lambda").create_function_url_config(**properties)
        self.assertEqual(made["AuthType"], "NONE")
        self.assertRegex(made["FunctionUrl"], "^https://.+")

    def test_roles(self):
        iam = self.aws("iam")
        for name in ("RequestRole", "PurgeRole"):
            (policy,) = iam.list_attached_role_policies(RoleName=self.physical[name])["AttachedPolicies"]
            version = iam.get_policy(PolicyArn=policy["PolicyArn"])["Policy"]["DefaultVersionId"]
            (rows,) = iam.get_policy_version(PolicyArn=policy["PolicyArn"], VersionId=version)["PolicyVersion"]["Document"]["Statement"]
            self.assertEqual({a.removeprefix("dynamodb:") for a in rows["Action"]}, ROW_ACTIONS)
            self.assertTrue(rows["Resource"].endswith(":table/" + self.physical["Table"]), rows["Resource"])
        inline = iam.get_role_policy(RoleName=self.physical["RequestRole"], PolicyName="requests")["PolicyDocument"]
        inline = ast.literal_eval(inline)  # moto prints it as Python does
        accounts = [s for s in inline["Statement"] if s["Sid"] == "Accounts"]
        self.assertEqual([(s["Action"], s["Resource"]) for s in accounts], [("secretsmanager:GetSecretValue", SECRET)])

    def test_purge_rule(self):
        events, name = self.aws("events"), self.physical["PurgeRule"]
        self.assertEqual(events.describe_rule(Name=name)["ScheduleExpression"], "rate(15 minutes)")
        (target,) = events.list_targets_by_rule(Rule=name)["Targets"]
        self.assertEqual(target["Arn"], self.function("Purge")["FunctionArn"])
        self.assertEqual(json.loads(target["Input"]), {"purge": True})
        properties = self.resolve(self.rendering.properties("PurgeOnce"))
        self.aws("lambda").put_function_event_invoke_config(**properties)

    def test_logs_end(self):
        groups = {g["logGroupName"]: g.get("retentionInDays") for g in self.aws("logs").describe_log_groups()["logGroups"]}
        self.assertEqual(groups, {"/edgetable/tables/requests": 30, "/edgetable/tables/purge": 30})

    def test_alarms(self):
        cw = self.aws("cloudwatch")
        alarms = self.rendering.of_type("AWS::CloudWatch::Alarm")
        for name, properties in alarms.items():
            properties = self.resolve(properties)
            cw.put_metric_alarm(AlarmName=name, **properties | {k: float(properties[k]) for k in ("Threshold",)})
        made = {a["AlarmName"]: a for a in cw.describe_alarms()["MetricAlarms"]}
        self.assertEqual(set(made), set(alarms))
        self.assertEqual(made["ErrorsAlarm"]["Dimensions"], [{"Name": "FunctionName", "Value": self.physical["Function"]}])


if __name__ == "__main__":
    unittest.main()
