#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A strict double of kubectl for tests of collection. It knows two commands with the options that kubectl documents,
refuses everything else with kubectl's words, and runs what is executed in a pod on a host of hosts.py.

PODS (environment): JSON, {"pod": {"namespace", "labels", "phase", "containers": {name: pid of process 1}}}
"""
import json
import os
import sys

JSONPATH = 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}'


def die(text, code=1):
    print(text, file=sys.stderr)
    sys.exit(code)


def options(words, known):
    """Options of a command up to "--"; values with "=" or as the next word."""
    found, rest = {}, []
    while words:
        word = words.pop(0)
        if word == "--":
            return found, rest, words
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            rest.append(word)
        elif name not in known:
            die(f"error: unknown flag: {name}")
        elif known[name] is bool:
            found[name] = True
        else:
            found[name] = value if equals else words.pop(0) if words else die(f"error: flag needs an argument: {name}")
    return found, rest, []


def get(words, pods):
    flags, rest, _ = options(words, {"--namespace": str, "--output": str, "--selector": str, "--field-selector": str})
    if rest != ["pods"] or flags.get("--output") != JSONPATH:
        die("error: the server doesn't have a resource type or the template is not the one of the test")
    wanted = dict(part.split("=", 1) for part in flags.get("--selector", "").split(",") if part)
    for name, pod in pods.items():
        fits = pod["namespace"] == flags["--namespace"] and wanted.items() <= pod["labels"].items()
        if fits and ("--field-selector" not in flags or flags["--field-selector"] == f"status.phase={pod['phase']}"):
            print(name)


def execute(words, pods):
    flags, rest, command = options(words, {"--namespace": str, "--container": str, "-i": bool})
    if len(rest) != 1 or not command:
        die("error: you must specify at least one command for the container")
    pod = pods.get(rest[0])
    if not pod or pod["namespace"] != flags.get("--namespace") or pod.get("gone"):
        die(f'Error from server (NotFound): pods "{rest[0]}" not found')
    container = flags.get("--container") or next(iter(pod["containers"]))
    if container not in pod["containers"]:
        die(f"Error from server (BadRequest): container {container} is not valid for pod {rest[0]}")
    os.execvp("nsenter", ["nsenter", "-t", str(pod["containers"][container]), "-a", *command])


def main():
    pods = json.loads(os.environ["PODS"])
    words = sys.argv[1:]
    verbs = {"get": get, "exec": execute}
    if not words or words[0] not in verbs:
        die(f'error: unknown command "{words[0] if words else ""}" for "kubectl"')
    verbs[words[0]](words[1:], pods)


main()
