"""Run a command and succeed only if it ends with the exit code that is expected of it.

Usage: expect_exit.py CODE COMMAND [ARGUMENT...]
"""

import subprocess
import sys


def main() -> int:
    """Return 0 if the command ended as expected."""
    expected, command = int(sys.argv[1]), sys.argv[2:]
    code = subprocess.run(command, check=False).returncode
    print(f"{' '.join(command)}: exit code {code}, {expected} expected", flush=True)
    return 0 if code == expected else 1


if __name__ == "__main__":
    sys.exit(main())
