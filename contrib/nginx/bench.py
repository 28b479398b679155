#!/usr/bin/python3
"""bench.py [OPTION...] MODULE PAGE...: measures the module for nginx with wrk, beside plain proxying and sub_filter.

One nginx serves the pages as files, and another one with one worker is the proxy. Each round measures all ways after each
other. The table has the medians of the requests a second and of the processor time of the proxy for a request, and those of
their ratios to plain proxying in the same round.

  --rounds N      (7)
  --seconds N     of each measurement (2)
  --connections N (16)
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

WAYS = {
    "plain proxying": "",
    "module, no rule matches": "hpar_rewrite on; hpar_rules none.json;",
    "module, a[href] set rel": "hpar_rewrite on; hpar_rules attribute.json;",
    "module, find and replace in texts": "hpar_rewrite on; hpar_rules text.json;",
    "sub_filter, one string": "sub_filter_once off; sub_filter 'the' 'THE';",
    "sub_filter, no match": "sub_filter_once off; sub_filter 'no-such-string-' 'x';",
}
RULES = {
    "none": [{"select": "no-such-element", "remove": True}],
    "attribute": [{"select": "a[href]", "set": {"rel": "nofollow"}}],
    "text": [{"text": {"find": [["the", "THE"]]}}],
}
COMMON = """{load}
daemon off; master_process on; worker_processes 1; {user} pid {name}.pid; error_log {name}.log warn;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
  types {{ text/html html; }} keepalive_requests 1000000000; sendfile on; open_file_cache max=1000;
  {body}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(folder, name, body, load=""):
    user = "user root;" if os.getuid() == 0 else ""
    with open(os.path.join(folder, name + ".conf"), "w", encoding="utf-8") as file:
        file.write(COMMON.format(load=load, user=user, name=name, body=body))
    return subprocess.Popen(["nginx", "-p", folder, "-c", name + ".conf", "-e", os.path.join(folder, name + ".log")])


def processor_time(process):
    """Seconds that the worker of an nginx has used."""
    worker = subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    with open(f"/proc/{worker}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder, port, way, options, proxy):
    """The requests a second, and the microseconds of the proxy for a request."""
    script = os.path.join(folder, f"{way}.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"local n = 0\nrequest = function() n = n + 1; return wrk.format('GET', '/{way}/' .. n % {len(options.pages)} "
                   ".. '.html') end\n")
    before = processor_time(proxy)
    done = subprocess.run(["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "-s", script,
                           f"http://127.0.0.1:{port}/"], stdout=subprocess.PIPE, check=True).stdout.decode()
    if "Non-2xx" in done or "Socket errors" in done:
        sys.exit(done)
    used = processor_time(proxy) - before
    return (float(re.search(r"Requests/sec:\s*([\d.]+)", done).group(1)),
            used * 1e6 / int(re.search(r"(\d+) requests in", done).group(1)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("module")
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--connections", type=int, default=16)
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin"
    if not shutil.which("wrk") or not shutil.which("nginx"):
        sys.exit("bench.py: wrk or nginx is missing")
    folder = tempfile.mkdtemp(prefix="hpar-nginx-")
    os.mkdir(os.path.join(folder, "pages"))
    for number, page in enumerate(options.pages):
        shutil.copy(page, os.path.join(folder, "pages", f"{number}.html"))
    for name, rules in RULES.items():
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump({"rules": rules}, file)
    behind, port = free_port(), free_port()
    places = "\n".join(f"location /{i}/ {{ {directives} proxy_pass http://behind/; }}"
                       for i, directives in enumerate(WAYS.values()))
    running = [start(folder, "behind", f"server {{ listen 127.0.0.1:{behind}; location / {{ root pages; }} }}"),
               start(folder, "proxy", f"upstream behind {{ server 127.0.0.1:{behind}; keepalive 64; keepalive_requests 1000000000; }}\n"
                     "proxy_http_version 1.1; proxy_set_header Connection '';\n"
                     f"server {{ listen 127.0.0.1:{port}; {places} }}", f"load_module {os.path.abspath(options.module)};")]
    time.sleep(1)
    results = {way: [] for way in WAYS}
    try:
        for _ in range(options.rounds):
            for i, way in enumerate(WAYS):
                results[way].append(measure(folder, port, i, options, running[1]))
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
            process.wait()
        shutil.rmtree(folder)
    size = statistics.mean(os.path.getsize(page) for page in options.pages)
    print(f"{len(options.pages)} pages, {size / 1000:.0f} KB on average\n\n| way | requests/s | of plain | processor time | of plain |")
    print("| --- | ---: | ---: | ---: | ---: |")
    plain = results["plain proxying"]
    for way, values in results.items():
        cells = []
        for k, form in ((0, "{:.0f}"), (1, "{:.0f} us")):
            cells.append(form.format(statistics.median(value[k] for value in values)))
            cells.append(f"{statistics.median(value[k] / base[k] for value, base in zip(values, plain)):.2f}")
        print(f"| {way} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
