# Runs inside the namespaces as their first process: builds the walls, prepares the home, then
# reads commands and answers each with its exit status. A command is three texts, each ended by a
# NUL: what to do first (`fresh` or `kept`), what it reads (`text` or `nothing`), and the command.
log=$1 prepare=$2 toolchain=$3 user=$4 patience=$5
umask 022
set -o pipefail
ulimit -c 0

# Everything that is not part of the system is hidden, the rest cannot be written to.
mount --make-rprivate / || exit
mount -t tmpfs -o mode=755 none /srv && mkdir -m 700 /srv/stash && mkdir /srv/rust /srv/log || exit
# Through a mount of its own the log stays writable when the root is not.
mount --bind "${log%/*}" /srv/log && exec 9>"/srv/log/${log##*/}" && umount -l /srv/log || exit
if [[ $toolchain ]]; then
    mount --bind "$toolchain" /srv/rust && mount -o remount,bind,ro /srv/rust
fi
for place in /*; do
    case $place in
    /bin | /boot | /dev | /etc | /lib* | /opt | /proc | /sbin | /sys | /usr | /var) ;;
    /home | /run | /srv | /tmp) ;;
    *) [[ -d $place && ! -L $place ]] && mount -t tmpfs -o ro none "$place" ;;
    esac
done
{ cat /etc/passwd; echo "dev:x:$user:$user:Dev:/home/dev:/bin/bash"; } >/srv/stash/passwd
{ cat /etc/group; echo "dev:x:$user:"; } >/srv/stash/group
mount --bind /srv/stash/passwd /etc/passwd
mount --bind /srv/stash/group /etc/group
mount -t tmpfs -o mode=1777 none /dev/shm
mount -o remount,bind,ro / || exit

if ((EUID == 0)) && [[ $(</proc/self/uid_map) == *4294967295* ]]; then
    other=(setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all)
else
    other=(unshare --user "--map-user=$user" "--map-group=$user" setpriv --no-new-privs)
fi
surroundings=(
    env -i HOME=/home/dev USER=dev LOGNAME=dev LANG=C.UTF-8 TERM=dumb SHELL=/bin/bash
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/srv/rust/bin
)

fresh() {
    cd / || exit
    for place in /home /tmp /var/tmp /run; do
        [[ $began ]] && umount -l "$place"
        mount -t tmpfs -o mode=1777,size=256m none "$place" || exit
    done
    began=yes
    if [[ -d /srv/stash/dev ]]; then
        cp -a /srv/stash/dev /home/dev || exit
    else
        mkdir /home/dev && chown "$user:$user" /home/dev 2>/srv/stash/complaint
        cd /home/dev && "${surroundings[@]}" "${other[@]}" bash -c "$prepare" >/srv/stash/said 2>&1 </dev/null
        cp -a /home/dev /srv/stash/dev || exit
    fi
    chmod 755 /home
}
fresh
fresh

seen=chdir,fchdir,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat
seen+=,mkdir,mkdirat,rmdir,mknod,mknodat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,truncate
seen+=,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr,utime,utimes,futimesat,utimensat
seen+=,connect,bind,sendto,sendmsg,sendmmsg,execve,execveat,fork,vfork,clone,clone3,kill
seen+=,pidfd_send_signal,mount,umount2,pivot_root,chroot,setns,unshare,ptrace,process_vm_writev,sethostname
seen+=,setdomainname,settimeofday,clock_settime,adjtimex,clock_adjtime,reboot,swapon,swapoff,init_module
seen+=,finit_module,delete_module,add_key,keyctl,acct,quotactl,bpf,perf_event_open,setpriority,ioprio_set
seen+=,sched_setscheduler,sched_setparam,sched_setattr,sched_setaffinity,mq_open,mq_unlink
seen+=,shmctl,semctl,msgctl,fallocate
inner='exec 9>&-; ulimit -d 2097152 -f 262144 -u 400; exec "$@"'

while IFS= read -r -d '' first && IFS= read -r -d '' input && IFS= read -r -d '' command; do
    [[ $first == fresh ]] && fresh
    cd /home/dev/proj || exit
    if [[ $input == text ]]; then input=/home/dev/proj/notes.txt; else input=/dev/null; fi
    : >/proc/self/fd/9
    timeout -s TERM -k 1 "$patience" strace -f -yy -qq -s 300 --seccomp-bpf -e signal=none -e "trace=$seen" -o /proc/self/fd/9 \
        "${surroundings[@]}" /bin/bash -c "$inner" inner "${other[@]}" \
        /bin/bash --noprofile --norc -c "$command" <"$input" 2>&1 | cat >/dev/null
    status=$?
    kill -KILL -1 2>/dev/null
    wait
    printf '%d\n' "$status"
done
