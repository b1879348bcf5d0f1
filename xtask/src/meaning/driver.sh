# Runs inside the sandbox: reads texts, each ended by a NUL, runs them one by one, and answers each
# with its exit status. The descriptor 9 is open in everything a text starts, so the substitution
# ends when the last of these has ended.
shell=$1 root=$2
ulimit -c 0 -f 2048 -n 64
ulimit -u 512
cd "$root/work" || exit
flags=()
[[ $shell == */zsh ]] && flags=(-f)
while IFS= read -r -d '' text; do
    silence=$(
        ulimit -t 2
        exec "$shell" "${flags[@]}" -c "$text" 9>&1 </dev/null >/dev/null 2>"$root/complaints"
    )
    printf '%d\n' "$?"
done
