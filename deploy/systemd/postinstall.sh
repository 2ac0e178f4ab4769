#!/bin/sh
# A new installation waits for its settings. A server that runs goes on as the version that has just been installed.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart leaderboard.service || true # its log says why
fi
