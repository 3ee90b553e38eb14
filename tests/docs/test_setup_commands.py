"""CI runs the commands of the README unchanged."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALL = "python3.11 -m venv .venv && .venv/bin/medsim build hpo -o hpo"
CHECK = "python3.11 -m venv .venv && .venv/bin/just check"


def block(*lines: str) -> str:
    return "\n".join(["<!-- setup commands -->", "```sh", *lines, "```", "<!-- end -->", ""])


def setup_commands(readme: Path) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(ROOT / ".ci" / "setup-commands"), str(readme)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_readme_has_a_command_to_start_with_and_one_for_developers() -> None:
    run = setup_commands(ROOT / "README.md")

    assert run.returncode == 0, run.stderr
    install, check = run.stdout.splitlines()
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert {install, check} <= set(readme)
    assert install.endswith(".venv/bin/medsim build hpo -o hpo")
    assert check.endswith(".venv/bin/just check")


def test_other_blocks_of_code_are_no_setup_commands(tmp_path: Path) -> None:
    other = "```sh\npython3.11 -m this\n```\n"
    readme = tmp_path / "README.md"
    readme.write_text(f"{other}{block(INSTALL)}text\n{other}{block(CHECK)}{other}")

    assert setup_commands(readme).stdout == f"{INSTALL}\n{CHECK}\n"
