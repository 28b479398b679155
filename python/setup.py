"""Builds the extension hpar._core with the C library inside.

The sources of the library are in library/ (source distribution) or in the directory above (checkout). These variables
of the environment change the build:

  CC, CFLAGS, LDFLAGS   as usual
  HPAR_LIBRARY          static libraries to link in place of the sources, separated by spaces: the parallel parser, the
                        study and the reader of web archives, each before those that it needs
  HPAR_LINK             flags that these libraries need, as in "-lhwloc"
"""
import concurrent.futures
import glob
import os
import re
import shlex
import shutil
import struct
import subprocess
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError: # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
BUNDLED = os.path.join(HERE, "library")
ROOT = BUNDLED if os.path.isdir(BUNDLED) else os.path.dirname(HERE)
LIBRARIES = shlex.split(os.environ.get("HPAR_LIBRARY", ""))

# The parts of src/ that the extension needs: all but the programs, of which it has the reader of web archives.
PROGRAMS, ARCHIVES = "programs", "warc"
FLAGS = ["-std=c11", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fstack-protector", "-falign-functions=64",
         "-fno-semantic-interposition", "-pthread"]
DEFINITIONS = ["-D_GNU_SOURCE", "-DHPAR_STATIC", "-DHPAR_PARALLEL=1", "-DHPAR_HWLOC=0", "-DHPAR_IDN=0"]
INCLUDES = [os.path.join(ROOT, "include"), os.path.join(ROOT, "src")]
# CMakeLists.txt has the reason.
SCALAR = re.compile(r"/(tree/\w+|resources/describe|tokenizer/tokenizer)\.c$")


def read_version():
    with open(os.path.join(ROOT, "include", "hpar", "node.h"), encoding="utf-8") as file:
        return re.search(r'#define HPAR_VERSION "(.*)"', file.read())[1]


def library_sources():
    """The C files of the library with the parallel parser, and of the reader of web archives."""
    paths = sorted(glob.glob(os.path.join(ROOT, "src", "**", "*.c"), recursive=True))
    names = [os.path.relpath(path, os.path.join(ROOT, "src")) for path in paths]
    return [name for name in names if name.split(os.sep)[0] != PROGRAMS or name.split(os.sep)[1] == ARCHIVES]


def is_available(header):
    """Whether the compiler finds a header."""
    command = [*shlex.split(os.environ.get("CC", "cc")), *shlex.split(os.environ.get("CFLAGS", "")), "-E", "-x", "c", "-"]
    done = subprocess.run(command, input=f"#include <{header}>", text=True, capture_output=True)
    return done.returncode == 0


class BuildExtension(build_ext):
    """Compiles the library on all cores, and links its objects into the extension."""

    def build_extension(self, ext):
        if LIBRARIES:
            ext.extra_objects = LIBRARIES
        else:
            packed = is_available("zlib.h")
            if packed:
                ext.extra_link_args.append("-lz")
            else:
                print("zlib.h not found (Debian: zlib1g-dev): hpar.warc reads archives without compression only")
            more = [f"-DHPAR_ZLIB={int(packed)}"]
            ext.extra_objects = self.compile_library(os.path.join(self.build_temp, "library"), more)
        super().build_extension(ext)

    def compile_library(self, folder, definitions):
        compiler = shlex.split(os.environ.get("CC", "cc"))
        flags = FLAGS + DEFINITIONS + definitions + [f"-I{path}" for path in INCLUDES] + shlex.split(os.environ.get("CFLAGS", ""))

        def compile_source(name):
            source = os.path.join(ROOT, "src", name)
            target = os.path.join(folder, name[:-2] + ".o")
            os.makedirs(os.path.dirname(target), exist_ok=True)
            more = ["-fno-tree-slp-vectorize"] if SCALAR.search(source) else []
            subprocess.run([*compiler, *flags, *more, "-c", source, "-o", target], check=True)
            return target

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(compile_source, library_sources()))


# Those of glibc that PEP 600 lets a wheel need, and zlib, which auditwheel's policies list.
USUAL = {b"libc.so.6", b"libm.so.6", b"libpthread.so.0", b"libdl.so.2", b"librt.so.1", b"ld-linux-x86-64.so.2",
         b"ld-linux-aarch64.so.1", b"libz.so.1"}


def needed_libraries(elf):
    """The names of the libraries that an ELF file of 64 bits, little-endian, needs."""
    offset, = struct.unpack_from("<Q", elf, 0x28)
    size, count = struct.unpack_from("<HH", elf, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, offset + i * size) for i in range(count)]
    for _, kind, _, _, begin, length, link, *_ in sections:
        if kind == 6: # SHT_DYNAMIC
            names = sections[link][4]
            entries = struct.iter_unpack("<QQ", elf[begin:begin + length])
            places = [names + value for tag, value in entries if tag == 1] # DT_NEEDED
            return {elf[place:elf.index(b"\0", place)] for place in places}
    return set()


class Wheel(bdist_wheel):
    """Names the oldest glibc with which the extension works, if it needs no other library (PEP 600)."""

    def get_tag(self):
        python, abi, platform = super().get_tag()
        built = glob.glob(os.path.join(self.get_finalized_command("build_ext").build_lib, "hpar", "_core*.so"))
        if len(built) == 1 and re.fullmatch("linux_(x86_64|aarch64)", platform):
            with open(built[0], "rb") as file:
                elf = file.read()
            versions = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", elf)]
            if versions and needed_libraries(elf) <= USUAL:
                platform = platform.replace("linux", f"manylinux_2_{max(17, *versions)}")
        return python, abi, platform


class SourceDistribution(sdist):
    """Adds the sources of the library."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        library = os.path.join(base_dir, "library")
        ignore = shutil.ignore_patterns(PROGRAMS, "*.md", "*.in", "*.map")
        shutil.copytree(os.path.join(ROOT, "src"), os.path.join(library, "src"), ignore=ignore)
        archives = os.path.join("src", PROGRAMS, ARCHIVES)
        shutil.copytree(os.path.join(ROOT, archives), os.path.join(library, archives), ignore=ignore)
        shutil.copytree(os.path.join(ROOT, "include"), os.path.join(library, "include"))
        license_file = os.path.join(ROOT, "LICENSE")
        if os.path.exists(license_file):
            shutil.copy(license_file, os.path.join(base_dir, "LICENSE"))
            shutil.copy(license_file, os.path.join(library, "LICENSE"))


if sysconfig.get_config_var("Py_GIL_DISABLED"):
    # There is no stable interface, and the extension guards its lists of parsers and selectors by the lock.
    raise SystemExit("hpar does not support builds of Python without the interpreter's lock")

setup(
    version=read_version(),
    ext_modules=[Extension(
        "hpar._core",
        sources=sorted(os.path.relpath(path, HERE) for path in glob.glob(os.path.join(HERE, "src", "*.c"))),
        depends=[*glob.glob(os.path.join(HERE, "src", "*.h")), *LIBRARIES],
        include_dirs=INCLUDES,
        extra_compile_args=["-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra", *DEFINITIONS],
        extra_link_args=["-pthread", *shlex.split(os.environ.get("HPAR_LINK", ""))],
        py_limited_api=True,
    )],
    cmdclass={"bdist_wheel": Wheel, "build_ext": BuildExtension, "sdist": SourceDistribution},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
