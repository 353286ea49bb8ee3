# What .ci/run and .ci/nightly share. Each is a list of functions with a line that says what
# they do, names them in steps, and ends with: main "$@".
set -uo pipefail
export GOFLAGS="-buildvcs=false -timeout=20m" # the proof takes its time where others work too

# Of Go, for the root module: the oldest release that its go.mod allows, and the newest that
# the pinned engine is for.
oldest=go1.24.13
newest=go1.27.4

obtain() { # whether a release of Go can be had; says so if not
  GOTOOLCHAIN=$1 go version && return
  echo "  skipped: $1 cannot be had here"
  return 1
}

tool() { # builds one of the tools that tools/go.mod pins or has, as .ci/bin/NAME
  mkdir -p .ci/bin
  (cd tools && GOWORK=off go build -o "../.ci/bin/${1##*/}" "$1")
}

install() { # installs Debian's package $2, or $1, unless there is a program $1, where CI runs as root
  if ! command -v "$1" >/dev/null && [ -n "${CI:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get install -y -q --no-install-recommends "${2:-$1}" >/dev/null
  fi
}

list() { # a line for each step
  local s
  for s in "${steps[@]}"; do sed -n "s/^$s() { # /$s: /p" "$0"; done
}

main() {
  local s dir before start=$SECONDS failed=()
  if [ "${1:-}" = -l ]; then
    list
    return
  fi
  for s; do
    case " ${steps[*]} " in *" $s "*) ;; *) echo "no step $s; $0 -l lists them"; return 2 ;; esac
  done
  modules=() # those of go.work: ., ./cmd/dewpond and so on
  while read -r dir; do modules+=(".${dir#"$PWD"}"); done < <(go list -m -f '{{.Dir}}')
  [ ${#modules[@]} -gt 0 ] || { echo "go list -m finds no module of go.work"; return 1; }
  packages=("${modules[@]/%//...}")

  for s in "${@:-${steps[@]}}"; do
    echo "=== $(list | grep "^$s: ")"
    before=$SECONDS
    if "$s"; then
      echo "--- $s: ok, $((SECONDS - before)) s"
    else
      echo "--- $s: FAILED, $((SECONDS - before)) s"
      failed+=("$s")
    fi
  done
  if [ ${#failed[@]} -gt 0 ]; then
    echo "FAILED after $((SECONDS - start)) s: ${failed[*]}"
    return 1
  fi
  echo "all ok after $((SECONDS - start)) s"
}
