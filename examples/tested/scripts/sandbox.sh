#!/bin/sh
# What the sandbox does for a program in any language, by curl. PROSPECTKIT_COMMAND may name the command, if it has been built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
cd "$here/../../.."

if [ -z "${PROSPECTKIT_COMMAND:-}" ]; then
  PROSPECTKIT_COMMAND=$scratch/prospectkit
  go build -o "$PROSPECTKIT_COMMAND" ./cmd/prospectkit
fi

"$PROSPECTKIT_COMMAND" sandbox -json -seed "$here/world.json" -clock manual >"$scratch/announcement" &
sandbox=$!
trap 'kill "$sandbox"; wait "$sandbox" || true; rm -rf "$scratch"' EXIT
until grep -q '^}' "$scratch/announcement"; do
  kill -0 "$sandbox" # it is still there
  sleep 0.1
done
value() { sed -n "s/^  \"$1\": \"\(.*\)\",\$/\1/p" "$scratch/announcement"; }
url=$(value baseURL) control=$(value controlURL) token=$(value token)

# expect TEXT: fails unless standard input has it.
expect() { tee "$scratch/seen" | grep -q -- "$1" || { echo "expected $1 in:"; cat "$scratch/seen"; exit 1; }; }

curl -sS -u "$token:" "$url/business/lists" | expect '"name":"Berlin"'

curl -sS -d '{"fault": "account.me:nth=1:status=429:code=RATE_LIMITED:retry-after=20"}' "${control}faults" | expect '"faults"'
curl -sS -i -u "$token:" "$url/business/me" | expect 'Retry-After: 20'
curl -sS -u "$token:" "$url/business/me" | expect '"user"'

curl -sS -X POST -u "$token:" "$url/business/campaigns/b00000000000000000000001/approve" | expect '"active"'
curl -sS -d '{"advance": "24h"}' "${control}clock" | expect 'messages sent' # a day in no time
curl -sS "${control}outbox" | expect '"campaignId": "b00000000000000000000001"'
curl -sS "${control}journal" | expect '"operation": "campaigns.approve"'
echo 'curl: ok'
