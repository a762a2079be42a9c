#!/usr/bin/env bash
# The core tests and the Python tests with AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of
# their own. Arguments go to pytest: tools/sanitize.sh tests/test_forest.py -k regression
# PYTHON and CXX choose the interpreter and the compiler (g++ or one that brings its own libasan.so).
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
export CXX=${CXX:-g++}
venv=.venv-sanitize
bin=$PWD/$venv/bin

# The preloaded runtime must be the one of the compiler; -print-file-name echoes a name that it does not know.
asan=$("$CXX" -print-file-name=libasan.so)
stdcxx=$("$CXX" -print-file-name=libstdc++.so)
if [[ ! -f $asan || ! -f $stdcxx ]]; then
    echo "$CXX has no libasan.so and libstdc++.so of its own: choose another compiler with CXX" >&2
    exit 1
fi
# CMake keeps the compiler of its first run.
if ! grep -qs "^CMAKE_CXX_COMPILER:[A-Z]*=$(command -v "$CXX")\$" build/sanitize-core/CMakeCache.txt; then
    rm -rf build/sanitize-core build/sanitize
fi

[[ -x $bin/python ]] || "$PYTHON" -m venv "$venv"
"$bin/python" -m pip install --quiet --upgrade "pip>=25.1"
"$bin/python" -m pip install --quiet scikit-build-core nanobind cmake ninja
"$bin/python" -m pip install --quiet --group test

"$bin/cmake" -S . -B build/sanitize-core -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCONJUNTO_PYTHON=OFF -DCONJUNTO_TESTS=ON -DCONJUNTO_SANITIZE=ON >/dev/null
"$bin/cmake" --build build/sanitize-core
"$bin/ctest" --test-dir build/sanitize-core --output-on-failure

# Not editable: the build directory of the other environment stays as it is.
"$bin/python" -m pip install --quiet --no-build-isolation \
    --config-settings=cmake.define.CONJUNTO_SANITIZE=ON \
    --config-settings=cmake.build-type=RelWithDebInfo \
    --config-settings=build-dir=build/sanitize \
    ".[all]"

# Leaks are not looked for: the interpreter itself never frees what lives as long as it does.
LD_PRELOAD="$asan $stdcxx" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
    "$bin/python" -m pytest --capture=sys -m "not slow" -p no:cacheprovider "$@"
