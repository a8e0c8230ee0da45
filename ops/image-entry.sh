#!/bin/sh
# The entry of the image: becomes the command in its arguments. A container that starts as root gives that up
# here. The service gets the user who owns the data, and with plugins the four capabilities that it takes to
# start and end processes of another user, whom its plugins then have (docs/plugins.md). A container with
# another user, or without the capabilities, is left as it is.
set -eu

# CHOWN, KILL, SETGID and SETUID, and SETPCAP to give up all others, by their bits.
needed=$(((1 << 0) | (1 << 5) | (1 << 6) | (1 << 7) | (1 << 8)))
effective=$((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)))
if [ "$(id -u)" != 0 ] || [ $((effective & needed)) != "$needed" ]; then exec "$@"; fi

owner=$(stat -c %u:%g "$DATA_DIR")
case $owner in 0:*) owner=$(id -u node):$(id -g node) ;; esac

kept=-all
case " $* " in
*' plugins serve '*) ;;
*' serve '*)
  # Plugins elsewhere, or with a user that the operator has chosen in the file, need nothing of this.
  if grep -qs '"plugins"' "$CONFIG_DIR/${CONFIG_FILE_NAME:-config.json}" &&
    [ -z "${RELAYER_PLUGINS_URL:-}" ] && ! grep -qs '^RELAYER_PLUGINS_URL=' "$CONFIG_DIR/.env"; then
    kept=-all,+chown,+kill,+setgid,+setuid
    if ! grep -qs '^RELAYER_PLUGINS_USER=' "$CONFIG_DIR/.env"; then
      export RELAYER_PLUGINS_USER="${RELAYER_PLUGINS_USER:-10001:10001}"
    fi
  fi
  ;;
esac
exec setpriv --reuid "${owner%:*}" --regid "${owner#*:}" --clear-groups \
  --inh-caps="$kept" --ambient-caps="$kept" --bounding-set="$kept" "$@"
