# Print the manual page (the second file) with the lists of the keys of sandbox
# and of the spellings of others, as they stand in the output of `matins steps
# --md` (the first file).
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
files == 1 && /^##/ { is_others = /^## Spellings/ }
files == 1 && is_others && /^\| [^|]* \| `/ {
	split($0, cell, / \| /)
	sub(/^\| /, "", cell[1])
	gsub(/`/, "", cell[2])
	gsub(/`/, "", cell[4])
	sub(/ \|$/, "", cell[5])
	gsub(/`/, "", cell[5])
	gsub(/…/, "...", cell[5])
	is_taken = !sub(/^differs: .*/, "refused: ", cell[4])
	if (is_taken)
		cell[4] = cell[4] (cell[5] == "the same" ? "" : "; ")
	others = others ".It Li " cell[2] "\nof a " cell[1] " (" cell[3] ") is " \
		cell[4] (cell[5] == "the same" ? "" : cell[5]) "\n"
}
files == 2 && /^\.\\" end of keys/ { is_old = 0 }
files == 2 && !is_old
files == 2 && /^\.\\" keys of sandbox/ {
	printf ".Bl -tag -width record_exec\n%s.El\n", list
	is_old = 1
}
files == 2 && /^\.\\" spellings of others/ {
	printf ".Bl -tag -width Ds\n%s.El\n", others
	is_old = 1
}
