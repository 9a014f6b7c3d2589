#!/usr/bin/env bash
# bash and jq: a server of twenty lines.
while IFS= read -r line; do
	id=$(jq -c '.id // empty' <<<"$line")
	[[ -n $id ]] || continue
	case $(jq -r .method <<<"$line") in
	initialize)
		result=$(jq -c '{protocolVersion: .params.protocolVersion,
			capabilities: {tools: {}},
			serverInfo: {name: "query", version: "1"}}' <<<"$line")
		;;
	tools/list)
		result='{"tools":[{"name":"keys","inputSchema":{"type":"object"}}]}'
		;;
	tools/call)
		result=$(jq -c '{content: [{type: "text",
			text: (.params.arguments | keys | join(" "))}]}' <<<"$line")
		;;
	*)
		printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
		continue
		;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
