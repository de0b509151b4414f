"""Builds the wheel for `pip install .` (PEP 517) with CMake and the standard library alone: pip has nothing to fetch.

CMake lays the package out (cmake/python.cmake); here it is only zipped, with the metadata of pyproject.toml. CMAKE_ARGS are
passed on. RIDGE_BUILD names a build folder that is there already (build/release after `make python`) and saves the build;
its Python has to be the one that pip runs for.
"""
import base64
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def _project():
    """Name, version, description, requires-python and dependencies; tomllib is not there before Python 3.11."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    def field(name):
        return re.search(rf'^{name} = "(.*)"$', text, re.MULTILINE).group(1)

    needs = re.search(r"^dependencies = \[(.*)\]$", text, re.MULTILINE).group(1)
    return field("name"), field("version"), field("description"), field("requires-python"), re.findall(r'"(.*?)"', needs)


def _metadata():
    name, version, summary, python, needs = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {summary}",
             "License: Apache-2.0", f"Requires-Python: {python}", *(f"Requires-Dist: {n}" for n in needs),
             "Provides-Extra: tables", 'Requires-Dist: pandas; extra == "tables"',
             "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (ROOT / "README.md").read_text(encoding="utf-8")


def _install(place):
    """The package as CMake lays it out, below `place`."""
    given = os.environ.get("RIDGE_BUILD")
    build = (ROOT / given) if given else ROOT / "build" / f"pip-{sys.implementation.cache_tag}"
    if not given:
        settings = ["-DCMAKE_BUILD_TYPE=Release", "-DRIDGE_PIP=ON", f"-DPython_EXECUTABLE={sys.executable}"]
        extra = shlex.split(os.environ.get("CMAKE_ARGS", ""))
        subprocess.check_call(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *settings, *extra])
        subprocess.check_call(["cmake", "--build", build, "-j", str(os.cpu_count() or 1), "--target", "ridge_python"])
    subprocess.check_call(["cmake", "--install", build, "--component", "python", "--prefix", place])
    if not (place / "ridgeline" / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}").exists():
        raise SystemExit(f"{build} has no module for {sys.executable}: install pybind11-dev and python3-dev, or leave "
                         "RIDGE_BUILD out")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, version, *_ = _project()
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    wheel = f"{name}-{version}-{tag}-{tag}-{platform}.whl"
    info = f"{name}-{version}.dist-info"
    record = []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(
            pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as out:
        place = pathlib.Path(folder)
        _install(place)

        def add(inside, content):
            out.writestr(inside, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{inside},sha256={digest},{len(content)}")

        for path in sorted(place.rglob("*")):
            if path.is_file():
                add(path.relative_to(place).as_posix(), path.read_bytes())
        add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
        add(f"{info}/METADATA", _metadata().encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: ridgeline\nRoot-Is-Purelib: false\n"
                             f"Tag: {tag}-{tag}-{platform}\n".encode())
        out.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    name, version, *_ = _project()
    top = f"{name}-{version}"
    files = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{top}.tar.gz", "w:gz") as out:
        for file in files:
            out.add(ROOT / file, f"{top}/{file}")
    return f"{top}.tar.gz"
