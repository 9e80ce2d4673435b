import os
import shutil
import sys
import sysconfig


def program() -> str:
    """Return the path of the program: that of EDGETABLE_BINARY, or else the one installed with this package."""
    if path := os.environ.get("EDGETABLE_BINARY"):
        return path
    name = "edgetable.exe" if os.name == "nt" else "edgetable"
    user = {"nt": "nt_user", "darwin": "osx_framework_user"}.get(os.name, "posix_user")
    places = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user), os.path.join(sys.prefix, "bin")]
    for place in places:
        path = os.path.join(place, name)
        if os.path.isfile(path):
            return path
    if path := shutil.which(name):
        return path
    raise FileNotFoundError(f"no {name} in {', '.join(places)}: install edgetable again, or set EDGETABLE_BINARY")
