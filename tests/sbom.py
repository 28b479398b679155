"""sbom.py SBOM BUILD: checks what the script SBOM prints of a build: the fields that SPDX 2.3 requires, references to what is
there, one package for each library that the binaries name, and the same text at the same time."""
import json
import re
import subprocess
import sys

REQUIRED = {"spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"}
script, build = sys.argv[1:]


def run(seconds):
    environment = {"SOURCE_DATE_EPOCH": str(seconds), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.run([script, build], check=True, capture_output=True, text=True, env=environment).stdout


def main():
    text = run(86400)
    document = json.loads(text)
    packages = {package["SPDXID"]: package for package in document["packages"]}
    needed = {name for binary in ("libhpar.so", "hpar") for name in re.findall(
        r"\(NEEDED\).*\[(.*)\]", subprocess.run(["readelf", "-d", f"{build}/{binary}"], check=True, capture_output=True,
                                                  text=True).stdout) if not name.startswith("libhpar")}
    assert needed and REQUIRED <= document.keys(), document.keys()
    assert document["creationInfo"]["created"] == "1970-01-02T00:00:00Z"
    assert all(package.keys() >= {"name", "downloadLocation"} for package in packages.values())
    assert len(packages) == len(document["packages"]), "an identity occurs twice"
    known = packages.keys() | {"SPDXRef-DOCUMENT"}
    for related in document["relationships"]:
        assert {related["spdxElementId"], related["relatedSpdxElement"]} <= known, related
    linked = [related for related in document["relationships"] if related["relationshipType"] == "DEPENDS_ON"]
    assert 1 <= len(linked) <= len(needed), (linked, needed)
    assert any(name.startswith("libc6") for name in (package["name"] for package in packages.values()))
    assert run(86400) == text and run(0) != text
    print(f"{len(packages)} packages passed")


main()
