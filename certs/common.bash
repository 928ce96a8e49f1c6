# What make-account and make-peer share; sourced by them, after `set -euo pipefail`.
# shellcheck shell=bash

umask 077
program=${0##*/}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
staging=

# fail MESSAGE: says what went wrong and ends with status 1.
fail() {
    printf '%s: %s\n' "$program" "$1" >&2
    exit 1
}

# misuse MESSAGE: says how the command line is wrong and ends with status 2.
misuse() {
    printf '%s: %s\nTry: %s --help\n' "$program" "$1" "$0" >&2
    exit 2
}

# stage DIR: makes DIR (0700) and, inside it, the private directory $staging in which everything is made before it is
# renamed into place. Whatever ends the script, $staging goes, and DIR too if nothing came of it.
stage() {
    command -v openssl >/dev/null || fail "openssl is not installed; run: sudo apt-get install openssl"
    local made=
    [[ -d $1 ]] || made=$1
    { mkdir -p -- "$1" && chmod 0700 -- "$1"; } || fail "$1 cannot be made or is not yours"
    staging=$(mktemp -d -- "$1/.making.XXXXXX")
    # shellcheck disable=SC2064  # the names are meant as they are now
    trap "rm -rf -- ${staging@Q}; [[ -z ${made@Q} ]] || rmdir --ignore-fail-on-non-empty -- ${made@Q}" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

# quietly COMMAND…: runs it and shows what it said only if it fails.
quietly() {
    local said
    said=$("$@" 2>&1) || fail "${1} ${2} failed:"$'\n'"$said"
}

# make_key FILE: a new P-256 key in PKCS#8.
make_key() {
    quietly openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:named_curve -out "$1"
}

# issue KEY SUBJECT SECTION NOT_BEFORE NOT_AFTER OUT SIGNER…: a certificate for KEY with the extensions of SECTION in
# openssl.cnf, signed as the options SIGNER tell `openssl ca`.
issue() {
    local key=$1 subject=$2 section=$3 not_before=$4 not_after=$5 out=$6
    shift 6
    local serial
    serial=$(openssl rand -hex 16)
    # The first digit loses its top bit: a serial is a positive number.
    printf '%x%s\n' $((0x${serial:0:1} & 7)) "${serial:1}" >"$staging/serial"
    : >"$staging/index"
    export HANDOFF_DATABASE=$staging
    quietly openssl req -new -config "$here/openssl.cnf" -key "$key" -subj "$subject" -out "$staging/request"
    quietly openssl ca -batch -notext -config "$here/openssl.cnf" -in "$staging/request" -out "$out" \
        -extensions "$section" -startdate "$not_before" -enddate "$not_after" "$@"
}

# time_from_now OFFSET: that time as OpenSSL wants it, for example of '-1 hour'.
time_from_now() {
    date -u -d "$1" +%Y%m%d%H%M%SZ
}
