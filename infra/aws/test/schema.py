"""Arguments of the AWS provider's resources, read from the generated bindings that the npm registry has of it.

The provider itself comes from Terraform's own registry alone. Its bindings are written by a program, so that their
text is regular: names as HCL has them in the JavaScript, what is required in the declarations beside it.
"""

import re
import tarfile


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def read(package, kinds):
    """The schemas of kinds, pairs of the section, resource or data, and the name. The package is read once, in its order."""
    folders = {
        f"package/lib/{('data_' + kind if section == 'data' else kind.removeprefix('aws_')).replace('_', '-')}": (section, kind)
        for section, kind in kinds
    }
    texts = {}
    with tarfile.open(package, "r|gz") as tar:
        for member in tar:
            folder, _, file = member.name.rpartition("/")
            if folder in folders and file in ("index.js", "index.d.ts"):
                texts[folder, file] = tar.extractfile(member).read().decode()
    return {kind: Resource(texts[folder, "index.js"], texts[folder, "index.d.ts"]) for folder, kind in folders.items()}


class Resource:
    def __init__(self, code, declarations):
        self.arguments = {}  # of a block, by the name of the function that writes it; "" is the resource
        own = re.search(r"synthesizeAttributes\(\) \{\s*return \{(.*?)\n        \};", code, re.S)
        self.arguments[""] = self._entries(own[1])
        for function, body in re.findall(r"\nfunction (\w+)ToTerraform\(struct\) \{.*?return \{(.*?)\n    \};?\n\}", code, re.S):
            self.arguments[function] = self._entries(body)
        self.required = {}
        for interface, body in re.findall(r"export interface (\w+)(?: extends [\w.]+)? \{(.*?)\n\}", declarations, re.S):
            self.required[interface] = set(re.findall(r"readonly (\w+): ", body))
        self.readable = set(re.findall(r"get (\w+)\(\)", declarations))
        self.config = re.search(r"config\??: (\w+Config)\b", declarations)[1]

    def _entries(self, body):
        """Names, and of blocks the function that writes them."""
        pairs = re.findall(r"\n\s+(\w+): (.*),", "\n" + body)
        return {name: next(iter(re.findall(r"(?<![\w.])(\w+)ToTerraform", value)), None) for name, value in pairs}

    def needs(self, block):
        interface = self.config if block == "" else block[0].upper() + block[1:]
        return self.required.get(interface, set())
