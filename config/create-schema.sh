#!/bin/sh
# Creates or updates both databases of Temporal. Every command leaves alone what is there already,
# so it may run at each start.
set -eu

for database in temporal temporal_visibility; do
  case "$database" in
    temporal) schema=temporal ;;
    *) schema=visibility ;;
  esac
  tool() {
    temporal-sql-tool --plugin postgres12 --ep "$POSTGRES_SEEDS" -p "$DB_PORT" -u "$POSTGRES_USER" \
      --db "$database" "$@"
  }
  tool create
  tool setup-schema -v 0.0
  tool update-schema --schema-name "postgresql/v12/$schema"
done
