#!/bin/sh
# Ordinary things done with small tools: tool.sh NAME FOLDER.
set -e
cd "$2"
case $1 in
tar) mkdir a && echo x >a/f && tar czf a.tgz a && rm -r a && tar xzf a.tgz && cat a/f ;;
gzip) seq 1000 >n && gzip -k n && gunzip -c n.gz | cksum ;;
find) mkdir -p d/e && touch d/e/f && find . -name f -exec echo found {} \; ;;
xargs) printf '1 2 3' | xargs -n 1 -P 2 echo n | sort ;;
sed) printf 'a b\n' >s && sed -i 's/a/x/' s && cat s ;;
awk) awk 'BEGIN { for (i = 0; i < 5; i++) s += i * i; print s }' ;;
cp) mkdir p && echo x >p/f && cp -a p q && mv q r && ln -s r/f l && cat l ;;
install) echo x >i && install -D -m 600 i t/u/i && stat -c %a t/u/i ;;
dd) dd if=/dev/zero of=z bs=4096 count=100 status=none && wc -c <z ;;
sort) seq 20000 | sort -R | sort -n -S 1M -T . | md5sum ;;
split) seq 100 >n && split -l 30 n part. && echo part.* ;;
diff) echo a >a && echo b >b && diff -u --label a --label b a b || true ;;
date) date -u -d @0 +%FT%TZ ;;
stat) echo 12345 >f && chmod 640 f && stat -c '%s %a' f && touch -d @86400 f && date -u -r f +%F ;;
sha) echo x | sha256sum | cut -c1-8 ;;
mktemp) t=$(mktemp) && echo x >"$t" && cat "$t" && rm "$t" ;;
env) env -i A=1 env ;;
id) test -n "$(id -un)" && echo known ;;
join) seq 3 >a && seq 2 4 >b && join a b && comm -12 a b && paste a b ;;
flock) flock l echo locked ;;
nice) nice -n 5 echo nicer ;;
esac
