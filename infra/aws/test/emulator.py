"""A moto server with what its CloudFormation lacks, so that `sam deploy` creates the whole stack on it.

Function URLs, retry settings and alarms it knows, but not in templates: here they are made by the calls that CloudFormation
makes. Its change sets make resources without the outputs, and AWS::NoValue stays in lists.
"""

import boto3
from moto.cloudformation import parsing
from moto.cloudformation.models import ChangeSet
from moto.core.common_models import CloudFormationModel
from moto.moto_server.threaded_moto_server import ThreadedMotoServer


def start():
    """The server, on a free port of loopback, and its URL. The name localhost has moto find templates in buckets."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    Made.url = f"http://localhost:{server.get_host_and_port()[1]}"
    return server, Made.url


class Made:
    """A resource that a call has made, whose answer has its attributes."""

    url = None

    def __init__(self, name, answer):
        self.physical_resource_id, self.answer = name, answer

    def get_cfn_attribute(self, name):
        return self.answer[name]

    def is_created(self):
        return True


def makes(kind, service):
    """Decorates a function that makes a resource of a kind: it takes the service's client, a name and the properties."""

    def decorate(make):
        class Model(CloudFormationModel):
            __module__ = "aws." + service

            @staticmethod
            def cloudformation_type():
                return kind

            @staticmethod
            def cloudformation_name_type():
                return ""

            @classmethod
            def has_cfn_attr(cls, attr):
                return True

            @classmethod
            def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_):
                client = boto3.client(
                    service, region_name=region_name, endpoint_url=Made.url, aws_access_key_id="test", aws_secret_access_key="test")
                return Made(resource_name, make(client, resource_name, cloudformation_json["Properties"]))

        KINDS.append(Model)  # moto knows it as a subclass, for as long as it is there

    return decorate


KINDS = []


@makes("AWS::Lambda::Url", "lambda")
def _(client, name, properties):
    return client.create_function_url_config(FunctionName=properties.pop("TargetFunctionArn"), **properties)


@makes("AWS::Lambda::EventInvokeConfig", "lambda")
def _(client, name, properties):
    return client.put_function_event_invoke_config(**properties)


@makes("AWS::CloudWatch::Alarm", "cloudwatch")
def _(client, name, properties):
    return client.put_metric_alarm(AlarmName=name, **properties)


def execute(change_set):
    stack = change_set.stack
    if change_set.change_set_type != "CREATE":
        stack.update(change_set.template, parameters=change_set.parameters)
        return
    stack.template, stack.parameters = change_set.template, change_set.parameters
    stack._parse_template()
    stack.resource_map = stack._create_resource_map()
    stack.output_map = stack._create_output_map()
    stack.create_resources()


def decide(value, resources, decide=parsing.clean_json):
    decided = decide(value, resources)
    return [v for v in decided if v is not None] if isinstance(decided, list) else decided


ChangeSet.apply = execute
parsing.clean_json = decide
