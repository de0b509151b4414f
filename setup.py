"""`pip install .`: CMake builds and lays out the package (cmake/python.cmake), setuptools only wraps it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    def run(self):
        build = HERE / "build" / f"pip-{sys.implementation.cache_tag}"
        settings = ["-DCMAKE_BUILD_TYPE=Release", "-DRIDGE_PIP=ON", f"-DPython_EXECUTABLE={sys.executable}"]
        extra = shlex.split(os.environ.get("CMAKE_ARGS", ""))
        subprocess.check_call(["cmake", "-S", HERE, "-B", build, "-G", "Ninja", *settings, *extra])
        jobs = str(os.cpu_count() or 1)
        subprocess.check_call(["cmake", "--build", build, "-j", jobs, "--target", "ridge_python"])
        place = Path(self.build_lib).resolve()
        subprocess.check_call(["cmake", "--install", build, "--component", "python", "--prefix", place])


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(packages=[], cmdclass={"build_ext": CMakeBuild}, distclass=BinaryDistribution)
