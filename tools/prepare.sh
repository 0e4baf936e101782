# SPDX-License-Identifier: Apache-2.0
# What quickstart.sh and test.sh share; sourced, never run. The caller stands in the root of the checkout.
#
#   BRIGADE_TORCH_VERSION  the torch wheel whose libtorch is taken (2.13.0)
#   BRIGADE_PIP_INDEX      index for that wheel; pip's own configuration decides when it is empty. PyTorch's index of CPU
#                          wheels makes a small download where the default index offers CUDA builds only.
#   LIBTORCH_ROOT          an existing <site-packages>/torch to use; nothing is installed then
set -Eeuo pipefail

TORCH_VERSION="${BRIGADE_TORCH_VERSION:-2.13.0}"
VENV=.venv
step_name="start"
step_number=0

# step TEXT: says what comes next, before it happens.
step() {
  step_name="$1"
  step_number=$((step_number + 1))
  printf '\n== %d. %s\n' "$step_number" "$step_name"
}

say() { printf '   %s\n' "$*"; }

# fail TEXT...: one line a reason, then the end.
fail() {
  trap - ERR
  printf '\nfailed in step %d (%s):\n' "$step_number" "$step_name" >&2
  printf '   %s\n' "$@" >&2
  exit 1
}
trap 'fail "the command \"$BASH_COMMAND\" ended with status $?; its output is above"' ERR

# Is one row of packages.txt there already, from wherever it came?
is_there() {
  local kind="${1%%:*}" what="${1#*:}"
  case "$kind" in
    command) command -v "$what" >/dev/null ;;
    header) command -v g++ >/dev/null && printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$what" |
      g++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ;;
    module) command -v python3 >/dev/null && python3 -c "import $what" 2>/dev/null ;;
    file) [ -e "$what" ] ;;
    *) fail "tools/packages.txt: unknown kind of probe: $1" ;;
  esac
}

