#!/usr/bin/env bash
# One rule for a relative path and for `~`, wherever it is written, and one for
# the folder that a program starts in.
# shellcheck disable=SC2016,SC2088
. "${BASH_SOURCE%/*}/lib.sh"

# A server that says where it is, whatever its folder.
mkdir -p home/mcp conf bin
cat >bin/where <<-END
	#!/bin/sh
	printf 'handshake\nexpect tools/call\ntext %s\n' "\$(pwd)" >"\$TMPDIR/t"
	exec "$PEER" "\$TMPDIR/t"
END
cat >bin/lists <<-END
	#!/bin/sh
	printf 'handshake\nexpect tools/list\nreply {"tools":[{"name":"%s","inputSchema":{"type":"object"}}]}\n' \\
		"\$(pwd)" >"\$TMPDIR/t"
	exec "$PEER" "\$TMPDIR/t"
END
printf '#!/bin/sh\necho "from $(pwd)/$0 $*"\n' >conf/secret
chmod 755 bin/* conf/secret

# ---- where a program starts ----

cat >conf/c.toml <<-END
	[servers.where]
	command = "../bin/where"
	cwd = "~/mcp"
	sandbox = { read = ["~/mcp"], exec = ["$PEER"] }
	[servers.lists]
	command = "../bin/lists"
	cwd = "~/mcp"
	sandbox = { read = ["~/mcp"], exec = ["$PEER"] }
	[servers.shut]
	command = "../bin/lists"
	cwd = "~/mcp"
	[[routines.r.steps]]
	name = "s"
	type = "mcp-client"
	server = "where"
	tool = "t"
END
run_matins run -c conf/c.toml r --json
json_is "run: a server starts in its cwd" step_results[0].output "$HOME/mcp"
run_matins call t --no-list -c conf/c.toml --server where
out_is "call: ~ in the configuration is the home folder" "$HOME/mcp"
run_matins tools --json -c conf/c.toml --server lists
json_is "tools: ~ in the configuration is the home folder" tools[0].name "$HOME/mcp"
run_matins doctor -c conf/c.toml
out_like "doctor: ~ in the configuration is the home folder" '^  ok +r/s'
run_matins tools -c conf/c.toml --server shut
exit_is "tools: a cwd that is not granted is refused" 1
err_like "the message names the folder that is not granted" 'home/mcp: it is not granted'

# ---- ~ and relative paths ----

echo text >home/mcp/file
cd conf || exit 1
for given in --read=~/mcp "--read=$HOME/mcp" --read=../home/mcp; do
	run_matins exec "$given" -- sh -c "read -r x <$HOME/mcp/file; echo \$x"
	out_is "exec $given grants the home folder" text
done
run_matins exec --cwd=~/mcp --read=~/mcp -- pwd
out_is "exec --cwd=~/mcp starts in the home folder" "$HOME/mcp"
run_matins exec --report=~/ran.json -- true
ok "exec --report=~/ran.json writes to the home folder" test -s "$HOME/ran.json"
run_matins run -o '~/report' --config=~/../conf/c.toml r
file_has "run -o ~/report --config=~/…" "$HOME/report" "$HOME/mcp"
cd "$T" || exit 1

rest='"net":"all","max_calls":"unlimited","valid_for_generation":"all"'
# leash READ EXEC: cats the file under that leash
leash() {
	MATINS_CAVEATS="{\"fs_read\":{\"only\":[\"$1\"]},\"fs_write\":\"all\",\"exec\":{\"only\":[\"$2\"]},$rest}" \
		run_matins exec --read home/mcp -- bin/reads
}
printf '#!/bin/sh\nread -r x <"%s"; echo "$x"\n' "$HOME/mcp/file" >bin/reads
chmod 755 bin/reads
for folder in home/mcp ./home/../home/mcp "~/mcp" "$HOME/mcp"; do
	leash "$folder" 'bin/reads","sh","/bin/sh'
	out_is "fs_read $folder of \$MATINS_CAVEATS grants the folder" text
done
leash home/other 'bin/reads","sh","/bin/sh'
out_is "\$MATINS_CAVEATS: another folder grants nothing" ""
leash home/mcp 'bin/other","sh","/bin/sh'
exit_is "\$MATINS_CAVEATS: another program may not start" 126

# ---- { cmd = … } ----

# credential LINE: a step that prints what the line gives
credential() {
	cat >conf/k.toml <<-END
		[sandbox]
		read = ["."]
		[[routines.r.steps]]
		name = "s"
		type = "script"
		command = "sh"
		args = ["-c", "printf %s \"\$KEY\" | tr a-z A-Z"]
		env = { KEY = { cmd = '''$1''' } }
		sandbox = { exec = ["tr"] }
	END
	run_matins run -c conf/k.toml r --json
}
credential './secret a'
json_is "a command of a reference starts in the file's folder" \
	step_results[0].output "FROM ${T^^}/CONF/${T^^}/CONF/SECRET A"
credential "~/../conf/secret ~/mcp '~x' a~/b"
json_is "~ is HOME in its words" \
	step_results[0].output \
	"FROM ${T^^}/CONF/${T^^}/CONF/SECRET ${HOME^^}/MCP ~X A~/B"
run_matins doctor -c conf/k.toml
out_like "doctor finds it, too" 'conf/secret is there; it was not run'
credential 'sh -c "t=half-$((3 + 4))-token; echo \$t; echo no vault \$t >&2; exit 3"'
json_is "one that fails skips its step" step_results[0].state skipped \
	step_results[0].error '~exited with status 3$'
err_like "the message quotes the stderr of the command" '^matins: sh: its stderr ends with: no vault \*\*\*$'
out_unlike "without what it had printed" half-7-token
err_unlike "the output of a failed command is not logged" half-7-token
done_testing
