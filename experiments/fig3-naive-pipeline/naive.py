"""naive.py HPAR PAGE: the tokens of a page from a tokenizer that is left alone, and the right ones, as JSON."""
import json
import re
import subprocess
import sys
import tempfile

# Table II, and where the text behind the tag ends.
STATES = {"title": "RCDATA", "textarea": "RCDATA", "style": "RAWTEXT", "xmp": "RAWTEXT", "iframe": "RAWTEXT", "noembed": "RAWTEXT",
          "noframes": "RAWTEXT", "script": "Script data"}

hpar, path = sys.argv[1:]
with open(path, "rb") as file:
    text = file.read().decode("latin-1")


def tokens(part, state="Data", last=None):
    """Of part of the page; runs of characters are one token."""
    with tempfile.NamedTemporaryFile("w", encoding="latin-1", newline="") as file:
        file.write(part)
        file.flush()
        command = [hpar, "tokens", "--state", state, "--encoding", "latin1", file.name]
        if last:
            command[2:2] = ["--last-start-tag", last]
        output = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["tokens"]
    return [token for token in output if token[0] != "Character" or token[1].strip()]


def shown(token):
    return {"Character": lambda: "text", "StartTag": lambda: f"<{token[1]}>", "EndTag": lambda: f"</{token[1]}>",
            "Comment": lambda: "comment"}.get(token[0], lambda: token[0])()


TAG = re.compile(r"<!--.*?-->|<(/?)([A-Za-z][^\s/>]*)(?:[^>\"']|\"[^\"]*\"|'[^']*')*>", re.S)
parts, at = [], 0
while match := TAG.search(text, at):
    at = match.end()
    name = (match[2] or "").lower()
    if match[1] or name not in STATES:
        continue
    close = re.compile(rf"</{name}[\s/>]", re.I).search(text, at)
    stop = close.start() if close else len(text)
    body = text[at:stop]
    right, naive = tokens(body, STATES[name], name), tokens(body)
    parts.append({"behind": name, "offset": at, "right": len(right), "naive": len(naive), "differs": right != naive,
                  "shown": [shown(token) for token in naive][:12] if right != naive else []})
    at = stop
alone = tokens(text)
right = len(alone) + sum(part["right"] - part["naive"] for part in parts)
print(json.dumps({"naive": len(alone), "right": right, "parts": parts}))
