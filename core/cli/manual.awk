# Print the manual page (the second file) with the list of the keys of sandbox
# as they stand in the output of `matins steps --md` (the first file).
FNR == 1 { files++ }
files == 1 && /^###/ { is_sandbox = /^### sandbox$/ }
files == 1 && is_sandbox && /^\| `/ {
	split($0, cell, / \| /)
	gsub(/^\| `|`$/, "", cell[1])
	sub(/ \|$/, "", cell[4])
	gsub(/\\\|/, "|", cell[4])
	option = cell[1]
	gsub(/_/, "-", option)
	list = list ".It Li " cell[1]
	if (cell[2] !~ /^a table/)
		list = list " , Fl -" option
	list = list "\n" cell[4]
	if (cell[3] != "")
		list = list " (" cell[3] ")"
	list = list "\n"
}
files == 2 && /^\.\\" end of keys/ { is_old = 0 }
files == 2 && !is_old
files == 2 && /^\.\\" keys of sandbox/ {
	printf ".Bl -tag -width record_exec\n%s.El\n", list
	is_old = 1
}
