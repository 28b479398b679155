"""behave.py HPAR PAGE: how a page, decoded to UTF-8, behaves when it is parsed, as JSON."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
loader = importlib.machinery.SourceFileLoader("measure_profile", os.path.join(root, "scripts", "measure-profile"))
spec = importlib.util.spec_from_loader("measure_profile", loader)
profile = importlib.util.module_from_spec(spec)
loader.exec_module(profile)

hpar, path = sys.argv[1:]
with open(path, "rb") as file:
    text = profile.decoded(file.read())
with tempfile.NamedTemporaryFile(suffix=".html") as page:
    page.write(text.encode())
    page.flush()

    def run(*words):
        done = subprocess.run([hpar, *words, "--encoding", "utf-8", page.name], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)
    chunks = run("explain", "--json", "--chunks", "16")["chunks"][1:]
    runs = run("compare", "--json", "--threads", "1", "--repeat", "15")["pages"][0]["modes"]["sequential"]
stats = runs["stats"]
entries = sum(sum(chunk["log_entries"].values()) for chunk in chunks)
print(json.dumps({"clean": 100 * sum(chunk["outcome"] == "clean" for chunk in chunks) / len(chunks),
                  "log": 1000 * entries / stats["tokens"],
                  "speed": stats["bytes"] * 1e3 / runs["ns_min"], "tokens": stats["tokens"], "bytes": stats["bytes"],
                  "ns_min": runs["ns_min"]}))