# missing_packages USE...: the packages for these uses that are not there.
missing_packages() {
  local package use probe why
  while read -r package use probe why; do
    case "$package" in ''|'#'*) continue ;; esac
    case " $* " in *" $use "*) is_there "$probe" || echo "$package" ;; esac
  done < tools/packages.txt
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Why this machine's packages are not ours to install; nothing when they are.
why_not_install() {
  if ! command -v apt-get >/dev/null; then
    echo "this system has no apt-get"
  elif [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "installing needs root, and there is no sudo"
  fi
}

# install_packages USE...: brings what is missing, on Debian and its kin; elsewhere names it. Ends only if the build itself
# cannot do without what is still missing.
install_packages() {
  local missing obstacle
  mapfile -t missing < <(missing_packages "$@")
  if [ "${#missing[@]}" = 0 ]; then
    say "already there"
    return
  fi
  obstacle=$(why_not_install)
  if [ -z "$obstacle" ]; then
    say "missing, and installed now: ${missing[*]}"
    apt_install "${missing[@]}"
  else
    say "$obstacle. Please install what Debian calls: ${missing[*]}"
  fi
  mapfile -t missing < <(missing_packages build)
  [ "${#missing[@]}" = 0 ] || fail "the build cannot do without: ${missing[*]}"
}

# apt_install PACKAGE...: those that this release knows.
apt_install() {
  local package known=() unknown=()
  as_root apt-get update -qq
  for package in "$@"; do
    if apt-cache show "$package" >/dev/null 2>&1; then known+=("$package"); else unknown+=("$package"); fi
  done
  [ "${#unknown[@]}" = 0 ] || say "not known to this release, left out: ${unknown[*]}"
  [ "${#known[@]}" = 0 ] ||
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      -o DPkg::Lock::Timeout=300 "${known[@]}" </dev/null >/dev/null
}

check_cmake() {
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  if [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
    fail "CMake 3.25 or newer is needed, found $version at $(command -v cmake)" \
      "A newer one is in the distribution's backports, or: $VENV/bin/pip install cmake, and $VENV/bin first in PATH"
  fi
}

pip_install() {
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@" </dev/null
}

make_venv() {
  if [ ! -x "$VENV/bin/python" ] || ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    say "making $VENV"
    python3 -m venv "$VENV"
  fi
}

# Does the index in use offer torch with CUDA and nothing smaller? Reads metadata only.
torch_needs_cuda() {
  local report
  report=$("$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --dry-run --no-deps --ignore-installed \
    --report - "$@" </dev/null) ||
    fail "pip finds no torch $TORCH_VERSION for $("$VENV/bin/python" --version); what it said is above" \
      "BRIGADE_PIP_INDEX names another index, LIBTORCH_ROOT a torch folder that is already there"
  "$VENV/bin/python" -c '
import json, sys
from pip._vendor.packaging.requirements import Requirement
lines = json.loads(sys.argv[1])["install"][0]["metadata"].get("requires_dist", [])
needs = [need for need in map(Requirement, lines) if not need.marker or need.marker.evaluate({"extra": ""})]
sys.exit(0 if any(need.name.startswith(("nvidia-", "cuda-")) for need in needs) else 1)' "$report"
}

# Leaves LIBTORCH_ROOT set, exported and checked.
provide_libtorch() {
  if [ -n "${LIBTORCH_ROOT:-}" ]; then
    [ -e "$LIBTORCH_ROOT/lib/libtorch_cpu.so" ] ||
      fail "LIBTORCH_ROOT=$LIBTORCH_ROOT holds no lib/libtorch_cpu.so; it is the torch folder of a Python wheel"
    say "already there: LIBTORCH_ROOT=$LIBTORCH_ROOT"
    export LIBTORCH_ROOT
    return
  fi
  make_venv
  LIBTORCH_ROOT=$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')/torch
  export LIBTORCH_ROOT
  if grep -qsE "^__version__ = '$TORCH_VERSION(\+.*)?'" "$LIBTORCH_ROOT/version.py" &&
    [ -e "$LIBTORCH_ROOT/lib/libtorch_cpu.so" ]; then
    say "already there: $LIBTORCH_ROOT"
    return
  fi
  install_torch_wheel
  [ -e "$LIBTORCH_ROOT/lib/libtorch_cpu.so" ] || fail "the torch wheel left no $LIBTORCH_ROOT/lib/libtorch_cpu.so"
}

install_torch_wheel() {
  local index=()
  [ -z "${BRIGADE_PIP_INDEX:-}" ] || index=(--index-url "$BRIGADE_PIP_INDEX")
  say "installing torch $TORCH_VERSION into $VENV, without the Python packages around it: only libtorch is used"
  # The CPU build by its full name, where the index has it; it is a tenth of the other.
  if pip_install "${index[@]}" --no-deps "torch==$TORCH_VERSION+cpu" 2>/dev/null; then
    return
  fi
  if torch_needs_cuda "${index[@]}" "torch==$TORCH_VERSION"; then
    say "the index offers the CUDA build: several GB with the libraries that it loads. It works, also without a GPU."
    say "A tenth of that: stop here, set BRIGADE_PIP_INDEX to PyTorch's index of CPU wheels and start again."
    pip_install "${index[@]}" "torch==$TORCH_VERSION"
  else
    pip_install "${index[@]}" --no-deps "torch==$TORCH_VERSION"
  fi
}

# Whether the Python in .venv can load a model with transformers.
python_judge() { "$VENV/bin/python" -c 'import torch, transformers' 2>/dev/null; }

# Makes it so, if the index has what it takes. A torch that lies elsewhere is made visible by a .pth file.
install_python_judge() {
  local site
  if ! "$VENV/bin/python" -c 'import importlib.util as u; exit(u.find_spec("torch") is None)'; then
    site=$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    dirname "$LIBTORCH_ROOT" > "$site/libtorch.pth"
  fi
  pip_install transformers filelock fsspec jinja2 networkx sympy typing-extensions && python_judge
}

cores() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; }
