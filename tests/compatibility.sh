# Checks that programs and libraries of different versions work together. The test makes an older
# header, without the last group of hpar_options, and a newer header with an additional field. It
# runs tests/abi/client.c
#
#   - with the older header and this library,
#   - with this header and a library that was built with the newer one,
#   - with the newer header and this library, which refuses the new field unless it is zero.
if grep -q '^HPAR_SANITIZE:STRING=..*' "$HPAR_BUILD_DIR/CMakeCache.txt"; then
  echo 'skipped: the program would need the sanitizers'
  exit 77
fi
command -v python3 >/dev/null || {
  echo 'skipped: python3 not found (Debian: python3)'
  exit 77
}
work=$(mktemp -d /tmp/hpar-compatibility.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT

python3 -B - "$HPAR_SOURCE_DIR" "$HPAR_BUILD_DIR" "$work" <<'PYTHON' || exit 1
import json, os, re, shlex, shutil, subprocess, sys

source, build, work = sys.argv[1:]
include = os.path.join(source, "include")
client = os.path.join(source, "tests/abi/client.c")


def variant(name, pattern, replacement):
    """Copies the headers, changes hpar_options, and returns the folder."""
    folder = os.path.join(work, name)
    shutil.copytree(include, folder)
    path = os.path.join(folder, "hpar/parse.h")
    with open(path) as file:
        text = file.read()
    text, count = re.subn(pattern, replacement, text)
    assert count == 1, f"{name}: options.h has no such line"
    with open(path, "w") as file:
        file.write(text)
    return folder


def run(*command):
    command = [str(word) for word in command]
    if subprocess.run(command).returncode:
        sys.exit("failed: " + shlex.join(command))


older = variant("older", r"  hpar_resource_options resources;[^\n]*\n", "")
newer = variant("newer", r"\} hpar_options;", "  uint64_t added;\n} hpar_options;")

# The newer library: session and api with the newer header, and the rest as it is.
with open(os.path.join(build, "compile_commands.json")) as file:
    commands = json.load(file)
compiler, objects = None, []
for entry in commands:
    path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), source)
    if os.path.dirname(path) not in ("src/session", "src/api"):
        continue
    if not os.path.samefile(entry["directory"], build):
        continue  # a copy of the library for one test
    words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
    words = ["-I" + newer if word == "-I" + include else word for word in words]
    output = os.path.join(work, path.replace("/", "-") + ".o")
    words[words.index("-o") + 1] = output
    subprocess.run(words + ["-O0", "-w", "-U_FORTIFY_SOURCE"], cwd=entry["directory"], check=True)
    objects.append(output)
    compiler = words[:words.index(next(word for word in words if word.startswith("-")))]
assert objects, "compile_commands.json has no file of src/session and src/api"
with open(os.path.join(build, "hpar.pc")) as file:
    private = re.search(r"^Libs.private:(.*)", file.read(), re.MULTILINE).group(1).split()

shared = ["-L" + build, "-lhpar", "-Wl,-rpath," + build]
newer_library = [*objects, os.path.join(build, "libhpar.a"), *private]
for name, headers, library, defines in [
    ("an older program with this library", older, shared, []),
    ("this program with a newer library", include, newer_library, []),
    ("a newer program with this library", newer, shared, ["-DADDED=0"]),
    ("a newer program with a newer library", newer, newer_library, ["-DADDED=1"]),
]:
    program = os.path.join(work, "client")
    run(*compiler, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", *defines, "-I" + headers, client, "-o", program,
        *library)
    print(name)
    run(program)
PYTHON
echo '4 combinations passed'
