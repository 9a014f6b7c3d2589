#!/usr/bin/env bash
# Ordinary things done with git: git.bash NAME FOLDER. A repository with one
# commit is made first.
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a
export GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_COUNT=1
export GIT_CONFIG_KEY_0=init.defaultBranch GIT_CONFIG_VALUE_0=main
cd "$2"
git init -q r
cd r
echo one >file
git add file
git commit -qm first
case $1 in
log) git log --format='%an %s' ;;
status) echo two >>file && echo x >new && git status --short ;;
diff) echo two >>file && git diff --stat ;;
branch) git checkout -qb other && git branch --list ;;
merge)
	git checkout -qb other && echo x >x && git add x && git commit -qm x
	git checkout -q main && git merge -q --no-edit other && git log --oneline | wc -l
	;;
stash) echo two >>file && git stash -q && cat file && git stash pop -q && cat file ;;
worktree) git worktree add -q ../tree -b w && cat ../tree/file && git worktree list | wc -l ;;
clone) git clone -q . ../copy && cat ../copy/file && git -C ../copy remote ;;
fetch) git clone -q . ../copy && git commit -q --allow-empty -m second && git -C ../copy pull -q && git -C ../copy log --format=%s ;;
gc) git gc -q && git count-objects -v | grep packs ;;
rebase)
	git checkout -qb other && echo x >x && git add x && git commit -qm x
	git checkout -q main && echo y >y && git add y && git commit -qm y
	git checkout -q other && git rebase -q main && git log --format=%s
	;;
tag) git tag -a v1 -m one && git describe ;;
archive) git archive HEAD | tar t ;;
bundle) git bundle create -q ../b HEAD && git bundle verify -q ../b && echo verified ;;
blame) git blame -s file | cut -d' ' -f2- ;;
grep) git grep -n one ;;
reset) echo two >file && git reset -q --hard && cat file ;;
fsck) git fsck 2>&1 && echo sound ;;
esac
