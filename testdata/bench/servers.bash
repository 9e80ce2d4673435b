# Sourced by the benchmarks that are shell scripts: a directory of their own, servers in it, and the table of what was measured. $edgetable is the
# program. At the end the servers and the directory are gone; $missed is the exit status.
dir=$(mktemp -d)
pids=() missed=0
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$dir"' EXIT

serve() { # NAME FLAG…: starts a server
  : >"$1.log"
  "$edgetable" serve --listen 127.0.0.1:0 --data "$1" "${@:2}" >"$1.log" 2>&1 &
  pids+=($!)
  until grep -q '^ready' "$1.log"; do kill -0 "${pids[-1]}" || { cat "$1.log"; exit 1; }; sleep 0.01; done
}
said() { sed -n "s/^ *$2 *//p" "$1.log" | head -1; } # NAME WORDS: prints what follows the words in what a server says at its start

line() { # CONDITION CELL…: prints a row with the $widths of its cells; a condition that does not hold is a miss, "" is none
  local status=ok condition=$1 i
  shift
  if [[ -z $condition ]]; then status=-; elif ! awk "BEGIN { exit !($condition) }"; then status=MISS missed=1; fi
  printf '| %-*s ' "${widths[0]}" "$1"
  for ((i = 1; i < ${#widths[@]}; i++)); do printf '| %*s ' "${widths[i]}" "${@:i+1:1}"; done
  printf '| %-4s |\n' "$status"
}
