#!/bin/sh
# A shell script with the tools that every system has.
while read -r line; do
	id=$(echo "$line" | sed -n 's/.*"id": *\([0-9][0-9]*\).*/\1/p')
	[ -n "$id" ] || continue
	case $line in
	*'"initialize"'*)
		version=$(echo "$line" | sed 's/.*"protocolVersion": *"\([^"]*\)".*/\1/')
		result='{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"plain","version":"1"}}'
		;;
	*'"tools/list"'*)
		result='{"tools":[{"name":"sorted","inputSchema":{"type":"object"}}]}'
		;;
	*'"tools/call"'*)
		text=$(printf '%s\n' pear apple fig | sort | head -n 1 | tr a-z A-Z)
		result='{"content":[{"type":"text","text":"'$text' in '$(date -u -d @0 +%Y)'"}]}'
		;;
	*)
		echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no such method"}}'
		continue
		;;
	esac
	echo '{"jsonrpc":"2.0","id":'"$id"',"result":'"$result"'}'
done
