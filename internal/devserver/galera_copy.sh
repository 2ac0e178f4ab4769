#!/bin/sh
# wsrep_sst_copy gives a node of Galera the data of another one on the same machine: it copies the files. Both servers call it; the one
# that joins says where its data go, the other one copies them there while it writes nothing.
set -eu
bypass=
while [ $# -gt 0 ]; do
  case $1 in
  --role) role=$2; shift ;;
  --address) address=$2; shift ;;
  --datadir) data=${2%/}; shift ;;
  --parent) parent=$2; shift ;;
  --gtid) state=$2; shift ;;
  --bypass) bypass=1 ;;
  --mysqld-args) break ;;
  esac
  shift
done

if [ "$role" = joiner ]; then
  rm -f "$data/copied"
  echo "ready local$data"
  until [ -e "$data/copied" ]; do
    kill -0 "$parent" || exit 32
    sleep 0.1
  done
  cat "$data/copied"
  rm "$data/copied"
  exit
fi

to=${address#local}
if [ -z "$bypass" ]; then
  rm -f "$data/tables_flushed" "$data/sst_error"
  echo 'flush tables'
  until grep -q : "$data/tables_flushed" 2>/dev/null; do
    if [ -e "$data/sst_error" ]; then exit 255; fi
    sleep 0.1
  done
  state=$(cat "$data/tables_flushed")
  rm "$data/tables_flushed"
  own='-name galera.cache -o -name grastate.dat -o -name gvwstate.dat -o -name server.pid -o -name server.sock* -o -name ib_buffer_pool -o -name tables_flushed*'
  set -f
  find "$to" -mindepth 1 -maxdepth 1 ! \( $own \) -exec rm -r {} +
  find "$data" -mindepth 1 -maxdepth 1 ! \( $own \) -exec cp -a -t "$to" {} +
fi
echo continue
echo "$state" > "$to/copied.new"
mv "$to/copied.new" "$to/copied"
echo "done $state"
