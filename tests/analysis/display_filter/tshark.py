# SPDX-License-Identifier: MIT
"""What tshark finds with display filters: many filters in one run, by taps of a Lua script."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

TAPS = """
local number = 0
for line in io.lines(os.getenv("FILTERS")) do
  number = number + 1
  local here = number
  local made, tap = pcall(Listener.new, "frame", line)
  if made then
    function tap.packet(pinfo) print("hit " .. here .. " " .. pinfo.number) end
  else
    print("refused " .. here .. " 0")
  end
end
"""
# Wireshark puts what it reassembles at the last fragment; a filter here sees each packet alone.
ALONE = ("ip.defragment", "ipv6.defragment", "tcp.desegment_tcp_streams")


def tshark_finds(
    capture: Path, filters: Sequence[str], folder: Path, preferences: Sequence[str] = ()
) -> list[list[int]]:
    """Return for each filter the numbers of the frames that pass, rising."""
    script, listed = folder / "taps.lua", folder / "filters"
    script.write_text(TAPS)
    listed.write_text("".join(f"{text}\n" for text in filters))
    preferences = [f"{name}:FALSE" for name in ALONE] + list(preferences)
    options = [word for name in preferences for word in ("-o", name)]
    command = ["tshark", "-n", "-q", "-X", f"lua_script:{script}", *options, "-r", str(capture)]
    environment = os.environ | {"FILTERS": str(listed), "TZ": "UTC", "HOME": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: list[set[int]] = [set() for _ in filters]
    for line in done.stdout.splitlines():
        word, number, frame = line.split()
        assert word == "hit", f"tshark refuses {filters[int(number) - 1]}: {done.stderr}"
        found[int(number) - 1].add(int(frame))
    return [sorted(frames) for frames in found]
