"""trace.py HPAR PAGE: the time that headless Chromium spends in parsing a page from disk, and ours, as JSON."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

hpar, path = sys.argv[1:]
browser = shutil.which("chromium")


def trace():
    """(parsing, loading) in milliseconds on the main thread of the page's renderer."""
    with tempfile.TemporaryDirectory() as work:
        file = os.path.join(work, "trace.json")
        page = os.path.join(work, "page.html")
        shutil.copy(path, page)
        os.chmod(page, 0o644)
        process = subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={work}/user",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--disable-component-update", "--timeout=8000",
             "--virtual-time-budget=4000", f"--trace-startup=devtools.timeline,blink.user_timing,loading,navigation", f"--trace-startup-file={file}",
             "--trace-startup-format=json", "--trace-startup-duration=0", "--dump-dom", f"file://{page}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
        with open(file, encoding="utf-8", errors="replace") as text:
            events = json.load(text)
    events = events["traceEvents"] if isinstance(events, dict) else events
    parsing = [event for event in events if event["name"] == "ParseHTML" and event["ph"] == "X"]
    if not parsing:
        sys.exit("no ParseHTML in the trace")
    inside = [event for event in events if event["name"] in ("EvaluateScript", "FunctionCall", "v8.compile", "Layout", "UpdateLayoutTree",
                                                              "ParseAuthorStyleSheet") and event["ph"] == "X"]
    total = 0
    # Where ParseHTML stands in another one (a fragment that a script sets), the outer one has it. The same for what is in it.
    for event in outermost(parsing):
        total += event["dur"]
        total -= sum(part["dur"] for part in outermost(inside) if part["tid"] == event["tid"] and part["pid"] == event["pid"]
                     and event["ts"] <= part["ts"] and part["ts"] + part["dur"] <= event["ts"] + event["dur"])
    main = parsing[0]
    ends = [event["ts"] for event in events if event["name"] in ("MarkLoad", "loadEventEnd") and event["pid"] == main["pid"]]
    begin = min([event["ts"] for event in events if event["name"] in ("navigationStart", "CommitLoad") and event["pid"] == main["pid"]] or [main["ts"]])
    last = max(ends or [event["ts"] + event["dur"] for event in parsing])
    return total / 1e3, (last - begin) / 1e3


def outermost(events):
    result = []
    for event in sorted(events, key=lambda event: (event["pid"], event["tid"], event["ts"], -event["dur"])):
        last = result[-1] if result else None
        if last and (last["pid"], last["tid"]) == (event["pid"], event["tid"]) and event["ts"] < last["ts"] + last["dur"]:
            continue
        result.append(event)
    return result


parse_ms, load_ms = trace()
ours = json.loads(subprocess.run([hpar, "compare", "--json", "--threads", "1", "--repeat", "15", path], stdout=subprocess.PIPE, check=True).stdout)
version = subprocess.run([browser, "--version"], stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL, check=False).stdout.strip()
print(json.dumps({"parse_ms": parse_ms, "load_ms": load_ms, "hpar_ms": ours["pages"][0]["modes"]["sequential"]["ns_median"] / 1e6,
                  "chromium": " ".join(version.split()[:2])}))
