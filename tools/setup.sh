#!/bin/sh
# Installs what building needs and does nothing where all is there. Arguments name
# programs that are needed besides, with their packages, as in slurmctld:slurm-wlm, and
# modules of Python, as in torch.py:python3-torch, or files, as in /usr/share/doc/fonts-lato:fonts-lato.
set -eu

cd "$(dirname "$0")/.."
mkdir -p build

missing=''
command -v g++ >/dev/null 2>&1 || missing="$missing g++"
sh tools/find-libtorch.sh build/libtorch.env 2>build/setup.log || missing="$missing libtorch-dev"

# The first python3 need not be the one that the system's packages are for.
has_module() {
	for python in python3 /usr/bin/python3; do
		"$python" -c "import $1" >/dev/null 2>&1 && return
	done
	return 1
}

for wanted in "$@"; do
	case ${wanted%:*} in
	/*) [ -e "${wanted%:*}" ] || missing="$missing ${wanted#*:}" ;;
	*.py) has_module "${wanted%.py:*}" || missing="$missing ${wanted#*:}" ;;
	*) PATH=$PATH:/usr/sbin command -v "${wanted%:*}" >/dev/null 2>&1 || missing="$missing ${wanted#*:}" ;;
	esac
done

# Debian's libtorch takes whatever BLAS is installed; the reference one, which is
# installed if nothing else is, makes training seven times slower where oneDNN does not
# multiply (all but x86-64). This variant follows libtorch's own number of threads.
blas=$(ldconfig -p 2>/dev/null | sed -n 's/.*libblas\.so\.3 .*=> //p' | head -n 1)
case "${missing}$(sed -n "s/^libtorch_lib='\(.*\)'/\1/p" build/libtorch.env 2>/dev/null)" in
*libtorch-dev* | /usr/lib*)
	case $(readlink -f "${blas:-/none}") in
	*/blas/libblas* | /none) command -v apt-get >/dev/null 2>&1 && missing="$missing libopenblas0-openmp" ;;
	esac
	;;
esac

if ! command -v go >/dev/null 2>&1; then
	echo "setup: Go is missing. Install Go $(sed -n 's/^go //p' go.mod) or later from https://go.dev/dl" >&2
	exit 1
fi
if [ -z "$missing" ]; then
	exit 0
fi
# A libtorch that was asked for but does not fit is not mended by another one.
if [ -n "${LIBTORCH:-}" ] && grep -q . build/setup.log; then
	cat build/setup.log >&2
	exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: missing:$missing. Install a C++17 compiler and libtorch 1.13 or later with your package manager," >&2
	echo "setup: or unpack libtorch anywhere and set LIBTORCH to its folder (the one that holds include/ and lib/)." >&2
	exit 1
fi

as_root=''
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "setup: run as root: apt-get install --no-install-recommends$missing" >&2
		exit 1
	fi
	as_root=sudo
	# A person is asked; CI and scripts go on.
	if [ -t 0 ] && [ -t 2 ] && [ -z "${CI:-}" ]; then
		printf 'setup: install%s with sudo apt-get? [y/N] ' "$missing" >&2
		read -r answer || answer=''
		case $answer in
		[yY] | [yY][eE][sS]) ;;
		*)
			echo "setup: nothing was installed; what is missing:$missing" >&2
			exit 1
			;;
		esac
	fi
fi
echo "setup: installing$missing" >&2
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >build/setup.log 2>&1 || {
	tail -n 20 build/setup.log >&2
	exit 1
}
sh tools/find-libtorch.sh build/libtorch.env
