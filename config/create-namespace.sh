#!/bin/sh
# Creates the namespace when it is not there yet. The server may listen before it answers, hence
# the tries.
set -eu

tries=30
until temporal operator cluster health --address "$TEMPORAL_ADDRESS"; do
  tries=$((tries - 1))
  if [ "$tries" -eq 0 ]; then
    echo "Expected $TEMPORAL_ADDRESS to be healthy after 30 tries. See the log of 'temporal'." >&2
    exit 1
  fi
  sleep 2
done

temporal operator namespace describe --address "$TEMPORAL_ADDRESS" -n "$TEMPORAL_NAMESPACE" ||
  temporal operator namespace create --address "$TEMPORAL_ADDRESS" -n "$TEMPORAL_NAMESPACE" \
    --retention "$RETENTION"
