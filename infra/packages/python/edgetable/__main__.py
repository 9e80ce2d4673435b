import os
import subprocess
import sys

from ._program import program

if os.name == "nt":
    sys.exit(subprocess.call([program(), *sys.argv[1:]]))
path = program()
os.execv(path, [path, *sys.argv[1:]])
