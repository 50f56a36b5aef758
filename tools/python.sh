#!/bin/sh
# Finds a CPython that really runs: version managers leave commands on PATH that only print an error.
#
#   tools/python.sh FILE ARG...                run a file with the newest of 3.13, 3.12, 3.11 and python3 (>= 3.11)
#   tools/python.sh --prefer 3.11 FILE ARG...  the same, but try 3.11 first
#   tools/python.sh --find [3.12]              print where the interpreter is; fail when there is none
#
# PYTHON=/path/to/python overrides the search, but not that of `--find 3.12`.
set -eu

# Every program of that name on PATH, then those of pyenv, newest first.
candidates() {
    (
        IFS=:
        for dir in $PATH; do printf '%s\n' "${dir:-.}/$1"; done
    )
    ls -d "${PYENV_ROOT:-${HOME:-/root}/.pyenv}/versions/${1#python}".*/bin/"$1" 2>/dev/null | sort -rV
}

# Prints the real path of interpreter $1 when it runs, is CPython with a GIL, and is new enough.
probe() {
    "$1" -c '
import sys, sysconfig
fits = sys.implementation.name == "cpython" and sys.version_info >= (3, 11)
if not fits or sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit(1)
# In a virtual environment, the interpreter that it was made from: ours may be the one that is active.
print(getattr(sys, "_base_executable", sys.executable))' 2>/dev/null </dev/null
}

find_version() {
    candidates "python${1}" | while IFS= read -r program; do
        if [ -x "$program" ] && probe "$program"; then break; fi
    done
}

find_any() {
    for version in ${1:+"$1"} 3.13 3.12 3.11 3; do
        found=$(find_version "$version")
        if [ -n "$found" ]; then
            printf '%s\n' "$found"
            return
        fi
    done
    echo "no CPython 3.11 or newer runs on this machine: install one (Debian, Ubuntu: apt-get install python3" \
        "python3-venv) or name it, as in: make PYTHON=/opt/python3.12/bin/python3" >&2
    return 1
}

choose() {
    if [ -z "${PYTHON:-}" ]; then
        find_any "${1:-}"
    elif ! probe "$PYTHON"; then
        echo "PYTHON=$PYTHON is no CPython 3.11 or newer that runs" >&2
        return 1
    fi
}

prefer=
case "${1:-}" in
--find)
    if [ $# -eq 1 ]; then
        choose
    else
        found=$(find_version "$2")
        [ -n "$found" ] && printf '%s\n' "$found"
    fi
    exit
    ;;
--prefer)
    prefer=$2
    shift 2
    ;;
esac
python=$(choose "$prefer")
exec "$python" "$@"
