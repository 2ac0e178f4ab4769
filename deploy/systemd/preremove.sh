#!/bin/sh
# deb says remove or upgrade, rpm how many versions stay.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl --no-reload disable --now leaderboard.service || true
	fi
	;;
esac
