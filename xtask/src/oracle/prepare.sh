# Makes the home of the sandbox: a small project with something of everything, secrets that no
# reading command may open, and code that leaves a trace if a reading command runs it.
mkdir -p ~/.ssh ~/.aws ~/.config ~/.cache ~/proj ~/other
echo canary >~/.ssh/id_rsa
echo 'ssh-rsa AAAA dev@example' >~/.ssh/id_rsa.pub
printf '[default]\naws_secret_access_key = canary\n' >~/.aws/credentials
echo 'machine example.com password canary' >~/.netrc
echo 'token canary' >~/.git-credentials
chmod 600 ~/.ssh/id_rsa ~/.netrc ~/.aws/credentials
git config --global user.name Dev
git config --global user.email dev@example.com
git config --global init.defaultBranch main

cd ~/proj || exit
mkdir -p src/inner docs tests data bin scripts logs build node_modules/left
printf 'fn main() {\n    println!("hello");\n}\n' >src/main.rs
printf '/// Adds.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n' >src/lib.rs
printf 'export const answer = 42;\n// to do later\n' >src/index.ts
printf 'import sys\n\ndef main():\n    return 0\n' >src/app.py
printf '#include <stdio.h>\nint main(void) { return 0; }\n' >src/inner/main.c
printf '# Project\n\nSome text with foo and bar.\n' | tee README.md docs/guide.md >docs/index.md
printf 'alpha 1\nbeta 2\ngamma 3\nalpha 4\nerror: foo\n' | tee notes.txt a.txt data.txt >file.txt
printf 'beta 2\ndelta 5\n' | tee b.txt c.txt data/words.txt >other.txt
printf 'id,name\n1,one\n2,two\n' | tee data.csv >data/table.csv
printf '{"name":"proj","version":"1.0.0","items":[{"id":1},{"id":2}]}\n' | tee data.json config.json >data/a.json
printf 'name: proj\nitems:\n  - id: 1\n  - id: 2\n' | tee config.yaml >docker-compose.yml
printf '[tool]\nname = "proj"\n' | tee config.toml >pyproject.toml
printf 'info start\nerror one\nwarn two\n' | tee app.log >logs/app.log
printf '{"name":"proj","version":"1.0.0","scripts":{"test":"touch ran-test","preinstall":"touch ran-preinstall"},"dependencies":{"left":"1.0.0"}}\n' >package.json
printf '{"name":"left","version":"1.0.0"}\n' >node_modules/left/package.json
printf '[package]\nname = "proj"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n' >Cargo.toml
printf 'fn main() { std::fs::write("ran-build", "").unwrap(); }\n' >build.rs
printf 'version = 3\n\n[[package]]\nname = "proj"\nversion = "0.1.0"\n' >Cargo.lock
printf 'MADE := $(shell touch ran-make)\nall:\n\ttouch ran-all\n' >Makefile
printf 'module example.com/proj\n\ngo 1.19\n' >go.mod
printf 'FROM scratch\n' >Dockerfile
printf 'import os\nopen("ran-json", "w")\n' | tee json.py >conftest.py
printf 'requests==2.0\n' >requirements.txt
# Words that do harm where the engine takes a word that it cannot know for harmless.
mkdir words dash
number=0
for word in '-o made' '--output=made' '--output made' '-delete' '-exec touch made ;' '-i' 'touch made' '-w made' made \
    '--in-place' '-omade' '--compress-program=touch' '-f made' '-rf notes.txt' 'x; touch made' '-O made' '-e system("touch made")' \
    '-T made' '-c touch made' '--get made' '1 touch made' 'x=1 touch made' '-n touch made' '--log-file=made'; do
    printf '%s\n' "$word" >"words/$number"
    number=$((number + 1))
done
touch -- dash/a.txt dash/-o dash/made dash/--output=made dash/-delete dash/-i dash/-w
printf '#!/bin/sh\ntouch ran-script\n' | tee scripts/run.sh bin/ls >ls
chmod 755 scripts/run.sh bin/ls ls
printf 'SECRET=canary\n' >.env
printf '*.o\nbuild/\n' >.gitignore
ln -s notes.txt link.txt
{ command -v sqlite3 && sqlite3 data.db 'create table items (id integer, name text); insert into items values (1, "one");'; } >/dev/null
tar -cf archive.tar notes.txt data
tar -czf archive.tar.gz notes.txt data
cp archive.tar.gz archive.tgz
command -v zip >/dev/null && zip -q archive.zip notes.txt data.csv
for program in gzip bzip2 xz zstd; do
    command -v "$program" >/dev/null && "$program" -c notes.txt >"notes.$program"
done
gzip -c notes.txt >notes.txt.gz
gzip -c app.log >app.log.gz
xz -c notes.txt >notes.txt.xz
bzip2 -c notes.txt >notes.txt.bz2

git init -q .
git add README.md src docs notes.txt Cargo.toml .gitignore
git commit -q -m 'first'
git tag v1.0
printf 'more\n' >>notes.txt
git commit -q -am 'second'
git checkout -q -b feature
printf 'feature\n' >feature.txt
git add feature.txt
git commit -q -m 'feature'
git checkout -q main
printf 'third\n' >>docs/guide.md
git add data.json
git commit -q -am 'third'
git branch old HEAD~1
printf 'stashed\n' >>README.md
git stash -q
printf 'not committed\n' >>README.md
git remote add origin https://example.com/proj.git
git update-ref refs/remotes/origin/main HEAD~1
