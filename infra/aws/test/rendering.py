"""A CloudFormation template for one choice of parameters: conditions decided, !If and AWS::NoValue gone.

What depends on made resources (Ref, GetAtt, Sub) stays; a rendering is a plain template that CloudFormation takes.
"""

from pathlib import Path

from samcli.yamlhelper import yaml_parse

AWS = Path(__file__).resolve().parent.parent
NOTHING = {"Ref": "AWS::NoValue"}


def load(path):
    return yaml_parse(Path(path).read_text())


class Rendering:
    def __init__(self, template, **parameters):
        declared = template["Parameters"]
        unknown = parameters.keys() - declared.keys()
        if unknown:
            raise KeyError(f"parameters that the template does not have: {sorted(unknown)}")
        self.parameters = {name: str(parameters.get(name, p.get("Default"))) for name, p in declared.items()}
        self.conditions = template.get("Conditions", {})
        self.template = {k: v for k, v in template.items() if k not in ("Conditions", "Rules", "Metadata")}
        for section in ("Resources", "Outputs"):
            self.template[section] = {
                name: self._decide({k: v for k, v in entry.items() if k != "Condition"})
                for name, entry in template[section].items()
                if "Condition" not in entry or self._holds({"Condition": entry["Condition"]})
            }

    @property
    def resources(self):
        return self.template["Resources"]

    def properties(self, name):
        return self.resources[name]["Properties"]

    def of_type(self, kind):
        return {name: r["Properties"] for name, r in self.resources.items() if r["Type"] == kind}

    def statements(self, name):
        """The statements of a policy, or of the policies of a role."""
        properties = self.properties(name)
        documents = [p["PolicyDocument"] for p in properties.get("Policies", [])] or [properties["PolicyDocument"]]
        return [statement for document in documents for statement in document["Statement"]]

    def _holds(self, condition):
        ((function, arguments),) = condition.items()
        match function:
            case "Condition":
                return self._holds(self.conditions[arguments])
            case "Fn::Equals":
                left, right = (str(self.parameters[a["Ref"]] if isinstance(a, dict) else a) for a in arguments)
                return left == right
            case "Fn::Not":
                return not self._holds(arguments[0])
            case "Fn::And":
                return all(map(self._holds, arguments))
            case "Fn::Or":
                return any(map(self._holds, arguments))
        raise ValueError(f"{function} is not known")

    def _decide(self, value):
        if isinstance(value, dict):
            if "Fn::If" in value:
                name, yes, no = value["Fn::If"]
                return self._decide(yes if self._holds({"Condition": name}) else no)
            decided = {k: self._decide(v) for k, v in value.items()}
            return {k: v for k, v in decided.items() if v != NOTHING}
        if isinstance(value, list):
            return [v for v in map(self._decide, value) if v != NOTHING]
        return value


def assertions(template, **parameters):
    """What the template's rules say of the parameters: the descriptions of those that do not hold."""
    rendering = Rendering({**template, "Resources": {}, "Outputs": {}}, **parameters)
    return [
        assertion["AssertDescription"]
        for rule in template["Rules"].values()
        for assertion in rule["Assertions"]
        if not rendering._holds(assertion["Assert"])
    ]
