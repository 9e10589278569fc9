# SPDX-License-Identifier: Apache-2.0
"""Colour, width and characters on a terminal and in a pipe."""
import fcntl
import os
import pty
import struct
import subprocess
import termios

from harness import HOLTER, Case, environment, holter, main


def on_terminal(*arguments, columns=80, **variables):
    """What the program writes to a terminal of that width."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([HOLTER, *map(str, arguments)], stdout=child, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, env=environment(**variables))
    os.close(child)
    out = b""
    try:
        while chunk := os.read(parent, 65536):
            out += chunk
    except OSError:  # the other side is closed
        pass
    process.wait(timeout=60)
    os.close(parent)
    return out


class Terminal(Case):
    def test_colour_conventions(self):
        ask = ("diagnose", self.log)
        self.assertIn(b"\x1b[", on_terminal(*ask, TERM="xterm"))
        for variables in ({"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}):
            self.assertNotIn(b"\x1b", on_terminal(*ask, **variables))
        self.assertNotIn(b"\x1b", on_terminal(*ask, "--color=never", TERM="xterm"))
        self.assertNotIn(b"\x1b", holter(*ask).stdout)
        self.assertIn(b"\x1b[", holter(*ask, env=environment(CLICOLOR_FORCE="1")).stdout)
        self.assertIn(b"\x1b[", holter(*ask, "--color=always", env=environment(NO_COLOR="1")).stdout)
        self.assertNotIn(b"\x1b", holter(*ask, "--json", "--color=always").stdout)

    def test_ascii_unless_the_locale_is_utf8(self):
        holter("diagnose", self.log, "--full").stdout.decode("ascii")
        holter("diagnose", self.log, "--full", env=environment(LANG="C.UTF-8")).stdout.decode("utf-8")

    def test_the_first_screen_fits(self):
        text = on_terminal("diagnose", self.log, TERM="dumb").decode()
        self.assertLessEqual(len(text.splitlines()), 25)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_escape_sequences_of_a_log_never_reach_the_terminal(self):
        self.log.write_bytes(self.log.read_bytes().replace(b"shard-0007", b"\x1b]0;owned\x07\x1b[2J"))
        for flags in ((), ("--full",), ("-o", "md")):
            out = on_terminal("diagnose", self.log, *flags, TERM="dumb")
            self.assertNotIn(b"\x1b", out)
            self.assertNotIn(b"\x07", out)


if __name__ == "__main__":
    main()
